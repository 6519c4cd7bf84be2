"""What one server has of a workspace: `Coverage`, and the hooks that need parts of a session: `SessionPlugin`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from lsp_mcp.adapters import Language
from lsp_mcp.backend import Facts, Indexed, Scope, Use
from lsp_mcp.disk.feed import Feed
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.errors import ConfigError
from lsp_mcp.gaps import Gap
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.lsp.life.lifetime import Lifetime
from lsp_mcp.lsp.reloading.plain import PlainReloading
from lsp_mcp.lsp.reloading.reloading import Known, Reloading
from lsp_mcp.objects.second_names import SecondNames
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.text import PositionEncoding, Span, Text
from lsp_mcp.words.workspace_words import Includes, Surroundings
from lsp_mcp.workspace import Workspace

_NO_LINKS = SecondNames()


class Start(Struct, frozen=True):
    """What a server is started with."""

    workspace: Workspace
    feed: Feed
    env: Mapping[str, str] | None = None
    database: Path | None = None  # the compilation database that the user named
    shared_index: bool = False  # the index is kept where an editor's server keeps it
    hosted: bool = False  # it is an editor's server, which starts it
    remote_index: str = ""  # HOST:PORT of the index that the server is to ask, if it can


class Parts(Struct, frozen=True):
    """The parts of a session that make a server read."""

    workspace: Workspace
    documents: Documents
    lifetime: Lifetime
    known: Known
    timeout: float  # seconds to wait for one answer


class Miss(Struct, frozen=True):
    """An error that the language's own build reports and the server does not."""

    span: Span
    message: str
    severity: int = 1  # LSP 3.17, `DiagnosticSeverity`


class Built(Struct, frozen=True):
    """What the language's own build says of the files that it `covers`; `left` says why it does not cover all."""

    errors: Mapping[Path, Sequence[Miss]] = {}
    covers: Collection[Path] = ()
    left: str = ""


class Setup(Struct, frozen=True):
    """Something in a workspace that the server needs, or works better with."""

    name: str
    state: Literal["ok", "missing", "unusable"]
    path: str = ""
    note: str = ""
    get: str = ""  # how to get it, for people


class Whole(Struct, frozen=True):
    """The text to show in place of a document's; `diagnostics` of it are given back as those of the document.

    `moves`: what is in the document is on other lines there.
    """

    text: Text
    diagnostics: Callable[[Sequence[Any], PositionEncoding], list[Any]]
    moves: bool = False


