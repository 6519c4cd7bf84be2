"""Definitions by name in the outlines of files that contain the name: `outlined_symbols`.

A server that does not report when it has read the workspace may find nothing by name, or only whole names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.requests.containers import Container, Containers
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.syntax.imports import imported

_MOST_FILES = 24  # which may have to be opened


async def outlined_symbols(backend: Backend, parts: Sequence[str]) -> tuple[list[Symbol], bool]:
    """The symbols whose names end with `parts`, as `Type`, `method`; True if there are more files than were examined.

    Raises:
        UnavailableError: as `Backend.request`.
    """
    words = await backend.words.files_with(parts[-1], seconds=budget.left())
    files = sorted(path for path in words.files if path.is_relative_to(backend.root))
    containers = Containers(backend)
    separator = backend.plugin.symbols.scope_separator or "."
    found = []
    for path in files[:_MOST_FILES]:
        declared = await containers.known(path)
        named = [one for one in declared if one.name.split(separator)[-len(parts) :] == list(parts)]
        found += await asyncio.to_thread(_declared_here, backend, path, named)
    return [Symbol(one.name, one.kind, one.place) for one in found], bool(words.unknown) or len(files) > _MOST_FILES


def _declared_here(backend: Backend, path: Path, named: Sequence[Container]) -> list[Container]:
    """`named` without what `path` only imports: the outlines of some servers have that, too."""
    language = backend.plugin.language_of(path)
    if not (named and language):
        return list(named)
    text = named[0].place.text
    at = [text.point_offset(one.place.span.start) for one in named]
    there = imported(text, language.id, at)
    return [one for one, offset in zip(named, at, strict=True) if offset not in there]
