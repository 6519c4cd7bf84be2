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
from lsp_mcp.backend import Json, Report, State, Use
from lsp_mcp.disk.changes import Changes
from lsp_mcp.disk.feed import Feed
from lsp_mcp.disk.files import Files
from lsp_mcp.errors import DiedError, PathError, SilentError
from lsp_mcp.lsp.compilation.build import Build
from lsp_mcp.lsp.coverage.workspace_projects import WorkspaceProjects
from lsp_mcp.lsp.editor.connection import HostedConnection
from lsp_mcp.lsp.editor.host import Host
from lsp_mcp.lsp.editor.launcher import HostLauncher
from lsp_mcp.lsp.life import watched_files
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.lsp.life.documents import Documents, Texts
from lsp_mcp.lsp.life.lifetime import Lifetime
from lsp_mcp.lsp.life.progress import Work
from lsp_mcp.lsp.process.connection import ProcessLauncher
from lsp_mcp.lsp.process.programs import find_command
from lsp_mcp.lsp.reloading.package_requests import PackageRequests
from lsp_mcp.lsp.reloading.reloading import Reloading
from lsp_mcp.lsp.reloading.reopening import Reopening
from lsp_mcp.text import PositionEncoding, Text
from lsp_mcp.uris import path_uri
from lsp_mcp.workspace import Workspace

log = logging.getLogger(__name__)

_MOST_NAMED = 3  # files named in one note
_DIAGNOSTICS_TIMEOUT = 10.0  # seconds for a server to look at a text


@dataclass(frozen=True)
class SessionOptions:
    """What the user may set of a session."""

    command: tuple[str, ...] = ()  # empty: the adapter's
    env: Mapping[str, str] | None = None
    ready_timeout: float = 30.0  # seconds to wait for the workspace to be known
    request_timeout: float = 60.0  # seconds to wait for one answer
    database: Path | None = None  # the compilation database to use; None: the one that is found
    shared_index: bool = False  # the index lies where an editor's server keeps it


