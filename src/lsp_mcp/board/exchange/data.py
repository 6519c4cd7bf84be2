"""A board as plain data, between the database and files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from msgspec import Meta

from lsp_mcp.board.exchange.deleted import Trash
from lsp_mcp.board.exchange.talk import Talk

Kind = Literal["stage", "task", "standard", "snippet"]
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]  # PostgreSQL's integers


@dataclass(frozen=True)
class Stage:
    """A stage; without a position it comes last."""

    id: str
    name: str
    color: str
    position: float | None = None
    is_default: bool = False
    activities: tuple[dict[str, str], ...] = ()  # {"name", "prompt"}
    completes: bool = False
    revision: Count = 1


@dataclass(frozen=True)
class Task:
    """A task; times are as in the tables, empty if unknown; without a position it comes last in its stage."""

    id: str
    title: str
    description: str = ""
    stage: str = ""  # its id; empty: the default one
    status: str = "pending"
    position: float | None = None
    tags: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    anchors: tuple[dict[str, Any], ...] = ()  # {"anchor", "symbol", "code", "state"}
    revision: Count = 1
    created_at: str = ""
    updated_at: str = ""
    history: tuple[dict[str, Any], ...] = ()  # {"revision", "at", "who", "message", "fields"}
    priority: Count = 2
    branch: str = ""
    completed_at: str = ""
    archived_at: str = ""
    due: str = ""
    required_proof: tuple[str, ...] = ()
    proof: tuple[str, ...] = ()


@dataclass(frozen=True)
class Standard:
    """A standard."""

    id: str
    description: str
    content: str
    revision: Count = 1
    updated_at: str = ""
    updated_by: str = ""


@dataclass(frozen=True)
class Snippet:
    """A snippet."""

    id: str
    title: str
    content: str
    tags: tuple[str, ...] = ()
    revision: Count = 1
    updated_at: str = ""
    updated_by: str = ""


@dataclass(frozen=True)
class Problem:
    """An omitted item, and the reason."""

    file: str  # in the folder, /-separated
    reason: str


@dataclass
class Contents:
    """All of a board, or everything readable in a folder."""

    source: Literal["board", "neova", "export", "github", "backlog"]
    stages: list[Stage] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    standards: list[Standard] = field(default_factory=list)
    snippets: list[Snippet] = field(default_factory=list)
    files: dict[tuple[Kind, str], str] = field(default_factory=dict)  # the file of each item, by kind and id
    edited: set[tuple[Kind, str]] = field(default_factory=set)  # items that were edited in their files
    broken: list[Problem] = field(default_factory=list)  # files that cannot be used
    talk: Talk = field(default_factory=Talk)
    trash: Trash = field(default_factory=Trash)
    notes: list[str] = field(default_factory=list)  # other differences from the files
    unknown: tuple[str, ...] = ()  # fields of tasks that the source knows nothing about: the board keeps its own

    @property
    def is_foreign(self) -> bool:
        """Whether another program made it: it has no revisions, the later change counts."""
        return self.source not in ("board", "export")

    def file(self, kind: Kind, id_: str) -> str:
        """The name of the file that an item came from, or its id."""
        return self.files.get((kind, id_), id_)


def stage_id(stages: list[Stage], spelled: str) -> str | None:
    """The id of the stage with that id or name; the default one's for an empty text; None if there is none."""
    if not spelled.strip():
        return next((one.id for one in stages if one.is_default), stages[0].id if stages else None)
    wanted = " ".join(spelled.split()).casefold()
    by_id = next((one.id for one in stages if one.id == wanted), None)
    return by_id or next((one.id for one in stages if one.name.casefold() == wanted), None)


def differences(before: Task, after: Task) -> dict[str, list[Any]]:
    """The differences visible to people, by field: [before, after]."""
    plain = ("title", "description", "stage", "status", "priority", "branch", "due")
    pairs: dict[str, list[Any]] = {name: [getattr(before, name), getattr(after, name)] for name in plain}
    for name in ("tags", "required_proof", "proof"):
        pairs[name] = [list(getattr(before, name)), list(getattr(after, name))]
    pairs["depends_on"] = [sorted(before.depends_on), sorted(after.depends_on)]
    pairs["anchors"] = [[one["anchor"] for one in task.anchors] for task in (before, after)]
    if after.position is not None:
        pairs["position"] = [before.position, after.position]
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def same_text(before: Standard | Snippet, after: Standard | Snippet) -> bool:
    """Whether two standards or snippets have the same content."""
    names = ("description", "content") if isinstance(before, Standard) else ("title", "content", "tags")
    return all(getattr(before, name) == getattr(after, name) for name in names)
