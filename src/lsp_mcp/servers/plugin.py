"""The interface of a server's plug-in: `Plugin`, whose defaults are what an adapter file alone gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from lsp_mcp.adapters import Adapter, Language
from lsp_mcp.servers.traits import (
    Diagnostics,
    Documents,
    Examples,
    Headers,
    Hierarchy,
    Hovered,
    InactiveRegions,
    Mention,
    Refactorings,
    Renaming,
    Reports,
    Symbols,
    Visibility,
    WordCheck,
)
from lsp_mcp.syntax.grammars import Grammar, grammar_of
from lsp_mcp.text import Point, Text


class Plugin:
    """What questions must know about one language server beyond its adapter. It has no state of its own.

    Code outside `servers` knows only this interface, as `Backend.plugin`: what one server needs is in its own folder.
    """

    documents = Documents()
    """Serves the freshness of answers: how open documents are kept in step with the server."""
    reports = Reports()
    """Serves the gaps: how the server says what it could not load."""
    inactive_regions = InactiveRegions()
    """Serves the gaps: how the server says what the preprocessor leaves out."""
    diagnostics = Diagnostics()
    """Serves `check` and edits: how the server reports problems."""
    symbols = Symbols()
    """Serves the search by name, outlines and anchors: the form of the server's symbols."""
    word_check = WordCheck()
    """Serves the comparison with the text: how the server's answers are verified."""
    visibility: Visibility | None = None
    """Serves the comparison with the text: which files can refer to a symbol, where folders are packages."""
    hierarchy: Hierarchy | None = None
    """Serves the type hierarchy and implementations: how inheritance is read from the text."""
    renaming = Renaming()
    """Serves renames and moves: what the server overlooks."""
    mentions: Sequence[Mention] = ()
    """Serves uses, renames and deletions: where a symbol is called by its name outside the code of the server."""
    refactorings = Refactorings()
    """Serves refactorings: what the server can do beyond the actions that it lists."""
    uncancelled: frozenset[str] = frozenset()
    """Serves all questions: the requests that are not cancelled, since the server would refuse later ones."""
    headers: Headers | None = None
    """Serves moves between files that include each other."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter

    @property
    def name(self) -> str:
        """The server's name in answers and notes, for example `gopls`."""
        return self.adapter.name

    def language_of(self, path: Path) -> Language | None:
        """The language of `path`; None if it is not one of this server's."""
        return self.adapter.language_of(path)

    def grammar_of(self, path: Path) -> Grammar | None:
        """The grammar of the language of `path`; None if that has none, or is not one of this server's."""
        language = self.language_of(path)
        return grammar_of(language.id) if language else None

    @property
    def compiles_files(self) -> bool:
        """Serves `check` and the comparison with the text: each file is compiled by itself, with what it includes.

        Such a server reports the errors of all files that a change affects, those of open documents in more detail;
        and a symbol may be declared in several places.
        """
        return False

    @property
    def pulls_diagnostics(self) -> bool:
        """Serves `check`: the diagnostics of documents are requested, because nothing better is known of the server."""
        return True

    @property
    def finds_all_names(self) -> bool:
        """Serves the search by name: a search without results means that nothing has that name."""
        return False

    @property
    def request_reach(self) -> Mapping[str, Literal["text", "file"]]:
        """Serves the gaps of the server's own requests: what the answer to such a method depends on."""
        return {}

    @property
    def trial_arguments(self) -> Sequence[str]:
        """Serves the trial of a change to included files: arguments for a server that sees unsaved ones as if saved.

        Empty: the server of the workspace tries changes by itself.
        """
        return ()

    @property
    def idle_request(self) -> str:
        """Serves new includes: the method that the server answers once it has read all that it reads by itself."""
        return ""

    @property
    def goes_by_mtime(self) -> bool:
        """Serves uses and renames: the server may have an old text of a closed file that kept its time of change."""
        return False

    def in_files(self, answer: Any) -> Any:
        """Serves every question: an answer of the server without what is in no file."""
        return answer

    @property
    def left_out_refusal(self) -> str:
        """Serves uses in files that the build excludes, which the server answers for while they are open.

        The pattern of its refusal for a file that it loads in no build; empty if it answers for none of them.
        """
        return ""

    def own_build(self, content: str) -> Mapping[str, str] | None:
        """Serves renames in such files: the variables of a build that has one with this `content`; None if unknown."""
        return None

    def builds_at(self, places: Sequence[tuple[Path, Text, Point]]) -> Sequence[Mapping[str, str]]:
        """Serves uses in code that the build leaves out: for each of `places` the variables of a build that has its
        code, as few different ones as possible; empty if none is known, or the place has no conditions. Reads files:
        call it in a thread."""
        return [{}] * len(places)

    def systems_of(self, path: Path, text: Text) -> frozenset[str]:
        """Serves proofs about such files: the systems and processors that `path` with its `text` names for its build.

        The server loads those of the same ones once.
        """
        return frozenset()

    @property
    def project_marker(self) -> str:
        """Serves the commands that run tests: the name of the file whose folder is a project."""
        return ""

    def ignores(self, folder: Path, root: Path) -> bool:
        """Serves the comparison with the text: whether the server never reads the files in `folder` below `root`."""
        return False

    def apart(self, folder: Path, root: Path) -> Path | None:
        """Serves the comparison with the text: the folder above `folder` whose packages only import each other, by
        paths that mean something else outside of it; None: there is none.
        """
        return None

    def build_changes(self, moves: Mapping[Path, Path], root: Path) -> Sequence[str]:
        """Serves moves: what is built differently below `root` once files have moved so; reads files."""
        return ()

    def is_header(self, path: Path) -> bool:
        """Serves the order of outlines and the impact of a change: whether `path` is only included by other files."""
        return False

    def hovered(self, text: str, name: str) -> Hovered:
        """Serves renames of what encoders read: what the hover `text` says of what is called `name`."""
        return Hovered(frozenset({name}), holds_any=True)

    def index_package(self, path: Path) -> str:
        """Serves answers about other repositories: `MANAGER NAME` of the package that `path` belongs to, as SCIP names
        it; empty if it is not known."""
        return ""

    def index_symbols(self, path: Path, name: str, scopes: Sequence[str] = ()) -> Sequence[str]:
        """Serves answers about other repositories: the names in SCIP, without a version, that the declaration of `name`
        in `path` may have; none if it is not known how indexers name it. `scopes` are the namespaces in the file that
        it is in, as far as `name` does not have them."""
        return ()

    def examples(self, path: Path, text: Text) -> Examples | None:
        """Serves renames: `text`, the content of `path`, with the code in its comments, which others run as examples,
        so that the server reads it; None if there is none. Reads files."""
        return None

    def exported_name(self, name: str) -> str:
        """Serves moves to another package: `name` as other packages can use it."""
        return name

    def is_exported(self, name: str, path: Path) -> bool:
        """Serves unused code and impact: whether code outside the workspace can use what is called `name` in `path`."""
        return True

    def build_hint(self, places: Sequence[tuple[Path, Text, Point]]) -> str:
        """Serves what is unverified: that the build may leave out the code at these places, and how it has that.

        Reads files: call it in a thread."""
        return ""

    def declares_exported(self, name: str, before: str) -> bool:
        """Serves unused code and impact: whether what stands `before` the full `name` of a declaration on its line lets
        code outside the workspace use it, where that can use others of its file."""
        return True
