"""Tasks, standards, snippets and stages as files, and back: what is parsed is what was rendered. Pure.

Each file says that it is of an export, and has a sum of its own text: so a later export knows which files are its own,
and which of them somebody has edited.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from lsp_mcp.board import fields, proofs
from lsp_mcp.board.exchange import values
from lsp_mcp.board.exchange.data import Snippet, Stage, Standard, Task
from lsp_mcp.board.exchange.front_matter import decoded, encoded, parsed, rendered
from lsp_mcp.board.ids import kebab_id, slug_of
from lsp_mcp.errors import CallerError

Made = TypeVar("Made")

STAGES = "stages.json"
TALK = "talk.json"
TRASH = "trash.json"
FOLDERS = ("tasks", "standards", "snippets")
_FORM = "lsp-mcp board"
_VERSION = "1"
_MARK = re.compile(r'---\nexport: "(?P<form>lsp-mcp board \d+) (?P<sum>[0-9a-f]{16})"\n')
_COLOR = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})")


# --- out -------------------------------------------------------------------------------------------


def task_name(task: Task) -> str:
    """The path of a task's file, in the folder of the export."""
    slug = slug_of(task.title)
    return f"tasks/{values.task_id(task.id)}{' ' if slug else ''}{slug}.md"


def task_text(task: Task) -> str:
    """The text of a task's file."""
    head = {
        "id": task.id,
        "title": task.title,
        "stage": task.stage,
        "status": task.status,
        "position": task.position,
        "tags": task.tags,
        "depends_on": task.depends_on,
        "anchors": task.anchors,
        "revision": task.revision,
        "created_at": task.created_at,
        "updated_at": task.updated_at,
        **{name: value for name, value in _rare(task).items() if value != getattr(Task("", ""), name)},
        "history": task.history,
    }
    return _marked(head, task.description)


def _rare(task: Task) -> dict[str, Any]:
    names = ("priority", "branch", "completed_at", "archived_at", "due", "required_proof", "proof")
    return {name: getattr(task, name) for name in names}


def standard_name(standard: Standard) -> str:
    """The path of a standard's file."""
    return f"standards/{kebab_id(standard.id, 'standard')}.md"


def standard_text(standard: Standard) -> str:
    """The text of a standard's file."""
    return _marked({"id": standard.id, "description": standard.description, **_version(standard)}, standard.content)


def snippet_name(snippet: Snippet) -> str:
    """The path of a snippet's file."""
    return f"snippets/{kebab_id(snippet.id, 'snippet')}.md"


def snippet_text(snippet: Snippet) -> str:
    """The text of a snippet's file."""
    head = {"id": snippet.id, "title": snippet.title, "tags": snippet.tags, **_version(snippet)}
    return _marked(head, snippet.content)


def stages_text(stages: Sequence[Stage]) -> str:
    """The text of `stages.json`."""
    rows = [
        {
            "id": stage.id,
            "name": stage.name,
            "color": stage.color,
            "position": stage.position,
            "is_default": stage.is_default,
            "completes": stage.completes,
            "revision": stage.revision,
            "activities": list(stage.activities),
        }
        for stage in stages
    ]
    made = {"export": f"{_FORM} {_VERSION} {_sum(encoded(rows))}", "stages": rows}
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


# --- in --------------------------------------------------------------------------------------------


def is_export(text: str) -> bool:
    """Whether a Markdown file is of an export, of whichever version."""
    return _MARK.match(text.replace("\r\n", "\n")) is not None


def is_exported_stages(found: Any) -> bool:
    """Whether a `stages.json` is of an export, of whichever version."""
    return isinstance(found, dict) and str(found.get("export", "")).startswith(f"{_FORM} ")


def task_of(text: str) -> tuple[Task, bool]:
    """The task that a file is of, and whether the file was edited. Raises CallerError if it cannot be used."""
    return _read(text, _task)


def standard_of(text: str) -> tuple[Standard, bool]:
    """As `task_of`."""
    return _read(text, _standard)


def snippet_of(text: str) -> tuple[Snippet, bool]:
    """As `task_of`."""
    return _read(text, _snippet)


