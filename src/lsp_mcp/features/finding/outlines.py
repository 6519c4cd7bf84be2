"""The outlines of many files: `FileOutline`, and the extents of symbols found elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.requests.containers import Containers
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.waiting import phase, ungrouped

_AT_ONCE = 8
_MOST_OPENED = 12  # files, for a server that outlines only open files and has to parse all their includes


class FileOutline(Struct, frozen=True):
    """The declarations of one file; `symbols` is None if its server was not asked or returns no outline."""

    path: Path
    lines: int
    symbols: tuple[Symbol, ...] | None
    is_test: bool = False
    problem: str = ""  # why it cannot be read

    @property
    def total(self) -> int:
        """The number of its symbols, as far as is known."""
        return sum(symbol.count() for symbol in self.symbols or ())


async def outlines(backend: Backend, files: Sequence[Path]) -> list[FileOutline]:
    """The outlines of `files`, in order, without files that are gone.

    If the server outlines only open files, a few are opened, headers first, since they have the declarations.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    closed = backend.plugin.documents.outlines_closed
    opened = set(files if closed else _headers_first(backend, files)[:_MOST_OPENED])
    room = asyncio.Semaphore(_AT_ONCE)
    tests = backend.plugin.adapter.tests
    done = 0

    async def outline(path: Path) -> FileOutline | None:
        nonlocal done
        async with room:
            done += 1
            try:
                lines = (await backend.documents.text(path)).content.count("\n")
            except PathError as error:
                return FileOutline(path, 0, None, problem=str(error)) if path.exists() else None
            symbols = None
            if path in opened:
                try:
                    symbols = await document_symbols(backend, path, opened=not closed)
                except (PathError, RefusedError):
                    symbols = None
            return FileOutline(path, lines, symbols, tests.has(path, backend.root))

    with phase(lambda: f"outline {done} of {len(files)} files"), ungrouped():
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(outline(path)) for path in files]
    return [found for task in tasks if (found := task.result())]


async def with_extents(backend: Backend, symbols: Sequence[Symbol]) -> list[Symbol]:
    """`symbols` with their extents, if the server outlines closed files.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    if not backend.plugin.documents.outlines_closed:
        return list(symbols)
    containers = Containers(backend)
    found = []
    for symbol in symbols:
        own = None if symbol.extent else await containers.at(symbol.place)
        found.append(replace(symbol, extent=own.extent) if own else symbol)
    return found


def _headers_first(backend: Backend, files: Sequence[Path]) -> list[Path]:
    return sorted(files, key=lambda path: not backend.plugin.is_header(path))
