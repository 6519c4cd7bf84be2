"""A language server started by this program: `ProcessLauncher` starts it, `ProcessConnection` is one run of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from lsp_mcp.errors import (
    METHOD_NOT_FOUND,
    DiedError,
    LspMcpError,
    MissingProgramError,
    RefusedError,
    SilentError,
    StuckError,
)
from lsp_mcp.lsp.life import watched_files
from lsp_mcp.lsp.life.notifications import Notifications
from lsp_mcp.lsp.life.watchdog import PROBE, Free, Watchdog
from lsp_mcp.lsp.process.initialize import initialize_params, workspace_folders
from lsp_mcp.lsp.process.settings import asked_settings, with_found
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.waiting import AGAIN
from lsp_mcp.wire.peer import Peer
from lsp_mcp.wire.process import Child

log = logging.getLogger(__name__)

Variables = Callable[[], Mapping[str, str]]
"""The variables for programs that a server runs, if it has a setting for that."""
Found = Callable[[], Mapping[str, Any]]
"""The settings that depend on what is in the workspace, by their names with dots."""

INITIALIZE_TIMEOUT = 60.0  # seconds, at least: a caller may give up and return when it has started
_SHUTDOWN_TIMEOUT = 1.0  # seconds for the answer to `shutdown`
_EXIT_PATIENCE = 0.7  # seconds between `exit`, or the end of its output, and SIGTERM
_SILENT_PATIENCE = 0.2  # seconds between closing the input of a server that did not shut down, and SIGTERM
_LAST_WORDS = 0.25  # seconds for the remaining output of a server that is gone


class ProcessConnection:
    """A started server during or after its initialization. See `Connection`."""

    advice = AGAIN  # a stuck one does not last until the request timeout

    def __init__(
        self,
        plugin: Plugin,
        child: Child,
        root: Path,
        timeout: float,
        free: Free,
        variables: Variables,
        found: Found = dict,
    ) -> None:
        self.plugin = plugin
        self.adapter = adapter = plugin.adapter
        self._variables = variables
        self._found = found
        self.root = root
        self.stuck = False  # we ended it because it was inactive
        self._timeout = timeout
        self._watchdog = Watchdog(
            timeout,
            probe=self._probe,
            cpu_time=self._cpu_time,
            received=lambda: self._peer.received,
            at_work=lambda: self.notifications.progress.goes_on,
            free=free,
            on_stuck=self._end_stuck,
        )
        self.notifications = Notifications(plugin, root)
        self.encoding = adapter.encoding("utf-16")
        self.capabilities: dict[str, Any] = {}
        self.version = ""
        self._child = child
        self.tells_inactive = bool(plugin.inactive_regions.method)
        self._ending = False
        self._initialized = False
        self._captured: list[Any] | None = None

    async def start(self) -> None:
        """Initialize the server.

        Raises:
            DiedError, SilentError, RefusedError: it died, did not answer, or refused.
        """
        if self.plugin.reports.incomplete_pattern:
            self._child.on_error_line = self.notifications.on_stderr_line
            self.notifications.diagnostics.hear = self._child.hear_errors
        await self._child.attach()
        self._peer = Peer(
            self.adapter.name,
            self._child.reader,
            self._child.writer,
            self._on_request,
            self.notifications.on_notification,
            self.plugin.uncancelled,
        )
        self.dead = asyncio.create_task(self._live(), name=f"{self.adapter.name} {self._child.pid}")
        params = initialize_params(self.plugin, self.root)
        # Some servers read their settings from there and ask for them only after a change.
        params["initializationOptions"] = with_found(params["initializationOptions"], self._found())
        with self._watchdog.waited_for():
            result = await self._peer.request("initialize", params, timeout=max(INITIALIZE_TIMEOUT, self._timeout))
        if not isinstance(result, dict):
            raise RefusedError(f"it answered initialize with {str(result)[:80]!r}")
        self.capabilities = result.get("capabilities") or {}
        said = result.get("serverInfo")
        self.version = str(said.get("version") or "") if isinstance(said, dict) else ""
        unit = self.capabilities.get("positionEncoding") or "utf-16"
        if unit not in ("utf-8", "utf-16", "utf-32"):
            raise RefusedError(f"it counts positions in {unit!r}, which LSP 3.17 does not define")
        self.encoding = self.adapter.encoding(unit)
        self._peer.notify("initialized", {})
        self._initialized = True

    async def request(self, method: str, params: Any, *, timeout: float) -> Any:
        """As `Peer.request`."""
        with self._watchdog.waited_for():
            return await self._peer.request(method, params, timeout=timeout)

    async def memory(self) -> int | None:
        """See `Connection.memory`."""
        return await asyncio.to_thread(self._child.memory)

    def waited_for(self, *, owed: bool = True) -> AbstractContextManager[None]:
        """See `Connection.waited_for`."""
        return self._watchdog.waited_for(owed=owed)

    @contextmanager
    def capture(self) -> Iterator[list[Any]]:
        """See `Connection.capture`."""
        captured: list[Any] = []
        self._captured = captured
        try:
            yield captured
        finally:
            self._captured = None

    def notify(self, method: str, params: Any) -> None:
        """As `Peer.notify`."""
        self._peer.notify(method, params)

    async def end(self) -> None:
        """Shut the server down within 3 s in any case; its process group is ended completely."""
        self._ending = True
        patience = _SILENT_PATIENCE
        if hasattr(self, "_peer"):
            try:
                await self._peer.request("shutdown", None, timeout=_SHUTDOWN_TIMEOUT)
                self._peer.notify("exit", None)
                patience = _EXIT_PATIENCE
            except LspMcpError as error:
                log.debug("%s did not shut down by itself: %s", self.adapter.name, error)
        await self._child.end(patience)
        await self._gone()

    async def leave(self) -> None:
        """Same as `end`: the server has no other users."""
        await self.end()

    async def abandon(self) -> None:
        """Kill it at once, without a shutdown request."""
        self._ending = True
        self._child.kill()
        await self._gone()

    # --- inside ------------------------------------------------------------------------------------

    async def _live(self) -> None:
        """Read the server's messages until it is gone; then fail all waiting requests."""
        reading = asyncio.create_task(self._peer.run())
        exited = asyncio.create_task(self._child.exited.wait())
        deaf = asyncio.create_task(self._peer.deaf.wait())
        broken = ""
        try:
            # Either means the end, and may come without the other: a child of the server may hold its pipes open.
            await asyncio.wait([reading, exited, deaf], return_when=asyncio.FIRST_COMPLETED)
            await self._child.end(_EXIT_PATIENCE)
            await asyncio.wait([reading], timeout=_LAST_WORDS)
            broken = reading.result() if reading.done() else ""
        finally:
            for task in (reading, exited, deaf):
                task.cancel()
            self._child.kill()
            self._child.detach()
            self._watchdog.end()
            words = "was shut down" if self._ending else broken or self._child.last_words()
            name = self.adapter.name
            stuck = StuckError(f"{name} hung and was killed") if self.stuck else None
            self._peer.close(stuck or DiedError(f"{name} {words}"))
            self.notifications.end()

    async def _probe(self, timeout: float) -> None:
        if not self._initialized:
            # No request may precede the answer (LSP 3.17, "Initialize Request").
            raise SilentError("it is not initialized yet")
        await self._peer.request(PROBE, None, timeout=timeout)

    async def _cpu_time(self) -> float | None:
        return await asyncio.to_thread(self._child.cpu_time)

    def _end_stuck(self) -> None:
        log.warning("%s (process %d) hangs and is killed", self.adapter.name, self._child.pid)
        self.stuck = True
        self._child.kill()

    async def _gone(self) -> None:
        """Wait until everyone was told of the end."""
        if hasattr(self, "dead"):
            await asyncio.wait([self.dead], timeout=2 * _LAST_WORDS)

    def _on_request(self, method: str, params: Any) -> Any:
        match method:
            case "workspace/configuration":
                return [self._settings(item.get("section")) for item in params["items"]]
            case "client/registerCapability":
                self.notifications.registered(params["registrations"])
                if missed := self.notifications.watched.missed():
                    self.notify(watched_files.METHOD, {"changes": missed})
                return None
            case "client/unregisterCapability":
                # The misspelling is the specification's.
                for registration in params.get("unregisterations", []):
                    self.notifications.watched.unregister(registration["id"])
                return None
            case "workspace/workspaceFolders":
                return workspace_folders(self.root)
            case "workspace/applyEdit":
                return self._capture(params["edit"])
            case "window/workDoneProgress/create" | "window/showMessageRequest" | "window/showDocument":
                return None
            case _ if method.startswith("workspace/") and method.endswith("/refresh"):
                return None  # nothing is cached here
            case _:
                raise RefusedError(f"lsp-mcp does not support {method}", METHOD_NOT_FOUND)

    def _capture(self, edit: Any) -> Any:
        """Edits reach the disk only through this program's own tools."""
        if self._captured is None:
            return {"applied": False, "failureReason": "lsp-mcp does not apply edits that were not requested"}
        self._captured.append(edit)
        return {"applied": True}

    def _settings(self, section: str | None) -> Any:
        variables = dict(self._variables()) if self.adapter.settings.env_setting else {}
        return asked_settings(self.adapter.settings, self.root, section or "", variables, self._found())


