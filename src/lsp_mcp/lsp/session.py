"""A running language server: `Session` is a `Backend` over successive `Connection`s."""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from lsp_mcp.backend import Json, Report, Scope, State, Trial
from lsp_mcp.disk.feed import Feed
from lsp_mcp.disk.files import Files
from lsp_mcp.errors import DiedError, LspMcpError, PathError, RefusedError, SilentError, StuckError
from lsp_mcp.gaps import Gap, news
from lsp_mcp.lsp.checking import Checking
from lsp_mcp.lsp.coverage import Parts, SessionPlugin, Start
from lsp_mcp.lsp.diagnosing import Diagnosing
from lsp_mcp.lsp.editor.connection import HostedConnection
from lsp_mcp.lsp.editor.coverage import editor_gaps
from lsp_mcp.lsp.editor.held import HeldDocuments
from lsp_mcp.lsp.editor.host import Host
from lsp_mcp.lsp.editor.launcher import HostLauncher
from lsp_mcp.lsp.freshness import Freshness, Served, Sources
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.lsp.life.documents import Documents, Texts
from lsp_mcp.lsp.life.guests import Guests, file_of
from lsp_mcp.lsp.life.lifetime import Lifetime
from lsp_mcp.lsp.life.pulling import pulling
from lsp_mcp.lsp.process.connection import ProcessLauncher
from lsp_mcp.lsp.readiness import Readiness
from lsp_mcp.lsp.served_coverage import ServedCoverage
from lsp_mcp.lsp.served_documents import ServedDocuments
from lsp_mcp.lsp.served_problems import ServedProblems
from lsp_mcp.lsp.trial_server import trial_server
from lsp_mcp.programs import find_command
from lsp_mcp.protocol.lsp import WorkspaceEdit
from lsp_mcp.text import PositionEncoding
from lsp_mcp.waiting import AGAIN, allow, phase, unhurried, within
from lsp_mcp.words.workspace_words import WorkspaceWords
from lsp_mcp.workspace import Workspace

log = logging.getLogger(__name__)

_REASON = 400  # characters of what a server says of why it could not load anything
_MOST_NEWS = 20  # remembered reports of how changes were detected


class SessionOptions(Struct, frozen=True):
    """The settings of a session that the user may change."""

    command: tuple[str, ...] = ()  # empty: the adapter's
    env: Mapping[str, str] | None = None
    ready_timeout: float = 30.0  # seconds to wait for the workspace to be known
    request_timeout: float = 55.0  # seconds to wait for one answer
    database: Path | None = None  # the compilation database to use; None: search for one
    shared_index: bool = False  # keep the index where an editor's server keeps it
    remote_index: str = ""  # HOST:PORT of an index server


