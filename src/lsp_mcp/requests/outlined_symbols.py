"""Definitions by name in the outlines of files that contain the name: `outlined_symbols`.

A server that does not report when it has read the workspace may find nothing by name, or only whole names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.requests.containers import Container, Containers
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.syntax.imports import imported

_MOST_FILES = 24  # which may have to be opened
_Named = TypeVar("_Named", Container, Symbol)


async def outlined_symbols(backend: Backend, word: str, is_wanted: Callable[[str], bool]) -> tuple[list[Symbol], bool]:
    """The symbols in files with `word` whose full names are wanted; True if there are more files than were examined.

    Raises:
        UnavailableError: as `Backend.request`.
    """
    words = await backend.words.files_with(word, seconds=budget.left())
    files = sorted(path for path in words.files if path.is_relative_to(backend.root))
    containers = Containers(backend)
    found = []
    for path in files[:_MOST_FILES]:
        declared = await containers.known(path)
        named = [one for one in declared if is_wanted(one.name)]
        found += await asyncio.to_thread(_declared_here, backend, path, named)
    return [Symbol(one.name, one.kind, one.place) for one in found], bool(words.unknown) or len(files) > _MOST_FILES


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
