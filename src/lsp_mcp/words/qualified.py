"""Which words are names of an imported package, by the text alone: `qualified`.

In `fmt.Errorf(…)` the word Errorf is not a method of anything, if `fmt` is the file's name for an imported package and
nothing else. Doubtful words are kept: the result may contain a word too many, never one too few.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from lsp_mcp.adapters import Language, Lexing
from lsp_mcp.servers.traits import Visibility
from lsp_mcp.text import Span, Text
from lsp_mcp.words.lexing import occurrences

_OPERAND = re.compile(r"(\w+)[ \t]*\.[ \t]*\Z")
_FOLLOWED = re.compile(r"[ \t]*\.")
_BEFORE = 200  # characters before a word that are looked at


def qualified(
    text: Text,
    spans: Iterable[Span],
    rules: Visibility,
    language: Language | None,
    is_library: Callable[[str], bool],
) -> dict[Span, str]:
    """Those of `spans` that follow the name of a package, with the path by which `text` imports it.

    `is_library` tells whether the import of a path certainly leads to a library whose name `rules` know.
    """
    lexing = language.lexing if language else None
    if not (lexing and rules.import_name_pattern):
        return {}
    operands = {span: name for span in spans if (name := _operand(text, span))}
    if not operands:
        return {}
    sections = _sections(text.content, rules, lexing)
    paths = _names(text.content, sections, rules, lexing, is_library)
    sure = {name for name in {*operands.values()} if name in paths and _is_only_package(text, name, sections, language)}
    return {span: paths[name] for span, name in operands.items() if name in sure}


def _operand(text: Text, span: Span) -> str:
    """The word whose member is at `span`, if that word is not itself a member."""
    end = text.point_offset(span.start)
    before = text.content[max(0, end - _BEFORE) : end]
    found = _OPERAND.search(before)
    return found[1] if found and found.start() and not before[: found.start()].rstrip().endswith((".", "/")) else ""


def _sections(content: str, rules: Visibility, lexing: Lexing) -> list[tuple[int, int]]:
    """The ranges of the import declarations."""
    found = []
    for match in _tokens(rules, lexing).finditer(content):
        if match["end"] is not None:
            break
        if match["imports"]:
            found.append(match.span())
    return found


def _names(
    content: str,
    sections: Iterable[tuple[int, int]],
    rules: Visibility,
    lexing: Lexing,
    is_library: Callable[[str], bool],
) -> dict[str, str]:
    """The paths of imports whose name in the file is known, by that name."""
    paths: dict[str, str] = {}
    for start, end in sections:
        for match in _imports(rules, lexing).finditer(content, start, end):
            if not match["path"]:
                continue
            path = match["path"].strip('"`')
            library = re.search(rules.library_name_pattern, path) if rules.library_name_pattern else None
            if match["alias"]:
                paths[match["alias"]] = path
            elif library and is_library(path):
                paths[library["name"]] = path
    return paths


def _is_only_package(text: Text, name: str, sections: Iterable[tuple[int, int]], language: Language | None) -> bool:
    """Whether nothing in `text` may declare `name` as something else: outside imports a dot follows everywhere."""
    for span in occurrences(text, name, language):
        start, end = text.point_offset(span.start), text.point_offset(span.end)
        if not any(first <= start < last for first, last in sections) and not _FOLLOWED.match(text.content, end):
            return False
    return True


@lru_cache(maxsize=8)
def _tokens(rules: Visibility, lexing: Lexing) -> re.Pattern[str]:
    comment, string = f"(?:{lexing.comment})", f"(?:{lexing.string})"
    imports = rules.import_pattern.replace("{comment}", comment).replace("{string}", string)
    tokens = f"{comment}|{string}|(?P<imports>{imports})|(?P<end>{rules.after_imports_pattern})"
    return re.compile(tokens, re.MULTILINE)


@lru_cache(maxsize=8)
def _imports(rules: Visibility, lexing: Lexing) -> re.Pattern[str]:
    one = rules.import_name_pattern.replace("{string}", f"(?:{lexing.string})")
    return re.compile(f"(?:{lexing.comment})|{one}", re.MULTILINE)
