"""What a server says is wrong with documents that it is shown: `look_at_documents`."""

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
_UNDATED_SECONDS = 3.0  # for servers that never say of which text their diagnostics are: it may be an old one


async def look_at_documents(
    changed: Collection[Path], documents: Documents, diagnostics: Diagnostics, timeout: float
) -> Looked:
    """Have the server look at the `changed` files, which are opened, and if there are any at all open ones again.

    What depends on a changed file has other errors now, though its own text is the same.
    """
    read: set[Path] = set()
    undated: set[Path] = set()
    waiting = {*changed, *documents}
    room = asyncio.Semaphore(_AT_ONCE)

    async def look(path: Path) -> None:
        async with room:
            was_open, times = path in documents, diagnostics.times_undated(path)
            try:
                documents.open(path)
            except PathError:
                waiting.discard(path)  # no text: anyone who opens it is told so
                return
            if diagnostics.is_undated:
                await _undated(path, -1 if was_open else times, diagnostics)
                undated.add(path)
            elif await _first(path, times, is_stale=bool(changed) and was_open and path not in changed):
                undated.add(path)
            else:
                read.add(path)
            waiting.discard(path)

    async def _first(path: Path, times: int, *, is_stale: bool) -> bool:
        """Wait until the server has said what is wrong with `path`; whether it didn't say of which text."""
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
        pass  # those that wait are named
    return Looked(read | undated, waiting, undated=undated)


async def _undated(path: Path, times: int, diagnostics: Diagnostics) -> None:
    try:
        async with asyncio.timeout(_UNDATED_SECONDS):
            await diagnostics.undated(path, times)
    except TimeoutError:
        pass  # it is said that nobody knows
