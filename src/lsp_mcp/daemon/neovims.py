"""The Neovims of a daemon's clients: `NeovimClientele`, in which each client has its own connections."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from lsp_mcp.backend import Json
from lsp_mcp.daemon.clientele import Clientele
from lsp_mcp.daemon.clients import Door, Session
from lsp_mcp.door.request import where_neovim_is
from lsp_mcp.sessions.running import Running

if TYPE_CHECKING:
    from lsp_mcp.nvim.address import Address
    from lsp_mcp.sessions.neovims import Neovims

log = logging.getLogger(__name__)

_CHUNK = 65536


class Followed:
    """The Neovims that clients have connected to, each followed to its end by an idle connection.

    Clients end their own connections when they leave, so only these tell an idle daemon about a Neovim's end.
    """

    def __init__(self) -> None:
        self._alive: dict[str, asyncio.Task[None]] = {}  # by address
        self._over = asyncio.Event()  # there was one, and none is running any more

    @property
    def alive(self) -> list[str]:
        """The addresses of the running ones."""
        return list(self._alive)

    async def over(self) -> None:
        """Return when there was one, and none is running any more."""
        await self._over.wait()

    @property
    def is_over(self) -> bool:
        """Whether `over` returns at once."""
        return self._over.is_set()

    def follow(self, neovims: Neovims) -> None:
        """Also follow those that `neovims` are connected to."""
        for connection in neovims.connections.connected:
            if not connection.gone and connection.address.text not in self._alive:
                self._over.clear()
                self._alive[connection.address.text] = asyncio.create_task(self._to_its_end(connection.address))

    async def _to_its_end(self, address: Address) -> None:
        try:
            reader, writer = await (
                asyncio.open_connection(*address.tcp) if address.tcp else asyncio.open_unix_connection(address.path)
            )
            try:
                while await reader.read(_CHUNK):
                    pass  # broadcasts of a plugin
            finally:
                writer.close()
        except OSError as error:
            log.info("%s cannot be followed: %s", address.text, error)
        del self._alive[address.text]
        if not self._alive:
            self._over.set()


class NeovimClientele(Clientele):
    """Each client has its own connections to Neovims of its choice, as if it had this program for itself."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._followed = Followed()
        self._spare: Running | None = None  # not used by a client yet
        self._called: Running | None = None  # for calls from the shell
        self._all: list[Running] = []

    def begin(self) -> None:
        """See `Clientele.begin`; the first client gets what has begun."""
        self._spare = self._new()

    def expect(self, arguments: Sequence[str]) -> None:
        """See `Clientele.expect`; a Neovim's servers have begun already."""

    def met(self, door: Door) -> None:
        """See `Clientele.met`; Neovims are searched for as that client sees them."""
        from lsp_mcp.nvim.discovery import Seeker, seeker

        others = {name: value for name, value in os.environ.items() if name not in where_neovim_is(os.environ)}
        seeker.set(Seeker(door.pid, {**others, **door.around}))

    def session(self, door: Door, session_of: Callable[[Running], Session]) -> Session:
        """See `Clientele.session`."""
        running = self._new(door.kept) if door.kept else self._next()
        try:
            session = session_of(running)
        except BaseException:
            self._spare = running  # it was not used
            raise
        return _NeovimSession(session, running, self._close, resumed=bool(door.kept))

    @asynccontextmanager
    async def shell(self, tool: str) -> AsyncIterator[Running]:
        """See `Clientele.shell`; a call that chooses a Neovim does not choose it for others."""
        if tool in _choosing():
            async with self.batch() as running:
                yield running
            return
        self._called = self._called or self._next()
        yield self._called

    @asynccontextmanager
    async def batch(self) -> AsyncIterator[Running]:
        """See `Clientele.batch`."""
        running = self._new()
        try:
            yield running
        finally:
            await self._close(running)

    @property
    def is_wanted(self) -> bool:
        """See `Clientele.is_wanted`."""
        return bool(self._followed.alive)

    @property
    def state(self) -> Json:
        """See `Clientele.state`."""
        return {"neovims": self._followed.alive}

    async def over(self) -> None:
        """See `Clientele.over`: the last Neovim that a client was connected to has ended."""
        use = self._running.code.use
        while not self._followed.is_over or use.calls:
            await self._followed.over()
            await use.over()

    async def last_edits(self) -> None:
        """See `Clientele.last_edits`."""
        await asyncio.gather(*(running.code.last_edits() for running in self._all))

    async def close(self) -> None:
        """See `Clientele.close`."""
        await asyncio.gather(*(self._close(running) for running in self._all))

    # --- inside ------------------------------------------------------------------------------------

    def _next(self) -> Running:
        spare, self._spare = self._spare, None
        return spare or self._new()

    def _new(self, kept: Json | None = None) -> Running:
        running = self._running.for_client(kept=kept)
        neovims = running.neovims
        assert neovims
        neovims.changed.subscribe(lambda: self._followed.follow(neovims))
        self._all.append(running)
        running.begin()
        return running

    async def _close(self, running: Running) -> None:
        self._all = [one for one in self._all if one is not running]
        await running.close_client()


class _NeovimSession:
    """A client's session, whose Neovims are disconnected at its end."""

    def __init__(
        self, session: Session, running: Running, close: Callable[[Running], Awaitable[None]], *, resumed: bool
    ) -> None:
        assert running.neovims
        self._session = session
        self._running = running
        self._close = close
        self._neovims = running.neovims
        self._resumed = resumed
        self._last_kept: Json | None = None  # what the door passes on to the next daemon
        self.writing = session.writing

    async def run(self, read: Callable[[], Any], write: Callable[[bytes], Any]) -> None:
        """See `Session.run`; the door is told of each change to what it should keep."""
        changed = asyncio.Event()
        self._neovims.changed.subscribe(changed.set)

        async def keep() -> None:
            with contextlib.suppress(BrokenPipeError):
                while True:
                    await self._keep(write)
                    await changed.wait()
                    changed.clear()

        keeping = asyncio.create_task(keep())
        try:
            if self._resumed:
                await self._neovims.begun()  # the first call may be about a previous connection
            await self._session.run(read, write)
            await self._keep(write)
        except BrokenPipeError:
            pass  # the door is gone
        finally:
            keeping.cancel()
            await self._close(self._running)

    async def _keep(self, write: Callable[[bytes], Any]) -> None:
        kept = self._neovims.kept
        if kept != self._last_kept:
            self._last_kept = kept
            await write(json.dumps({"keep": kept}).encode() + b"\n")


def _choosing() -> set[str]:
    """The tools that choose a Neovim."""
    from lsp_mcp.toolsets.nvim.connection_tools import ConnectionTools
    from lsp_mcp.toolsets.tool import declared_tools

    return {tool.name for tool in declared_tools(ConnectionTools) if not tool.read_only}
