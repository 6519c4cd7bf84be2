"""What gopls's hover says of a value: `hovered`. It is a declaration in Go, as in `field Parts []Part`."""

from __future__ import annotations

import re

from lsp_mcp.servers.traits import Hovered

_FENCE = re.compile(r"```\w*\n(.*?)```", re.S)
_COMMENT = re.compile(r"//.*")
_PACKAGE = re.compile(r"```go\nfunc (?:\((?P<receiver>(?:\w+ )?\*?)(?P<of_method>\w+)\.|(?P<of_function>\w+)\.)")
_WORD = re.compile(r"[^\W\d]\w*")
_ANY = re.compile(r"\b(?:any|interface)\b")
_COLLECTION_OF_ANY = re.compile(r"(?:map\[[^\]]*\]|\[\])\s*(?:any\b|interface\s*\{\})")
_FIELD_NAME = re.compile(r"(?m)(?:(?<=[{;])|^)[ \t]*\w+(?:[ \t]*,[ \t]*\w+)*[ \t]+(?=[\w\[*(])")


def hovered(text: str, name: str) -> Hovered:
    """What the hover `text` says of what is called `name`."""
    package = _PACKAGE.search(text)
    found = _FENCE.search(text)
    type_ = _type(_COMMENT.sub("", found[1]), name) if found else name
    return Hovered(
        frozenset(_WORD.findall(_FIELD_NAME.sub("", type_))),
        holds_any=_ANY.search(type_) is not None,
        is_collection=_COLLECTION_OF_ANY.search(type_) is not None,
        package=(package["of_method"] or package["of_function"]) if package else "",
        is_method=bool(package and package["of_method"]),
    )


def _type(declared: str, name: str) -> str:
    """What may be types in a declaration of the value called `name`; empty for a package."""
    kind = declared.partition(" ")[0]
    if kind in ("package", "import", "type"):
        return name if kind == "type" else ""
    if not declared:
        return name  # not known what that is
    if kind != "func":
        return re.sub(rf"\A\w+ {re.escape(name)}\b", "", declared)
    if not (found := re.search(rf"\b{re.escape(name)}(?:\[[^\]]*\])?\(", declared)):
        return declared
    depth = 1
    for at, character in enumerate(declared[found.end() :], found.end()):
        depth += (character == "(") - (character == ")")
        if not depth:
            return declared[at + 1 :]
    return declared
