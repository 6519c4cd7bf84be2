"""The narrow waist: `Backend`, which answers LSP requests about a workspace.

It hides whether the language server was started by this program or runs inside an editor. Features ask a `Backend`;
nothing above it knows how the server is reached.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from lsp_mcp.gaps import Gap
from lsp_mcp.protocol.lsp import Diagnostic, WorkspaceEdit
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.text import PositionEncoding, Span, Text
from lsp_mcp.words.lexing import Occurrences
from lsp_mcp.words.visibility import Symbol
from lsp_mcp.words.workspace_words import FilesWith, Reached

Json = dict[str, Any]
Report = Callable[[float, float | None, str], Awaitable[None]]
"""Called with (done, total, message) while a caller waits."""


async def no_report(done: float, total: float | None, message: str) -> None:
    """A `Report` to nobody."""


State = Literal["missing", "starting", "indexing", "running", "stopped"]
"""The state of a server: not installed; not yet initialized; loading the workspace; ready; gone."""


class Use(Struct, frozen=True):
    """What a use of a symbol looks like in plain text.

    `files` are those with occurrences that are still unexplained; None: every file with the word. In a file of `lines`
    they are only on these lines, from 1.
    """

    identifier: str
    folder: Path | None = None  # a file elsewhere must name this folder too, to import the symbol from it
    files: frozenset[Path] | None = None
    lines: Mapping[Path, frozenset[int]] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.identifier, self.folder, self.files))

    def may_be_on(self, path: Path, line: int) -> bool:
        """Whether there may be an unexplained use on that line of `path`."""
        return self.may_be_in(path) and (path not in self.lines or line in self.lines[path])

    def may_be_in(self, path: Path) -> bool:
        """Whether `path`, which contains the word, may have an unexplained use."""
        return self.files is None or path in self.files


Reach = Literal["text", "file", "workspace"]
"""What an answer depends on: the text of its document; that and what the document depends on; anything."""


class Scope(Struct, frozen=True):
    """What an answer depends on, so that only relevant problems become gaps.

    `path` is the document in question, None for the whole workspace; `use` is what could be hidden.
    """

    reach: Reach = "workspace"
    path: Path | None = None
    use: Use | None = None
    unsearched: frozenset[Path] = frozenset()  # returned by `Coverage.load` before the answer
    searched: frozenset[Path] = frozenset()  # files that the build excludes but the answer covers all the same


class Facts(Struct, frozen=True):
    """Facts about a server and its index; None or empty if unknown."""

    version: str = ""  # as it reports itself
    command: tuple[str, ...] = ()
    memory: int | None = None  # bytes of its processes in RAM
    request_timeout: float = 0.0  # seconds for one reply, unless a request sets another
    database: Path | None = None  # the compilation database in use
    compiled: int = 0  # files in that
    indexed: int | None = None  # files in its index, headers too
    index_changed: float | None = None  # when the index was last written, seconds since 1970
    failed: Mapping[Path, str] = field(default_factory=dict)  # files with errors, and the first of each
    left_out: int = 0  # source files that the build excludes


class Indexed(Struct, frozen=True):
    """What a server's index on disk has about the file `path`, which has not changed since.

    `is_unit`: it was compiled by itself, without errors. `types` are the types that are declared there by their IDs,
    with name and scope; None: a specialization. `uses` are the IDs of the symbols that are spelled at a place (line and
    character from 0, as UTF-16 counts), and whether the place declares all of them.
    """

    path: Path
    is_unit: bool
    types: Mapping[str, tuple[str, str] | None]
    uses: Mapping[tuple[int, int], tuple[frozenset[str], bool]]


class Words(Protocol):
    """The words of a workspace's source files in the languages of one server, buffers of an editor before the disk."""

    async def files_with(self, word: str, *, seconds: float | None = None) -> FilesWith:
        """The files that contain `word`, in code or elsewhere, as of the last `sync`.

        Waits at most `seconds` for files that are still unread; with None, until the end of the call.
        """

    async def occurrences(self, path: Path, text: Text, word: str) -> Occurrences:
        """Where `word` occurs in the code of `text`, the text of `path`; cached until the text changes."""

    def paths(self) -> Sequence[str]:
        """All files of the workspace, in other languages too, as of the last `sync`."""

    def changes(self) -> int:
        """How often files of the workspace, of any kind, came, changed or went, as of the last `sync`."""

    def imports_begin_with(self) -> list[tuple[str, str]]:
        """The beginnings of imports that lead into the workspace, each with the folder it means; empty if unknown."""

    async def that_can_see(self, files: Collection[Path], symbol: Symbol) -> frozenset[Path]:
        """Those of `files` that can refer to `symbol` by its name; the others cannot, whatever their content."""

    async def reached_from(self, files: Collection[Path], *, seconds: float) -> Reached | None:
        """The code that may mean something else after the contents of `files` changed: theirs, and what imports or
        includes them, through others too. None if that is not known in `seconds`.
        """

    async def state_of(self, word: str, *, seconds: float) -> str:
        """Identifies the texts on which the meaning of each `word` in the workspace depends: those of the folders that
        have it and of all that they import; with "", those of all source files.

        Empty if that is not known in `seconds`.
        """

    async def is_on_disk(self) -> bool:
        """Whether all source files on disk still have the texts that `state_of` identified."""

    async def that_can_mean(self, spans: Collection[Span], text: Text, path: Path, symbol: Symbol) -> list[Span]:
        """Those of `spans`, occurrences of its name in `path`, that may be `symbol`: not another package's name."""


