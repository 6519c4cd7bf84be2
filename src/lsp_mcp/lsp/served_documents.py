"""The texts that a server has: `ServedDocuments`, a `backend.Documents`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from lsp_mcp.lsp.life.documents import Documents, Texts
from lsp_mcp.lsp.life.guests import Guests
from lsp_mcp.lsp.life.lifetime import Lifetime
from lsp_mcp.text import Text, WithheldText

_MOST_HIDDEN = 500


class ServedDocuments:
    """The open documents of a server that is started when it is needed, and the `files` that are not open."""

    def __init__(
        self,
        lifetime: Lifetime,
        documents: Documents,
        guests: Guests,
        files: Texts,
        withheld: Callable[[Path], Awaitable[bool]],
        excludes: Callable[[Path], Awaitable[bool]],
    ) -> None:
        """`withheld` says of a file whether its text is not shown, `excludes` whether the build leaves it out."""
        self._lifetime = lifetime
        self._documents = documents
        self._guests = guests
        self._excludes = excludes
        self._files = files
        self._withheld = withheld
        self._hidden: dict[Path, WithheldText] = {}  # for the last of these files

    async def open(self, path: Path) -> Text:
        """See `backend.Documents.open`."""
        await self._lifetime.live()
        return await self._shown(path, self._documents.open(path))

    async def visit(self, path: Path) -> Text:
        """See `backend.Documents.visit`."""
        await self._lifetime.live()
        is_guest = await self._excludes(path)
        return await self._shown(path, (self._guests.visit if is_guest else self._documents.open)(path))

    async def stay(self, path: Path) -> Text:
        """See `backend.Documents.stay`."""
        await self._lifetime.live()
        return await self._shown(path, self._guests.stay(path))

    def leave(self) -> None:
        """See `backend.Documents.leave`."""
        self._guests.leave()

    async def text(self, path: Path) -> Text:
        """See `backend.Documents.text`."""
        text = self._documents.get(path)
        return await self._shown(path, self._files.text(path) if text is None else text)

    def version(self, path: Path) -> int | None:
        """See `backend.Documents.version`."""
        return self._documents.wire_version(path)

    async def _shown(self, path: Path, text: Text) -> Text:
        if not await self._withheld(path):
            return text
        hidden = self._hidden.get(path)
        if hidden is None or hidden.content is not text.content:
            if len(self._hidden) >= _MOST_HIDDEN:
                self._hidden.clear()
            hidden = self._hidden[path] = WithheldText(text.content)
        return hidden
