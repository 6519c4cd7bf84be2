"""Running language servers: `Sessions` holds the backends of one workspace and finds the one for a file."""

from __future__ import annotations

import asyncio
import copy
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Context
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from msgspec.structs import replace

from lsp_mcp.adapters import Adapter, shipped_adapters
from lsp_mcp.backend import Backend, Report, no_report
from lsp_mcp.backend import Coverage as BackendCoverage
from lsp_mcp.disk.feed import FeedHub
from lsp_mcp.disk.files import Files
from lsp_mcp.edits.apply import apply_plan
from lsp_mcp.edits.journal import take_back_unfinished, take_news
from lsp_mcp.edits.plan import EditPlan, FileChange, RenameFile, Step
from lsp_mcp.edits.policy import CheckedPlan, EditPolicy
from lsp_mcp.errors import CallerError, LspMcpError, PathError, RefusedError, UnavailableError
from lsp_mcp.evidence.inactive import build_of
from lsp_mcp.evidence.word_check import WordChecks
from lsp_mcp.features.finding.anchor_memory import AnchorMemory
from lsp_mcp.gaps import Gap
from lsp_mcp.lsp.session import Session, SessionOptions
from lsp_mcp.prose import and_list
from lsp_mcp.requests.asking import not_searched
from lsp_mcp.servers.registry import plugin_of
from lsp_mcp.sessions.checks import Checks
from lsp_mcp.sessions.expected import file_names
from lsp_mcp.sessions.languages import OtherLanguages
from lsp_mcp.sessions.reported import Reported
from lsp_mcp.sessions.standing_in import needs_stand_in, stand_ins, stood_in
from lsp_mcp.sessions.use import Use
from lsp_mcp.text import Point, Text
from lsp_mcp.waiting import share_of_rest
from lsp_mcp.wire.process import run
from lsp_mcp.workspace import Workspace

if TYPE_CHECKING:  # a server without a Neovim starts before this is imported
    from lsp_mcp.nvim.apply import Done
    from lsp_mcp.nvim.host import NvimHost

log = logging.getLogger(__name__)

_DEPENDENCY_TIMEOUT = 10.0  # seconds for a command that prints where dependencies are


_MOST_BUILDS = 3  # other builds whose servers run
_BASELINE_SHARE = 0.4  # of a call's remaining time
_REASON = 300  # characters of a program's own message


