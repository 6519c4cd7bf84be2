"""The effect of the compilation database on a server and its answers: `Build`."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Facts, Indexed, Use
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.gaps import Gap, news
from lsp_mcp.lsp.coverage import Coverage, Start, Whole
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.objects.second_names import SecondNames
from lsp_mcp.prose import count, first_few
from lsp_mcp.servers.clangd.compilation.build_gaps import database_gaps, database_news, missing_files
from lsp_mcp.servers.clangd.compilation.chosen_database import ChosenDatabase
from lsp_mcp.servers.clangd.compilation.database import Database, own_project
from lsp_mcp.servers.clangd.compilation.files import BuildFiles, Included, links_in
from lsp_mcp.servers.clangd.compilation.files_elsewhere import FilesElsewhere
from lsp_mcp.servers.clangd.compilation.includes import Includes
from lsp_mcp.servers.clangd.compilation.index_folder import IndexFolder
from lsp_mcp.servers.clangd.remote_index import RemoteIndex
from lsp_mcp.servers.clangd.rules import Compilation
from lsp_mcp.text import Text

log = logging.getLogger(__name__)


class IndexHome(Enum):
    """The folder of the server's index."""

    OURS = "ours"  # in a folder of our cache
    SHARED = "shared"  # where an editor's server keeps it
    EDITORS = "editors"  # an editor's server: it has its own index and finds its database by itself


