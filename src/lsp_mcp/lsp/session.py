"""A language server kept alive: `Session` is a `Backend` over one `Connection` after another."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Json, Report, Use
from lsp_mcp.disk.changes import Changes
from lsp_mcp.disk.feed import Feed
from lsp_mcp.disk.files import Files
from lsp_mcp.errors import DiedError, LspMcpError, PathError
from lsp_mcp.lsp import watched_files
from lsp_mcp.lsp.connection import Connection
from lsp_mcp.lsp.documents import Documents
from lsp_mcp.lsp.lifetime import Lifetime
from lsp_mcp.lsp.offers import initialize_params
from lsp_mcp.lsp.workspace_projects import WorkspaceProjects
from lsp_mcp.text import PositionEncoding, Text
from lsp_mcp.uris import path_uri
from lsp_mcp.workspace import Workspace

log = logging.getLogger(__name__)


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
        self._syncing = asyncio.Lock()
        self._generation = 0
        self._to_load: set[Path] = set()  # changed files that the server may have to be asked about
        self._restarts_told = 0
        self._projects = WorkspaceProjects(adapter, workspace, feed)
        self._documents = Documents(adapter, files, self._notify)
        self._lifetime = Lifetime(
            adapter,
            workspace.root,
            options.command,
            options.env,
            # Watching begins before the server reads its first file, or a change in between would be missed.
            before=feed.start,
            started=self._started,
            # It may be one of the documents that the server dies of.
            given_up=self._documents.forget,
        )

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
        return self._lifetime.connection.encoding if self._lifetime.connection else PositionEncoding()

    @property
    def capabilities(self) -> Json:
        """As the present connection has announced."""
        return self._lifetime.connection.capabilities if self._lifetime.connection else {}

    # --- lifetime ----------------------------------------------------------------------------------

    def spawn(self) -> None:
        """Start the server's process, before any event loop; see `Lifetime.spawn`."""
        self._lifetime.spawn()

    def begin(self) -> None:
        """Start initializing in the background, so that the first question waits less."""
        self._lifetime.begin()

    def kill(self) -> None:
        """End the server at once, without a loop."""
        self._lifetime.kill()

    async def close(self) -> None:
        """End the server, within 3 s; idempotent."""
        await self._lifetime.close()
        await self._projects.close()

    async def ready(self, report: Report) -> None:
        """See `Backend.ready`."""
        await self._lifetime.live()
        await self._known(report)

    async def _known(self, report: Report | None = None) -> None:
        """Wait until the server knows the workspace, at most the ready timeout."""
        title = self.adapter.ready.progress_title
        if not title:
            return
        try:
            async with asyncio.timeout(self._options.ready_timeout):
                for seen in itertools.count():
                    progress = (await self._lifetime.live()).progress
                    changed = progress.changed  # taken before the look: what comes while it is reported counts
                    work = progress.pending(title)
                    if work is None:
                        return
                    if report:
                        await report(seen, None, f"{self.name}: {work}")
                    await changed.wait()
        except TimeoutError:
            log.warning("%s is not ready after %g s", self.name, self._options.ready_timeout)

    # --- documents ---------------------------------------------------------------------------------

    async def sync(self) -> int:
        """See `Backend.sync`."""
        # Nobody may ask before what another caller's changes made the server load is loaded.
        async with self._syncing:
            connection = await self._lifetime.live()
            self._feed.watch_also(connection.watched.outside_folders())
            changes = self._feed.changes()
            told = self._tell(connection, changes) if changes else False
            if self._documents.refresh_outside(self._feed.folders()) or told:
                self._generation += 1
            self._projects.begin()
            self._to_load.update(changes.created, changes.changed)
            await self._load(connection)
        return self._generation

    def _tell(self, connection: Connection, changes: Changes) -> bool:
        """Tell the server of `changes`: its open documents first, then what it watches.

        Whether any of them can matter to an answer: a log that somebody writes in the workspace does not.
        """
        touched = [*changes.created, *changes.changed, *changes.deleted]
        self._files.forget(touched)
        self._projects.changed(touched)
        self._documents.refresh(touched)
        connection.shown_error = ""  # it may be mended; if not, the server says so again
        events = connection.watched.events(changes)
        if events:
            connection.notify(watched_files.METHOD, {"changes": events})
        return bool(events) or any(self.adapter.language_of(path) for path in touched)

    async def _load(self, connection: Connection) -> None:
        """Make the server load the packages that changed files are in now, if it doesn't by itself."""
        sources = sorted(path for path in self._to_load if self.adapter.language_of(path))
        if self.adapter.changes.load_request and sources:
            await self._load_sources(connection, sources)
        # Not before: if the caller is cancelled meanwhile, the next one has it done.
        self._to_load.clear()

    async def _load_sources(self, connection: Connection, sources: list[Path]) -> None:
        rules = self.adapter.changes
        if len(sources) > rules.load_most:
            folders = initialize_params(self.adapter, self.workspace.root)["workspaceFolders"]
            connection.progress.expect(self.adapter.ready.progress_title)
            connection.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": folders, "removed": folders}})
            await self._known()
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
        await self._lifetime.live()
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
        await self._lifetime.live()
        for path in self._projects.files_to_open():
            if path not in self._documents:
                try:
                    self._documents.open(path, pinned=True)
                except PathError as error:
                    log.warning("%s: a project is not loaded: %s", self.name, error)

    # --- questions ---------------------------------------------------------------------------------

    async def request(self, method: str, params: Json, *, timeout: float | None = None) -> Any:
        """See `Backend.request`."""
        timeout = timeout or self._options.request_timeout
        try:
            return await self._ask(method, params, timeout)
        except DiedError as death:
            if self._lifetime.closing:
                raise
            log.warning("asking %s again: %s", method, death)
        try:
            return await self._ask(method, params, timeout)
        except DiedError as death:
            raise DiedError(
                f"{death}. It died twice over {method}; it will be started again for the next question. "
                "If this repeats, run: lsp-mcp doctor"
            ) from None

    async def notes(self, path: Path | None, use: Use | None) -> list[str]:
        """See `Backend.notes`."""
        notes = []
        if connection := self._lifetime.connection:
            ready = self.adapter.ready
            if ready.progress_title and (work := connection.progress.pending(ready.progress_title)):
                notes.append(str(work))
            if connection.shown_error:
                notes.append(f"{self.name} says: {connection.shown_error}")
        return notes + await self._projects.notes(path, use)

    def news(self) -> list[str]:
        """See `Backend.news`."""
        restarted = [f"{self.name} restarted"] if self._lifetime.restarts > self._restarts_told else []
        self._restarts_told = self._lifetime.restarts
        return [*restarted, *self._feed.take_notes()]

    # --- inside ------------------------------------------------------------------------------------

    async def _ask(self, method: str, params: Json, timeout: float) -> Any:
        connection = await self._lifetime.live()
        answer = await connection.request(method, params, timeout=timeout)
        self._lifetime.answered()
        return answer

    def _started(self) -> None:
        """A new server knows of no document."""
        self._documents.reopen_all()
        self._projects.check()

    def _notify(self, method: str, params: Any) -> None:
        if self._lifetime.connection:
            self._lifetime.connection.notify(method, params)