class Sessions:
    """The backends of one workspace, from their start to their end.

    Constructing it starts the server processes; `begin` (in a running loop) initializes them. With a `host`, they are
    the language clients of that Neovim, and nothing is started. `before_choice`, which may `join` newly running ones,
    is awaited before a backend is chosen. A root with more than `most_files` is refused when it is read. `others` are
    the adapters of further languages, whose servers start when a file of theirs matters.

    Raises:
        ConfigError: no backend was named and none fits the workspace, or two answer for the same language.
    """

    def __init__(
        self,
        workspace: Workspace,
        adapters: Sequence[Adapter],
        options: dict[str, SessionOptions],
        host: NvimHost | None = None,
        before_choice: Callable[[], Awaitable[None]] | None = None,
        *,
        allow_protected_edits: bool = False,
        most_files: int | None = None,
        others: Sequence[Adapter] = (),
    ) -> None:
        self.workspace = workspace
        self.policy = EditPolicy(workspace.root, self._dependency_names, allow_protected_edits)
        self.host = host
        self.use = Use()
        self.editing = asyncio.Lock()  # edits of all clients run one after the other
        self.memory = AnchorMemory()
        self._memories = WeakSet([self.memory])  # of all clients
        self.reported = Reported()
        self.checks = Checks()
        self.word_checks = WordChecks()
        self._files = host.files if host else Files()
        self._options = options
        ignored = {name for adapter in (*adapters, *others) for name in adapter.workspace.ignored_folders}
        self._hub = FeedHub(workspace.root, ignored, most_files)
        self._languages = OtherLanguages(others, self._hub.feed())
        workspace.listed = self._hub.known
        if host is None:
            workspace.find_dependencies, workspace.is_confined = self._dependencies_found, self._has_known_dependencies
        self._before_choice = before_choice
        self._others: list[Session] = []  # that no code tool uses
        self._builds: dict[tuple[str, str], Session] = {}  # those of other builds, by server and variables
        self._stand_ins: list[Session] = []  # that answer by syntax where another one cannot, if a caller wishes it
        # Before a server reads its first file.
        take_back_unfinished(workspace.root)
        self._sessions = [self._session(adapter) for adapter in adapters]
        for session in self._sessions:
            session.spawn()
        self._dependencies: asyncio.Task[None] | None = None
        self._dependency_files: dict[str, tuple[int, asyncio.Task[tuple[Path, ...]]]] = {}  # with their generation
        self._ends = asyncio.Event()
        self._applying: set[asyncio.Task[Done]] = set()  # edits in progress
        self._expecting: set[asyncio.Task[None]] = set()

    def for_client(self, *, is_shell: bool = False) -> Sessions:
        """The sessions for one client of several: it shares the backends and has its own anchors and news.

        Its checks are its own too, unless it `is_shell`: calls from the shell are compared with each other.
        """
        own = copy.copy(self)
        own.checks = self.checks if is_shell else self.checks.for_client()
        own.memory, own.reported = AnchorMemory(), self.reported.for_client()
        self._memories.add(own.memory)
        return own

    @contextmanager
    def asked(self) -> Iterator[None]:
        """For the time of a call that asks language servers; it stops the proofs of earlier answers.

        Edits that other processes have left half done are undone first.
        """
        take_back_unfinished(self.workspace.root)
        with self.use.call(), self.word_checks.background.asked():
            yield

    def take_news(self) -> list[str]:
        """See `edits.journal.take_news`."""
        return take_news(self.workspace.root)

    @property
    def backends(self) -> Sequence[Backend]:
        """All backends, in the order in which they were named; see `_standing_in`."""
        return self._standing_in(self._sessions)

    @property
    def servers(self) -> Sequence[Session]:
        """All that run or may run, also those that no code tool uses."""
        return [*self._sessions, *self._others, *self._stand_ins]

    async def require_backends(self) -> Sequence[Backend]:
        """All backends, for a question that names no file.

        Raises:
            CallerError: there is none, as no file is in a supported language.
            UnavailableError: there is none for another reason, so no answer would mean anything.
        """
        if self._before_choice:
            await self._before_choice()
        if not self._sessions:
            await self._join_present()
        if not self._sessions:
            raise self._none()
        return self.backends

    def _none(self) -> LspMcpError:
        """The error for a question that there is no backend for; raises that no Neovim is connected."""
        root = self.workspace.root
        if self.host:
            self.host.check()
            name = self.host.name
            return UnavailableError(f"no language server runs in {name} for {root}; open one of its files there")
        if self._languages.are_served:
            return CallerError(f"{root} has no source file yet in a supported language; ask again when it has one")
        return UnavailableError(f"no language server runs for {root}; start lsp-mcp in a project, or with --backend")

    async def ready(self, report: Report) -> tuple[Sequence[Backend], list[Gap]]:
        """The backends of a question that names no file: the available ones, and the gaps of the others.

        Raises:
            UnavailableError: none is available.
        """
        unserved = await self._join_present()
        backends = await self.require_backends()
        outcomes = await asyncio.gather(*(_unavailable(backend, report) for backend in backends))
        missing = [(backend, error) for backend, error in zip(backends, outcomes, strict=True) if error]
        ready = [backend for backend, error in zip(backends, outcomes, strict=True) if error is None]
        if not ready:
            raise missing[0][1]
        gaps = [not_searched(backend, error) for backend, error in missing]
        return ready, [*gaps, *(stood_in(one.adapter) for one in self._sessions if one not in backends), *unserved]

    async def _join_present(self) -> list[Gap]:
        """Use the servers of all languages that the workspace has; the remarks on those that are not installed."""
        present, unserved = await self._languages.present()
        for adapter in present:
            self.join(adapter)
        return unserved

    def _standing_in(self, backends: Sequence[Session]) -> Sequence[Session]:
        """`backends` with what answers by syntax, if the caller wishes it, in place of those that cannot yet."""
        waiting = [] if self.host else [session for session in backends if needs_stand_in(session)]
        if not waiting:
            return backends
        parsing = self._parsing()
        spoken = {kind for session in parsing for kind in session.adapter.by_kind}
        replaced = [session for session in waiting if not spoken.isdisjoint(session.adapter.by_kind)]
        for session in replaced:
            if session.state() == "stopped":
                session.begin()  # it goes on loading, while another one answers
        kept = [session for session in backends if session not in replaced]
        return [*kept, *parsing] if replaced else backends

    def _parsing(self) -> Sequence[Session]:
        if not self._stand_ins:
            self._stand_ins += map(self._session, stand_ins())
        return self._stand_ins

    def session(self, adapter: Adapter) -> Session:
        """The session of `adapter`, started now if there was none; used only for questions that name it
        or its files.
        """
        for session in (*self._sessions, *self._others):
            if session.name == adapter.name:
                return session
        self._others.append(self._session(adapter))
        return self._others[-1]

    def join(self, adapter: Adapter) -> None:
        """Use the session of `adapter` from now on like those that were there from the start."""
        session = self.session(adapter)
        if session not in self._sessions:
            self._others.remove(session)
            self._sessions.append(session)

    def _session(self, adapter: Adapter, variables: Mapping[str, str] | None = None) -> Session:
        options = self._options.get(adapter.name, self._options.get("", SessionOptions()))
        if variables:
            options = replace(options, env={**(options.env or {}), **variables})
        session = Session(plugin_of(adapter), self.workspace, self._files, self._hub.feed(), options, self.host)
        session.coverage.builds = self
        return session

    async def in_own_build(self, backend: Backend, path: Path, point: Point | None = None) -> tuple[Backend, str]:
        """The backend of a build that has `path`, or what is at its `point`, and its variables, if the build of
        `backend` leaves that out.
        """
        variables = await backend.coverage.own_variables(path)
        if not variables and point is not None:
            variables = await build_of(backend, path, point)
        if not variables:
            return backend, ""
        return await self.in_build(backend.plugin.adapter, variables), _shown(variables)

    async def in_build(
        self, adapter: Adapter, variables: Mapping[str, str], keep: BackendCoverage | None = None
    ) -> Session:
        """See `lsp.served_coverage.Builds`; of several builds those that were asked last go on running."""
        key = adapter.name, _shown(variables)
        while key not in self._builds and len(self._builds) >= _MOST_BUILDS:
            unused = next(name for name, one in self._builds.items() if one.coverage is not keep)
            oldest = self._builds.pop(unused)
            self._others.remove(oldest)
            await oldest.close()
        if not (session := self._builds.pop(key, None)):
            session = self._session(adapter, variables)
            self._others.append(session)
        self._builds[key] = session  # the last one
        return session

    def running(self, adapter: Adapter) -> Sequence[Session]:
        """See `lsp.served_coverage.Builds`."""
        every = [*self._sessions, *reversed(self._builds.values())]
        return [one for one in every if one.name == adapter.name and one.state() in ("running", "indexing")]

    async def apply(self, plan: EditPlan, *, save: bool = True, confirmed: bool = False) -> Done:
        """Apply all of `plan` or nothing, if the policy allows it, and move anchors with it; returns what was done.

        `confirmed` if the caller has agreed to what the server wants confirmed. Without a Neovim `Done` names no files.

        Raises:
            EditError, UnavailableError: nothing was changed, and why.
        """
        checked = self.policy.check(plan, confirmed=confirmed)
        if self._ends.is_set():
            raise UnavailableError("lsp-mcp is shutting down; nothing was changed, ask again")
        await self._take_baselines(checked)
        applying = asyncio.create_task(self._apply(checked, save=save))
        self._applying.add(applying)
        applying.add_done_callback(self._applying.discard)
        # A caller that gives up must not leave it half done.
        return await asyncio.shield(applying)

    async def _take_baselines(self, checked: CheckedPlan) -> None:
        """Record the problems before the first change, for part of the time that the call has left.

        While agents ask in a row, the background never gets to it, and no later check could tell what is new.
        """
        for session in self._sessions:
            if any(map(session.plugin.language_of, checked.plan.files)) and session.problems.begin_baseline():
                try:
                    async with asyncio.timeout(share_of_rest(_BASELINE_SHARE)):
                        await session.problems.take_baseline()
                except (LspMcpError, TimeoutError) as error:
                    log.info("%s: no baseline before an edit: %s", session.name, error)

    async def _apply(self, checked: CheckedPlan, *, save: bool) -> Done:
        from lsp_mcp.nvim.apply import Done, apply_in_neovim

        if self.host is None:
            done = Done([], (await asyncio.to_thread(apply_plan, checked)).leftovers)
        else:
            done = await apply_in_neovim(self.host, checked, save=save)
        self._follow_edits(checked.plan.steps)
        return done

    def remarks(self, done: Done) -> list[str]:
        """News for the reader about an edit."""
        show = self.workspace.display_path
        unsaved = ", ".join(f"{show(one.path)} ({one})" for one in done.files if not one.saved)
        return [*([f"not saved in Neovim: {unsaved}"] if unsaved else []), *self.leftovers(done)]

    def leftovers(self, done: Done) -> list[str]:
        """Files of an edit that could not be removed."""
        paths = ", ".join(map(self.workspace.display_path, done.leftovers))
        return [f"old files that could not be removed, delete them: {paths}"] if paths else []

    def _dependency_names(self, path: Path) -> set[str]:
        """The names of dependency folders, for all running servers and those that answer for `path`."""
        running = [session.adapter for session in (*self._sessions, *self._others)]
        fitting = [adapter for adapter in shipped_adapters() if adapter.language_of(path)]
        return {name for adapter in (*running, *fitting) for name in adapter.workspace.dependency_folder_names}

    def _follow_edits(self, steps: Sequence[Step]) -> None:
        """Move anchors through the steps of an applied plan."""
        for step in steps:
            for memory in self._memories:
                match step:
                    case FileChange():
                        memory.edited(step.path, step.before, Text(step.after), step.changes)
                    case RenameFile():
                        memory.moved(step.old, step.new)

    @property
    def languages(self) -> str:
        """The languages of the workspace, for a sentence: `Go`, `C and C++`."""
        adapters = [session.adapter for session in self._sessions]
        names = [name for one in adapters if not one.is_fallback for name in one.language_names]
        return and_list(names) or "parsed"

    def begin(self) -> None:
        """Initialize every server in the background."""
        for session in self._sessions:
            session.begin()

    async def started(self, timeout: float) -> None:
        """Return when every server that is being started has started or failed to, after `timeout` seconds at most."""
        if starting := [session.starting for session in self._sessions if session.starting]:
            await asyncio.wait(starting, timeout=timeout)

    def expect(self, arguments: Iterable[str]) -> None:
        """A call with these `arguments` will come: its server begins with the file that they name, in the background.

        It only takes place earlier: no answer depends on it.
        """
        for name in file_names(arguments) if self.host is None else ():
            if not os.path.isfile(self.workspace.root / name):  # noqa: PTH113 (nor is one that no system takes)
                continue
            try:
                path = self.workspace.file(name)
                backend = self.for_path(path)
            except LspMcpError:
                continue  # the call says so, if it is about that file
            task = asyncio.create_task(_begun(backend, path), context=Context())
            self._expecting.add(task)
            task.add_done_callback(self._expecting.discard)
            return

    def begin_baselines(self) -> None:
        """Record the problems of the workspace when nobody asks, so that a check can tell which are new; idempotent."""
        for session in self._sessions:
            if session.problems.begin_baseline():
                self.word_checks.background.later(("baseline", id(session)), session.problems.take_baseline)

    async def last_edits(self) -> None:
        """Return when edits in progress are written; no other edit begins."""
        self._ends.set()
        if self._applying:
            await asyncio.wait(self._applying)

    async def close(self) -> None:
        """End every server, within 3 s; edits in progress are written first."""
        await self.last_edits()
        listings = (listing for _, listing in self._dependency_files.values())
        for task in (self._dependencies, *self._expecting, *listings):
            if task:
                task.cancel()
        await self.word_checks.close()
        await asyncio.gather(*(session.close() for session in self.servers))
        self._hub.close()

    def kill(self) -> None:
        """Kill every server, without an event loop."""
        for session in self.servers:
            session.kill()

    def for_path(self, path: Path) -> Backend:
        """The backend that answers for `path`.

        Raises:
            PathError: none does; the message lists the supported files.
            UnavailableError: there is no backend, or no Neovim is connected.
        """
        for backend in self.backends:
            if backend.plugin.language_of(path):
                return backend
        if adapter := self._languages.supporting(path):
            self.join(adapter)
            session = self.session(adapter)
            return next((one for one in self._standing_in([session]) if one.plugin.language_of(path)), session)
        shown = self.workspace.display_path(path)
        if self.host:
            self.host.check()
        if not self._sessions:
            raise self._none()
        known = "; ".join(f"{b.plugin.name} supports {', '.join(b.plugin.adapter.by_kind)}" for b in self.backends)
        raise PathError(f"no backend supports {shown}: {known}.{self._cure(path)}")

    def _cure(self, path: Path) -> str:
        """The flags with which a backend answers for `path` too; empty if there is none, or Neovim decides."""
        able = [adapter.name for adapter in shipped_adapters() if adapter.language_of(path)]
        if self.host or not able:
            return ""
        names = [*(backend.plugin.name for backend in self.backends), able[0]]
        return f" Start lsp-mcp with {' '.join(f'--backend {name}' for name in names)}."

    async def file(self, name: str) -> Path:
        """The existing file that a caller calls `name`; see `Workspace.file`."""
        if self._before_choice:
            await self._before_choice()
        try:
            path = self.workspace.file(name)
            if not any(backend.plugin.language_of(path) for backend in self.backends):
                for session in self._sessions:
                    await session.sources_known()
            for session in self._sessions:
                await session.links_known(path)
                path = session.first_name(path)
            return path
        except PathError:
            if self.workspace.dependency_folders or not self._dependency_commands():
                raise
        await self._dependencies_found()
        return self.workspace.file(name)

    async def _dependencies_found(self) -> None:
        """The workspace has the folders of dependencies: only questions about files outside the root need them."""
        if self.workspace.dependency_folders:
            return
        self._dependencies = self._dependencies or asyncio.create_task(self._find_dependencies(), context=Context())
        await asyncio.shield(self._dependencies)

    def _has_known_dependencies(self, path: Path) -> bool:
        """Whether `path` is in a language whose dependencies are in folders that a command prints."""
        return any(
            one.plugin.language_of(path) and one.adapter.workspace.dependency_folders_command for one in self._sessions
        )

    def _dependency_commands(self) -> list[tuple[str, ...]]:
        commands = (backend.plugin.adapter.workspace.dependency_folders_command for backend in self.backends)
        return [command for command in commands if command]

    async def _find_dependencies(self) -> None:
        folders: list[Path] = []
        for command in self._dependency_commands():
            try:
                code, output = await run(command, cwd=self.workspace.root, timeout=_DEPENDENCY_TIMEOUT)
            except LspMcpError as error:
                log.warning("dependencies are not readable: %s", error)
                self._dependencies = None  # the next question that needs them tries again
                continue
            if code == 0:
                folders += [Path(os.path.realpath(line)) for line in output.split("\n") if line.startswith("/")]
        self.workspace.dependency_folders = tuple(folders)

    async def dependency_files(self, backend: Backend) -> tuple[Path, ...]:
        """The source files of the workspace's dependencies, outside it or vendored; none if nothing lists them.

        Raises:
            UnavailableError: they cannot be listed.
            RefusedError: the program that lists them reports an error.
        """
        command = backend.plugin.adapter.workspace.dependency_files_command
        if not command:
            return ()
        generation, listing = self._dependency_files.get(backend.plugin.name, (None, None))
        if listing is None or generation != backend.generation or (listing.done() and listing.exception()):
            listing = asyncio.create_task(self._list_dependency_files(command, backend.plugin.adapter))
            self._dependency_files[backend.plugin.name] = backend.generation, listing
        return await asyncio.shield(listing)

    async def _list_dependency_files(self, command: Sequence[str], adapter: Adapter) -> tuple[Path, ...]:
        code, output = await run(command, cwd=self.workspace.root, timeout=_DEPENDENCY_TIMEOUT)
        if code:
            raise RefusedError(f"{' '.join(command[:2])}: {output.strip()[:_REASON]}")
        listed = [*map(Path, dict.fromkeys(line for line in output.split("\n") if line.startswith("/")))]
        root, vendored = self.workspace.root, set(adapter.workspace.dependency_folder_names)
        inside = [path for path in listed if path.is_relative_to(root)]
        own = {path for path in inside if vendored.isdisjoint(path.relative_to(root).parts)}
        return tuple(path for path in listed if path not in own)


def _shown(variables: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(variables.items()))


async def _unavailable(backend: Backend, report: Report) -> UnavailableError | None:
    """Why `backend` cannot be asked; None once it is ready."""
    try:
        await backend.ready(report)
    except UnavailableError as error:
        return error
    return None


async def _begun(backend: Backend, path: Path) -> None:
    try:
        await backend.ready(no_report, path)
    except LspMcpError as error:
        log.info("%s: %s", path, error)  # the call meets the same
