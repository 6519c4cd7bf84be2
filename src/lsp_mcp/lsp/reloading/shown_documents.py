"""A server's diagnostics for documents shown to it: `look_at_documents`."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path

from lsp_mcp.errors import PathError
from lsp_mcp.lsp.life.diagnostics import Diagnostics
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.lsp.life.reading import read_again, read_told
from lsp_mcp.lsp.reloading.reloading import Looked
from lsp_mcp.waiting import within

_AT_ONCE = 8
_SHARE = 0.75  # of the time that a call has left
_UNDATED_SECONDS = 3.0  # for servers that never name the text of their diagnostics: it may be an old one


async def look_at_documents(
    changed: Collection[Path], opened: Collection[Path], documents: Documents, diagnostics: Diagnostics, timeout: float
) -> Looked:
    """Make the server check the `changed` files, which are opened, and after changes also those `opened` before.

    Dependents of a changed file may have new errors, though their own text is the same.
    """
    read: set[Path] = set()
    undated: set[Path] = set()
    silent: set[Path] = set()
    waiting = {*changed, *opened}
    room = asyncio.Semaphore(_AT_ONCE)

    async def look(path: Path) -> None:
        async with room:
            was_open, times = path in documents, diagnostics.times_undated(path)
            try:
                documents.open(path)
            except PathError:
                waiting.discard(path)  # not text: opening it reports that
                return
            if diagnostics.is_undated:
                known = (0 if path in changed else -1) if was_open else times
                reported = await _undated(path, known, diagnostics)
                (undated if reported else silent).add(path)
            elif await _first(path, times, is_stale=bool(changed) and was_open and path not in changed):
                undated.add(path)
            else:
                read.add(path)
            waiting.discard(path)

    async def _first(path: Path, times: int, *, is_stale: bool) -> bool:
        """Wait for the server's diagnostics of `path`; returns whether their version is unknown."""
        version = documents.note_version(path)
        if diagnostics.pull and version is not None and await diagnostics.pulled(path, version):
            return False
        if diagnostics.has_versions:
            await (read_again if is_stale else read_told)(path, documents, diagnostics)
            return False
        dated = asyncio.ensure_future(read_told(path, documents, diagnostics))
        undated = asyncio.ensure_future(diagnostics.undated(path, times))
        try:
            await asyncio.wait([dated, undated], return_when=asyncio.FIRST_COMPLETED)
            return not dated.done()
        finally:
            dated.cancel()
            undated.cancel()

    try:
        async with asyncio.timeout(within(timeout) * _SHARE):
            await asyncio.gather(*map(look, sorted(waiting.intersection(changed))))
            await asyncio.gather(*map(look, sorted(waiting.difference(changed))))
    except TimeoutError:
        pass  # waiting ones are listed
    return Looked(read | undated, waiting, undated=undated, silent=silent)


async def _undated(path: Path, times: int, diagnostics: Diagnostics) -> bool:
    """Whether the server reports about `path` once more than `times`, within a bound."""
    try:
        async with asyncio.timeout(_UNDATED_SECONDS):
            await diagnostics.undated(path, times)
    except TimeoutError:
        return False
    return not diagnostics.ended
