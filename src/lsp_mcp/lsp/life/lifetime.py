"""A language server that is started again when it dies: `Lifetime` leads from one `Connection` to the next."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Literal

from lsp_mcp.errors import (
    ConfigError,
    DiedError,
    LspMcpError,
    MissingProgramError,
    RefusedError,
    SilentError,
    StuckError,
    UnavailableError,
)
from lsp_mcp.lsp.life.connection import Connection, Launcher
from lsp_mcp.waiting import phase

log = logging.getLogger(__name__)

_PAUSES = (0.0, 0.2, 1.0, 5.0)  # seconds before each attempt to start a server that keeps dying


class Lifetime:
    """Starts a server, notices its death, and restarts it: four attempts with growing pauses, then on demand.

    `before` is awaited before each start; `started` is called with each new connection, before anyone gets it;
    `given_up` when all attempts failed and new ones begin.
    """

    def __init__(
        self,
        name: str,
        launcher: Launcher,
        *,
        before: Callable[[], Awaitable[None]],
        started: Callable[[], None],
        given_up: Callable[[], None],
    ) -> None:
        self.connection: Connection | None = None  # the present one, or the last
        self.restarts = 0
        self.last_restart = ""  # that it was restarted, and why
        self.closing = False
        self.failure = ""  # why the last start failed; empty once one succeeded
        self.used = time.monotonic()  # time of the last use of the server
        self._name = name
        self._launcher = launcher
        self._before = before
        self._started = started
        self._given_up = given_up
        self._starting: asyncio.Task[Connection] | None = None
        self._ending: asyncio.Task[None] | None = None  # of a run that is being replaced
        self._tries = 0  # starts since the server's last answer
        self._renewing = False  # the next start is deliberate
        self._resting = False  # the next start waits for a question
        self._stuck = False  # the last run ended because it was inactive

    def spawn(self) -> None:
        """Start the server's process now, before any event loop: it loads while this program imports modules.

        A missing program is not an error yet: questions report it, and it may be installed by then.
        """
        try:
            self._launcher.spawn()
        except MissingProgramError as error:
            log.debug("%s", error)

    def begin(self) -> None:
        """Start and initialize the server in the background, unless that is going on."""
        if self._starting is None and not self.closing:
            self._resting = False
            if self._tries == len(_PAUSES):
                self._tries = 0
                self._given_up()
            # In its own context: it is not a part of the call that needs it first.
            self._starting = asyncio.create_task(self._start(), name=f"start {self._name}", context=Context())
            self._starting.add_done_callback(self._start_ended)

    @property
    def starting(self) -> asyncio.Task[Connection] | None:
        """The start in progress."""
        return self._starting

    def state(self) -> Literal["missing", "starting", "running", "stopped"]:
        """The server's present activity."""
        if self.connection and not self.connection.dead.done():
            return "running"
        if self._starting:
            return "starting"
        try:
            self._launcher.check()
        except MissingProgramError:
            return "missing"
        return "stopped"

    async def live(self) -> Connection:
        """The initialized connection; waits for one that is being started, or starts one.

        Raises:
            UnavailableError: it cannot be started, or died repeatedly during its start.
        """
        if self.closing:
            raise UnavailableError(f"{self._name} is being shut down")
        self.used = time.monotonic()
        if self._ending:
            # Shielded here and below: a caller that gives up must not end it for others.
            await asyncio.shield(self._ending)
        if self.connection and not self.connection.dead.done():
            return self.connection
        self.begin()
        assert self._starting
        starting = self._starting
        try:
            with phase(lambda: f"{self._name} is being started"):
                return await asyncio.shield(starting)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if starting.cancelled() and caller and not caller.cancelling():
                raise UnavailableError(f"{self._name} is being shut down") from None
            raise

    async def renew(self) -> Connection:
        """The connection to a new server that replaces the present one, which is ended.

        Requests in progress are repeated. Raises the errors of `live`.
        """
        if self._ending is None and self.connection and not self.connection.dead.done():
            self._tries = 0
            self._renewing = True
            self._ending = asyncio.create_task(self._end(self.connection), context=Context())
        return await self.live()

    @property
    def is_at_rest(self) -> bool:
        """Whether the server was ended by `rest`, and not started since."""
        return self._resting

    async def rest(self) -> None:
        """End the server until the next question, unless a question is in progress; that start is not reported."""
        if self._starting:
            await asyncio.wait([self._starting])
        if self._ending is None and self.connection and not self.connection.dead.done():
            self._tries = 0
            self._renewing = self._resting = True
            self._ending = asyncio.create_task(self._end(self.connection), context=Context())
            await asyncio.shield(self._ending)

    async def _end(self, connection: Connection) -> None:
        try:
            await connection.end()
        finally:
            self._ending = None

    def answered(self) -> None:
        """Note that the server has answered: its next death counts as the first."""
        self._tries = 0

    async def close(self) -> None:
        """End the server, within 3 s; idempotent."""
        self.closing = True
        if self._starting and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait([self._starting])
        if self.connection:
            await self.connection.leave()
        self._launcher.kill()

    def kill(self) -> None:
        """End the server at once, without a loop."""
        self.closing = True
        self._launcher.kill()

    # --- inside ------------------------------------------------------------------------------------

    async def _start(self) -> Connection:
        name = self._name
        try:
            while True:
                self._tries += 1
                await asyncio.sleep(_PAUSES[self._tries - 1])
                try:
                    return await self._start_once()
                except DiedError as death:
                    self._stuck |= isinstance(death, StuckError)
                    log.warning("%s, try %d of %d: %s", name, self._tries, len(_PAUSES), death)
                    if self.closing or self._tries == len(_PAUSES):
                        raise UnavailableError(
                            f"{name} could not be started in {self._tries} tries: {death}. Run: lsp-mcp doctor"
                        ) from None
                except MissingProgramError:
                    self._tries = 0
                    raise
                except (SilentError, RefusedError) as error:
                    self._tries = 0
                    why = str(error).rstrip(".")
                    raise UnavailableError(f"{name} could not be started: {why}. Run: lsp-mcp doctor") from None
                except (UnavailableError, ConfigError):
                    self._tries = 0
                    raise
        finally:
            self._starting = None

    async def _start_once(self) -> Connection:
        connection = await self._launcher.launch(self._before)
        # A deliberate restart is not worth reporting.
        if self._stuck or (self._launcher.starts_again and not self._renewing):
            self.restarts += 1
            self.last_restart = (
                f"{self._name} was stuck and was restarted" if self._stuck else f"{self._name} restarted"
            )
        self._renewing = self._stuck = False
        self.connection = connection
        connection.dead.add_done_callback(lambda _: self._died(connection))
        self._started()
        return connection

    def _start_ended(self, task: asyncio.Task[Connection]) -> None:
        """A start without a waiting caller may fail; the next question tries again and reports why."""
        error = None if task.cancelled() else task.exception()
        self.failure = str(error or "")
        if error:
            log.info("%s", error)
            if not isinstance(error, LspMcpError):
                raise error

    def _died(self, connection: Connection) -> None:
        """Restart the server immediately, so that the next question finds it warm.

        Unless it keeps dying without having answered: then the next question starts it.
        """
        self._stuck = connection.stuck
        if not self.closing and not self._resting and connection is self.connection and self._tries < len(_PAUSES):
            self.begin()
