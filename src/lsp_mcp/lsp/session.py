"""A language server kept alive: `Session` is a `Backend` over one `Connection` after another."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Json, Report
from lsp_mcp.disk.changes import Changes
from lsp_mcp.disk.feed import Feed
from lsp_mcp.disk.files import Files
from lsp_mcp.errors import DiedError, LspMcpError, MissingProgramError, SilentError, UnavailableError
from lsp_mcp.lsp import watched_files
from lsp_mcp.lsp.connection import Connection
from lsp_mcp.lsp.documents import Documents
from lsp_mcp.lsp.offers import initialize_params
from lsp_mcp.lsp.programs import find_command
from lsp_mcp.lsp.workspace_projects import WorkspaceProjects
from lsp_mcp.text import PositionEncoding, Text
from lsp_mcp.uris import path_uri
from lsp_mcp.wire.process import Child
from lsp_mcp.workspace import Workspace

log = logging.getLogger(__name__)

_PAUSES = (0.0, 0.2, 1.0, 5.0)  # seconds before each try to start a server that keeps dying


@dataclass(frozen=True)
class SessionOptions:
    """What the user may set of a session."""

    command: tuple[str, ...] = ()  # empty: the adapter's
    env: Mapping[str, str] | None = None
    ready_timeout: float = 30.0  # seconds to wait for the workspace to be known
    request_timeout: float = 60.0  # seconds to wait for one answer


class Session:
    """One language server on one workspace, started again when it dies.

    Messages are sent in order on one connection, and servers handle them in order: what `sync` and `open`
    send before a request counts for its answer.
    """

    def __init__(
        self, adapter: Adapter, workspace: Workspace, files: Files, feed: Feed, options: SessionOptions
    ) -> None:
        self.adapter = adapter
        self.workspace = workspace
        self._files = files
        self._feed = feed
        self._options = options
        self._connection: Connection | None = None
        self._starting: asyncio.Task[Connection] | None = None
        self._closing = False
        self._syncing = asyncio.Lock()
        self._generation = 0
        self._restarts = 0
        self._restarts_told = 0
        self._projects = WorkspaceProjects(adapter, workspace, feed)
        self._documents = Documents(adapter, files, self._notify)
        self._child: Child | None = None

    def spawn(self) -> None:
        """Start the server's process now, before any event loop: it loads while this program still imports.

        A missing program is not an error yet: whoever asks is told, and it may have been installed by then.
        """
        try:
            self._child = self._spawn()
        except MissingProgramError as error:
            log.error("%s", error)

    @property
    def name(self) -> str:
        """The adapter's name."""
        return self.adapter.name

    @property
    def root(self) -> Path:
        """The workspace root."""
        return self.workspace.root

    @property
    def encoding(self) -> PositionEncoding:
        """As agreed with the present connection."""
        return self._connection.encoding if self._connection else PositionEncoding()

    @property
    def capabilities(self) -> Json:
        """As the present connection has announced."""
        return self._connection.capabilities if self._connection else {}

    # --- lifetime ----------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start initializing in the background, so that the first question waits less."""
        if self._starting is None and not self._closing:
            self._starting = asyncio.create_task(self._start(), name=f"start {self.name}")

    async def close(self) -> None:
        """End the server, within 3 s; idempotent."""
        self._closing = True
        if self._starting and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait([self._starting])
        if self._connection:
            await self._connection.end()
        elif self._child:
            self._child.kill()
        await self._projects.close()

    def kill(self) -> None:
        """End the server at once, without a loop."""
        self._closing = True
        if self._connection:
            self._connection.kill()
        if self._child:
            self._child.kill()

    async def ready(self, report: Report) -> None:
        """See `Backend.ready`."""
        await self._known(await self._live(), report)

    async def _known(self, connection: Connection, report: Report | None = None) -> None:
        """Wait until the server knows the workspace, at most the ready timeout."""
        title = self.adapter.ready.progress_title
        if not title:
            return
        try:
            async with asyncio.timeout(self._options.ready_timeout):
                while True:
                    connection.progress.changed.clear()
                    work = connection.progress.pending(title)
                    if work is None or connection.dead.done():
                        return
                    if report:
                        await report(0, None, f"{self.name}: {work}")
                    await connection.progress.changed.wait()
        except TimeoutError:
            log.warning("%s is not ready after %g s", self.name, self._options.ready_timeout)

    # --- documents ---------------------------------------------------------------------------------

    async def sync(self) -> int:
        """See `Backend.sync`."""
        # Nobody may ask before what another caller's changes made the server load is loaded.
        async with self._syncing:
            connection = await self._live()
            self._feed.watch_also(connection.watched.outside_folders())
            changes = self._feed.changes()
            if changes or self._documents.refresh_outside(self._feed.folders()):
                self._generation += 1
            if changes:
                self._tell(connection, changes)
                await self._load(connection, [*changes.created, *changes.changed])
        return self._generation

    def _tell(self, connection: Connection, changes: Changes) -> None:
        """Tell the server of `changes`: its open documents first, then what it watches."""
        touched = [*changes.created, *changes.changed, *changes.deleted]
        self._files.forget(touched)
        self._projects.changed(touched)
        self._documents.refresh(touched)
        events = [
            {"uri": path_uri(path), "type": kind}
            for kind, paths in (
                (watched_files.CREATED, changes.created),
                (watched_files.CHANGED, changes.changed),
                (watched_files.DELETED, changes.deleted),
            )
            for path in connection.watched.wanted(paths, kind)
        ]
        if events:
            connection.notify(watched_files.METHOD, {"changes": events})

    async def _load(self, connection: Connection, paths: Sequence[Path]) -> None:
        """Make the server load the packages that `paths` are in now, if it doesn't by itself."""
        rules = self.adapter.changes
        sources = sorted(path for path in paths if self.adapter.language_of(path))
        if not rules.load_request or not sources:
            return
        if len(sources) > rules.load_most:
            folders = initialize_params(self.adapter, self.workspace.root)["workspaceFolders"]
            connection.progress.expect(self.adapter.ready.progress_title)
            connection.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": folders, "removed": folders}})
            await self._known(connection)
            return
        timeout = self._options.request_timeout
        requests = (
            connection.request(rules.load_request, {"textDocument": {"uri": path_uri(path)}}, timeout=timeout)
            for path in sources
        )
        for outcome in await asyncio.gather(*requests, return_exceptions=True):
            # A file that cannot be parsed or has gone again is loaded by nothing; a dead server is started anew.
            if isinstance(outcome, LspMcpError):
                log.debug("%s: %s: %s", self.name, rules.load_request, outcome)
            elif isinstance(outcome, BaseException):
                raise outcome

    async def open(self, path: Path) -> Text:
        """See `Backend.open`."""
        await self._live()
        return self._documents.open(path)

    async def text(self, path: Path) -> Text:
        """See `Backend.text`."""
        document = self._documents.get(path)
        return document.text if document else self._files.text(path)

    def version(self, path: Path) -> int | None:
        """See `Backend.version`."""
        document = self._documents.get(path)
        return document.version if document else None

    async def load_projects(self) -> None:
        """See `Backend.load_projects`."""
        await self._live()
        for path in self._projects.files_to_open():
            if path not in self._documents:
                self._documents.open(path, pinned=True)

    # --- questions ---------------------------------------------------------------------------------

    async def request(self, method: str, params: Json, *, timeout: float | None = None) -> Any:
        """See `Backend.request`."""
        timeout = timeout or self._options.request_timeout
        connection = await self._live()
        try:
            return await connection.request(method, params, timeout=timeout)
        except DiedError as death:
            if self._closing:
                raise
            log.warning("asking %s again: %s", method, death)
        connection = await self._live()
        try:
            return await connection.request(method, params, timeout=timeout)
        except DiedError as death:
            raise DiedError(
                f"{death}. It died twice over {method}; it will be started again for the next question. "
                "If this repeats, run: lsp-mcp doctor"
            ) from None

    async def notes(self, path: Path | None, identifier: str | None) -> list[str]:
        """See `Backend.notes`."""
        notes = []
        if self._restarts > self._restarts_told:
            notes.append(f"{self.name} restarted")
            self._restarts_told = self._restarts
        if connection := self._connection:
            ready = self.adapter.ready
            if ready.progress_title and (work := connection.progress.pending(ready.progress_title)):
                notes.append(str(work))
            if connection.shown_error:
                notes.append(f"{self.name} says: {connection.shown_error}")
        notes += self._feed.take_notes()
        return notes + await self._projects.notes(path, identifier)

    # --- inside ------------------------------------------------------------------------------------

    def _notify(self, method: str, params: Any) -> None:
        if self._connection:
            self._connection.notify(method, params)

    async def _live(self) -> Connection:
        """The initialized connection; waits for one that is being started, starts one if there is none.

        Raises:
            UnavailableError: it cannot be started, or died again and again while it was.
        """
        if self._closing:
            raise UnavailableError(f"{self.name} is being shut down")
        if self._connection and not self._connection.dead.done():
            return self._connection
        self.begin()
        assert self._starting
        # Shielded: a caller that gives up must not end the start for the others.
        return await asyncio.shield(self._starting)

    async def _start(self) -> Connection:
        """Start and initialize the server, with growing pauses; announces itself when done."""
        try:
            for attempt, pause in enumerate(_PAUSES, 1):
                await asyncio.sleep(pause)
                try:
                    return await self._start_once()
                except (DiedError, SilentError) as error:
                    log.warning("%s, try %d of %d: %s", self.name, attempt, len(_PAUSES), error)
                    last = error
            raise UnavailableError(
                f"{self.name} could not be started in {len(_PAUSES)} tries: {last}. Run: lsp-mcp doctor"
            )
        finally:
            self._starting = None

    async def _start_once(self) -> Connection:
        child, self._child = self._child or self._spawn(), None
        connection = Connection(self.adapter, child, self.workspace.root)
        # Watching begins before the server reads its first file, or a change in between would be missed.
        await self._feed.start()
        try:
            await connection.start()
        except BaseException:
            connection.kill()
            raise
        first = self._connection is None
        self._connection = connection
        connection.dead.add_done_callback(lambda _: self._died(connection))
        if not first:
            self._restarts += 1
            self._documents.reopen_all()
        self._projects.check()
        return connection

    def _died(self, connection: Connection) -> None:
        """Start the server again at once: the next question should find it warm."""
        if not self._closing and connection is self._connection:
            self.begin()
            if self._starting:
                self._starting.add_done_callback(_retrieve)

    def _spawn(self) -> Child:
        try:
            command = self._options.command or find_command(self.adapter)
            return Child(command, cwd=self.workspace.root, env=self._options.env)
        except MissingProgramError as error:
            how = f" Get it with: lsp-mcp install {self.name}" if self.adapter.install else ""
            raise MissingProgramError(f"{error}.{how}") from None


def _retrieve(task: asyncio.Task[Any]) -> None:
    """A start that nobody waits for may fail; the next question tries again and says why."""
    if not task.cancelled() and (error := task.exception()):
        log.error("%s", error)
        if not isinstance(error, LspMcpError):
            raise error