def stages_of(text: str) -> tuple[list[Stage], bool]:
    """The stages in the text of `stages.json`, and whether it was edited. Raises CallerError."""
    found = decoded(text, "it")
    if not isinstance(found, dict):
        raise CallerError("is not an object")
    read = values.checked(found, _Stages)
    version, _, sum_ = read.export.removeprefix(f"{_FORM} ").partition(" ")
    _check_version(version)
    stages = [_stage(row) for row in read.stages]
    for what in (
        [stage.id for stage in stages],
        [stage.name.casefold() for stage in stages],
    ):
        if double := next((one for one in what if what.count(one) > 1), None):
            raise CallerError(f"there are two stages {double}")
    if len(defaults := [stage.name for stage in stages if stage.is_default]) > 1:
        raise CallerError(f"{' and '.join(defaults)} are default stages; only one is allowed")
    if not stages:
        raise CallerError("it has no stage")
    return stages, _sum(encoded(read.stages)) != sum_


# --- inside ----------------------------------------------------------------------------------------


def _marked(head: Mapping[str, Any], body: str) -> str:
    text = rendered(head, body).removeprefix("---\n")
    return f'---\nexport: "{_FORM} {_VERSION} {_sum(text)}"\n{text}'


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _read(text: str, make: Callable[[dict[str, Any], str], Made]) -> tuple[Made, bool]:
    text = text.replace("\r\n", "\n")
    mark = _MARK.match(text)
    head, body = parsed(text)
    if mark:
        _check_version(mark["form"].rpartition(" ")[2])
    head.pop("export", None)
    return make(head, body), mark is None or _sum(text[mark.end() :]) != mark["sum"]


def _check_version(version: str) -> None:
    if version != _VERSION:
        raise CallerError(f"it was exported by another version of lsp-mcp (form {version[:10]}); update lsp-mcp")


def _task(head: dict[str, Any], body: str) -> Task:
    read = values.checked(head, Task, description=body)
    return replace(
        read,
        id=values.task_id(read.id),
        title=fields.title(read.title),
        description=fields.body(body),
        status=values.status(read.status),
        tags=tuple(fields.tags(read.tags)),
        depends_on=tuple(dict.fromkeys(map(values.task_id, read.depends_on))),
        anchors=tuple(map(values.anchor, read.anchors)),
        history=tuple(map(values.entry, read.history)),
        priority=fields.priority(read.priority),
        branch=fields.branch(read.branch) or "",
        due=fields.due(read.due) or "",
        required_proof=tuple(proofs.required(read.required_proof)),
        proof=tuple(proofs.checked(read.proof)),
        created_at=values.optional_time(read.created_at),
        updated_at=values.optional_time(read.updated_at),
        completed_at=values.optional_time(read.completed_at),
        archived_at=values.optional_time(read.archived_at),
    )


def _standard(head: dict[str, Any], body: str) -> Standard:
    read = values.checked({"description": "", **head}, Standard, content=body)
    return replace(
        read,
        id=kebab_id(read.id, "standard"),
        description=values.line(read.description),
        content=fields.body(body, "content"),
        **_last_change(read),
    )


def _snippet(head: dict[str, Any], body: str) -> Snippet:
    read = values.checked(head, Snippet, content=body)
    return replace(
        read,
        id=kebab_id(read.id, "snippet"),
        title=fields.title(read.title),
        content=fields.body(body, "content"),
        tags=tuple(fields.tags(read.tags)),
        **_last_change(read),
    )


@dataclass(frozen=True)
class _Stages:
    export: str
    stages: list[dict[str, Any]] = field(default_factory=list)


def _stage(row: dict[str, Any]) -> Stage:
    read = values.checked(row, Stage)
    color = read.color.strip().lower()
    if not _COLOR.fullmatch(color):
        raise CallerError(f"{color[:40]!r} is not a color; write it as #2563eb")
    id_, name = values.stage_id(read.id), fields.name(read.name, "stage's name")
    return replace(read, id=id_, name=name, color=color, activities=tuple(map(values.activity, read.activities)))


def _version(one: Standard | Snippet) -> dict[str, Any]:
    return {"revision": one.revision, "updated_at": one.updated_at, "updated_by": one.updated_by}


def _last_change(read: Standard | Snippet) -> dict[str, Any]:
    return {"updated_at": values.optional_time(read.updated_at), "updated_by": values.who(read.updated_by)}
