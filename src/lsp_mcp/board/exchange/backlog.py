"""Tasks of Backlog.md, a folder of Markdown files with YAML before them, and back.

Its statuses are stages, the last one completes tasks. Fields without a place here are named in the notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from lsp_mcp.board import fields
from lsp_mcp.board.exchange import folders, values, yaml_front_matter
from lsp_mcp.board.exchange.data import Contents, Problem, Stage, Task
from lsp_mcp.board.exchange.front_matter import encoded, rendered
from lsp_mcp.board.exchange.labels import Labels, labels_of, shortened, tags_of
from lsp_mcp.board.ids import slug_of
from lsp_mcp.errors import CallerError
from lsp_mcp.prose import count

UNKNOWN = ("anchors", "branch", "required_proof", "proof")
NAMES = ("backlog", ".backlog")
CONFIGS = ("config.yml", "config.yaml")
_STATUSES = ("To Do", "In Progress", "Done")
_COLORS = ("#8a8f98", "#2563eb", "#7c3aed", "#b8860b")
_DONE_COLOR = "#15803d"
_PRIORITIES = {"high": 1, "medium": 2, "low": 3}
_FOLDERS = {"tasks": False, "completed": True, "archive/tasks": True}  # and whether its tasks are in the archive
_USED = ("id", "title", "status", "assignee", "created_date", "updated_date", "labels", "milestone", "dependencies",
         "parent_task_id", "priority", "due_date", "references", "ordinal")  # fmt: skip
_MARK = re.compile(r"^<!-- (?:SECTION:[A-Z_]+|AC|DOD):(?:BEGIN|END) -->\n?", re.M)
_HEADING = re.compile(r"\A## Description[ \t]*(?:\n+|\Z)")
_OURS = "lsp-mcp:"  # before the id of one of our tasks, among its references
_NUMBERED = re.compile(r"task-(\d+)(?:\.\d+)*")
_MOST_STAGES, _LONGEST_SLUG = 30, 60


def looks_like_backlog(folder: Path) -> bool:
    """Whether the folder has tasks of Backlog.md."""
    if any((folder / name).is_file() for name in CONFIGS) and (folder / "tasks").is_dir():
        return True
    return any(_is_task(path) for _, path in folders.files(folder, "tasks", ".md", []))


def read_backlog(folder: Path) -> Contents:
    """Everything readable in the folder. Raises CallerError if its statuses cannot be used."""
    contents = Contents("backlog", unknown=UNKNOWN)
    found: list[tuple[float, str, Task]] = []
    for inner, is_archived in _FOLDERS.items():
        for file, path in folders.files(folder, inner, ".md", contents.broken):
            try:
                order, task = _task(path, file, contents, is_archived=is_archived)
            except CallerError as error:
                contents.broken.append(Problem(file, str(error)))
                continue
            if ("task", task.id) in contents.files:
                other = contents.files["task", task.id]
                contents.broken.append(Problem(file, f"has the id of {other}, which was taken"))
                continue
            contents.files["task", task.id] = file
            found.append((order, task.created_at, task))
    contents.tasks = [task for _, _, task in sorted(found, key=lambda one: one[:2])]
    _set_stages(folder, contents)
    if drafts := sum(1 for _ in folders.files(folder, "drafts", ".md", [])):
        contents.notes.append(f"{count(drafts, 'draft')} left out.")
    return contents


def files_of(contents: Contents) -> dict[str, str]:
    """The files of a board, by their path in the folder."""
    names = {stage.id: stage.name for stage in contents.stages}
    ids = _ids(contents.tasks)
    # The last status is the one of completed tasks there.
    order = sorted(contents.stages, key=lambda stage: stage.completes)
    default = next((stage.name for stage in contents.stages if stage.is_default), order[0].name)
    config = {"project_name": "Board", "statuses": [stage.name for stage in order], "default_status": default}
    made = {CONFIGS[0]: "".join(f"{name}: {encoded(value)}\n" for name, value in config.items())}
    for number, task in enumerate(contents.tasks):
        folder = "completed" if task.archived_at else "tasks"
        slug = slug_of(task.title)[:_LONGEST_SLUG]
        made[f"{folder}/{ids[task.id]} - {slug or 'task'}.md"] = _text(task, number, names[task.stage], ids)
    return made


# --- in --------------------------------------------------------------------------------------------


def _task(path: Path, file: str, contents: Contents, *, is_archived: bool) -> tuple[float, Task]:
    """A task, and its place among the others."""
    head, body = yaml_front_matter.parsed(values.cleaned(folders.text_of(path)))
    if not head:
        raise CallerError("has no values before its text")
    references = [one for one in _list(head, "references") if one]
    own = next((one.removeprefix(_OURS) for one in references if one.startswith(_OURS)), "")
    found = Labels(
        labels=tuple(_list(head, "labels")),
        priority=_PRIORITIES.get(_line(head, "priority").lower(), fields.USUAL_PRIORITY),
        assignees=tuple(_list(head, "assignee")),
        milestone=_line(head, "milestone"),
        parent=_line(head, "parent_task_id").lower(),
    )
    tags, priority, left = tags_of(found)
    text = _HEADING.sub("", _MARK.sub("", body.strip()).strip())
    title, text = shortened(_line(head, "title"), text)
    unused = [str(key)[:40] for key, value in head.items() if key not in _USED and value]
    unused += ["references"] if any(not one.startswith(_OURS) for one in references) else []
    contents.notes += [f"{file}: {left}."] if left else []
    contents.notes += [f"{file}: no place for {', '.join(unused)}; left out."] if unused else []
    made = _time(_line(head, "created_date"))
    changed = _time(_line(head, "updated_date")) or made
    status = _line(head, "status") or ("Done" if is_archived else "")
    return _number(_line(head, "ordinal")), Task(
        id=values.task_id(own or _line(head, "id") or path.stem.partition(" ")[0]),
        title=title,
        description=fields.body(text),
        stage=fields.name(status, "status") if status else "",
        tags=tags,
        priority=priority,
        depends_on=tuple(dict.fromkeys(values.task_id(one) for one in _list(head, "dependencies"))),
        due=fields.due(_line(head, "due_date")[:10]) or "",
        created_at=made,
        updated_at=changed,
        archived_at=(changed or made) if is_archived else "",
    )


def _set_stages(folder: Path, contents: Contents) -> None:
    """The stages of the statuses; tasks get theirs by id, and depend on the ids that tasks have here."""
    config = next((_config(folder / name) for name in CONFIGS if (folder / name).is_file()), {})
    names = _list(config, "statuses") or list(_STATUSES)
    names = [fields.name(one, "status") for one in names]
    known = {name.casefold() for name in names}
    for task in contents.tasks:
        if task.stage and task.stage.casefold() not in known:  # before the last, which completes tasks
            known.add(task.stage.casefold())
            names.insert(len(names) - 1, task.stage)
    if len(names) > _MOST_STAGES:
        raise CallerError(
            f"{folder} has {len(names)} statuses; at most {_MOST_STAGES} are allowed. Nothing was changed."
        )
    default = (_line(config, "default_status") or names[0]).casefold()
    ids: dict[str, str] = {}
    for number, name in enumerate(names):
        if name.casefold() in ids:
            continue
        slug = slug_of(name)[:40].strip("-") or "stage"
        id_ = slug if slug not in ids.values() else f"{slug[:36]}-{number}"
        is_last = number == len(names) - 1
        ids[name.casefold()] = id_
        color = _DONE_COLOR if is_last else _COLORS[number % len(_COLORS)]
        is_default = name.casefold() == default and not is_last
        contents.stages.append(Stage(id_, name, color, float(number), is_default, completes=is_last))
    if not any(stage.is_default for stage in contents.stages):
        contents.stages[0] = replace(contents.stages[0], is_default=True)
    end = contents.stages[-1].id
    own = {file.rpartition("/")[2].partition(" ")[0].lower(): id_ for (_, id_), file in contents.files.items()}
    for at, task in enumerate(contents.tasks):
        stage = end if task.archived_at else ids.get(task.stage.casefold(), "")
        depends_on = tuple(own.get(one, one) for one in task.depends_on)
        status = "completed" if stage == end else "pending"
        contents.tasks[at] = replace(task, stage=stage, status=status, depends_on=depends_on)


def _config(path: Path) -> dict[str, Any]:
    try:
        found, _ = yaml_front_matter.parsed(f"---\n{folders.text_of(path)}\n---\n")
    except CallerError as error:
        raise CallerError(f"{path}: {error}. Nothing was changed.") from None
    return found


def _is_task(path: Path) -> bool:
    try:
        head, _ = yaml_front_matter.parsed(values.cleaned(folders.text_of(path)))
    except CallerError:
        return False
    return {"id", "title", "status"} <= head.keys()


def _list(head: dict[str, Any], key: str) -> list[str]:
    """The texts of a list, or of a single one."""
    value = head.get(key)
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str) and one.strip()]


def _line(head: dict[str, Any], key: str) -> str:
    value = head.get(key)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _time(text: str) -> str:
    try:
        return values.time(text)
    except CallerError:
        return ""


def _number(text: str) -> float:
    """For sorting; what has no number comes last."""
    return float(text) if re.fullmatch(r"-?\d{1,15}(?:\.\d+)?", text) else float("inf")


# --- out -------------------------------------------------------------------------------------------


def _ids(tasks: Iterable[Task]) -> dict[str, str]:
    """The id of each task there: `task-N`, its own if it has that form."""
    tasks = list(tasks)
    taken = {int(found[1]) for task in tasks if (found := _NUMBERED.fullmatch(task.id))}
    ids, last = {}, max(taken, default=0)
    for task in sorted(tasks, key=lambda task: (task.created_at, task.id)):
        if _NUMBERED.fullmatch(task.id):
            ids[task.id] = task.id
        else:
            last += 1
            ids[task.id] = f"task-{last}"
    return ids


def _text(task: Task, number: int, status: str, ids: dict[str, str]) -> str:
    found = labels_of(task.tags, task.priority)
    word = next((name for name, level in _PRIORITIES.items() if level == task.priority and level != 2), None)
    labels = [one for one in found.labels if one != f"P{task.priority}" or word is None]
    head: dict[str, Any] = {
        "id": ids[task.id],
        "title": task.title,
        "status": status,
        "assignee": [f"@{one}" for one in found.assignees],
        "created_date": _minutes(task.created_at),
        "updated_date": _minutes(task.updated_at),
        "labels": labels,
        "milestone": found.milestone,
        "dependencies": [ids[one] for one in task.depends_on if one in ids],
        "parent_task_id": ids.get(found.parent, found.parent),
        "priority": word,
        "due_date": task.due,
        "ordinal": (number + 1) * 1000,
        "references": [] if ids[task.id] == task.id else [f"{_OURS}{task.id}"],
    }
    optional = ("milestone", "parent_task_id", "priority", "due_date", "references")
    head = {name: value for name, value in head.items() if value or name not in optional}
    return rendered(head, f"## Description\n\n{task.description}".rstrip())


def _minutes(time: str) -> str:
    return f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M}" if time else ""
