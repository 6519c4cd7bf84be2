"""The narrow waist: `Backend`, whatever answers LSP requests about a workspace.

A language server that this program started and one that runs inside an editor differ only behind it.
Features ask a `Backend`; nothing above it knows how the server is reached.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from lsp_mcp.adapters import Adapter
from lsp_mcp.gaps import Gap
from lsp_mcp.text import PositionEncoding, Span, Text
from lsp_mcp.words.lexing import Occurrences
from lsp_mcp.words.visibility import Symbol
from lsp_mcp.words.workspace_words import FilesWith

Json = dict[str, Any]
Report = Callable[[float, float | None, str], Awaitable[None]]
"""Called with (done, total, message) while somebody waits."""


State = Literal["missing", "starting", "indexing", "running", "stopped"]
"""Of a server: not installed; not initialized yet; initialized, and loading the workspace; ready; gone."""


@dataclass(frozen=True)
class Use:
    """What a use of a symbol looks like to somebody who only reads text.

    `files` are those that may have one that nobody has explained; None: every file with the word. In those that `lines`
    has, it stands only on these lines, from 1.
    """

    identifier: str
    folder: Path | None = None  # a file elsewhere must name this folder too, to import the symbol from it
    files: frozenset[Path] | None = None
    lines: Mapping[Path, frozenset[int]] = field(default_factory=dict, hash=False)

    def may_be_on(self, path: Path, line: int) -> bool:
        """Whether there may be an unexplained use on that line of `path`."""
        return self.may_be_in(path) and (path not in self.lines or line in self.lines[path])

    def may_be_in(self, path: Path) -> bool:
        """Whether `path`, which has the word, may have an unexplained use."""
        return self.files is None or path in self.files


Reach = Literal["text", "file", "workspace"]
"""What an answer depends on: the text of its document; that and what the document depends on; anything."""


@dataclass(frozen=True)
class Scope:
    """What an answer depends on, so that only what can matter to it becomes a gap.

    `path` is the document that it is about, None if it is about the whole workspace; `use` what could be hidden.
    """

    reach: Reach = "workspace"
    path: Path | None = None
    use: Use | None = None
    unsearched: frozenset[Path] = frozenset()  # as `Backend.load` gave them before the answer
    searched: frozenset[Path] = frozenset()  # files that the build leaves out, which the answer takes in all the same


@dataclass(frozen=True)
class Facts:
    """What is known of a server and of its index; None and empty for what is not."""

    version: str = ""  # as it says itself
    command: tuple[str, ...] = ()
    memory: int | None = None  # bytes of its processes that are in RAM
    database: Path | None = None  # the compilation database that it has
    compiled: int = 0  # files in that
    indexed: int | None = None  # files in its index, headers too
    index_changed: float | None = None  # when a file of the index was written last, seconds since 1970
    failed: Mapping[Path, str] = field(default_factory=dict)  # files with errors, and the first of each
    left_out: int = 0  # source files that the build does not take in


class Words(Protocol):
    """The words of a workspace's source files in the languages of one server, buffers of an editor before the disk."""

    async def files_with(self, word: str, *, seconds: float | None = None) -> FilesWith:
        """The files that have `word`, in code or elsewhere, as of the last `sync`.

        What is still to be read is waited for, at most `seconds`; with None until the call itself ends.
        """

    def occurrences(self, path: Path, text: Text, word: str) -> Occurrences:
        """Where `word` stands in the code of `text`, which is the text of `path`; remembered while that is the same."""

    async def that_can_see(self, files: Collection[Path], symbol: Symbol) -> frozenset[Path]:
        """Those of `files` that may mean `symbol` by its name; the others cannot, whatever stands in them."""

    async def that_can_mean(self, spans: Collection[Span], text: Text, path: Path, symbol: Symbol) -> list[Span]:
        """Those of `spans`, where its name stands in `path`, that may be `symbol`: no name of another package's."""


@dataclass(frozen=True)
class Checked:
    """What a server says is wrong in one state of the workspace.

    `diagnostics` are LSP `Diagnostic`s by file, of files with any. `covers` are the files that were looked at; None:
    all that the build has. Of those in `untold` it is known that they have errors, and not which. `gaps` is what
    could not be looked at.
    """

    diagnostics: Mapping[Path, Sequence[Json]]
    covers: Collection[Path] | None = None
    untold: Collection[Path] = ()
    gaps: tuple[Gap, ...] = ()


class Trial(Protocol):
    """What a server would say of other texts; see `Backend.trial`."""

    def show(self, path: Path, text: Text) -> None:
        """Let the server take `text` for the content of `path`, which need not exist."""

    async def check(self) -> Checked:
        """What would be wrong then, as far as the server can tell without files being written."""


