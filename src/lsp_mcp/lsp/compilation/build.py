"""What the compilation database means for a server and for the truth of its answers: `Build`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from lsp_mcp.adapters import Adapter, Compilation
from lsp_mcp.backend import Use
from lsp_mcp.disk.feed import Feed
from lsp_mcp.disk.files import Signature
from lsp_mcp.gaps import Gap, news
from lsp_mcp.lsp.compilation.database import Database, database_of_flags, find_database, own_project, read_database
from lsp_mcp.lsp.compilation.files import BuildFiles
from lsp_mcp.lsp.compilation.includes import Includes
from lsp_mcp.lsp.compilation.index_folder import IndexFolder
from lsp_mcp.prose import count, first_few
from lsp_mcp.workspace import Workspace

log = logging.getLogger(__name__)

_MOST_ELSEWHERE = 500  # compiled files outside the watched folders that are looked at before each question


class Build:
    """The build of one workspace, as one server sees it.

    `given` is a compilation database that the user named; with `shared`, the server keeps its index where an
    editor's would; with `hosted`, it is an editor's, and has what that gives it.
    """

    def __init__(
        self,
        adapter: Adapter,
        rules: Compilation,
        workspace: Workspace,
        feed: Feed,
        given: Path | None,
        *,
        shared: bool,
        hosted: bool = False,
    ) -> None:
        self.files = BuildFiles(adapter, feed, Includes(rules.include_pattern))
        self.has_index = False  # whether the server will index anything by itself
        self._adapter = adapter
        self._rules = rules
        self._workspace = workspace
        self._feed = feed
        self._given = given
        self._shared = shared
        self._hosted = hosted
        self._begun = False  # whether a server has begun, so that what is stale in its index may go when it ends
        self._prepared = False  # whether the next is known
        self._database: Database | None = None
        self._used: Database | None = None  # the last one that could be used: the server has it
        self._problems: list[str] = []
        self._folder: IndexFolder | None = None
        self._elsewhere: dict[Path, Signature | None] = {}  # compiled files that no event names

    # --- for the start of a server -----------------------------------------------------------------

    def arguments(self) -> list[str]:
        """What the server's command gets besides; takes the folder for its index."""
        file = self._find()
        if file is None:
            return []
        folder = self._take_folder(file)
        if self._shared and own_project(file, self._rules, self._workspace.root):
            return []  # it finds the database by itself
        return [self._rules.argument.format(folder=folder.folder)]

    def hosted_as(self, command: Sequence[str]) -> None:
        """The server is an editor's, which has started it by `command`."""
        before, _, after = self._rules.argument.partition("{folder}")
        for word in command:
            if word.startswith(before) and word.endswith(after):
                folder = Path(word.removeprefix(before).removesuffix(after))
                self._given = (self._workspace.root / folder / self._rules.database).resolve()

    async def prepare(self) -> None:
        """Read the database, and take what is stale out of the index. Before the server looks at either."""
        includes = Includes(self._rules.include_pattern)
        await asyncio.to_thread(self._prepare, includes)
        # Whoever looked meanwhile saw the ones before.
        self.files.replace(includes, self._used.commands if self._used else ())

    def first_file(self) -> Path | None:
        """A file to open so that the server begins to index, None if there is nothing to index.

        Any will do, and one that does not exist, opened empty, costs nothing; the first question may be about another.
        """
        if not self.has_index or not self._folder or not self._used:
            return None
        suffix = next((path.suffix for path in self._used.commands if self._adapter.language_of(path)), None)
        return self._folder.folder / f"begin{suffix}" if suffix else None

    async def indexed(self) -> None:
        """The server has indexed everything: what it has can be compared with what it should have."""
        if self._folder and not self.files.compared:
            self.files.indexed(await asyncio.to_thread(self._folder.indexed_names))

    def incomplete(self, path: Path) -> None:
        """See `IndexFolder.incomplete`."""
        if self._folder:
            self._folder.incomplete(path)

    def close(self) -> None:
        """Let go of the folder."""
        if self._folder:
            self._folder.close()

    # --- what changed ------------------------------------------------------------------------------

    def changed_elsewhere(self) -> list[Path]:
        """The compiled files outside the watched folders that are not what they were at the last call."""
        now = {path: Signature.of(path) for path in self._elsewhere}
        changed = [path for path, signature in now.items() if signature != self._elsewhere[path]]
        self._elsewhere = now
        return changed

    async def database_changed(self, changed: Iterable[Path]) -> bool:
        """Whether there is another database than the server has, or it says something else."""
        known = self._database
        named = any(path.name in (self._rules.database, self._rules.flags) for path in changed)
        if known is None or named or Signature.of(known.file) != known.signature:
            await asyncio.to_thread(self._find_again)
        # Looked at each time: whoever was told of it before may have been cancelled.
        now, used = self._database, self._used
        if now is used or (now and now.problem):
            return False  # with a problem, the server goes on with the one before, and answers say so
        if now and used and now.commands == used.commands:
            self._used = now
            return False
        return True

    def is_configured_by(self, changed: Iterable[Path]) -> bool:
        """Whether one of `changed` says how the server compiles files."""
        return any(path.name in self._rules.config_files for path in changed)

    async def affected(self, changed: Collection[Path], read: Collection[Path]) -> set[Path]:
        """Those files of the build, and of `read`, that are not what they were because `changed` are not."""
        before, affected = self.files.last_inside, await self.files.affected(changed)
        inside = (await self.files.view()).inside
        return {path for path in affected if path in inside or path in before or path in read}

    async def are_headers(self, paths: Collection[Path]) -> bool:
        """Whether the build compiles one of `paths` only as a part of other files."""
        view = await self.files.view()
        return any(path in view.inside and path not in view.compiled for path in paths)

    # --- what answers must say ---------------------------------------------------------------------

    def gaps(self, unsearched: Sequence[Path], use: Use | None) -> list[Gap]:
        """What of the build makes answers incomplete; `unsearched` are files outside with the word of `use`."""
        rules, database = self._rules, self._database
        if not self._prepared:
            return []
        if database is None:
            text = f"no {rules.database}: holds only for files that {self._adapter.name} opened, with guessed flags"
            gaps = [Gap("not_loaded", text, brief=f"no {rules.database}")]
        elif database.problem:
            before = "works with the one before" if self._used else "knows only files that were opened"
            text = (
                f"{self.display_path(database.file)} {database.problem}; {self._adapter.name} {before}; make it again"
            )
            gaps = [Gap("not_loaded", text, (database.file,))]
        else:
            gaps = [Gap("not_loaded", problem) for problem in self._problems]
        if unsearched and use:
            named = self.named(unsearched)
            source = database.file.name if database else rules.database
            text = f"not searched: {named}, not in {source}, with the word {use.identifier}"
            brief = f"{count(len(unsearched), 'file')} not in {source} with {use.identifier}"
            gaps.append(Gap("not_searched", text, tuple(unsearched), brief=brief))
        return gaps

    def news(self) -> list[Gap]:
        """How to get a database if there is none, and what else of it must be known."""
        texts = []
        if self._used and self._used.file != self._given and self._used.file.parent != self._workspace.root:
            texts.append(f"{self._adapter.name} uses {self.display_path(self._used.file)}")
        if self._elsewhere:
            texts.append(
                f"files of the build lie outside the workspace root, such as {next(iter(self._elsewhere))}: changes of "
                "headers there are not noticed; start lsp-mcp with the project's --workspace-root"
            )
        if self._prepared and not self._database:
            texts.append(
                f"{self._rules.database} is not in {self._workspace.root}, its usual build folders or above; make one "
                f"({self._rules.how_to_get}) or name it with --compile-commands"
            )
        return [news("setup", text, event=1) for text in texts]

    def named(self, files: Sequence[Path]) -> str:
        """The first of `files`, and how many more there are."""
        return first_few([self.display_path(path) for path in files])

    def display_path(self, path: Path) -> str:
        """`path` for people."""
        return self._workspace.display_path(path)

    # --- inside ------------------------------------------------------------------------------------

    def _find(self) -> Path | None:
        found = self._given or find_database(self._workspace.root, self._rules)
        if found and self._hosted and found != self._given:
            return found if own_project(found, self._rules, self._workspace.root) else None
        return found

    def _read(self, file: Path) -> Database:
        if file.name != self._rules.flags:
            return read_database(file, self._workspace.root)
        return database_of_flags(
            file, [path for path in self.files.sources() if path.suffix in self._rules.compiled_extensions]
        )

    def _find_again(self) -> None:
        file, known = self._find(), self._database
        if file is None:
            self._database = None
        elif known is None or file != known.file or Signature.of(file) != known.signature:
            self._database = self._read(file)

    def _take_folder(self, file: Path) -> IndexFolder:
        if self._folder is None:
            shared = (own_project(file, self._rules, self._workspace.root) or file.parent) if self._shared else None
            self._folder = IndexFolder(self._workspace.root, self._adapter.name, self._rules, shared)
        return self._folder

    def _prepare(self, includes: Includes) -> None:
        file = self._find()
        self._database = self._read(file) if file else None
        if self._database is None or not self._database.problem:
            self._used = self._database
        there = self._used.files() if self._used else []
        watched = self._feed.folders()
        elsewhere = [path for path in there if not any(map(path.is_relative_to, watched))]
        self._elsewhere = {path: Signature.of(path) for path in elsewhere[:_MOST_ELSEWHERE]}
        self._problems = self._missing(self._used, there) if self._used else []
        self.has_index = bool(there)
        if file:
            includes.forced = self._used.forced(self._rules.include_options) if self._used else {}
            compiled = self._used.commands if self._used else {}
            files = list(self._feed.files())
            configs = [path for path in files if path.name in self._rules.config_files]
            sources = sorted({*self.files.sources(), *compiled, *configs})
            try:
                self._take_folder(file).prepare(
                    files, sources, self._used, includes, keep=self._hosted and not self._begun
                )
                self._begun = True
            except OSError as error:
                log.warning("the index of %s cannot be kept: %s", self._workspace.root, error)
                self._problems.append(f"{error.filename or 'the index'} cannot be written ({error.strerror}): "
                                      f"{self._adapter.name} may know too little, or what is no longer so")  # fmt: skip
        self._prepared = True

    def _missing(self, database: Database, files: Sequence[Path]) -> list[str]:
        """What is wrong with a database of which only `files` are there."""
        shown = self.display_path(database.file)
        if not database.commands:
            return [f"{shown} is empty; make it again"]
        named = len(database.commands)
        if 2 * len(files) >= named:
            return []  # one that is gone hides nothing
        example = min(set(database.commands).difference(files))
        there = "none of them is there" if not files else f"only {len(files):,} of them are there"
        return [
            f"{shown} names {named:,} file{'s' * (named > 1)}, and {there} (not {example}): made on another machine? "
            f"Make it again ({self._rules.how_to_get})"
        ]