class Session:
    """One language server on one workspace, started again when it dies. With a `host`, it is that editor's.

    Messages are sent in order on one connection, and servers handle them in order: what `sync` and `open`
    send before a request counts for its answer.
    """

    def __init__(
        self,
        adapter: Adapter,
        workspace: Workspace,
        files: Files,
        feed: Feed,
        options: SessionOptions,
        host: Host | None = None,
    ) -> None:
        self.adapter = adapter
        self.workspace = workspace
        self._host = host
        self._files: Texts = host.buffers if host else files
        self._feed = feed
        self._options = options
        self._syncing = asyncio.Lock()
        self._generation = 0
        self._loaded: tuple[Connection | None, bool] = (None, False)  # by which life of the server, and whether all
        self._to_load: set[Path] = set()  # changed files that the server may have to be made to read
        self._diagnosed: dict[Path, int] = {}  # the generation in which each file's diagnostics were last asked for
        self._to_read: set[Path] = set()  # files whose buffers changed, in an editor
        self._restarts_told = 0
        self._projects = WorkspaceProjects(adapter, workspace, feed)
        self._documents = Documents(adapter, self._files, self._notify, self if host else None)
        self._host_seen = 0  # the generation of its buffers that the server is known to have
        self._hosted = HostLauncher(adapter, workspace.root, host, self._sample, self) if host else None
        self._lifetime = Lifetime(
            adapter.name,
            self._hosted or ProcessLauncher(adapter, workspace.root, self._command, options.env),
            before=self._prepare,
            started=self._started,
            # It may be one of the documents that the server dies of.
            given_up=self._documents.forget,
        )
        rules = adapter.compilation
        self._build = (
            Build(
                adapter,
                rules,
                workspace,
                feed,
                options.database,
                shared=options.shared_index or bool(host),
                hosted=bool(host),
            )
            if rules
            else None
        )
        timeout = options.request_timeout
        self._reloading: Reloading = (
            Reopening(adapter, self._build, self._documents, self._lifetime, self._known, timeout)
            if self._build
            else PackageRequests(adapter, workspace, self._documents, self._lifetime, self._known, timeout)
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

    @property
    def request_timeout(self) -> float:
        """See `Backend.request_timeout`."""
        return self._options.request_timeout

    def state(self) -> State:
        """See `Backend.state`."""
        state = self._lifetime.state()
        return "indexing" if state == "running" and self._indexing() else state

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
        if self._build:
            self._build.close()

    async def ready(self, report: Report) -> None:
        """See `Backend.ready`."""
        await self._lifetime.live()
        await self._known(report)

    async def _known(self, report: Report | None = None) -> None:
        """Wait until the server knows the workspace, at most the ready timeout."""
        try:
            async with asyncio.timeout(self._options.ready_timeout):
                for seen in itertools.count():
                    # Taken before the look: what comes while it is reported counts.
                    changed = (await self._lifetime.live()).notifications.progress.changed
                    work = self._indexing()
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
            self._feed.watch_also(connection.notifications.watched.outside_folders())
            changes = self._feed.changes()
            edited = await self._edited(changes)
            told = self._tell(connection, changes) if changes else False
            outside = self._documents.refresh_outside(self._feed.folders())
            if self._build and (elsewhere := self._build.changed_elsewhere()):
                self._build.files.changed(elsewhere)
                outside = [*outside, *elsewhere]
            # Before anything is waited for: a caller who is cancelled then must not hide it from the others.
            self._generation += bool(told or outside or edited)
            self._projects.begin()
            self._to_read.update(edited)
            self._to_load.update(changes.created, changes.changed, changes.deleted, outside)
            if isinstance(connection, HostedConnection) and not connection.has_seen_all:
                if connection.client and connection.client.root:
                    await self._reloading.reload_all(connection.client.root)
                connection.has_seen_all = True
            replaced = await self._reloading.load(self._to_load)
            await self._reloading.buffers_changed(self._to_read)
            # Not before: if the caller is cancelled meanwhile, the next one has it done.
            self._to_load.clear()
            self._to_read.clear()
            # What was loaded meanwhile counts too: an answer from before lacks it.
            connection = await self._lifetime.live()
            loaded, self._loaded = self._loaded, (connection, self._indexing() is None)
            if self._build and self._build.has_index and self._loaded[1]:
                await self._build.indexed()
            self._generation += bool(replaced or loaded != self._loaded)
        return self._generation

    @property
    def generation(self) -> int:
        """See `Backend.generation`."""
        return self._generation

    async def _edited(self, changes: Changes) -> set[Path]:
        """The files of this server whose buffers changed since the last call; they follow `changes` on disk."""
        if self._host is None:
            return set()
        seen, now = self._host_seen, await self._host.buffers.sync([*changes.created, *changes.changed])
        # Everything up to this generation is looked at, whoever asks next.
        self._host_seen = now
        changed = self._host.buffers.changed_since(seen) if self._host_seen > seen else set()
        edited = {path for path in changed if self.adapter.language_of(path)}
        for path in edited:
            self._documents.get(path)  # its version takes its place before the server says anything about it
        return edited

    def _tell(self, connection: Connection, changes: Changes) -> bool:
        """Tell the server of `changes`: its open documents first, then what it watches.

        Whether any of them can matter to an answer: a log that somebody writes in the workspace does not.
        """
        touched = [*changes.created, *changes.changed, *changes.deleted]
        self._files.forget(touched)
        self._projects.changed(touched)
        if self._build:
            self._build.files.changed(touched)
        self._documents.refresh(touched)
        connection.notifications.last_error = ""  # it may be mended; if not, the server says so again
        events = connection.notifications.watched.events(changes)
        if events:
            connection.notify(watched_files.METHOD, {"changes": events})
        return bool(events) or any(self.adapter.language_of(path) for path in touched)

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
        return self._documents.wire_version(path)

    async def load(self, path: Path | None, word: str) -> None:
        """See `Backend.load`."""
        await self._lifetime.live()
        if word and self._build:
            async with self._syncing:
                await self._reloading.load_word(word, part=path is None)
        if path is None:
            self._load_projects()

    def _load_projects(self) -> None:
        for path in self._projects.files_to_open():
            if path not in self._documents:
                try:
                    self._documents.open(path, pinned=True)
                except PathError as error:
                    log.warning("%s: a project is not loaded: %s", self.name, error)

    def mistrust(self, path: Path, name: str) -> None:
        """See `Backend.mistrust`."""
        self._reloading.mistrust(path, name)

    async def problems(self, path: Path) -> list[str]:
        """See `Backend.problems`."""
        return await self._reloading.problems(path)

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
        if work := self._indexing():
            notes.append(str(work))
        if (connection := self._lifetime.connection) and connection.notifications.last_error:
            notes.append(f"{self.name} says: {connection.notifications.last_error}")
        notes += self._host_notes()
        notes += await self._reloading.notes(use, part=path is None)
        return notes + await self._projects.notes(path, use)

    def _host_notes(self) -> list[str]:
        """What of the editor makes answers differ from the files, or incomplete."""
        if self._host is None or self._hosted is None:
            return []
        display_path = self.workspace.display_path
        notes = [
            f"conflict: {display_path(path)} was changed on disk and has unsaved changes in Neovim; answers are for "
            "the unsaved text, and neither is touched: save or reload it there"
            for path in self._host.buffers.conflicts()
            if self.adapter.language_of(path)
        ]
        connection = self._lifetime.connection
        client = connection.client if isinstance(connection, HostedConnection) else None
        if client and client.root and not self.root.is_relative_to(client.root):
            notes.append(f"{self.name} in {self._host.name} works in {display_path(client.root)} only")
        return notes

    def news(self) -> list[str]:
        """See `Backend.news`."""
        restarted = [f"{self.name} restarted"] if self._lifetime.restarts > self._restarts_told else []
        self._restarts_told = self._lifetime.restarts
        return [*restarted, *self._feed.take_notes(), *(self._build.news() if self._build else ()), *self._unsaved()]

    def _unsaved(self) -> list[str]:
        files = [path for path in self._host.buffers.unsaved() if self.adapter.language_of(path)] if self._host else []
        if not files:
            return []
        more = f" and {len(files) - _MOST_NAMED:,} more" if len(files) > _MOST_NAMED else ""
        return [f"for unsaved text in Neovim: {', '.join(map(self.workspace.display_path, files[:_MOST_NAMED]))}{more}"]

    def _indexing(self) -> Work | None:
        """What the server still has to do until it knows the workspace; None when it does."""
        title, connection = self.adapter.ready.progress_title, self._lifetime.connection
        if not title or not connection or (self._build and not self._build.has_index):
            return None
        return connection.notifications.progress.pending(title)

    # --- inside ------------------------------------------------------------------------------------

    async def _ask(self, method: str, params: Json, timeout: float) -> Any:
        connection = await self._lifetime.live()
        answer = await connection.request(method, params, timeout=timeout)
        self._lifetime.answered()
        return answer

    def _command(self) -> list[str]:
        return [
            *(self._options.command or find_command(self.adapter)),
            *(self._build.arguments() if self._build else ()),
        ]

    async def _prepare(self) -> None:
        # Watching begins before the server reads its first file, or a change in between would be missed.
        await self._feed.start()
        if self._build:
            if self._hosted:
                self._build.hosted_as(self._hosted.command)
            await self._build.prepare()

    async def wait(self, timeout: float, report: Report) -> State:
        """The state of the server once it is ready, or after `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                await self.ready(report)
        except TimeoutError:
            pass
        return self.state()

    async def diagnosed(self, path: Path) -> bool:
        """Wait until the server has said what is wrong in the present text of `path`; False if it doesn't in time."""
        connection = await self._lifetime.live()
        self._documents.open(path)
        if (command := self.adapter.diagnostics.command) and self._diagnosed.get(path) != self._generation:
            # Whatever it depends on may have changed.
            generation = self._generation
            params = {"command": command, "arguments": [{"Files": [path_uri(path)]}]}
            try:
                await self.request("workspace/executeCommand", params)
            except SilentError:
                return False
            self._diagnosed[path] = generation
        document = None if self._documents.is_uncertain(path) else self._documents.get(path)
        version = document.version if document else self._documents.show(path)
        try:
            async with asyncio.timeout(_DIAGNOSTICS_TIMEOUT):
                return await connection.notifications.diagnostics.of(path, version)
        except TimeoutError:
            return False

    @property
    def has_versions(self) -> bool:
        """Whether this server says, as far as is known, of which text its diagnostics are."""
        connection = self._lifetime.connection
        return bool(connection and connection.notifications.diagnostics.has_versions)

    def diagnostics(self, path: Path) -> list[Any]:
        """The last diagnostics of `path`, as the server sent them."""
        connection = self._lifetime.connection
        return connection.notifications.diagnostics.raw.get(path, []) if connection else []

    # --- in an editor ------------------------------------------------------------------------------

    def held(self) -> dict[Path, tuple[Text, int]]:
        """See `Holder`: the documents that the editor has open with this server."""
        connection = self._lifetime.connection
        if self._host is None or not isinstance(connection, HostedConnection) or connection.client is None:
            return {}
        return self._host.buffers.held(connection.client.id)

    def reopen(self, path: Path, version: int) -> None:
        """See `Holder`."""
        connection = self._lifetime.connection
        if self._host and isinstance(connection, HostedConnection) and connection.client:
            self._host.clients.reopen(connection.client.id, path, version)

    def handed_over(self, path: Path) -> None:
        """See `Owner.handed_over`."""
        self._documents.handed_over(path)

    def opened_by_editor(self, path: Path) -> None:
        """See `Owner.opened_by_editor`."""
        self._documents.opened_by_editor(path)
        if self._lifetime.connection:
            self._lifetime.connection.notifications.diagnostics.forget(path)

    async def _sample(self) -> Path | None:
        """A file of this server's languages, the one nearest to the root."""
        await self._feed.start()

        def nearest() -> Path | None:
            sources = (path for path in list(self._feed.files()) if self.adapter.language_of(path))
            return min(sources, key=lambda path: (len(path.parts), path), default=None)

        return await asyncio.to_thread(nearest)

    def _started(self) -> None:
        """A new server knows of no document."""
        self._documents.reopen_all()
        self._projects.check()
        self._reloading.started()
        if self._lifetime.connection:
            self._lifetime.connection.notifications.diagnostics.serial = self._documents.serial
        if isinstance(self._lifetime.connection, HostedConnection):
            self._lifetime.connection.listen()
        if self._build and (connection := self._lifetime.connection):
            connection.notifications.diagnostics.on_incomplete = self._build.incomplete
            if first := self._build.first_file():
                self._documents.show(first)

    def _notify(self, method: str, params: Any) -> None:
        if self._lifetime.connection:
            self._lifetime.connection.notify(method, params)
