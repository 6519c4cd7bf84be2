"""A `.neova` folder (neova.studio) as plain data.

Missing parts are omitted, parts without a place on our board are kept as text, and a file that cannot be used is
named with the reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lsp_mcp.board import fields, markdown
from lsp_mcp.board.exchange import folders, values, yaml_front_matter
from lsp_mcp.board.exchange.data import Contents, Kind, Problem, Snippet, Stage, Standard, Task, stage_id
from lsp_mcp.board.exchange.front_matter import decoded
from lsp_mcp.board.ids import slug_of
from lsp_mcp.errors import CallerError

NEOVA = "Neova"  # who has made what comes from there
UNKNOWN = ("depends_on", "anchors", "priority", "branch", "archived_at", "due", "required_proof", "proof")
ARCHIVED = "archived"  # the tag of tasks that were in the archive
_COLOR, _A_COLOR = "#8a8f98", re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})")
_LONGEST_ID, _LONGEST_KEY, _LONGEST_NAME, _LONGEST_TAG, _LONGEST_LINE = 40, 60, 60, 60, 300
_MOST_TAGS = 20
_TIMESTAMP = re.compile(r"(\d{13})(?:-|$)")  # an id of Neova's begins with when it was made
_DONE = ("completed", "complete", "done", "closed", "archived")
_OPEN = ("pending", "open", "todo", "active", "in-progress", "in_progress", "")
_OF_STANDARD = ("id", "title", "description")
_OF_SNIPPET = ("id", "key", "title", "name", "tags")


def looks_like_neova(folder: Path) -> bool:
    """Whether the folder contains anything of a board of Neova's."""
    try:
        stages = _json(folder / "stages.json")
    except CallerError:
        stages = None
    return (
        (isinstance(stages, dict) and isinstance(stages.get("stages"), list))
        or any(folders.files(folder, "tasks", ".json", []))
        or any(folders.files(folder, "tasks/archive", ".json", []))
        or (folder.name == ".neova" and folder.is_dir())
    )


def read_neova(folder: Path) -> Contents:
    """Everything readable in a `.neova` folder.

    Raises:
        CallerError: its stages cannot be used.
    """
    contents = Contents("neova", unknown=UNKNOWN)
    activities = _activities(folder, contents)
    stage_ids = _read_stages(folder, contents, activities)
    _read_tasks(folder, contents, stage_ids)
    _read_standards(folder, contents)
    _read_snippets(folder, contents)
    _keep_unused(contents, activities)
    return contents


# --- stages ----------------------------------------------------------------------------------------


def _read_stages(folder: Path, contents: Contents, activities: dict[str, dict[str, str]]) -> dict[str, str]:
    """Adds the stages to `contents`; returns their ids here by the names that tasks may use."""
    path = folder / "stages.json"
    if not path.exists() and not path.is_symlink():
        return {}
    try:
        found = _json(path)
        rows = found.get("stages") if isinstance(found, dict) else found
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise CallerError("has no list of stages")
    except CallerError as error:
        raise CallerError(f"{path}: {error}. Nothing was changed.") from None
    ids: dict[str, str] = {}
    rows = sorted(rows, key=lambda row: _number(row.get("order")))
    for number, row in enumerate(rows):
        named = _text(row, "name", "title") or _text(row, "id")
        name = " ".join(values.cleaned(named).split())[:_LONGEST_NAME].strip()
        if not name:
            contents.broken.append(Problem("stages.json", f"stage {number + 1} has no name"))
            continue
        if there := next((one for one in contents.stages if one.name.casefold() == name.casefold()), None):
            ids.setdefault(_text(row, "id"), there.id)
            contents.notes.append(f"stages.json has the stage {name} twice; they are one here.")
            continue
        color = _text(row, "color").strip().lower()
        color = color[:7] if len(color) == 9 else color
        id_ = _unused(slug_of(_text(row, "id")) or slug_of(name) or "stage", {one.id for one in contents.stages})
        stage = Stage(
            id=id_,
            name=name,
            color=color if _A_COLOR.fullmatch(color) else _COLOR,
            position=float(len(contents.stages)),
            is_default=row.get("isDefault") is True and not any(one.is_default for one in contents.stages),
            activities=tuple(_of_stage(row, name, activities, contents)),
        )
        contents.stages.append(stage)
        ids[_text(row, "id")] = id_
    if contents.stages and not any(one.is_default for one in contents.stages):
        contents.stages[0] = replace(contents.stages[0], is_default=True)
    ids.pop("", None)
    return ids


def _activities(folder: Path, contents: Contents) -> dict[str, dict[str, str]]:
    """The prompts that stages name, by id: `name`, `prompt`, and whether any stage names it (`used`)."""
    found: dict[str, dict[str, str]] = {}
    for file, path in folders.files(folder, "activities", ".json", contents.broken):
        try:
            row = _object(path)
        except CallerError as error:
            contents.broken.append(Problem(file, str(error)))
            continue
        id_ = _text(row, "id") or path.stem
        found[id_] = {
            "name": _line(_text(row, "name", "title", "label") or id_, _LONGEST_NAME),
            "prompt": values.cleaned(_text(row, "prompt", "content", "template", "text", "description")),
            "file": file,
        }
    return found


