"""The interface of all ways to reach a language server: `Connection`, one run of it, and `Launcher`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from lsp_mcp.lsp.life.notifications import Notifications
from lsp_mcp.text import PositionEncoding


class Connection(Protocol):
    """One initialized run of one language server, however it is reached."""

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
        """The server's own version; empty if it reports none, or if that was not received."""

    async def memory(self) -> int | None:
        """Bytes of its processes in RAM, None if unknown."""

    @property
    def tells_inactive(self) -> bool:
        """Whether it reports the parts of an open document that the preprocessor excludes, if any."""

    @property
    def advice(self) -> str:
        """Advice for when it does not answer in time, for the end of an error message."""

    @property
    def stuck(self) -> bool:
        """Whether we ended it because it was inactive."""

    def capture(self) -> AbstractContextManager[list[Any]]:
        """Collect the edits (LSP `WorkspaceEdit`) that the server requests during the block; none is applied."""

    def waited_for(self, *, owed: bool = True) -> AbstractContextManager[None]:
        """See `Watchdog.waited_for`; requests include this already."""

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
        """Disconnect; a server of someone else keeps running."""


class Launcher(Protocol):
    """The way to reach a server: start it, or find a running one."""

    @property
    def starts_again(self) -> bool:
        """Whether the last one launched replaces one that died."""

    def spawn(self) -> None:
        """Start the slow part that needs no event loop."""

    def check(self) -> None:
        """Raise `MissingProgramError` if there is nothing to launch."""

    async def launch(self, before: Callable[[], Awaitable[None]]) -> Connection:
        """A new, initialized connection; `before` is awaited before the server reads its first file.

        Raises:
            DiedError: it ended during its start.
            UnavailableError, RefusedError: it cannot be started.
        """

    def kill(self) -> None:
        """Kill what it started, without an event loop."""
