"""Answers of tools as data: one dataclass per published response."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct, field

from lsp_mcp.edits.plan import EditPlan
from lsp_mcp.features.checking.problems import Delta
from lsp_mcp.features.finding.outlines import FileOutline
from lsp_mcp.features.hierarchy import Node
from lsp_mcp.features.impact.impact import Reached
from lsp_mcp.features.overview.overview import Overview
from lsp_mcp.features.types.implementations import Implementation
from lsp_mcp.gaps import Gap, status
from lsp_mcp.render.elsewhere import OtherPlaces
from lsp_mcp.requests.containers import Container
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.text import Point

AnchorTo = Callable[[Path, Point | None], str]
"""The anchor of a point in a file; without a point its beginning up to `#`."""


class Answer(Struct, frozen=True, kw_only=True):
    """The common part of all answers; `known` are those of its `gaps` that its reader was told before.

    `elsewhere`: places in other repositories; None if the index store was not asked."""

    message: str
    arguments: dict[str, Any]
    gaps: Sequence[Gap] = ()
    elsewhere: OtherPlaces | None = None
    known: Collection[Gap] = ()

    reads: ClassVar[bool] = True
    """Whether it shows code that one would read files for."""

    @property
    def status(self) -> str:
        """`complete`, or why not; and other news."""
        return status(self.gaps, self.known)


class Definitions(Answer, frozen=True, kw_only=True):
    """Of `find_symbol_definitions_by_name`."""

    symbols: Sequence[Symbol]
    with_code: bool = True


class Outline(Answer, frozen=True, kw_only=True):
    """Of `list_symbols_in_file`."""

    path: Path
    symbols: Sequence[Symbol]
    with_code: bool = True


class FolderMap(Answer, frozen=True, kw_only=True):
    """Of `list_symbols_in_file` of a folder, in the detail given by `level` (see `render.folder_map`)."""

    files: Sequence[FileOutline]
    level: int


class WorkspaceOverview(Answer, frozen=True, kw_only=True):
    """Of `list_symbols_in_file` of the workspace root; `most` entries of each list are shown."""

    reads = False
    overview: Overview
    most: int


class ReferenceList(Answer, frozen=True, kw_only=True):
    """Of `find_symbol_references_by_anchor`; `context` lines are shown before and after each place."""

    places: Sequence[Place]
    with_code: bool = True
    context: int = 0


class Source(Struct, frozen=True, kw_only=True):
    """The text of one declaration, or why there is none: `problem`, with the text `asked` for.

    `lines` are the shown lines with their numbers; `left_out` is the first and last line of an omitted range. `role`
    distinguishes several declarations of one symbol.
    """

    asked: str
    problem: str = ""
    place: Place | None = None
    name: str = ""
    kind: str = ""
    role: str = ""
    hash: str = ""
    lines: Sequence[tuple[int, str]] = ()
    left_out: tuple[int, int] | None = None
    first: int = 0
    last: int = 0
    hover: str = ""
    callees: Sequence[Symbol] = ()
    notes: Sequence[str] = ()


class Sources(Answer, frozen=True, kw_only=True):
    """Of `read_symbol`."""

    sources: Sequence[Source]


class Rename(Answer, frozen=True, kw_only=True):
    """Of `rename_symbol_by_anchor`; after a move with the errors that it caused, if they were checked."""

    reads = False
    plan: EditPlan = field(default_factory=lambda: EditPlan(()))
    delta: Delta | None = None
    with_places: bool = False  # each place of many, too


class Check(Answer, frozen=True, kw_only=True):
    """Of `check`. Remaining problems are listed only `with_remaining`."""

    reads = False
    delta: Delta
    with_remaining: bool = False


class Change(Answer, frozen=True, kw_only=True):
    """Of `edit_symbol` and `refactor`: the changes, and the problems that they cause or fix."""

    reads = False
    plan: EditPlan
    delta: Delta


class Offers(Answer, frozen=True, kw_only=True):
    """Of `refactor` without an action: the available actions."""

    reads = False
    names: Sequence[str]


class Hierarchy(Answer, frozen=True, kw_only=True):
    """Of `find_callers_by_anchor`, `find_callees_by_anchor` and `find_type_hierarchy_by_anchor`.

    `trees` has a tree per direction, by the name of its field: `callers`, `callees`, `supertypes`, `subtypes`.
    """

    trees: Mapping[str, Sequence[Node]]
    with_code: bool = True


class CallPath(Answer, frozen=True, kw_only=True):
    """Of `find_calls` with `to`: each of `nodes` calls the next; the `sites` of one are the calls of it."""

    nodes: Sequence[Node]


class ImplementationList(Answer, frozen=True, kw_only=True):
    """Of `find_implementations` of a symbol of a `kind`: `lists` by their fields, `implementations` and `above`."""

    kind: str
    lists: Mapping[str, Sequence[Implementation]]
    with_code: bool = False


class ImpactReport(Answer, frozen=True, kw_only=True):
    """Of `find_impact`: `uses` with their containers, `tests` the nearest first, `commands` that run them."""

    uses: Sequence[Place]
    functions: Sequence[Reached]
    exported: Sequence[Symbol]
    through: Sequence[Symbol]
    tests: Sequence[Reached]
    commands: Sequence[str]
    with_code: bool = True


class UnusedList(Answer, frozen=True, kw_only=True):
    """Of `find_impact` with `unused`: `lists` by the names of their fields."""

    lists: Mapping[str, Sequence[Container]]