class Checked(Struct, frozen=True):
    """The problems that a server reports in one state of the workspace.

    `diagnostics` are LSP `Diagnostic`s by file, for files with any. `covers` are the files that were checked; None:
    all files of the build. The files in `incomplete` have errors that are not known in detail. `gaps` describe what
    could not be checked.
    """

    diagnostics: Mapping[Path, Sequence[Diagnostic]]
    covers: Collection[Path] | None = None
    incomplete: Collection[Path] = ()
    gaps: tuple[Gap, ...] = ()


class Trial(Protocol):
    """What a server would report for other texts; see `Problems.trial`."""

    def show(self, path: Path, text: Text) -> None:
        """Present `text` to the server as the content of `path`, which need not exist."""

    async def read(self, path: Path) -> None:
        """Make the server of the trial read the shown text of `path`, without the files that depend on it."""

    async def check(self, naming: Collection[Path] = ()) -> Checked:
        """The problems that these texts would cause, as far as the server can tell without files being written.

        Of the files that depend on them, those in `naming` are tried first.
        """

    @property
    def encoding(self) -> PositionEncoding:
        """How the server of the trial counts."""

    def text(self, path: Path) -> Text | None:
        """The text of `path` in the trial; None if the server is not shown the file."""

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """The result of one LSP request about these texts. Raises the errors of `Backend.request`."""


class Documents(Protocol):
    """The documents of one server."""

    async def open(self, path: Path) -> Text:
        """Make sure that the server has `path` open with its present content, which is returned.

        Raises:
            PathError: the file cannot be read as text, or is not in a language of this server.
        """

    async def visit(self, path: Path) -> Text:
        """As `open`, for a proof: a file that the build excludes is open until one of another build is visited."""

    async def stay(self, path: Path) -> Text:
        """As `open`, for an edit: `path` stays open although a proof may have visited it, or does so now."""

    def leave(self) -> None:
        """Close what is open only because of `visit`, and excluded from the build."""

    async def text(self, path: Path) -> Text:
        """The text of `path` as the server sees it: the open document, else the file.

        Raises:
            PathError: the file is gone or cannot be read as text.
        """

    def version(self, path: Path) -> int | None:
        """The version of the open document `path` as sent to the server; None if it is not open."""


class Coverage(Protocol):
    """What one server has of the workspace, and what it leaves out."""

    async def load(self, path: Path | None, word: str) -> frozenset[Path]:
        """Make the server load projects that may contain `word` and that it does not load by itself, within seconds.

        `path` is the file in question; None: the whole workspace. Returns what is still being loaded: the
        `unsearched` of the answer's `Scope`.
        """

    async def loads_more(self, path: Path) -> bool:
        """Whether the server loads another build, or code that it leaves out, once `path` is open."""

    def load_seconds(self) -> float:
        """How long the server took to load the workspace, or a build of it, the last time; 0 if that is not known."""

    async def left_out(self, path: Path, use: Use) -> Sequence[Path]:
        """The files that the build excludes and that may contain a `use` of a symbol of the project of `path`."""

    async def excludes(self, path: Path) -> bool:
        """Whether the build is known to exclude `path`."""

    def own_build(self, path: Path) -> AbstractAsyncContextManager[Trial] | None:
        """A server started for a build that has the excluded file `path`, which none of this server's has; None if no
        such build is known. It reads from disk.
        """

    async def own_variables(self, path: Path) -> Mapping[str, str]:
        """The variables of a build that has `path`, if this server's excludes it; empty if not, or none is known."""

    async def in_build(self, variables: Mapping[str, str]) -> Backend | None:
        """The server of the build with these `variables`, started now if there was none; None if there can be none."""

    def other_builds(self) -> Sequence[Backend]:
        """The servers of other builds that run."""

    async def build_state(self) -> str:
        """Identifies all but the workspace's source files by which the server decides what they mean: its version, its
        settings, the project files. Empty if that is not known.
        """

    async def built_files_with(self, word: str) -> FilesWith:
        """The files of the build that contain `word`."""

    async def indexed(self, files: Collection[Path]) -> Mapping[Path, Indexed]:
        """What the server's index on disk has about `files`; nothing about most of them if anything has changed."""

    async def part_of(self, path: Path) -> tuple[Path, int] | None:
        """File and line, from 1, of the code that `path` is included inside of, without which the server reads it."""

    async def wholes_of(self, path: Path) -> Sequence[tuple[Path, int]]:
        """Files and lines, from 1, of the code that includes `path`, if the server does not read that well alone."""

    async def compiles_with(self, pattern: str) -> bool:
        """Whether a file may be compiled by a command that has text like `pattern`."""

    def has_reread(self, path: Path) -> bool:
        """Whether the server has read `path` again after a change; its index may still hold the old state."""

    def mistrust(self, path: Path, name: str) -> None:
        """Report that the server wrongly found `name` in `path`; the next `sync` corrects that if it can."""

    async def facts(self) -> Facts:
        """What is known now about the server and its index."""


