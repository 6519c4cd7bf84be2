"""Importing the contents of a folder into a board, in one transaction.

Existing items are recognised by their ids. A file with the same content changes nothing; one that is newer than the
board, or was edited, takes precedence; if the board is newer, it stays as it is, and the report says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

import sqlalchemy as sa

from lsp_mcp.board import stages, tables, text_changes, workflow
from lsp_mcp.board.exchange import deleted, rows, talk
from lsp_mcp.board.exchange.data import (
    Contents,
    Kind,
    Problem,
    Snippet,
    Stage,
    Standard,
    Task,
    differences,
    same_text,
    stage_id,
)
from lsp_mcp.board.exchange.github import GITHUB, origin
from lsp_mcp.board.exchange.neova import NEOVA
from lsp_mcp.board.settling import settle
from lsp_mcp.board.store import Transaction
from lsp_mcp.errors import CallerError

_MOST_STAGES = 30
_DONE_COLOR = "#15803d"
_PROGRAMS = {"neova": NEOVA, "github": GITHUB, "backlog": "Backlog.md"}
_PLURALS: dict[Kind, str] = {"stage": "stages", "task": "tasks", "standard": "standards", "snippet": "snippets"}

One = TypeVar("One", Standard, Snippet)


@dataclass
class Imported:
    """The result of an import: how many of each kind were `created`, `updated`, `unchanged`; and omitted items."""

    source: str
    counts: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in _PLURALS.values()})
    skipped: list[Problem] = field(default_factory=list)  # the board has something newer
    broken: list[Problem] = field(default_factory=list)  # files that cannot be used
    notes: list[str] = field(default_factory=list)

    def did(self, kind: Kind, what: str) -> None:
        """Count one."""
        self.counts[_PLURALS[kind]][what] += 1


def import_contents(at: Transaction, found: Contents, *, force: bool = False) -> Imported:
    """Import everything that was read; with `force` files take precedence even over a newer board.

    Raises:
        CallerError: there would be too many stages; nothing was changed.
    """
    there = rows.everything(at)
    done = Imported(found.source, broken=list(found.broken), notes=list(found.notes))
    _Import(at, found, there, done, force=force).run()
    return done


class _Import:
    def __init__(self, at: Transaction, found: Contents, there: Contents, done: Imported, *, force: bool) -> None:
        self._at, self._found, self._there, self._done, self._force = at, found, there, done, force
        self._foreign = found.is_foreign
        self._says_end = any(stage.completes for stage in found.stages)
        self._last: dict[str, float] = {}  # the last position in each stage

    def run(self) -> None:
        ids = self._stages()
        workflow.check(stages.rows(self._at))
        self._tasks(ids, rows.stages(self._at))
        for standard in self._found.standards:
            self._text("standard", standard, {one.id: one for one in self._there.standards})
        for snippet in self._found.snippets:
            self._text("snippet", snippet, {one.id: one for one in self._there.snippets})
        if talk.store(self._at, self._found.talk) + deleted.store(self._at, self._found.trash):
            self._at.change("imported", "talk", "")
        for id_ in settle(self._at.connection):
            self._at.change("updated", "task", id_)

    # --- stages ------------------------------------------------------------------------------------

    def _stages(self) -> dict[str, str]:
        """Import the stages; returns their ids on the board by those in the files."""
        if not self._found.stages:
            if not self._there.stages:
                stages.fill(self._at)
            return {}
        if not self._there.tasks and _is_new(self._there.stages):
            return self._all_stages()
        here = {stage.id: stage for stage in self._there.stages}
        names = {stage.name.casefold(): stage.id for stage in self._there.stages}
        ids: dict[str, str] = {}
        for stage in self._found.stages:
            known = here.get(stage.id) or here.get(names.get(stage.name.casefold(), ""))
            if known is None:
                last = max(one.position or 0.0 for one in here.values())
                free = stage.position is not None and stage.position not in {one.position for one in here.values()}
                position = stage.position if free and not self._foreign else last + 1.0
                known = replace(stage, position=position, is_default=False)
                rows.insert_stages(self._at, [known])
                self._did("stage", "created", known.id, known.name)
            else:
                known = self._known_stage(known, stage, names)
            ids[stage.id] = known.id
            here[known.id] = known
            names = {one.name.casefold(): one.id for one in here.values()}
        if len(here) > _MOST_STAGES:
            raise CallerError(f"there would be {len(here)} stages; at most {_MOST_STAGES} are allowed.")
        return ids

    def _known_stage(self, known: Stage, stage: Stage, names: dict[str, str]) -> Stage:
        """A stage of the board, after the import. Stages have no revision: a file counts if it was edited."""
        if self._force or ("stage", stage.id) in self._found.edited:
            position = known.position if self._foreign or stage.position is None else stage.position
            said = not self._foreign and any(one.is_default for one in self._found.stages)
            is_default = stage.is_default if said else known.is_default
            completes = stage.completes if self._says_end else known.completes
            after = replace(
                stage,
                id=known.id,
                position=position,
                is_default=is_default,
                completes=completes,
                revision=known.revision + 1,
            )
            if after == replace(known, revision=known.revision + 1):
                after = known
        elif self._foreign and not known.activities:
            after = replace(known, activities=stage.activities, revision=known.revision + bool(stage.activities))
        else:
            after = known
        if after == known:
            if (stage.name, stage.activities) == (known.name, known.activities):
                self._done.did("stage", "unchanged")
            else:
                self._skip("stage", f"the stage {known.name} is a different one on the board", file="stages.json")
            return known
        if names.get(after.name.casefold(), known.id) != known.id:
            self._skip("stage", f"another stage is called {after.name} on the board", file="stages.json")
            return known
        rows.update_stage(self._at, after)
        self._did("stage", "updated", known.id, after.name)
        return after

    def _all_stages(self) -> dict[str, str]:
        """Replace the stages of a new board by those of the files."""
        found = self._with_end()
        if len(found) > _MOST_STAGES:
            raise CallerError(f"there would be {len(found)} stages; at most {_MOST_STAGES} are allowed.")
        default = next((stage for stage in found if stage.is_default), found[0])
        wanted = [
            replace(
                stage,
                is_default=stage is default,
                position=float(number) if stage.position is None else stage.position,
            )
            for number, stage in enumerate(found)
        ]
        before = {stage.id: stage for stage in self._there.stages}
        self._at.connection.execute(sa.delete(tables.stages))
        rows.insert_stages(self._at, wanted)
        for stage in wanted:
            if stage == before.get(stage.id):
                self._done.did("stage", "unchanged")
            else:
                self._did("stage", "updated" if stage.id in before else "created", stage.id, stage.name)
        for id_ in before.keys() - {stage.id for stage in wanted}:
            self._at.change("deleted", "stage", id_, before[id_].name)
        return {stage.id: stage.id for stage in found}

    def _with_end(self) -> list[Stage]:
        """The stages of the files, one of which completes tasks."""
        found = self._found.stages
        if self._says_end:
            return found
        pending = {stage_id(found, task.stage) for task in self._found.tasks if task.status == "pending"}
        end = workflow.ending([asdict(stage) for stage in found], lambda stage: stage["id"] in pending)
        if end is None:
            return [*found, Stage("done", "Done", _DONE_COLOR, None, completes=True)]
        return [replace(stage, completes=stage.id == end["id"]) for stage in found]

    # --- tasks -------------------------------------------------------------------------------------

    def _tasks(self, ids: dict[str, str], here: list[Stage]) -> None:
        there = {task.id: task for task in self._there.tasks}
        self._last = {stage.id: 0.0 for stage in here}
        for task in there.values():
            self._last[task.stage] = max(self._last[task.stage], task.position or 0.0)
        created, updated = [], []
        for read in self._found.tasks:
            old = there.get(read.id)
            task = self._placed(read, old, ids, here)
            if old is None:
                if task.position is None:
                    task = replace(task, position=self._last[task.stage] + 1.0)
                self._last[task.stage] = max(self._last[task.stage], task.position or 0.0)
                created.append(self._new(task))
            elif newer := self._changed(old, task):
                updated.append(newer)
        rows.insert_tasks(self._at, created)
        for task in updated:
            rows.update_task(self._at, task)
        self._dependencies(there, [*created, *updated])
        for what, tasks in (("created", created), ("updated", updated)):
            for task in tasks:
                self._did("task", what, task.id, task.title)

    def _placed(self, task: Task, old: Task | None, ids: dict[str, str], here: list[Stage]) -> Task:
        """In an existing stage."""
        stays = old is not None and not task.stage and "stage" in self._found.unknown and old.status == task.status
        place = old.stage if stays and old else ids.get(task.stage) or stage_id(here, task.stage)
        if place is None and old is not None:
            place = old.stage
        if place is None:
            place = here[-1].id if task.status == "completed" else stage_id(here, "")
            name = next(stage.name for stage in here if stage.id == place)
            file = self._found.file("task", task.id)
            self._done.notes.append(f"{file}: unknown stage {task.stage[:60]!r}; it is in {name}.")
        there = {stage.id: stage for stage in here}
        ends = [stage.id for stage in here if stage.completes]
        if there[str(place)].completes:
            return replace(task, stage=str(place), status="completed")
        if task.status == "completed":  # said by either of the two, it is
            place = old.stage if old is not None and old.stage in ends else ends[0]
        return replace(task, stage=str(place))

    def _new(self, task: Task) -> Task:
        created = task.created_at or self._at.now
        task = replace(task, created_at=created, updated_at=task.updated_at or created)
        if self._foreign:
            return self._remembering(
                replace(task, revision=task.revision + 1), f"imported from {_PROGRAMS[self._found.source]}", {}
            )
        return task

    def _changed(self, old: Task, task: Task) -> Task | None:
        """The imported state of the task on the board; None if it stays as it is."""
        if (there := origin(old.description)) and (read := origin(task.description)) and there["url"] != read["url"]:
            self._skip("task", f"{task.id} is another issue on the board: {there['url']}", id_=task.id)
            return None
        edited = ("task", task.id) in self._found.edited
        if self._foreign:
            task = replace(task, **{name: getattr(old, name) for name in self._found.unknown if name != "stage"})
            newer = file_wins = self._force or task.updated_at > old.updated_at
        else:
            newer = task.revision > old.revision
            file_wins = self._force or newer or (edited and task.revision == old.revision)
        said = {name: pair for name, pair in differences(old, task).items() if file_wins or name != "position"}
        if not said or (not file_wins and not edited and not self._foreign and task.revision == old.revision):
            self._done.did("task", "unchanged")
            return None
        if not file_wins:
            both = " The file was edited too." if edited else ""
            self._skip("task", f"the board has a newer {task.id} (revision {old.revision}).{both}", id_=task.id)
            return None
        position = old.position if task.position is None and task.stage == old.stage else task.position
        if position is None:
            position = self._last[task.stage] = self._last[task.stage] + 1.0
        known = {(one["at"], one["who"], one["message"]) for one in old.history}
        more = [one for one in task.history if (one["at"], one["who"], one["message"]) not in known]
        history = sorted([*old.history, *more], key=lambda one: str(one["at"])) if more else list(old.history)
        after = replace(
            task,
            position=position,
            history=tuple(history),
            created_at=old.created_at,
            revision=max(task.revision, old.revision + 1),
            updated_at=task.updated_at if newer and task.updated_at else self._at.now,
        )
        if not self._foreign and task.revision > old.revision:
            return after  # its history says what was done
        return self._remembering(after, f"imported: changed {', '.join(said).replace('_', ' ')}", said)

    def _remembering(self, task: Task, message: str, said: dict[str, list[Any]]) -> Task:
        entry = {
            "revision": task.revision,
            "at": self._at.now,
            "who": self._at.actor.name,
            "message": message,
            "fields": {name: text_changes.change(*pair) for name, pair in said.items()},
        }
        return replace(task, history=(*task.history, entry))

    def _dependencies(self, there: dict[str, Task], changed: Sequence[Task]) -> None:
        """The dependencies of the changed tasks, without missing ones and cycles."""
        edges = {task.id: list(task.depends_on) for task in there.values()}
        edges |= {task.id: list(task.depends_on) for task in changed}
        if all(other in edges for several in edges.values() for other in several) and not _has_circle(edges):
            rows.set_dependencies(self._at, {task.id: task.depends_on for task in changed})
            return
        edges |= {task.id: [] for task in changed}
        wanted: dict[str, list[str]] = {}
        for task in changed:
            file = self._found.file("task", task.id)
            for other in task.depends_on:
                if other not in edges:
                    self._done.notes.append(f"{file}: it depends on {other}, which is not there; that was left out.")
                elif _leads(edges, other, task.id):
                    self._done.notes.append(
                        f"{file}: it depends on {other}, which waits for it; that was left out."
                    )  # fmt: skip
                else:
                    edges[task.id].append(other)
            wanted[task.id] = edges[task.id]
        rows.set_dependencies(self._at, wanted)

    # --- standards and snippets --------------------------------------------------------------------

    def _text(self, kind: Kind, one: One, there: dict[str, One]) -> None:
        old = there.get(one.id)
        if old is None:
            by = one.updated_by or self._at.actor.name
            rows.put(self._at, replace(one, updated_at=one.updated_at or self._at.now, updated_by=by), new=True)
            self._did(kind, "created", one.id, one.id)
            return
        newer = not self._foreign and one.revision > old.revision
        edited = (kind, one.id) in self._found.edited
        untouched = self._foreign and old.updated_by == NEOVA
        same_revision = not self._foreign and one.revision == old.revision
        if same_text(old, one) or (same_revision and not edited and not self._force):
            self._done.did(kind, "unchanged")
        elif self._force or newer or untouched or (edited and same_revision):
            after = replace(
                one,
                revision=max(one.revision, old.revision + 1),
                updated_at=one.updated_at if newer and one.updated_at else self._at.now,
                updated_by=one.updated_by if newer or self._foreign else self._at.actor.name,
            )
            rows.put(self._at, after, new=False)
            self._did(kind, "updated", one.id, one.id)
        else:
            both = " The file was edited too." if edited else ""
            self._skip(kind, f"the board has a newer {one.id} (revision {old.revision}).{both}", id_=one.id)

    # --- the report --------------------------------------------------------------------------------

    def _did(self, kind: Kind, what: str, ref: str, text: str) -> None:
        self._done.did(kind, what)
        self._at.change(what, kind, ref, text)

    def _skip(self, kind: Kind, reason: str, *, id_: str = "", file: str = "") -> None:
        self._done.did(kind, "skipped")
        self._done.skipped.append(Problem(file or self._found.file(kind, id_), reason))


def _is_new(there: Sequence[Stage]) -> bool:
    """Whether the stages are those of a new board."""
    last = len(stages.FIRST) - 1
    first = [
        Stage(id_, name, color, float(at), at == 0, completes=at == last)
        for at, (id_, name, color) in enumerate(stages.FIRST)
    ]
    return list(there) in ([], first)


def _has_circle(edges: dict[str, list[str]]) -> bool:
    """Whether there is a cycle; takes time in proportion to the edges."""
    waits = {task: len(others) for task, others in edges.items()}
    needed_by: dict[str, list[str]] = {}
    for task, others in edges.items():
        for other in others:
            needed_by.setdefault(other, []).append(task)
    free = [task for task, count in waits.items() if not count]
    for task in free:  # which grows
        for other in needed_by.get(task, ()):
            waits[other] -= 1
            if not waits[other]:
                free.append(other)
    return len(free) < len(edges)


def _leads(edges: dict[str, list[str]], start: str, end: str) -> bool:
    """Whether one comes from `start` to `end`."""
    seen, todo = {start}, [start]
    while todo:
        at = todo.pop()
        if at == end:
            return True
        for other in edges.get(at, ()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return False