class Coverage:
    """What a server loads of the workspace, and what it leaves out; one object for each session.

    The defaults are those of a server that only an adapter file describes.
    """

    includes: Includes | None = None
    """Which files include which, in a language with includes."""
    surroundings: Surroundings | None = None
    """Where imports lead, in a language with imports."""

    # --- for the start of a server -----------------------------------------------------------------

    @property
    def env(self) -> Mapping[str, str]:
        """Environment variables for the server."""
        return {}

    def settings(self) -> Mapping[str, Any]:
        """Settings that depend on what is in the workspace, by their full names, with dots."""
        return {}

    def arguments(self) -> list[str]:
        """Additions to the server's command."""
        return []

    async def prepare(self, command: Sequence[str]) -> None:
        """The server is about to read its first file; `command` started it if it is an editor's, else it is empty."""

    def restarted(self) -> None:
        """There is a new server; its documents will be opened again."""

    def started(self, documents: Documents) -> None:
        """The new server has the open documents."""

    def opening(self, path: Path, text: Text, notify: Callable[[str, Any], None]) -> None:
        """The document `path` is about to be opened with `text`."""

    def incomplete(self, path: Path) -> None:
        """The server has indexed only a part of `path`; may be called in another thread."""

    def heard(self, line: str) -> None:
        """The server wrote `line` to its stderr; may be called in another thread."""

    @property
    def loads_by_itself(self) -> bool:
        """Whether the server loads the workspace without being asked, so that questions wait until it has."""
        return True

    async def loaded(self) -> None:
        """The server has loaded the workspace."""

    async def close(self) -> None:
        """End what is still running, and release what is locked."""

    language_of: Callable[[Path], Language | None] | None = None
    """Which files are sources, where not only their names say so."""

    def on_sources(self, take: Callable[[Collection[Path]], None]) -> None:
        """Call `take` with files that have become sources although they did not change."""

    # --- what changed ------------------------------------------------------------------------------

    def changed(self, paths: Sequence[Path]) -> None:
        """Note that these files were created, changed or deleted."""

    def changed_elsewhere(self) -> list[Path]:
        """The files outside the watched folders that matter, and changed since the last call."""
        return []

    async def settle(self, reload_all: Callable[..., Awaitable[None]]) -> bool:
        """Call `Reloading.reload_all` if what the server loads is different now; returns whether it was replaced."""
        return False

    # --- questions ---------------------------------------------------------------------------------

    def files_to_open(self) -> list[Path]:
        """Files that must be open so that the server loads all of the workspace."""
        return []

    def apart_variables(self, path: Path) -> Mapping[str, str]:
        """The variables with which the server reads `path` as others do; empty: its present ones."""
        return {}

    def loose(self, files: Sequence[Path]) -> Sequence[Path]:
        """Those of `files` that the server reads as parts of its projects only while they are open."""
        return ()

    async def gaps(self, scope: Scope) -> list[Gap]:
        """What an answer of `scope` may lack because the server does not load everything."""
        return []

    def news(self) -> list[Gap]:
        """What readers of an answer should know about what the server has."""
        return []

    async def facts(self) -> Facts:
        """See `backend.Coverage.facts`."""
        return Facts()

    async def left_out(self, path: Path, use: Use) -> Sequence[Path]:
        """See `backend.Coverage.left_out`."""
        return ()

    async def excludes(self, path: Path) -> bool:
        """Whether the build is known to exclude `path`."""
        return False

    async def is_native(self) -> bool:
        """Whether the server's own build is for this machine."""
        return True

    async def how_to_build(self, files: Sequence[Path]) -> str:
        """How a user can include the excluded `files`; empty if that is not known."""
        return ""

    async def build_state(self) -> str:
        """Identifies the project files and settings by which source files are built; empty if that is not known."""
        return ""

    async def built(self, files: Sequence[Path]) -> Sequence[Path]:
        """Those of `files` that the build has."""
        return files

    async def index_of(self, paths: Collection[Path]) -> Mapping[Path, Indexed]:
        """See `backend.Coverage.indexed`."""
        return {}

    @property
    def second_names(self) -> SecondNames:
        """The links in the workspace that the server takes for files of their own, and that are not."""
        return _NO_LINKS

    async def part_of(self, path: Path) -> tuple[Path, int] | None:
        """See `backend.Coverage.part_of`."""
        return None

    async def included_at(self, path: Path) -> Sequence[tuple[Path, int]]:
        """Some files and lines, from 1, that include `path`, of one that is not compiled by itself."""
        return ()

    async def compiles_with(self, pattern: str) -> bool:
        """See `backend.Coverage.compiles_with`."""
        return True

    async def dependents(self, paths: Collection[Path]) -> Collection[Path]:
        """The files of the build that include one of `paths`, through others too; these among them."""
        return paths

    async def whole(self, path: Path, text: Text) -> Whole:
        """How to show `text` of `path`, so that the server checks all that it includes."""
        return Whole(text, lambda reported, _: list(reported))

    builds = False
    """Whether the errors in code are those of `build`, of whose kinds the server knows only some."""

    async def build(self, sources: Collection[Path], seconds: float) -> Built:
        """Run the language's own build of what is on disk, for at most that long."""
        return Built()

    async def missed(self, shown: Mapping[Path, Text]) -> Mapping[Path, Sequence[Miss]]:
        """The errors that the server does not report, of each file with any; `shown` are the texts of documents."""
        return {}


class SessionPlugin(Plugin):
    """The hooks of a plug-in that need parts of a session."""

    def coverage(self, start: Start) -> Coverage:
        """Serves the completeness of every answer: what the server has of the workspace, and what it leaves out."""
        return Coverage()

    def reloading(self, coverage: Coverage, parts: Parts) -> Reloading:
        """Serves the freshness of every answer: how the server, with its `coverage`, is made to read what changed."""
        return PlainReloading(
            self.adapter, parts.workspace, parts.documents, parts.lifetime, parts.known, parts.timeout
        )

    def check_remote_index(self, program: Path, address: str) -> None:
        """Serves `--remote-index`: check that `program` can use the index server at `address`.

        Raises:
            ConfigError: it cannot, or this server has none.
        """
        raise ConfigError(f"--remote-index: {self.name} cannot use a remote index")

    def setup(self, root: Path, database: Path | None) -> Setup | None:
        """Serves `doctor`: what the server needs in the workspace `root`; `database` is the one that the user named."""
        return None


def own_variables(plugin: Plugin, path: Path) -> Mapping[str, str]:
    """The variables of a build that has `path`, by what is on disk; empty if none is known."""
    return plugin.own_build(content_or_nothing(path).decode("utf-8", "replace")) or {}