def _of_stage(
    row: dict[str, Any], stage: str, activities: dict[str, dict[str, str]], contents: Contents
) -> Iterator[dict[str, str]]:
    listed = row.get("activities")
    for one in listed if isinstance(listed, list) else []:
        inner = one if isinstance(one, dict) else {"id": one}
        id_ = _text(inner, "id", "activityId", "activity")
        known = activities.get(id_)
        name = _line(_text(inner, "name", "title") or (known["name"] if known else ""), _LONGEST_NAME)
        prompt = values.cleaned(_text(inner, "prompt", "content")) or (known["prompt"] if known else "")
        if known:
            known["used"] = "yes"
        if not name or not prompt:
            contents.notes.append(f"stages.json: {stage} names the activity {id_ or '?'}, which is not there.")
        elif len(prompt) > fields.MOST_MESSAGE:
            if known:
                del known["used"]
            contents.notes.append(f"The activity {name} of {stage} is too long for a stage; it is a snippet now.")
        else:
            yield {"name": name, "prompt": prompt}


def _keep_unused(contents: Contents, activities: dict[str, dict[str, str]]) -> None:
    """Activities of no stage become snippets."""
    for id_, one in activities.items():
        if "used" not in one and one["prompt"]:
            taken = {snippet.id for snippet in contents.snippets}
            slug = _unused(slug_of(id_) or slug_of(one["name"]) or "activity", taken, _LONGEST_KEY)
            _add(contents, Snippet(slug, one["name"] or slug, one["prompt"], ("activity",)), "snippet", one["file"])


# --- tasks -----------------------------------------------------------------------------------------


def _read_tasks(folder: Path, contents: Contents, stage_ids: dict[str, str]) -> None:
    found: list[tuple[float, str, Task]] = []
    for inner in ("tasks", "tasks/archive"):
        for file, path in folders.files(folder, inner, ".json", contents.broken):
            try:
                row = _object(path)
                task = _task(row, path.stem, contents, file, archived=inner != "tasks")
            except CallerError as error:
                contents.broken.append(Problem(file, str(error)))
                continue
            if ("task", task.id) in contents.files:
                other = contents.files["task", task.id]
                contents.broken.append(Problem(file, f"has the id of {other}, which was taken"))
                continue
            stage = _text(row, "stage", "stageId", "column")
            here = stage_ids.get(stage) or (stage_id(contents.stages, stage) if stage else None)
            contents.files["task", task.id] = file
            # Without a list of stages, those of the board may have it.
            found.append((_number(row.get("order")), task.created_at, replace(task, stage=here or stage)))
    contents.tasks = [task for _, _, task in sorted(found, key=lambda one: one[:2])]


def _task(row: dict[str, Any], stem: str, contents: Contents, file: str, *, archived: bool) -> Task:
    typed = _text(row, "id") or stem
    made = _time(row.get("createdAt"), "") or _time_of_id(typed)
    text = values.cleaned(_text(row, "description", "content", "body"))
    title = " ".join(values.cleaned(_text(row, "title", "name")).split())
    if not title:
        raise CallerError("has no title")
    if len(title) > fields.MOST_TITLE:
        text = f"{title}\n\n{text}"
        title = _line(title, fields.MOST_TITLE)
        contents.notes.append(f"{file}: the title is too long; all of it is in the description.")
    if attached := [one for one in map(_attachment, _list(row, "attachments")) if one]:
        text = markdown.appended(text, "\n".join(f"- {one}" for one in attached), "Attachments")
    tags = _tags(_list(row, "tags"), contents, file)
    state = _text(row, "status").strip().lower()
    if state not in _DONE + _OPEN:
        contents.notes.append(f"{file}: the status {state[:40]!r} is taken as pending.")
    history = [entry for one in _list(row, "history") if (entry := _entry(one))]
    return Task(
        id=values.task_id(typed),
        title=fields.title(title),
        description=fields.body(text),
        status="completed" if archived or state in _DONE else "pending",
        tags=tuple(dict.fromkeys([*tags[: _MOST_TAGS - 1], ARCHIVED])) if archived else tuple(tags),
        revision=max(len(history), 1),
        created_at=made,
        updated_at=_time(row.get("updatedAt"), made),
        history=tuple({"revision": number, **one} for number, one in enumerate(history, 1)),
    )


def _tags(listed: list[Any], contents: Contents, file: str) -> list[str]:
    words = [
        " ".join(word.split())[:_LONGEST_TAG].strip()
        for one in listed
        for word in values.cleaned(_text(one, "name", "label", "id") if isinstance(one, dict) else str(one)).split(",")
    ]
    tags = list(dict.fromkeys(word for word in words if word))
    if len(tags) > _MOST_TAGS:
        contents.notes.append(f"{file}: of {len(tags)} tags the first {_MOST_TAGS} are kept.")
    return tags[:_MOST_TAGS]


