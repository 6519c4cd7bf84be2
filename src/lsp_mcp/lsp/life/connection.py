"""What all ways to reach a language server have in common: `Connection`, one life of it, and `Launcher`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from lsp_mcp.lsp.life.notifications import Notifications
from lsp_mcp.text import PositionEncoding


class Connection(Protocol):
    """One life of one language server, initialized, by whatever way it is reached."""

    @property
    def notifications(self) -> Notifications:
        """Its notifications so far."""

    @property
    def encoding(self) -> PositionEncoding:
        """The position encoding that was agreed on."""

    @property
    def capabilities(self) -> dict[str, Any]:
        """LSP `ServerCapabilities`."""

    @property
    def version(self) -> str:
        """The version that it says of itself; empty if it doesn't, or nobody has heard it."""

    async def memory(self) -> int | None:
        """Bytes of its processes that are in RAM, None if that is not known."""

    @property
    def tells_inactive(self) -> bool:
        """Whether it says of an open document what the preprocessor leaves out, if there is anything."""

    @property
    def advice(self) -> str:
        """What can be done if it does not answer in time, for the end of an error message."""

    @property
    def stuck(self) -> bool:
        """Whether it did nothing any more, and so was ended by us."""

    def capture(self) -> AbstractContextManager[list[Any]]:
        """While the block runs, the edits (LSP `WorkspaceEdit`) that the server asks for: none of them is done."""

    def waited_for(self, *, owed: bool = True) -> AbstractContextManager[None]:
        """See `Watchdog.waited_for`; every request has that already."""

    @property
    def dead(self) -> asyncio.Future[None]:
        """A future that completes when the server is gone."""

    async def request(self, method: str, params: Any, *, timeout: float) -> Any:
        """As `Peer.request`."""

    def notify(self, method: str, params: Any) -> None:
        """As `Peer.notify`."""

    async def end(self) -> None:
        """End the server, within 3 s."""

    async def leave(self) -> None:
        """Be done with the server, which goes on if it is somebody else's too."""


class Launcher(Protocol):
    """How a server is reached: it is started, or found where somebody else runs it."""

    @property
    def starts_again(self) -> bool:
        """Whether what was launched last takes the place of one that died."""

    def spawn(self) -> None:
        """Start the part that takes long and needs no event loop."""

    def check(self) -> None:
        """Raise `MissingProgramError` if there is nothing to launch."""

    async def launch(self, before: Callable[[], Awaitable[None]]) -> Connection:
        """A new connection, initialized; `before` is awaited before the server reads its first file.

        Raises:
            DiedError: it ended while it was started.
            UnavailableError, RefusedError: it cannot be started.
        """

    def kill(self) -> None:
        """End at once, without a loop, what it started."""