class Session:
    """One language server on one workspace, restarted when it dies. With a `host`, it is that editor's.

    It only connects the parts: `Lifetime` (start, death, restart), `Documents` (open documents), `Freshness` (changes),
    `Readiness` (loading), `Diagnosing`; the plug-in's `Coverage` and `Reloading` know what the server has and reads.

    Messages are sent in order on one connection, and servers handle them in order: whatever `sync` and `open` send
    before a request counts for its answer.
    """

    def __init__(
        self,
        plugin: SessionPlugin,
        workspace: Workspace,
        files: Files,
        feed: Feed,
        options: SessionOptions,
        host: Host | None = None,
    ) -> None:
        self.plugin = plugin
        self.adapter = adapter = plugin.adapter
        self.workspace = workspace
        self._host = host
        self._files: Texts = host.buffers if host else files
        self._feed = feed
        self._options = options
        self._watch_news: deque[Gap] = deque(maxlen=_MOST_NEWS)  # when changes were not detected exactly by events
        self._numbers = itertools.count(1)
        self._coverage = self.plugin.coverage(
            Start(
                workspace,
                feed,
                options.env,
                options.database,
                options.shared_index,
                host is not None,
                options.remote_index,
            )
        )
        held = HeldDocuments(host, lambda: self._lifetime.connection) if host else None
        opening = None if host else self._coverage.opening
        self._documents = Documents(plugin, self._files, self._notify, held, opening)
        self.words = WorkspaceWords(
            adapter,
            workspace.root,
            feed.paths,
            held.texts if held else dict,
            self._coverage.surroundings,
            self._coverage.includes,
            self.plugin.visibility,
            self._coverage.language_of,
            self.first_name,
        )
        self._coverage.on_sources(self.words.changed)
        self._hosted = self._host_launcher(host) if host else None
        self._lifetime = Lifetime(
            adapter.name,
            self._hosted or self._process_launcher(),
            before=self._prepare,
            started=self._started,
            # It may be a document that makes the server die.
            given_up=lambda: self._documents.keep_last(0),
        )
        self._readiness = Readiness(adapter, self._lifetime, self._coverage, options.ready_timeout)
        known, timeout = self._readiness.wait, options.request_timeout
        parts = Parts(workspace, self._documents, self._lifetime, known, timeout)
        self._reloading = self.plugin.reloading(self._coverage, parts)
        self._freshness = Freshness(
            Sources(workspace, feed, self._files, host),
            Served(
                plugin,
                self._documents,
                self._lifetime,
                self.words,
                self._coverage,
                self._readiness,
                self._reloading,
            ),
        )
        self._serve()
        self._was_ended_for_memory = False  # and the next one has not read everything since
        self._executing = asyncio.Lock()
        self._source: Path | None = None  # see `_nearest`

    def _host_launcher(self, host: Host) -> HostLauncher:
        timeout = self._options.request_timeout
        return HostLauncher(self.plugin, self.root, host, self._sample, self._documents, timeout, self._free)

    def _process_launcher(self) -> ProcessLauncher:
        return ProcessLauncher(
            self.plugin,
            self.root,
            self._command,
            self._options.env,
            self._options.request_timeout,
            self._free,
            lambda: self._coverage.env,
            self._coverage.settings,
        )

    def _serve(self) -> None:
        """Make the parts of `Backend` that are not questions."""
        plugin, timeout = self.plugin, self._options.request_timeout
        self._diagnosing = Diagnosing(plugin, self._documents, self._lifetime, self._freshness, timeout)
        self._guests = Guests(self._documents, lambda path: plugin.systems_of(path, self._documents.present(path)))
        self.documents = ServedDocuments(
            self._lifetime,
            self._documents,
            self._guests,
            self._files,
            self.workspace.withholds,
            self._coverage.excludes,
        )
        self.coverage = ServedCoverage(
            plugin,
            self._coverage,
            self._reloading,
            words=self.words,
            documents=self._documents,
            lifetime=self._lifetime,
            freshness=self._freshness,
            command=self._present_command,
            server=None if self._host else self._own_server,
            timeout=timeout,
        )
        self._checking = Checking(
            plugin,
            self._documents,
            self._lifetime,
            self._freshness,
            samples=self._samples,
            sources=self._sources,
            coverage=self._coverage,
            display_path=self.workspace.display_path,
            timeout=timeout,
        )
        self.problems = ServedProblems(
            self._lifetime,
            self._diagnosing,
            self._checking,
            self.coverage.load_projects,
            self._trial_server if plugin.trial_arguments else None,
        )

    # --- what it is --------------------------------------------------------------------------------

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
        """As agreed on the present connection."""
        return self._connection.encoding if self._connection else PositionEncoding()

    @property
    def capabilities(self) -> Json:
        """As announced on the present connection."""
        return self._connection.capabilities if self._connection else {}

    def state(self) -> State:
        """See `Backend.state`."""
        state = self._lifetime.state()
        return "indexing" if state == "running" and self._readiness.pending() else state

    def standing(self) -> tuple[str, str]:
        """Its state, and why it does not answer, for people; "" if nobody has needed it yet."""
        state = self.state()
        if state == "indexing":
            return state, str(self._readiness.pending() or "")
        if state == "stopped" and not self._lifetime.failure:
            return "at rest" if self.is_at_rest else "", ""
        return state, "" if state == "running" else self._lifetime.failure

    # --- from its start to its end -----------------------------------------------------------------

    def spawn(self) -> None:
        """Start the server's process, before any event loop; see `Lifetime.spawn`."""
        self._lifetime.spawn()

    def begin(self) -> None:
        """Start initializing in the background, so that the first question waits less."""
        self._lifetime.begin()

    @property
    def starting(self) -> asyncio.Task[Any] | None:
        """See `Lifetime.starting`."""
        return self._lifetime.starting

    @property
    def used(self) -> float:
        """Time of the last question, by the monotonic clock."""
        return self._lifetime.used

    @property
    def is_at_rest(self) -> bool:
        """Whether it was ended for being idle; the next question starts it again."""
        return self._lifetime.is_at_rest

    async def rest(self, *, for_memory: bool = False) -> None:
        """See `Lifetime.rest`; if `for_memory`, answers that the new server cannot give in full yet say so."""
        self._was_ended_for_memory = for_memory
        await self._lifetime.rest()

    def kill(self) -> None:
        """End the server at once, without a loop."""
        self._lifetime.kill()

    async def close(self) -> None:
        """End the server, within 3 s; idempotent."""
        await self._lifetime.close()
        await self.words.close()
        await self._coverage.close()

    async def sources_known(self) -> None:
        """Wait until `Plugin.language_of` knows the sources that are not called like one."""
        if self._coverage.language_of:
            with suppress(LspMcpError):  # the question says so
                await self._lifetime.live()

    async def links_known(self, path: Path) -> None:
        """Wait until `first_name` knows what `path` leads to, if it is a link."""
        if path.is_symlink():
            with suppress(LspMcpError):  # the question says so
                await self._lifetime.live()

    def first_name(self, path: Path) -> Path:
        """The file in the workspace that is meant by `path`, which may be a link to it."""
        return self._coverage.second_names.first(path)

    async def ready(self, report: Report, path: Path | None = None) -> None:
        """See `Backend.ready`."""
        if not self._hosted:
            await self._feed.wait(self._options.ready_timeout, report)
        await self._lifetime.live()
        # A part of other code, shown alone, would hide what the index has about it.
        if path and self.plugin.compiles_files and not self._hosted and not await self._coverage.part_of(path):
            with suppress(PathError):  # the question says so
                self._documents.open(path)
        with unhurried():
            await self._readiness.wait(report)

    async def wait(self, timeout: float, report: Report) -> State:
        """The state of the server once it is ready, or after `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                await self.ready(report)
        except TimeoutError:
            pass
        return self.state()

    async def sync(self, *, text_only: bool = False, to_check: bool = False) -> int:
        """See `Backend.sync`."""
        generation = await self._freshness.sync(text_only=text_only, to_check=to_check)
        if self._readiness.loads and not text_only:
            await self._update()
            with unhurried():
                await self._readiness.wait()
        return generation + self._readiness.loads

    async def _update(self) -> None:
        """Make the server run again what it says is outdated."""
        reports, connection = self.plugin.reports, self._connection
        if not (reports.update_request and connection):
            return
        if re.search(reports.outdated_pattern, connection.notifications.trouble):
            with suppress(RefusedError, SilentError):  # its status goes on saying so
                await connection.request(reports.update_request, None, timeout=within(self._options.request_timeout))

    @property
    def generation(self) -> int:
        """See `Backend.generation`."""
        return self._freshness.generation + self._readiness.loads

    def edited_since(self, generation: int) -> frozenset[Path] | None:
        """See `Backend.edited_since`."""
        return None if self._readiness.loads else self._freshness.edited_since(generation)

    async def execute(
        self, command: str, arguments: Sequence[Any], answers: Sequence[Json] = ()
    ) -> list[WorkspaceEdit]:
        """See `Backend.execute`."""
        if command not in self.adapter.actions.commands:
            raise RefusedError(f"{command} is not an allowed command")
        params = {"command": command, "arguments": list(arguments), **({"formAnswers": answers} if answers else {})}
        async with self._executing:
            connection = await self._lifetime.live()
            with connection.capture() as edits:
                await connection.request(
                    "workspace/executeCommand", params, timeout=within(self._options.request_timeout)
                )
            return list(edits)

    # --- questions ---------------------------------------------------------------------------------

    async def request(self, method: str, params: Mapping[str, Any], *, timeout: float | None = None) -> Any:
        """See `Backend.request`."""
        if timeout:
            allow(timeout)
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
            again = "was stuck" if isinstance(death, StuckError) else "died"
            raise DiedError(
                f"{death}. It {again} twice over {method}; it will be started again for the next question. "
                "If this repeats, run: lsp-mcp doctor"
            ) from None

    async def gaps(self, scope: Scope) -> list[Gap]:
        """See `Backend.gaps`."""
        gaps = []
        if scope.reach != "text":
            if work := self._readiness.pending():
                why = f"; {self.name} was ended because servers took more than --memory-limit"
                gaps.append(Gap("indexing", f"{work}{why if self._was_ended_for_memory else ''}"))
            else:
                self._was_ended_for_memory = False
            told = self._connection.notifications if self._connection else None
            if told and (error := told.trouble or told.last_error):
                gaps.append(Gap("server_error", f"{self.name} says: {' '.join(error.split())}"))
        if self._host:
            gaps += editor_gaps(scope, self.adapter, self.workspace, self._host, self._connection)
        gaps += await self._reloading.gaps(scope)
        gaps += await self._coverage.gaps(scope)
        if scope.reach != "text" and not any(gap.kind == "not_loaded" for gap in gaps):
            gaps += await self._load_failure()
        return [*gaps, *self._news()]

    async def _load_failure(self) -> list[Gap]:
        """The gap if the server itself could load nothing, although its projects can be read."""
        pattern = self.plugin.reports.failure_pattern
        if not (pattern and self._connection and (said := await self._diagnosing.said(pattern))):
            return []
        reason = " ".join(said["reason"].split())[:_REASON]
        return [Gap("not_loaded", f"{self.name} could not load the workspace: {reason}", brief="not loaded")]

    def _news(self) -> list[Gap]:
        restarted = [news("restarted", self._lifetime.last_restart, event=self._lifetime.restarts)]
        self._watch_news += [news("setup", note, event=next(self._numbers)) for note in self._feed.take_notes()]
        return [
            *(restarted if self._lifetime.restarts else []),
            *self._watch_news,
            *self._coverage.news(),
        ]

    # --- inside ------------------------------------------------------------------------------------

    @property
    def _connection(self) -> Connection | None:
        return self._lifetime.connection

    async def _ask(self, method: str, params: Mapping[str, Any], timeout: float) -> Any:
        connection = await self._lifetime.live()
        is_closed = method == "textDocument/documentSymbol" and self.plugin.documents.outlines_closed
        path = None if is_closed else file_of(params or {})
        with (
            phase(lambda: f"{self.name}: {method}", lambda: self._advice(connection)),
            self._guests.asking(path) if path else nullcontext(),
        ):
            try:
                answer = await connection.request(method, params, timeout=within(timeout))
            except SilentError as silence:
                raise SilentError(f"{silence} {self._advice(connection)}") from None
        self._lifetime.answered()
        return self._coverage.second_names.resolved(self.plugin.in_files(answer))

    def _advice(self, connection: Connection) -> str:
        """What a caller can do who got no answer in time."""
        if connection.advice == AGAIN and (work := self._readiness.pending()):
            return f"It is still {work}. Ask again, or raise --ready-timeout."
        return connection.advice

    async def _free(self) -> bool:
        """See `Free`: a server that reads a named pipe waits until something writes to it."""
        return await self._feed.free_readers(self.adapter.extensions)

    def _notify(self, method: str, params: Any) -> None:
        if self._connection:
            self._connection.notify(method, params)

    def _command(self) -> list[str]:
        return [
            *(self._options.command or find_command(self.adapter)),
            *self._coverage.arguments(),
        ]

    def _present_command(self) -> Sequence[str]:
        """The command of the server that runs."""
        return self._hosted.command if self._hosted else self._options.command or find_command(self.adapter)

    def _trial_server(self) -> AbstractAsyncContextManager[Trial]:
        """A server of its own that tries other texts."""
        return self._own_server({})

    def _own_server(self, variables: Mapping[str, str]) -> AbstractAsyncContextManager[Trial]:
        """A server of its own, for programs of which these are `variables`, too."""
        options = self._options
        launcher = ProcessLauncher(
            self.plugin,
            self.root,
            lambda: [*self._command(), *self.plugin.trial_arguments],
            options.env,
            options.request_timeout,
            self._free,
            lambda: {**self._coverage.env, **variables} if variables else {},
            self._coverage.settings,
        )
        return trial_server(launcher, self.plugin, self._files, self._coverage, options.request_timeout)

    async def _prepare(self) -> None:
        # Watching begins before the server reads its first file, or a change in between would be missed.
        await self._feed.start()
        await self._coverage.prepare(self._hosted.command if self._hosted else ())

    async def _sample(self) -> Path | None:
        """A file in this server's languages, the one nearest to the root."""
        await self._feed.start()

        return await asyncio.to_thread(self._nearest)

    def _nearest(self) -> Path | None:
        """The source file nearest to the root. It is kept while it exists: finding it looks at up to 50,000 files."""
        if not (self._source and self._source.is_file()):
            sources = (path for path in list(self._feed.files()) if self.adapter.language_of(path))
            self._source = min(sources, key=lambda path: (len(path.parts), path), default=None)
        return self._source

    def _samples(self) -> list[Path]:
        """The open documents, at least one file: they cover all projects that the server has loaded."""
        ours = [path for path in self._documents if path.is_relative_to(self.root)]
        return ours or list(filter(None, [self._nearest()]))

    async def _sources(self) -> list[Path]:
        """All files in this server's languages but those of dependencies."""

        def listed() -> list[Path]:
            return [path for path in list(self._feed.files()) if self.adapter.owns(path, self.root)]

        return await asyncio.to_thread(listed)

    def _started(self) -> None:
        """A new server has no documents."""
        self._coverage.restarted()
        self._documents.reopen_all()
        self._reloading.started()
        connection = self._connection
        assert connection
        diagnostics = connection.notifications.diagnostics
        diagnostics.serial, diagnostics.on_published = self._documents.serial, self._documents.published
        diagnostics.on_outdated = self._documents.read_again
        if self.plugin.pulls_diagnostics:
            diagnostics.pull = pulling(connection, self._options.request_timeout)
        if isinstance(connection, HostedConnection):
            connection.listen()
        else:
            self.words.begin()  # the first question compares with all files: they are read while the server loads
        diagnostics.on_incomplete = self._coverage.incomplete
        connection.notifications.on_line = self._coverage.heard
        self._coverage.started(self._documents)
