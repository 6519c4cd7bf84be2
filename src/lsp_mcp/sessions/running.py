"""Everything that one process serves: `Running`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from lsp_mcp.backend import Json
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.usage import Usage

if TYPE_CHECKING:
    from lsp_mcp.dap.sessions import DebugSessions
    from lsp_mcp.sessions.neovims import Neovims

Tell = Callable[[str, dict[str, str]], Awaitable[None]]
"""Sends one client a message, with the sender's name; raises the connection's errors."""


class Part(Protocol):
    """The part that serves one toolset beside the language servers; see the table `lsp_mcp.toolsets.table`."""

    def called(self, key: str, tell: Tell) -> None:
        """The client of that key calls a tool; `tell` sends it notices."""

    async def left(self, key: str) -> None:
        """The client of that key is gone. Harmless if it never called."""

    async def close(self) -> None:
        """End its resources; idempotent."""


class Running(Struct, frozen=True):
    """Our language servers, or those of Neovims; parts, by their toolsets; and debug sessions if enabled."""

    code: Sessions
    neovims: Neovims | None = None
    parts: Mapping[str, Part] = field(default_factory=dict)
    debug: DebugSessions | None = None
    usage: Usage = field(default_factory=Usage)

    def begin(self) -> None:
        """Start in the background everything that the first question would wait for. Needs a running loop."""
        (self.neovims or self.code).begin()

    def for_client(self, *, is_shell: bool = False, kept: Json | None = None) -> Running:
        """A view for one client of several, with its own anchors and news. See `Sessions.for_client`.

        Its Neovims are its own too; `kept` is what those of its session passed on in another process.
        """
        if self.neovims:
            own = self.neovims.for_client(kept)
            return Running(own.code, own, self.parts, self.debug, self.usage)
        return Running(self.code.for_client(is_shell=is_shell), self.neovims, self.parts, self.debug, self.usage)

    async def close_client(self) -> None:
        """End a client's own resources, after `for_client`; idempotent."""
        if self.neovims:
            await self.neovims.close()

    async def begun(self) -> None:
        """Wait until the offer no longer depends on what `begin` has started."""
        if self.neovims:
            await self.neovims.begun()

    async def close(self) -> None:
        """End everything that is ours; idempotent."""
        await self.usage.close()
        # First of what others hold: debugged programs may hold files of the rest.
        if self.debug:
            await self.debug.close()
        await (self.neovims or self.code).close()
        for part in self.parts.values():
            await part.close()

    def called(self, key: str, tell: Tell) -> None:
        """The client of that key calls a tool; see `Part`."""
        for part in self.parts.values():
            part.called(key, tell)

    async def left(self, key: str) -> None:
        """The client of that key is gone; see `Part`."""
        for part in self.parts.values():
            await part.left(key)

    def kill(self) -> None:
        """Kill every process of ours, without an event loop."""
        if self.debug:
            self.debug.kill()
        (self.neovims or self.code).kill()
