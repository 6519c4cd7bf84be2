"""Which files can refer to a symbol by its name: `Symbol`.

In languages whose folders share names, this follows from imports: `seeing`. In languages with includes, a file can
refer to the symbol if it includes a file that declares it, or one that may declare it again: `may_declare`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from lsp_mcp.adapters import Language
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.servers.traits import Visibility
from lsp_mcp.text import Span, Text
from lsp_mcp.words.lexing import occurrences
from lsp_mcp.words.packages import Imports, Packages

Role = Literal["value", "type", "member", "local", "unknown"]
"""The role of a symbol, which determines where its name can occur: a function, variable or constant that is not a
member; a type; a method or field; a symbol known only in its own file, such as a parameter; unknown, which excludes
the least."""


_MEMBER = (".", "->", "::")
_BEFORE = 100  # characters before a name that are looked at
_LETTERS = re.compile(r"\w*")
_MOST_ALIKE = 20  # words that contain a name, looked at in one file


class Symbol(Struct, frozen=True):
    """One symbol, as far as it matters to where its name can stand.

    For a method that a server takes for the same as others, `declared` are the files of all of them.
    """

    name: str
    declared: tuple[Path, ...]  # the files that declare or define it, as far as known; at least one
    role: Role = "unknown"
    owner: str = ""  # the type or namespace that it is a member of, by its last name
    unnamed_owner: bool = False  # that type has no name: nothing else declares the symbol
    overrides: bool = True  # it may be one with a member of another type, as a method is; a field is not
    internal: bool = False  # no declaration elsewhere is of the same symbol


def seeing(
    files: Collection[Path], symbol: Symbol, rules: Visibility, packages: Packages, imports: Callable[[str], Imports]
) -> frozenset[Path]:
    """Those of `files` that can mean `symbol`; `imports` gives those of a file."""
    declared = list(map(str, symbol.declared))
    homes = {_folder(path) for path in declared}
    if not all(map(packages.has, homes)):
        return frozenset(files)  # of a library: who leads to it is not known
    is_private = (
        symbol.role != "unknown" and re.search(rules.private_names, symbol.name) if rules.private_names else None
    )
    if is_private or all(map(packages.is_private, declared)):
        return frozenset(path for path in files if _folder(str(path)) in homes)
    if symbol.role == "value" and not _may_be_type(symbol, rules):
        return frozenset(
            path for path in files if _folder(name := str(path)) in homes or packages.imports_any(imports(name), homes)
        )
    leading = frozenset[str]().union(*map(packages.leading_to, homes))
    return frozenset(path for path in files if _folder(str(path)) in leading)


def may_declare(text: Text, name: str, language: Language | None) -> bool:
    """Whether `text` may declare `name` at all: it stands somewhere that is not surely a use."""
    return any(not is_used(text, span, language) for span in occurrences(text, name, language))


def is_used(text: Text, span: Span, language: Language | None) -> bool:
    """Whether what is at `span` of `text` is surely used there and not declared, by what is beside it."""
    rules = language.lexing if language else None
    if is_member(text, span):
        return True
    start, end = text.point_offset(span.start), text.point_offset(span.end)
    before, after = text.content[max(0, start - _BEFORE) : start], text.content[end : end + _BEFORE]
    return bool(
        (rules and rules.before_use and re.search(rules.before_use, before))
        or (rules and rules.after_use and re.match(rules.after_use, after))
    )


def that_may_define(
    text: Text, name: str, language: Language | None, places: Callable[[str], Iterable[Span]]
) -> list[Span] | None:
    """Where `text` may define something in whose name `name` is, whatever the case of its letters; None: too many.

    `places` gives the places of a word that count.
    """
    alike = _words_with(text.content, name)
    if len(alike) > _MOST_ALIKE:
        return None
    return [span for one in sorted(alike) for span in places(one) if not defines_nothing(text, span, language)]


def _words_with(content: str, name: str) -> set[str]:
    """The words of `content` that contain `name`, whatever the case of its letters."""
    found = set()
    # Many times as fast as a pattern that begins with any letters.
    for match in re.finditer(re.escape(name), content, re.IGNORECASE):
        start = match.start()
        while start and (content[start - 1].isalnum() or content[start - 1] == "_"):
            start -= 1
        rest = _LETTERS.match(content, match.end())
        found.add(content[start : rest.end() if rest else match.end()])
    return found


def defines_nothing(text: Text, span: Span, language: Language | None) -> bool:
    """Whether what is at `span` of `text` is surely not defined there, by what is around it."""
    if is_used(text, span, language):
        return True
    if not (language and language.lexing and language.lexing.around_use):
        return False
    start, end = text.point_offset(span.start), text.point_offset(span.end)
    around = f"{text.content[max(0, start - _BEFORE) : start]}\0{text.content[end : end + _BEFORE]}"
    return bool(re.search(language.lexing.around_use, around))


def is_member(text: Text, span: Span) -> bool:
    """Whether what is at `span` of `text` is a use of a member, or of what a scope has."""
    start = text.point_offset(span.start)
    return text.content[max(0, start - _BEFORE) : start].rstrip().endswith(_MEMBER)


def _may_be_type(symbol: Symbol, rules: Visibility) -> bool:
    """Whether it may be embedded in another type, and used by the name of that field where nobody imports it."""
    pattern = rules.type_pattern.replace("{name}", re.escape(symbol.name)).encode()
    return bool(pattern) and any(re.search(pattern, content_or_nothing(path)) for path in symbol.declared)


def _folder(path: str) -> str:
    return path.rpartition(os.sep)[0]
