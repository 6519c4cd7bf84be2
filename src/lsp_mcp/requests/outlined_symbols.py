"""Definitions by name in the outlines of files that contain the name: `outlined_symbols`.

A server that does not report when it has read the workspace may find nothing by name, or only whole names.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TypeVar

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.requests.containers import Container, Containers
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.symbols import SCOPES, Symbol
from lsp_mcp.syntax.expansions import macros_in
from lsp_mcp.syntax.grammars import ModuleNames
from lsp_mcp.syntax.imports import imported
from lsp_mcp.words.lexing import blanked

_MOST_FILES = 24  # which may have to be opened
_BEFORE_NAME = re.compile(r"\b(\w+)\s+\Z")
_Named = TypeVar("_Named", Container, Symbol)


Called = Callable[[str, Sequence[str], ModuleNames], str]
"""What to call a declaration with this name, inside what has these names; empty if it is not wanted."""


async def outlined_symbols(
    backend: Backend, word: str, called: Called, likely: Sequence[Collection[Path]] = ()
) -> tuple[list[Symbol], bool]:
    """The wanted symbols in files with `word`, the `likely` ones first; True if more files are not examined.

    Raises:
        UnavailableError: as `Backend.request`.
    """
    words = await backend.words.files_with(word, seconds=budget.left())
    files = [path for path in words.files if path.is_relative_to(backend.root)]
    files.sort(key=lambda path: ([path not in some for some in likely], path))
    containers = Containers(backend)
    found: list[Symbol] = []
    for path in files[:_MOST_FILES]:
        declared, modules = await containers.known(path), _modules(backend, path)
        homes = _homes(path.relative_to(backend.root), modules)
        named = []
        for one in declared:
            if word in one.name:
                around = _around(one, declared)
                names = (called(one.name, [*home, *around], modules) for home in homes)
                named += [Symbol(name, one.kind, one.place) for name in names if name][:1]
        found += await asyncio.to_thread(_declared_here, backend, path, named)
        found += [one for one in await _in_macros(backend, path, word) if called(one.name, (), modules)]
    return found, bool(words.unknown) or len(files) > _MOST_FILES


async def _in_macros(backend: Backend, path: Path, word: str) -> list[Symbol]:
    """What the code of macros in `path` declares as `word` where they are called, at its place in that code."""
    kinds, language = backend.plugin.symbols.macro_items, backend.plugin.language_of(path)
    text = await text_or_none(backend, path) if kinds and language else None
    if text is None or language is None:
        return []
    macros = await asyncio.to_thread(macros_in, text, language.id)
    found, blank = [], blanked(text, language)
    for span in await backend.words.occurrences(path, text, word) if macros.definitions else ():
        offset = text.point_offset(span.start)
        around = macros.around(offset)
        before = _BEFORE_NAME.search(text.content, 0, offset) if around and not macros.is_pattern(offset) else None
        if around and before and before[1] in kinds and not _is_given(blank, around.start, offset):
            found.append(Symbol(word, kinds[before[1]], Place(path, span, text, container=around.name)))
    return found


def _is_given(content: str, start: int, offset: int) -> bool:
    """Whether what is at `offset` is an argument of a macro that is called behind `start`."""
    open_: list[bool] = []  # whether they begin the arguments of a macro
    for found in re.compile(r"(!\s*)?[(\[{]|[)\]}]").finditer(content, start, offset):
        if found[0][-1] in "([{":
            open_.append(found[1] is not None)
        elif open_:
            open_.pop()
    return any(open_)


def _modules(backend: Backend, path: Path) -> ModuleNames:
    grammar = backend.plugin.grammar_of(path)
    return grammar.modules if grammar else ModuleNames()


def _homes(path: Path, modules: ModuleNames) -> list[list[str]]:
    """By which names code may call the module in `path`, outermost first: `pkg.core` is in `src/pkg/core.py`."""
    folders = [name for name in path.parent.parts if name not in modules.unnamed_folders]
    own = path.name.partition(".")[0]
    return [[*folders, own], *([folders] if own in modules.like_folders else [])]


def _around(one: Container, declared: Sequence[Container]) -> list[str]:
    """The names of the modules and namespaces around `one`, outermost first; its own name has those of types."""
    scopes = [other for other in declared if other.kind in SCOPES and other.holds(one.place.span.start)]
    return [other.name for other in scopes if other.place != one.place]


async def imports_of(symbols: Sequence[Symbol], backend: Backend) -> list[Symbol]:
    """Those of `symbols` that their file only imports: some servers find them, too."""
    by_file: dict[Path, list[Symbol]] = {}
    for one in symbols:
        by_file.setdefault(one.place.path, []).append(one)
    declared: list[Symbol] = []
    for path, named in by_file.items():
        declared += await asyncio.to_thread(_declared_here, backend, path, named)
    return [one for one in symbols if one not in declared]


def _declared_here(backend: Backend, path: Path, named: Sequence[_Named]) -> list[_Named]:
    """`named` without what `path` only imports: the outlines of some servers have that, too."""
    language = backend.plugin.language_of(path)
    if not (named and language):
        return list(named)
    text = named[0].place.text
    at = [text.point_offset(one.place.span.start) for one in named]
    there = imported(text, language.id, at)
    return [one for one, offset in zip(named, at, strict=True) if offset not in there]