def _entry(one: Any) -> dict[str, Any] | None:
    if not isinstance(one, dict):
        return None
    at = _time(one.get("timestamp", one.get("at")), "")
    message = values.cleaned(_text(one, "message", "text")).strip()
    if not at or not message:
        return None
    return {"at": at, "who": values.who(_line(_text(one, "source", "who"), 80) or NEOVA), "message": message,
            "fields": {}}  # fmt: skip


def _attachment(one: Any) -> str:
    text = _text(one, "path", "url", "name", "filename") if isinstance(one, dict) else str(one)
    return " ".join(values.cleaned(text).split())


# --- standards and snippets ------------------------------------------------------------------------


def _read_standards(folder: Path, contents: Contents) -> None:
    taken: set[str] = set()
    for file, path in folders.files(folder, "standards", ".md", contents.broken):
        try:
            head, text = _front_matter(path, _OF_STANDARD, contents, file)
            id_ = _unused(slug_of(_text(head, "id")) or slug_of(path.stem) or "standard", taken, _LONGEST_KEY)
            title, said = _text(head, "title"), _text(head, "description")
            described = f"{title}: {said}" if title and said else title or said
            standard = Standard(id_, _line(described, _LONGEST_LINE), fields.body(text, "content"))
        except CallerError as error:
            contents.broken.append(Problem(file, str(error)))
            continue
        taken.add(id_)
        _add(contents, standard, "standard", file)
    path = folder / "project.md"
    if "project" in taken or not path.is_file():
        return
    try:
        text = fields.body(values.cleaned(folders.text_of(path)), "content")
    except CallerError as error:
        contents.broken.append(Problem("project.md", str(error)))
        return
    if text.strip():
        _add(contents, Standard("project", "About the project", text), "standard", "project.md")


def _read_snippets(folder: Path, contents: Contents) -> None:
    for suffix in (".json", ".md", ".txt"):
        for file, path in folders.files(folder, "snippets", suffix, contents.broken):
            try:
                snippet = _snippet(path, suffix, {one.id for one in contents.snippets}, contents, file)
            except CallerError as error:
                contents.broken.append(Problem(file, str(error)))
            else:
                _add(contents, snippet, "snippet", file)


def _snippet(path: Path, suffix: str, taken: set[str], contents: Contents, file: str) -> Snippet:
    row: dict[str, Any]
    if suffix == ".json":
        row = _object(path)
        text = values.cleaned(_text(row, "content", "text", "body", "template"))
    else:
        row, text = _front_matter(path, _OF_SNIPPET, contents, file)
    id_ = _unused(slug_of(_text(row, "key", "id")) or slug_of(path.stem) or "snippet", taken, _LONGEST_KEY)
    title = _line(_text(row, "title", "name") or path.stem, fields.MOST_TITLE)
    listed = row.get("tags")
    tags = _tags(listed if isinstance(listed, list) else [listed] if listed else [], contents, file)
    return Snippet(id_, title, fields.body(text, "content"), tuple(tags))


def _front_matter(path: Path, used: tuple[str, ...], contents: Contents, file: str) -> tuple[dict[str, Any], str]:
    """The values before a text, and the text; a note names the values that are not among those `used`."""
    head, text = yaml_front_matter.parsed(values.cleaned(folders.text_of(path)))
    if unused := [str(key)[:40] for key, value in head.items() if key not in used and value]:
        contents.notes.append(f"{file}: no place for {', '.join(unused)}; left out.")
    return head, text


# --- single values ---------------------------------------------------------------------------------


def _add(contents: Contents, one: Standard | Snippet, kind: Kind, file: str) -> None:
    contents.files[kind, one.id] = file
    if isinstance(one, Standard):
        contents.standards.append(replace(one, updated_by=NEOVA))
    else:
        contents.snippets.append(replace(one, updated_by=NEOVA))


def _json(path: Path) -> Any:
    return decoded(folders.text_of(path), "it")


def _object(path: Path) -> dict[str, Any]:
    found = _json(path)
    if not isinstance(found, dict):
        raise CallerError("is not a JSON object")
    return found


def _text(row: dict[str, Any], *keys: str) -> str:
    """The first of the values that is a text or a number."""
    for key in keys:
        value = row.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return ""


def _list(row: dict[str, Any], key: str) -> list[Any]:
    value = row.get(key)
    return value if isinstance(value, list) else []


def _number(value: Any) -> float:
    """For sorting; what has no number comes last."""
    usable = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**53
    return float(value) if usable else math.inf


def _time(value: Any, otherwise: str) -> str:
    try:
        return values.time(value)
    except CallerError:
        return otherwise


def _time_of_id(id_: str) -> str:
    found = _TIMESTAMP.match(id_)
    return values.time(int(found[1])) if found else ""


def _line(text: str, most: int) -> str:
    text = " ".join(values.cleaned(text).split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _unused(slug: str, taken: set[str], most: int = _LONGEST_ID) -> str:
    slug = slug[:most].strip("-")
    if slug not in taken:
        return slug
    short = slug[: most - 4].strip("-")
    return next(name for number in range(2, len(taken) + 3) if (name := f"{short}-{number}") not in taken)