class ProcessLauncher:
    """Starts a language server as a child process. See `Launcher`."""

    def __init__(
        self,
        plugin: Plugin,
        root: Path,
        command: Callable[[], Sequence[str]],
        env: Mapping[str, str] | None,
        timeout: float,
        free: Free,
        variables: Variables = dict,
        found: Found = dict,
    ) -> None:
        self._variables = variables
        self._found = found
        self._plugin = plugin
        self._adapter = plugin.adapter
        self._root = root
        self._command = command
        self._env = env
        self._timeout = timeout  # seconds for one answer
        self._free = free
        self._child: Child | None = None
        self._launched = 0

    @property
    def starts_again(self) -> bool:
        """See `Launcher.starts_again`."""
        return self._launched > 1

    def spawn(self) -> None:
        """Start the process now; it is initialized by `launch`."""
        try:
            self._child = Child(self._command(), cwd=self._root, env=self._env, cleans_up=True)
        except MissingProgramError as error:
            how = f" Get it with: lsp-mcp install {self._adapter.name}" if self._adapter.install else ""
            raise MissingProgramError(f"{error}.{how}") from None

    def check(self) -> None:
        """See `Launcher.check`."""
        self._command()

    async def launch(self, before: Callable[[], Awaitable[None]]) -> ProcessConnection:
        """See `Launcher.launch`."""
        await before()
        if self._child is None or self._child.attached:
            self.spawn()
        assert self._child
        connection = ProcessConnection(
            self._plugin, self._child, self._root, self._timeout, self._free, self._variables, self._found
        )
        try:
            await connection.start()
        except BaseException:
            await connection.abandon()
            raise
        self._launched += 1
        return connection

    def kill(self) -> None:
        """See `Launcher.kill`."""
        if self._child:
            self._child.kill()