class Problems(Protocol):
    """The problems that one server reports, as LSP `Diagnostic`s, for the present texts or for others."""

    async def diagnosed(self, path: Path) -> bool:
        """Wait until the server has diagnosed the present text of `path`; False if it does not in time."""

    @property
    def has_versions(self) -> bool:
        """Whether this server, as far as is known, states the version that its diagnostics are for."""

    def diagnostics(self, path: Path) -> list[Any]:
        """The last diagnostics of `path`, as the server sent them."""

    async def check(self, also: Collection[Path] = (), *, only: bool = False) -> Checked:
        """The present problems in all changed files and their dependents, or in all files; `also` in these files.

        With `only`, others that nobody has opened do not matter. Call `sync` before. Raises the errors of
        `Backend.request`.
        """

    @property
    def baseline(self) -> Checked | None:
        """The problems when the workspace was first seen, before any change; None if it was not checked in time."""

    def trial(self, *, with_dependents: bool = False) -> AbstractAsyncContextManager[Trial]:
        """A context in which the server may be shown other texts, without effect on anyone else's answers.

        Within it, `Backend.sync` and `Coverage.load` must not be called, directly or indirectly. `with_dependents`:
        files that include the shown ones are tried, too, if need be on a server of its own; then each file is shown one
        text only.
        """


class Backend(Protocol):
    """One language server with one workspace. LSP payloads are plain JSON."""

    @property
    def plugin(self) -> Plugin:
        """What this program knows of the server: its adapter and what is in `servers`."""

    @property
    def root(self) -> Path:
        """The workspace root, absolute and resolved."""

    @property
    def encoding(self) -> PositionEncoding:
        """How the server counts, as agreed in `initialize`."""

    @property
    def capabilities(self) -> Json:
        """LSP `ServerCapabilities`, dynamic registrations not included."""

    @property
    def words(self) -> Words:
        """The word index."""

    @property
    def documents(self) -> Documents:
        """The texts that the server has."""

    @property
    def coverage(self) -> Coverage:
        """The part of the workspace that the server has."""

    @property
    def problems(self) -> Problems:
        """What the server says is wrong."""

    def state(self) -> State:
        """What the server is doing now."""

    async def ready(self, report: Report, path: Path | None = None) -> None:
        """Wait until the server has loaded the workspace, at most the ready timeout (`--ready-timeout`).

        A server that compiles each file by itself begins with `path`, which the question is about.

        Raises:
            UnavailableError: the server is missing or dies while it starts.
        """

    async def sync(self, *, text_only: bool = False, to_check: bool = False) -> int:
        """Tell the server about all changes on disk until now; returns a counter of changes.

        If it is the same before and after a question, nothing changed while the question was answered. `text_only`: the
        question is about the text of one document, so what the server may have missed before we came can wait. With
        `to_check` only `Problems.check` may be called after it: what that looks at anyway is not read first.
        """

    @property
    def generation(self) -> int:
        """The last result of `sync`."""

    def edited_since(self, generation: int) -> frozenset[Path] | None:
        """The files whose contents changed since `generation`; None if anything else may have changed, too."""

    async def request(self, method: str, params: Mapping[str, Any], *, timeout: float | None = None) -> Any:
        """The result of one LSP request; None for null. `timeout` in seconds.

        Only for requests without side effects: if the server dies, the request is sent once more.

        Raises:
            RefusedError: the server answered with an error; its message.
            UnavailableError: the server died twice during the request, or did not answer in time.
        """

    async def execute(
        self, command: str, arguments: Sequence[Any], answers: Sequence[Json] = ()
    ) -> list[WorkspaceEdit]:
        """The edits (LSP `WorkspaceEdit`) that the server requests when it executes one of its commands.

        None of them is applied. `answers` are given to the server's prompts.

        Raises:
            RefusedError: the server refused, or the adapter does not list the command.
            UnavailableError: see `request`.
        """

    async def gaps(self, scope: Scope) -> list[Gap]:
        """The gaps of an answer of `scope` now, and news for its reader."""
