"""Making a server read a file, and waiting until it has: `read_again`, `read_told`.

A server has read a text when it publishes diagnostics for that version (LSP 3.17, `PublishDiagnosticsParams`).
"""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.lsp.life.diagnostics import Diagnostics
from lsp_mcp.lsp.life.documents import Documents


async def read_told(path: Path, documents: Documents, diagnostics: Diagnostics) -> bool:
    """Wait until the server has read the latest text of the open document `path`; False if it ended."""
    version = documents.note_version(path)
    return version is not None and await diagnostics.arrived(path, version)


async def read_again(path: Path, documents: Documents, diagnostics: Diagnostics) -> bool:
    """Make the server read the present text of `path` and all its includes; False if it ended.

    A document of the editor stays open. Ours is closed, as soon as that is safe, and reopened, so that the server keeps
    nothing of the old state.

    Raises:
        PathError: it exists and cannot be read as text.
    """
    for _ in range(documents.reread_times):
        if not documents.is_editors(path):
            break
        if not await diagnostics.arrived(path, documents.reread(path)):
            return False
    else:
        return True
    while (version := documents.unread_version(path)) is not None:
        if not await diagnostics.arrived(path, version):
            return False
    return await diagnostics.arrived(path, documents.open_to_read(path))
