"""Gaps caused by a server that loads one project at a time: `WorkspaceProjects`."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import shlex
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence, Set
from contextvars import Context
from functools import partial
from pathlib import Path
from typing import Any

from lsp_mcp.backend import Scope, Use
from lsp_mcp.disk.files import content
from lsp_mcp.errors import UnavailableError
from lsp_mcp.gaps import Gap
from lsp_mcp.lsp.coverage import Coverage, Miss, Start
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.prose import count, first_few
from lsp_mcp.servers.gopls.companions import Companions
from lsp_mcp.servers.gopls.excluded_files import ExcludedFiles, how_to_build
from lsp_mcp.servers.gopls.import_check import ImportCheck
from lsp_mcp.servers.gopls.kept_excluded import KeptExcluded
from lsp_mcp.servers.gopls.missed_errors import MissedErrors
from lsp_mcp.servers.gopls.private_join import PrivateJoin
from lsp_mcp.servers.gopls.projects import Project, ProjectMap, above, map_projects
from lsp_mcp.servers.gopls.rules import Projects
from lsp_mcp.servers.gopls.sources import Sources
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.text import Text
from lsp_mcp.wire.process import run
from lsp_mcp.words.word_search import WordSearch

log = logging.getLogger(__name__)

_MOST_LOADED = 16  # projects loaded for questions about the whole workspace; each costs the server memory
_CHECK_TIMEOUT = 20.0  # seconds per check command


class WorkspaceProjects(Coverage):
    """The projects of one workspace, as one server sees them."""

    def __init__(self, plugin: Plugin, rules: Projects, start: Start) -> None:
        workspace, feed = start.workspace, start.feed
        self.surroundings = self
        self._adapter = adapter = plugin.adapter
        self._rules = rules
        self._root = workspace.root
        self._workspace = workspace
        self._feed = feed
        self._map: ProjectMap | None = None
        self._own_map: ProjectMap | None = None  # including files of the workspace that join projects
        self._own_env = start.env or {}
        self._environment = environment = {**os.environ, **self._own_env}
        self._program_env = {
            name: value for name, value in adapter.settings.program_env.items() if name not in environment
        }
        join = rules.join
        self._join = (
            PrivateJoin(join, rules.marker, workspace.root, environment, allowed=not start.hosted) if join else None
        )
        self._companions = (
            Companions(join.companion, workspace.root, lambda: self.are_joined_by_variable)
            if join and join.companion
            else None
        )
        self._closed = False
        self._is_joined = False  # as the projects are now
        self._warming: asyncio.Task[None] | None = None
        self._libraries: asyncio.Task[tuple[int, str]] | None = None
        self._checks: dict[Path, asyncio.Task[str]] = {}
        self._failing: set[Path] = set()  # projects that failed to load when the server last read them
        self._repaired = False  # one of them would load now
        self._words = WordSearch()
        self._sources = Sources(adapter.extensions, feed.paths, lambda path: self._projects().nearest(path))
        self._imports = ImportCheck(rules, lambda path: self._projects().nearest(path))
        self._missed = MissedErrors(adapter, self._loaded_sources, self._is_excluded)
        command = rules.excluded_command
        self._excluded = (
            ExcludedFiles(command, partial(feed.free_readers, adapter.extensions), lambda: self.env, self._kept())
            if command
            else None
        )
        self._folders_by_project: Mapping[Path, Sequence[Path]] | None = None
        self._finding_folders: tuple[int, asyncio.Task[dict[Path, list[Path]]]] | None = None  # with `_changes` then
        self._changes = 0  # the number of changes to files
        self._is_native: bool | None = None
        self._build_state: str | None = None  # see `build_state`; None: not determined since project files changed

    def changed(self, paths: Sequence[Path]) -> None:
        """Forget what changes of `paths` may affect: the word search and, for project files, the projects."""
        rules = self._rules
        self._changes += 1
        sources = [path for path in paths if path.suffix in self._adapter.extensions]
        self._words.changed(map(str, sources))
        self._missed.changed(sources)
        self._imports.changed(sources)
        if self._excluded:
            self._excluded.changed(sources)
        if self._folders_by_project is not None:
            known = {folder for folders in self._folders_by_project.values() for folder in folders}
            if any(path.parent not in known for path in sources):
                self._folders_by_project = None
        self._failing.update(folder for folder in self._checks if self._reason(folder))
        if any(path.name in (rules.marker, rules.joined_by) for path in paths):
            self._map = self._own_map = self._folders_by_project = self._build_state = None
            self._is_joined = False
            self._sources.forget()
            if self._excluded:
                self._excluded.forget()
            for check in self._checks.values():
                check.cancel()
            self._checks.clear()
        else:
            self._sources.changed(sources)
            # Any change may have fixed it: a file of checksums, a folder of dependencies.
            self._checks = {folder: check for folder, check in self._checks.items() if not self._reason(folder)}

    async def prepare(self, command: Sequence[str]) -> None:
        """See `Coverage.prepare`."""
        await self.join()

    def restarted(self) -> None:
        """See `Coverage.restarted`: the new server has none of the companions."""
        if self._companions:
            self._companions.forget()

    def started(self, documents: Documents) -> None:
        """See `Coverage.started`."""
        self.check()
        self.begin()

    def opening(self, path: Path, text: Text, notify: Callable[[str, Any], None]) -> None:
        """See `Coverage.opening`."""
        if self._companions:
            self._companions.open_for(path, text, notify)

    async def settle(self, reload_all: Callable[..., Awaitable[None]]) -> bool:
        """See `Coverage.settle`."""
        if joined := await self.join():
            await reload_all(settings=True)
        if await self.repaired():
            await reload_all()
            self.taken_up()
        return joined

    async def missed(self, shown: Mapping[Path, Text]) -> Mapping[Path, Sequence[Miss]]:
        """See `Coverage.missed`."""
        return await self._missed.found(shown)

    async def join(self) -> bool:
        """Join projects for the server alone, unless the user did; returns whether that changed."""
        if self._is_joined or not self._join:
            return False
        changed = await self._join.update(self._own())
        self._is_joined = True
        if changed:
            self._map = self._build_state = None
            for check in self._checks.values():
                check.cancel()
            self._checks.clear()
            if self._excluded:
                self._excluded.forget()
        return changed

    @property
    def env(self) -> Mapping[str, str]:
        """Variables for programs that read the projects, including the server."""
        return {**self._program_env, **self._own_env, **(self._join.env if self._join else {})}

    @property
    def are_joined_by_variable(self) -> bool:
        """Whether a variable, ours or the user's, names a file that joins them."""
        return bool(self._join and (self._join.env or self._join.by_user()))

    def begin(self) -> None:
        """Prepare the gaps of the first answer in the background, while the server loads."""
        if self._excluded and not self._warming:
            # In its own context, like the checks: it is not a part of the call that starts it.
            self._warming = asyncio.create_task(self._warm(), context=Context())

    async def _warm(self) -> None:
        for project in self._projects().projects[:_MOST_LOADED]:
            await self._excluded_files(project)

    def check(self) -> None:
        """Begin to check whether the projects can be loaded at all."""
        if self._rules.check_command and not self._closed:
            for folder in self._folders()[:_MOST_LOADED]:
                if folder not in self._checks:
                    self._checks[folder] = asyncio.create_task(self._check(self._rules, folder), context=Context())

    def files_to_open(self) -> list[Path]:
        """One file of each project that the server loads only on request, at most 16."""
        if not self._rules.open_to_load:
            return []
        unloaded = self._projects().unloaded(self._root)[:_MOST_LOADED]
        return [file for project in unloaded if (file := self._sources.plain(project))]

    def apart_variables(self, path: Path) -> Mapping[str, str]:
        """See `Coverage.apart_variables`: of what is in a GOPATH of its own; not if it imports the project around."""
        folder, project = self._rules.apart(path.parent, self._root), self._projects().nearest(path)
        if folder is None or self._has_own_marker(path.parent) or (project and f'"{project.name}/' in _content(path)):
            return {}
        variables = {name: value.format(folder=folder) for name, value in self._rules.apart_variables.items()}
        return {} if variables.items() <= self._environment.items() else variables

    def loose(self, files: Sequence[Path]) -> list[Path]:
        """See `Coverage.loose`: what is below `testdata`, and in no project of its own."""
        rules, root = self._rules, self._root
        folders = {folder for folder in {file.parent for file in files} if rules.is_loose(folder, root)}
        return [file for file in files if file.parent in folders and not self._has_own_marker(file.parent)]

    def names(self) -> list[tuple[str, str]]:
        """See `ProjectMap.names`."""
        return self._projects().names()

    async def libraries(self) -> Sequence[str]:
        """The folders that contain dependencies; none if they cannot be found."""
        command = self._adapter.workspace.dependency_folders_command
        if self._libraries is None and command and not self._closed:
            self._libraries = asyncio.create_task(
                run(command, cwd=self._root, timeout=_CHECK_TIMEOUT), context=Context()
            )
        if self._libraries is None:
            return ()
        await asyncio.wait([self._libraries])
        if self._libraries.cancelled():
            return ()
        try:
            code, output = self._libraries.result()
        except UnavailableError as error:
            log.warning("the folders of dependencies are not known: %s", error)
            return ()
        return tuple(line.strip() for line in output.split("\n") if line.strip()) if code == 0 else ()

    async def gaps(self, scope: Scope) -> list[Gap]:
        """The gaps caused by projects; see `Backend.gaps`."""
        if scope.reach == "text":
            return []
        path, use = scope.path, scope.use if scope.reach == "workspace" else None
        gaps = [Gap("not_loaded", problem) for problem in await self._problems(path)]
        projects = self._projects()
        if scope.reach == "workspace":
            about = projects.nearest(path) if path else None
            gaps += [
                Gap("not_loaded", f"{problem}: {self._adapter.name} may leave out packages")
                for problem in await self._imports.problems(about)
            ]
        if path is None:
            if not projects.projects:
                text = (
                    f"there is no {self._rules.marker} in {self._root} or above it, so {self._adapter.name} knows only "
                    "files that a question names: start lsp-mcp with a --workspace-root that has one, or create one"
                )
                gaps.append(Gap("not_loaded", text, brief=f"no {self._rules.marker}"))
            if (number := len(projects.unloaded(self._root))) > _MOST_LOADED:
                text = (
                    f"{number} projects below the root, {_MOST_LOADED} of them loaded: "
                    "start lsp-mcp with a narrower --workspace-root"
                )
                gaps.append(Gap("not_loaded", text, brief=f"{_MOST_LOADED} of {number} projects loaded"))
            if use:
                gaps += await self._excluded_uses(projects.projects, use, scope.searched)
        elif (project := projects.nearest(path)) and use:
            gaps += await self._hidden_uses(self._rules, project, use, scope.searched)
        return gaps

    async def left_out(self, path: Path, use: Use) -> list[Path]:
        """See `backend.Coverage.left_out`."""
        if not (project := self._projects().nearest(path)):
            return []
        found: list[Path] = []
        for one in self._together(project):
            files = await self._excluded_files(one)
            found += map(Path, await self._users(use, ("excluded", one.folder), files))
        return found

    async def excludes(self, path: Path) -> bool:
        """See `Coverage.excludes`."""
        return await self._is_excluded(path)

    async def is_native(self) -> bool:
        """See `Coverage.is_native`."""
        if self._is_native is None:
            try:
                code, output = await run(
                    self._rules.native_command, cwd=self._root, timeout=_CHECK_TIMEOUT, env=self.env
                )
            except UnavailableError:
                return False
            said = output.split()
            self._is_native = not code and said[::2] == said[1::2]
        return self._is_native

    async def how_to_build(self, files: Sequence[Path]) -> str:
        """See `Coverage.how_to_build`."""
        return await asyncio.to_thread(how_to_build, self._rules, files)

    async def build_state(self) -> str:
        """See `Coverage.build_state`."""
        if self._build_state is None:
            changes = self._changes
            state = await self._project_files_and_settings()
            if changes != self._changes:
                return state
            self._build_state = state
        return self._build_state

    async def repaired(self) -> bool:
        """Whether the server dropped packages that it could load again, but won't by itself, until `taken_up`."""
        if self._failing:
            await self._problems(None)
            loads = {folder for folder in self._failing if not self._reason(folder)}
            self._failing -= loads
            self._repaired |= bool(loads)
        imports = await self._imports.repaired()
        return imports or self._repaired

    def taken_up(self) -> None:
        """Note that the server has read all packages again."""
        self._repaired = False
        self._imports.taken_up()

    async def close(self) -> None:
        """End the checks that are still running."""
        self._closed = True
        await self._imports.close()
        finding = self._finding_folders[1] if self._finding_folders else None
        checks: list[asyncio.Task[Any]] = [
            *self._checks.values(),
            *filter(None, (self._warming, self._libraries, finding)),
        ]
        self._checks.clear()
        for check in checks:
            check.cancel()
        if checks:
            await asyncio.wait(checks)

    # --- inside ------------------------------------------------------------------------------------

    def _projects(self) -> ProjectMap:
        if self._map is None:
            own = self._own()
            joined = self._join.by_user() if self._join else None
            if joined is None and self._join and self._join.folders:
                joined = {self._root: self._join.folders}
            self._map = own if joined is None else own.joined_by(joined)
        return self._map

    def _own(self) -> ProjectMap:
        if self._own_map is None:
            files = [
                *self._feed.files_named({self._rules.marker, self._rules.joined_by}),
                *above(self._root, self._rules),
            ]
            made = self._join.made if self._join else ()
            theirs = [file for file in files if file not in made]
            self._own_map = map_projects(theirs, self._rules, self._root, _content)
        return self._own_map

    def _folders(self) -> list[Path]:
        """Where checks are run: every project below the root, and the root if it is in one."""
        projects = self._projects().projects
        folders = [project.folder for project in projects if project.folder.is_relative_to(self._root)]
        return folders or ([self._root] if projects else [])

    async def _problems(self, path: Path | None) -> list[str]:
        while True:
            self.check()
            checks = self._checks_about(path)
            # A caller that gives up must not end a check for others.
            if pending := [check for check in checks if not check.done()]:
                await asyncio.gather(*map(asyncio.shield, pending), return_exceptions=True)
            if not any(check.cancelled() for check in checks):
                return [problem for check in checks if (problem := check.result())]
            # Another caller saw the projects change in the meantime: they are checked again.

    def _reason(self, folder: Path) -> str:
        """Why the project in `folder` cannot be loaded, as far as known."""
        check = self._checks.get(folder)
        return check.result() if check and check.done() and not check.cancelled() else ""

    def _checks_about(self, path: Path | None) -> list[asyncio.Task[str]]:
        if path is None:
            folders: Iterable[Path] = list(self._checks)
        elif project := self._projects().nearest(path):
            # The root stands for the project that contains it.
            folders = [project.folder if project.folder.is_relative_to(self._root) else self._root]
        else:
            folders = ()
        return [check for folder in folders if (check := self._checks.get(folder))]

    async def _check(self, rules: Projects, folder: Path) -> str:
        """Why the project in `folder` cannot be loaded; empty if it can."""
        source_folder = await self._source_folder(folder)
        command = [word.replace("{folder}", source_folder) for word in rules.check_command]
        try:
            code, output = await run(command, cwd=folder, timeout=_CHECK_TIMEOUT, env=self.env)
        except UnavailableError as error:
            return f"{self._adapter.name} cannot load {self._workspace.display_path(folder)}: {error}"
        if code == 0:
            return ""
        reason = " ".join(line.strip() for line in output.split("\n") if line.strip())
        return f"`{shlex.join(command)}` fails in {self._workspace.display_path(folder)}: {reason[:400]}"

    async def _source_folder(self, folder: Path) -> str:
        """A folder with sources of the project in `folder`, relative to it; that one if it has none."""
        folders = (await self._source_folders()).get(folder, ())
        highest = min(folders, key=lambda one: len(one.parts), default=folder)
        inside = highest.relative_to(folder).as_posix()
        return "." if inside == "." else f"./{inside}"

    async def _hidden_uses(self, rules: Projects, project: Project, use: Use, searched: Set[Path]) -> list[Gap]:
        """Files outside the server's search that may `use` something of `project`."""
        projects = self._projects()
        unseen = [
            other
            for other in projects.unseen_dependents(project)
            if await self._users(use, other.folder, self._sources.files(other))
        ]
        gaps = await self._excluded_uses(self._together(project), use, searched)
        if unseen:
            names = ", ".join(f"{self._workspace.display_path(other.folder)} ({other.name})" for other in unseen)
            # As shells and `go work` expect them: `.`, `./cmd`.
            folders = [
                self._workspace.display_path(folder) for folder in (project.folder, *(other.folder for other in unseen))
            ]
            command = rules.join_more_hint if rules.join_more_hint and self._has_join() else rules.join_hint
            hint = command.format(folders=" ".join(f if f == "." else f"./{f}" for f in folders))
            if setting := self._join.setting_against() if self._join else "":
                hint = f"{hint} (without {setting})"
            why = f" ({self._join.problem})" if self._join and self._join.problem else ""
            text = (
                f"not searched: {names}, which uses {project.name} and has the word {use.identifier}; "
                f"{self._adapter.name} answers for several projects at once only after: {hint}{why}"
            )
            brief = f"not searched for {use.identifier}: {count(len(unseen), 'project')}"
            gaps.append(
                Gap("not_searched", text, tuple(other.folder for other in unseen), brief=brief, about="projects")
            )
        return gaps

    def _together(self, project: Project) -> list[Project]:
        """The projects that the server answers for together with `project`, that one first."""
        others = (other for other in self._projects().projects if other != project)
        return [project, *(other for other in others if self._projects().together(project, other))]

    def _has_join(self) -> bool:
        """Whether projects are joined here, other than those asked about."""
        if self._join and (by_user := self._join.by_user()) is not None:
            return bool(by_user)
        files = (*self._feed.files_named({self._rules.joined_by}), *above(self._root, self._rules))
        made = self._join.made if self._join else ()
        theirs = (file for file in files if file.name == self._rules.joined_by and file not in made)
        return any(self._root.is_relative_to(file.parent) for file in theirs)

    async def _users(self, use: Use, scope: Hashable, files: Collection[str]) -> tuple[str, ...]:
        """Those of `files`, the present files of `scope`, whose text looks like a `use`."""
        if use.files is not None:
            listed = frozenset(files)
            return tuple(sorted(file for path in use.files if (file := str(path)) in listed))
        users = await self._words.files_with(use.identifier, scope, files)
        if use.folder is None or not users:
            return users
        project = self._projects().nearest(use.folder / "file")
        # A project's own folder may have any name; others import it by the project's name.
        name = project.name.rpartition("/")[2] if project and project.folder == use.folder else use.folder.name
        importers = frozenset(await self._words.files_with(name, (scope, use.identifier), users))
        return tuple(file for file in users if file in importers or file.rpartition(os.sep)[0] == str(use.folder))

    async def _excluded_uses(self, projects: Iterable[Project], use: Use, searched: Set[Path]) -> list[Gap]:
        """Gaps for files excluded from the build whose text looks like the `use`."""
        excluded: list[str] = []
        gaps: list[Gap] = []
        for project in projects:
            left_out = await self._excluded_files(project)
            excluded += await self._users(use, ("excluded", project.folder), left_out)
            # A project that cannot be loaded at all already has a gap for the same reason.
            loads = not self._reason(project.folder)
            if self._excluded and loads and (reason := self._excluded.unknown(project.folder)):
                where = self._workspace.display_path(project.folder)
                text = f"which files of {where} this build leaves out is not known: {reason}"
                gaps.append(Gap("not_searched", text, (project.folder,), about="build"))
        files = tuple(path for path in map(Path, excluded) if path not in searched)
        if not files:
            return gaps
        named = first_few([self._workspace.display_path(file) for file in files])
        text = f"not searched: {named}, not in this build, with the word {use.identifier}"
        if hint := await asyncio.to_thread(how_to_build, self._rules, files):
            text = f"{text}; {hint}"
        brief = f"not searched for {use.identifier}: {count(len(files), 'file')} not in this build"
        return [*gaps, Gap("not_searched", text, files, brief=brief, about="build")]

    async def _excluded_files(self, project: Project) -> tuple[str, ...]:
        if not self._excluded:
            return ()
        folders = await self._source_folders()
        return await self._excluded.below(project.folder, folders.get(project.folder, ()))

    async def _loaded_sources(self, named: re.Pattern[str]) -> list[str]:
        """The source files whose paths match `named` in folders that the server loads, excluded ones too."""
        folders = {str(folder) for inside in (await self._source_folders()).values() for folder in inside}
        of = (path for project in self._projects().projects for path in self._sources.files(project))
        return [path for path in of if named.search(path) and path.rpartition(os.sep)[0] in folders]

    async def _is_excluded(self, path: Path) -> bool:
        """Whether the build is known to exclude `path`."""
        project = self._projects().nearest(path)
        return project is not None and str(path) in await self._excluded_files(project)

    async def loads(self, path: Path) -> bool:
        """Whether the server should have loaded `path`: it is in a folder that it loads, and the build includes it."""
        project = self._projects().nearest(path)
        if project is None or path.parent not in (await self._source_folders()).get(project.folder, ()):
            return False
        return not await self._is_excluded(path)

    def _has_own_marker(self, folder: Path) -> bool:
        """Whether an ignored folder at or above `folder` is a project by itself, which the map of projects lacks."""
        rules, root = self._rules, self._root
        above = [one for one in (folder, *folder.parents) if rules.ignores(one / rules.marker, root)]
        return any((one / rules.marker).is_file() for one in above)

    async def _project_files_and_settings(self) -> str:
        rules = self._rules
        if not rules.excluded_settings_command or self._environment.get(rules.driver_variable, "off") != "off":
            return ""
        settings = [await self._build_settings(project.folder) for project in self._projects().projects]
        if not (settings and all(settings)):
            return ""
        files = {*self._feed.files_named({rules.marker, rules.joined_by}), *above(self._root, rules)}
        files.update(Path(line) for one in settings for line in one.split("\n") if Path(line).is_file())
        texts = [(file, _content(file)) for file in sorted(files)]
        return repr((sorted(set(settings)), sorted(self.env.items()), texts))

    def _kept(self) -> KeptExcluded | None:
        rules = self._rules
        if not rules.excluded_settings_command:
            return None
        markers = tuple(filter(None, (rules.marker, rules.joined_by)))
        return KeptExcluded(self._root, self._build_settings, self._adapter.extensions, markers)

    async def _build_settings(self, folder: Path) -> str:
        """A digest of what decides which files of the project in `folder` are excluded; empty if incomplete."""
        try:
            command, env = self._rules.excluded_settings_command, self.env
            code, output = await run(command, cwd=folder, timeout=_CHECK_TIMEOUT, env=env)
        except UnavailableError:
            return ""
        unkept = self._rules.excluded_unkept
        return "" if code or (unkept and re.search(unkept, output)) else output

    async def _source_folders(self) -> Mapping[Path, Sequence[Path]]:
        """The folders with sources, by the folder of their project; sorted."""
        if self._folders_by_project is not None:
            return self._folders_by_project
        marker, rules, root = self._rules.marker, self._rules, self._root
        if (known := self._finding_folders) is None or known[0] != self._changes or known[1].done():
            finding = self._sources.folders(
                self._projects().nearest, lambda folder: not rules.ignores(folder / marker, root)
            )
            known = self._finding_folders = self._changes, asyncio.create_task(finding)
        changes, listing = known
        found = await asyncio.shield(listing)
        if changes == self._changes:  # later changes only cause one more question
            self._folders_by_project = found
        return found


def _content(file: Path) -> str:
    try:
        return content(file).decode("utf-8", "replace")
    except OSError as error:
        log.warning("%s cannot be read: %s", file, error)
        return ""