class Build(Coverage):
    """The build of one workspace, as one server sees it."""

    def __init__(self, adapter: Adapter, rules: Compilation, start: Start) -> None:
        feed, workspace = start.feed, start.workspace
        home = IndexHome.EDITORS if start.hosted else IndexHome.SHARED if start.shared_index else IndexHome.OURS
        self.files = BuildFiles(adapter, rules, feed, Includes(rules.include_pattern))
        self.includes = self.files
        self.language_of = self.files.language_of
        self.has_index = False  # whether the server will index anything by itself
        self.remote = RemoteIndex(start.remote_index, workspace.root) if start.remote_index else None
        self._adapter = adapter
        self._rules = rules
        self._workspace = workspace
        self._feed = feed
        self._home = home
        only_own = home is IndexHome.EDITORS
        self._database = ChosenDatabase(rules, workspace.root, start.database, self.files.sources, only_own=only_own)
        self._folder: IndexFolder | None = None
        self._elsewhere = FilesElsewhere()
        self._headers_elsewhere = FilesElsewhere()
        self._is_prepared = False  # the index
        self._has_changed = False  # any file, since then
        self._configs: list[Path] = []  # files by which the server changes commands
        self._flagged: tuple[Database, str, bool] | None = None  # whether commands of a database have text like that
        self._databases: list[Path] | None = None  # all in the workspace, once they are known
        self._problems: list[str] | None = None  # problems of the server's database; None: it has none yet

    # --- for the start of a server -----------------------------------------------------------------

    def arguments(self) -> list[str]:
        """Additions to the server's command; locks the folder for its index."""
        file = self._database.find()
        of_database = [*self._of_database(file), *self._of_modules(file)] if file else []
        return [*of_database, *(self.remote.arguments if self.remote else ())]

    def settings(self) -> Mapping[str, Any]:
        """See `Coverage.settings`: without a database, where projects usually have the files that they include."""
        if self._database.find():
            return {}
        rules, root = self._rules, self._workspace.root
        folders = [folder for name in rules.usual_folders if (folder := root / name).is_dir()]
        return {rules.guess_setting: [f"{option}{folder}" for option in rules.guess_options for folder in folders]}

    def _of_modules(self, file: Path) -> list[str]:
        has_modules = re.match(self._rules.module_database.encode(), content_or_nothing(file))
        return [self._rules.module_argument] if has_modules else []

    def _of_database(self, file: Path) -> list[str]:
        if self._folder and self._folder.is_full:
            self._release()
            self._folder = None
        folder = self._take_folder(file)
        if self._home is not IndexHome.OURS and own_project(file, self._rules, self._workspace.root):
            return []  # it finds the database by itself
        return [self._rules.argument.format(folder=folder.folder)]

    async def prepare(self, command: Sequence[str]) -> None:
        """Read the database, and remove stale parts of the index, before the server reads either."""
        if command:
            self._database.read_given_by(command)
        includes = Includes(self._rules.include_pattern)
        self._has_changed, self._is_prepared = False, False
        included = await asyncio.to_thread(self._prepare, includes)
        # Questions in the meantime used the previous ones.
        used = self._database.used
        self.files.replace(includes, included, used.commands if used else ())

    def first_file(self) -> Path | None:
        """A file to show so that the server begins to index, None if there is nothing to index.

        Any file will do. It does not exist, and is closed at once: for an open one, even if empty, clangd 22 indexes
        the standard library, which would take half of a first answer's processor time.
        """
        if not self.has_index or not self._folder or not self._database.used:
            return None
        is_used = any(map(self._adapter.language_of, self._database.used.commands))
        return self._folder.folder / f"begin{self._adapter.languages[0].extensions[0]}" if is_used else None

    def started(self, documents: Documents) -> None:
        """See `Coverage.started`: the server begins to index when it is shown a file."""
        if first := self.first_file():
            documents.show_briefly(first)

    @property
    def loads_by_itself(self) -> bool:
        """See `Coverage.loads_by_itself`."""
        return self.has_index

    async def loaded(self) -> None:
        """The server has indexed everything: its index can be compared with the build."""
        if self.has_index and self._folder and not self.files.compared:
            self.files.indexed(await asyncio.to_thread(self._folder.indexed_names))

    def incomplete(self, path: Path) -> None:
        """See `IndexFolder.incomplete`."""
        if self._folder:
            self._folder.incomplete(path)

    def heard(self, line: str) -> None:
        """See `Coverage.heard`."""
        if self.remote:
            self.remote.heard(line)

    async def close(self) -> None:
        """The server has ended: note what its index was made from, and release the index folder."""
        if self._folder and self._is_prepared:
            try:
                await asyncio.to_thread(self._folder.keep)
            except OSError as error:
                log.warning("the index of %s is not kept as it is: %s", self._workspace.root, error)
        self._release()

    async def built(self, files: Sequence[Path]) -> Sequence[Path]:
        """See `Coverage.built`."""
        inside = (await self.files.view()).inside
        return [path for path in files if path in inside]

    def on_sources(self, take: Callable[[Collection[Path]], None]) -> None:
        """See `Coverage.on_sources`: a file is one because another begins to include it."""
        self.files.on_included = take

    @property
    def second_names(self) -> SecondNames:
        """See `Coverage.second_names`."""
        return self.files.second_names

    async def part_of(self, path: Path) -> tuple[Path, int] | None:
        """See `Coverage.part_of`."""
        return await self.files.part_of(path)

    async def included_at(self, path: Path) -> Sequence[tuple[Path, int]]:
        """See `Coverage.included_at`."""
        return await self.files.included_at(path)

    async def parts_among(self, paths: Iterable[Path]) -> set[Path]:
        """Those of `paths` that are only a part of other code, see `BuildFiles.part_of`."""
        return {path for path in paths if await self.part_of(path)}

    async def index_of(self, paths: Collection[Path]) -> Mapping[Path, Indexed]:
        """See `backend.Coverage.indexed`."""
        if not (self._folder and self._is_prepared) or self._has_changed:
            return {}
        found = await asyncio.to_thread(self._folder.indexed, frozenset(paths))
        return {} if self._has_changed else found

    # --- what changed ------------------------------------------------------------------------------

    def changed(self, paths: Sequence[Path]) -> None:
        """Note that these were created, changed or deleted."""
        self._has_changed = True
        if any(path.name == self._rules.database for path in paths):
            self._databases = None
        if self.remote:
            self.remote.changed()
        self.files.changed(paths)

    def changed_elsewhere(self) -> list[Path]:
        """The compiled files outside the watched folders that changed since the last call."""
        return [*self._elsewhere.changed(), *self._headers_elsewhere.changed()]

    async def database_changed(self, changed: Iterable[Path]) -> bool:
        """Whether there is another database than the server's, or its content differs."""
        if self._database.may_be_other(changed):
            await asyncio.to_thread(self._database.look_again)
        # Checked each time: a caller that was told before may have been cancelled.
        return self._database.differs()

    def is_configured_by(self, changed: Iterable[Path]) -> bool:
        """Whether one of `changed` determines how the server compiles files."""
        return any(path.name in self._rules.config_files for path in changed)

    async def dependents(self, paths: Collection[Path]) -> Collection[Path]:
        """See `Coverage.dependents`."""
        return await self.affected(paths, ())

    async def whole(self, path: Path, text: Text) -> Whole:
        """See `Coverage.whole`."""
        rules, language = self._rules, self._adapter.language_of(path)
        is_whole = bool(language and rules.whole_prefix and rules.compiles(path))
        if not (language and is_whole) or (rules.whole_unless and re.search(rules.whole_unless, text.content)):
            return await super().whole(path, text)
        unit = await self.files.whole_unit(path, text, language, rules.whole_prefix, apart=False)
        return Whole(unit.shown, unit.diagnostics, unit.moves)

    async def compiles_with(self, pattern: str) -> bool:
        """See `Coverage.compiles_with`: a command that has its flags in a file of their own may have any."""
        used = self._database.used
        if self._configs_like(pattern):
            return True
        if used is None:  # an editor may have flags of its own for such files
            return self._home is IndexHome.EDITORS
        if self._flagged is None or self._flagged[:2] != (used, pattern):
            found = await asyncio.to_thread(used.has_flag, rf"{pattern}|(?:^|\s)@\S")
            self._flagged = used, pattern, found
        return self._flagged[2]

    async def affected(self, changed: Collection[Path], read: Collection[Path]) -> set[Path]:
        """Those files of the build, and of `read`, that are different because of `changed`."""
        before, affected = self.files.last_inside, await self.files.affected(changed)
        inside = (await self.files.view()).inside
        return {path for path in affected if path in inside or path in before or path in read}

    def importers(self, changed: Iterable[Path]) -> set[Path]:
        """The files that may import a module that one of `changed` declares."""
        pattern = re.compile(self._rules.module_pattern.encode())
        modules = [path for path in changed if self._rules.compiles(path) and pattern.search(content_or_nothing(path))]
        return set().union(*map(self.files.importers, modules)).difference(modules)

    async def are_headers(self, paths: Collection[Path]) -> bool:
        """Whether the build compiles one of `paths` only as a part of other files."""
        view = await self.files.view()
        return any(path in view.inside and path not in view.compiled for path in paths)

    async def facts(self) -> Facts:
        """Facts about the database and the index."""
        used, view = self._database.used, await self.files.view()
        names, changed = (await asyncio.to_thread(self._folder.state)) if self._folder else (Counter[str](), None)
        return Facts(
            database=used.file if used else None,
            compiled=len(used.commands) if used else 0,
            indexed=sum(names.values()) if self.has_index else None,
            index_changed=changed,
            left_out=len(view.outside),
        )

    # --- what answers must say ---------------------------------------------------------------------

    def build_gaps(self, left_out: Sequence[Path], later: Sequence[Path], use: Use | None) -> list[Gap]:
        """The gaps caused by the build.

        `left_out` and `later` are files outside it with the word of `use`; the server is still reading the latter.
        """
        if self._problems is None:
            return []
        gaps = database_gaps(self._adapter, self._rules, self._database, self.display_path)
        gaps = gaps or [Gap("not_loaded", problem) for problem in self._problems]
        source = self._database.now.file.name if self._database.now else self._rules.database
        for files, how, end in ((left_out, "not searched", ""), (later, "not searched yet", "; ask again later")):
            if files and use:
                text = f"{how}: {self.named(files)}, not in {source}, with the word {use.identifier}{end}"
                brief = f"{how} for {use.identifier}: {count(len(files), 'file')} not in {source}"
                gaps.append(Gap("not_searched", text, tuple(files), brief=brief, about="database"))
        return gaps

    def news(self) -> list[Gap]:
        """How to get a database if there is none, and other news about it."""
        if self._problems is None:
            return []
        if self._databases is None:
            self._databases = self._feed.files_named([self._rules.database])
        root = self._workspace.root
        texts = database_news(self._adapter, self._rules, root, self._database, self._databases, self.display_path)
        if example := self._elsewhere.example:
            texts.append(
                f"some files of the build are outside the workspace root, such as {example}: not all changes to "
                "headers there are noticed; start lsp-mcp with the project's --workspace-root"
            )
        return [news("setup", text, event=1) for text in texts]

    def named(self, files: Sequence[Path]) -> str:
        """The names of the first of `files`, and the number of the others."""
        return first_few([self.display_path(path) for path in files])

    def holds(self, path: Path) -> bool:
        """Whether `path` exists and may be given to the server: not a link out of the workspace."""
        return path.is_file() and self._workspace.holds(path)

    def contains(self, path: Path) -> bool:
        """Whether `path` is in the workspace, not a library's."""
        return self._workspace.contains(path)

    def display_path(self, path: Path) -> str:
        """`path` as shown to people."""
        return self._workspace.display_path(path)

    # --- inside ------------------------------------------------------------------------------------

    def _configs_like(self, pattern: str) -> bool:
        """Whether one of the server's own configuration files has text like `pattern`."""
        users = (Path(os.path.expandvars(file)).expanduser() for file in self._rules.user_files)
        texts = (content_or_nothing(path).decode("utf-8", "replace") for path in (*self._configs, *users))
        return any(re.search(pattern, text) for text in texts)

    def _release(self) -> None:
        if self._folder:
            self._folder.close()

    def _take_folder(self, file: Path) -> IndexFolder:
        if self._folder is None:
            root = self._workspace.root
            is_ours = self._home is IndexHome.OURS
            shared = None if is_ours else own_project(file, self._rules, root) or file.parent
            in_use = self._home is IndexHome.EDITORS
            self._folder = IndexFolder(root, self._adapter.name, self._rules, shared, in_use=in_use)
        return self._folder

    def _prepare(self, includes: Includes) -> Included:
        file, used = self._database.take(), self._database.used
        there = used.files() if used else []
        watched = self._feed.folders()
        self._elsewhere.watch(path for path in there if not any(map(path.is_relative_to, watched)))
        problems = missing_files(used, there, self._rules, self.display_path) if used else []
        self.has_index = bool(there) and self.remote is None
        if file:
            includes.forced = used.forced(self._rules.include_options) if used else {}
            compiled = used.commands if used else {}
            includes.links = links_in(self._feed, compiled)
            files = list(self._feed.files())
            self._configs = [path for path in files if path.name in self._rules.config_files]
            sources = sorted({*self.files.sources(), *compiled, *self._configs})
            try:
                folder = self._take_folder(file)
                folder.prepare(files, sources, used, includes)
                headers = used.headers_elsewhere(includes.spelled, self._rules, watched) if used else []
                if self._home is IndexHome.OURS:
                    folder.prepare_elsewhere(headers, includes)
                self._headers_elsewhere.watch(headers)
                self._is_prepared = self._home is IndexHome.OURS
            except OSError as error:
                log.warning("the index of %s cannot be kept: %s", self._workspace.root, error)
                problems.append(f"{error.filename or 'the index'} cannot be written ({error.strerror}): "
                                f"{self._adapter.name} may know too little, or outdated facts")  # fmt: skip
        self._problems = problems
        return Included(self._adapter, includes)
