"""The texts that a server has: `ServedDocuments`, a `backend.Documents`."""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.lsp.life.documents import Documents, Texts
from lsp_mcp.lsp.life.lifetime import Lifetime
from lsp_mcp.text import Text


class ServedDocuments:
    """The open documents of a server that is started when it is needed, and the `files` that are not open."""

    def __init__(self, lifetime: Lifetime, documents: Documents, files: Texts) -> None:
        self._lifetime = lifetime
        self._documents = documents
        self._files = files

    async def open(self, path: Path) -> Text:
        """See `backend.Documents.open`."""
        await self._lifetime.live()
        return self._documents.open(path)

    async def text(self, path: Path) -> Text:
        """See `backend.Documents.text`."""
        text = self._documents.get(path)
        return self._files.text(path) if text is None else text

    def version(self, path: Path) -> int | None:
        """See `backend.Documents.version`."""
        return self._documents.wire_version(path)
