"""A name with the types of its parameters, `A::f(const X&)`, to tell overloads apart: `split_signature`, `fits`."""

from __future__ import annotations

import re

_SIGNED = re.compile(
    r"(?P<name>[^()]*(?:operator\s*\(\))|[^()]*\w[^()]*)(?P<signature>\(.*\)(?:\s|const|noexcept|override|final|&)*)"
)
_PARAMETERS = re.compile(r"(?<=\w)\([^()]*\)(?:\s|const|noexcept|override|final|&)*$")
_QUALIFIER = re.compile(r"\bconst\b|&&?")
_TOKEN = re.compile(r"\w+|\.\.\.|[^\s\w]")
_REST = ("...", "…")  # any further parameters


def split_signature(name: str) -> tuple[str, str | None]:
    """The name itself, and its parentheses with what follows; None without any, as in `(*T).M` and `operator()`."""
    found = _SIGNED.fullmatch(name.strip())
    if not found or not found["name"].strip() or found["name"].strip().endswith("operator"):
        return name, None
    return found["name"].strip(), found["signature"].strip()


def without_parameters(name: str) -> str:
    """`name` without the parameters at its end, if these have no parentheses of their own."""
    return _PARAMETERS.sub("", name)


def fits(signature: str, detail: str) -> bool:
    """Whether `signature`, with or without names, matches the function type that a server gives as `detail`.

    A type may lack its namespace; `…` or `...` stands for any further parameters. Without `const` or `&` behind the
    parentheses it matches functions with and without.
    """
    (listed, behind), (parameters, behind_there) = _split(signature), _split(detail)
    wanted, there = _types(listed), _types(parameters)
    if wanted and wanted[-1] in ([one] for one in _REST):
        wanted, there = wanted[:-1], there[: len(wanted[:-1])]
    fit = len(wanted) == len(there) and all(map(_is_same, wanted, there))
    return fit and set(_QUALIFIER.findall(behind)) <= set(_QUALIFIER.findall(behind_there))


def _split(detail: str) -> tuple[str, str]:
    """The text between the parentheses of a function's type, and behind them: `int`, ` const` in `void (int) const`."""
    depth, start = 0, None
    for at, character in enumerate(detail):
        if character == "(":
            start = at if start is None else start
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0 and start is not None:
                return detail[start + 1 : at], detail[at + 1 :]
    return "", ""


def _types(parameters: str) -> list[list[str]]:
    """The words and signs of each parameter, without namespaces."""
    types: list[list[str]] = [[]]
    depth = 0
    for part in _TOKEN.findall(re.sub(r"\w+\s*::\s*|::\s*", "", parameters)):
        depth += (part in "<([{") - (part in ">)]}")
        if part == "," and depth == 0:
            types.append([])
        else:
            types[-1].append(part)
    return [_qualifiers_first(one) for one in types if one and one != ["void"]]


def _qualifiers_first(words: list[str]) -> list[str]:
    """`X const &` as `const X &`, which means the same; `X * const` stays."""
    ordered: list[str] = []
    starts = [0]  # where the type begins, and those around it
    for word in words:
        if word in ("const", "volatile"):
            ordered.insert(starts[-1], word)
            continue
        ordered.append(word)
        if word in ("<", "("):
            starts.append(len(ordered))
        elif word in (">", ")") and len(starts) > 1:
            starts.pop()
        elif word in ("*", "&", ","):
            starts[-1] = len(ordered)
    return ordered


def _is_same(wanted: list[str], there: list[str]) -> bool:
    # Default values and parameter names do not count.
    if "=" in wanted:
        wanted = wanted[: wanted.index("=")]
    return wanted == there or (wanted[:-1] == there and wanted[-1].isidentifier())
