"""All that is served by one process: `Running`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsp_mcp.sessions.neovims import Neovims
from lsp_mcp.sessions.sessions import Sessions

if TYPE_CHECKING:
    from lsp_mcp.board.host import BoardHost
    from lsp_mcp.dap.sessions import DebugSessions


@dataclass(frozen=True)
class Running:
    """Language servers that we started, or those of Neovims; a board and debug sessions if they were asked for."""

    code: Sessions
    neovims: Neovims | None = None
    board: BoardHost | None = None
    debug: DebugSessions | None = None

    def begin(self) -> None:
        """Start in the background what the first question would wait for. Needs a running loop."""
        (self.neovims or self.code).begin()

    def for_client(self) -> Running:
        """The same for one client of several: what it was told and handed out is its own."""
        return Running(self.code.for_client(), self.neovims, self.board, self.debug)

    async def begun(self) -> None:
        """Wait until what is offered no longer depends on what `begin` has started."""
        if self.neovims:
            await self.neovims.begun()

    async def close(self) -> None:
        """End everything that is ours; idempotent."""
        # First of all: what is debugged may hold the files of what else there is.
        if self.debug:
            await self.debug.close()
        await (self.neovims or self.code).close()
        if self.board:
            await self.board.board.close()

    def kill(self) -> None:
        """End every process that is ours at once, without a loop."""
        if self.debug:
            self.debug.kill()
        (self.neovims or self.code).kill()