class Backend(Protocol):
    """One language server with one workspace. LSP payloads are plain JSON."""

    @property
    def name(self) -> str:
        """What answers and notes call it, for example `gopls`."""

    @property
    def adapter(self) -> Adapter:
        """What is known of the server."""

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
    def request_timeout(self) -> float:
        """How long one answer is waited for, seconds, unless a request says otherwise."""

    @property
    def check_seconds(self) -> float:
        """How long an answer that changes nothing is compared with the text, seconds, if it took no longer itself."""

    @property
    def words(self) -> Words:
        """Which files have a word, and where."""

    def state(self) -> State:
        """What the server is doing now."""

    async def ready(self, report: Report) -> None:
        """Wait until the server knows the workspace, at most the ready timeout (`--ready-timeout`).

        Raises:
            UnavailableError: the server is missing or dies while it starts.
        """

    async def sync(self) -> int:
        """Tell the server everything that changed on disk until now; returns how often anything did.

        Equal numbers before and after a question: nothing changed while it was asked.
        """

    @property
    def generation(self) -> int:
        """What `sync` returned last."""

    async def open(self, path: Path) -> Text:
        """Make sure that the server has `path` open with its present content, which is returned.

        Raises:
            PathError: the file cannot be read as text, or is of no language of this server.
        """

    async def text(self, path: Path) -> Text:
        """The text of `path` as the server believes it to be: the open document, else the file.

        Raises:
            PathError: the file is gone or cannot be read as text.
        """

    def version(self, path: Path) -> int | None:
        """The version of the open document `path` as told to the server; None when it is not open."""

    async def load(self, path: Path | None, word: str) -> frozenset[Path]:
        """Make the server load what it doesn't by itself and an answer about `word` may lie in, within some seconds.

        `path` is the file that the question is about; None: the whole workspace. Returns what it is still loading:
        the `unsearched` of the answer's `Scope`.
        """

    async def left_out(self, path: Path, use: Use) -> Sequence[Path]:
        """The files that the build leaves out and that may hold a `use` of something of the project of `path`."""

    async def built_files_with(self, word: str) -> FilesWith:
        """The files that have `word`, of those that the build of this server takes in."""

    def has_reread(self, path: Path) -> bool:
        """Whether the server has read `path` again because it changed; its index may keep what was so before."""

    def mistrust(self, path: Path, name: str) -> None:
        """The server has said that `name` stands in `path`, and it doesn't; the next `sync` mends that if it can."""

    async def wait(self, timeout: float, report: Report) -> State:
        """The state of the server once it is ready, or after `timeout` seconds."""

    async def diagnosed(self, path: Path) -> bool:
        """Wait until the server has said what is wrong in the present text of `path`; False if it doesn't in time."""

    @property
    def has_versions(self) -> bool:
        """Whether this server says, as far as is known, of which text its diagnostics are."""

    async def facts(self) -> Facts:
        """What is known of the server and of its index, now."""

    def diagnostics(self, path: Path) -> list[Any]:
        """The last diagnostics of `path`, as the server sent them (LSP `Diagnostic`)."""

    async def check(self, also: Collection[Path] = ()) -> Checked:
        """What is wrong now in everything that changed and what depends on it, or in all; `also` in these files.

        Call `sync` before. Raises as `request`.
        """

    @property
    def baseline(self) -> Checked | None:
        """What was wrong when the workspace was seen first, before any change; None if nobody looked in time."""

    def trial(self) -> AbstractAsyncContextManager[Trial]:
        """For a block in which the server may be shown other texts; nobody else gets an answer about those.

        Within it nothing may be asked that calls `sync` or `load`.
        """

    async def execute(self, command: str, arguments: Sequence[Any], answers: Sequence[Json] = ()) -> list[Json]:
        """The edits (LSP `WorkspaceEdit`) that the server asks for when it executes a command of its own.

        None of them is done. `answers` are to the questions that it would ask a person.

        Raises:
            RefusedError: the server said no, or the adapter doesn't list the command; UnavailableError: as `request`.
        """

    async def request(self, method: str, params: Json, *, timeout: float | None = None) -> Any:
        """The result of one LSP request; None for null. `timeout` in seconds.

        Only for requests that change nothing: one that a dying server left unanswered is asked once more.

        Raises:
            RefusedError: the server said no; its message.
            UnavailableError: it died twice over the request, or did not answer in time.
        """

    async def gaps(self, scope: Scope) -> list[Gap]:
        """What makes an answer of `scope` incomplete now, and what happened that its reader should know."""
