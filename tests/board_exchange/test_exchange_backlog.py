"""Tasks of Backlog.md come in and go out again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from board_exchange.exchanges import Place, counts, texts
from lsp_mcp.board import tasks
from lsp_mcp.board.exchange.exporting import export_backlog
from lsp_mcp.errors import CallerError

CONFIG = """project_name: "Shop"
default_status: "To Do"
statuses: ["To Do", "In Progress", "Done"]
labels: []
date_format: yyyy-mm-dd
"""
# As Backlog.md writes them.
FIRST = """---
id: TASK-1
title: 'Sell: things'
status: In Progress
assignee:
  - '@sara'
created_date: '2025-06-01 12:30'
updated_date: '2025-06-02 08:00'
labels:
  - shop
  - api
milestone: m1
dependencies: []
priority: high
due_date: '2025-07-01'
ordinal: 2000
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
Sell what is there.
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [x] #1 It sells
- [ ] #2 It pays
<!-- AC:END -->
"""
SECOND = """---
id: task-1.1
title: Pay
status: To Do
assignee: []
created_date: 2025-06-03
labels: []
dependencies: [task-1]
parent_task_id: task-1
reporter: '@bob'
---
Plain text.
"""
OLD = """---
id: task-0
title: Choose a name
status: Done
created_date: '2025-05-01'
---
"""


@pytest.fixture
def backlog(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / "backlog"
    (folder / "tasks").mkdir(parents=True)
    (folder / "completed").mkdir()
    (folder / "drafts").mkdir()
    (folder / "config.yml").write_text(CONFIG)
    (folder / "tasks" / "task-1 - Sell-things.md").write_text(FIRST)
    (folder / "tasks" / "task-1.1 - Pay.md").write_text(SECOND)
    (folder / "completed" / "task-0 - Choose-a-name.md").write_text(OLD)
    (folder / "drafts" / "draft-1 - Later.md").write_text(SECOND)
    return folder


def test_tasks_come_in_with_all_that_has_a_place(place: Place, backlog: Path) -> None:
    done = place.take(backlog.parent)
    assert (counts(done), done.broken) == ((3, 0, 0, 0), [])
    assert done.notes == ["tasks/task-1.1 - Pay.md: no place for reporter; left out.", "1 draft left out."]
    assert [(one.name, one.is_default, one.completes) for one in place.contents.stages] == [
        ("To Do", True, False),
        ("In Progress", False, False),
        ("Done", False, True),
    ]
    one = place.get("task-1")
    assert (one["title"], one["stage"], one["priority"], one["due"]) == ("Sell: things", "In Progress", 1, "2025-07-01")
    assert one["tags"] == ["@sara", "milestone: m1", "shop", "api"]
    assert one["description"].startswith("Sell what is there.\n\n## Acceptance Criteria\n- [x] #1 It sells\n")
    assert (one["boxes"], one["ticked"]) == (2, 1)
    two = place.get("task-1.1")
    assert (two["depends_on"], two["tags"], two["stage"]) == (["task-1"], ["parent: task-1"], "To Do")
    old = place.get("task-0")
    assert (old["status"], old["archived_at"][:10]) == ("completed", "2025-05-01")


def test_on_a_board_with_tasks_missing_stages_are_added_and_done_is_done(place: Place, backlog: Path) -> None:
    place.do(tasks.create, "there before")
    place.take(backlog)
    assert [one.name for one in place.contents.stages] == [
        *("Backlog", "Prepare", "Implement", "Verify", "Done", "To Do", "In Progress"),
    ]
    assert place.get("task-0")["stage"] == "Done"


def test_what_was_exported_comes_back_the_same(
    place: Place, new_place: Callable[[], Place], backlog: Path, tmp_path: Path
) -> None:
    place.take(backlog)
    own = place.do(
        tasks.create, "Made here: ü", description="## Description\n\ntwice", priority=0, depends_on=["task-1"]
    )
    place.do(tasks.update, "task-1", depends_on=["task-0"])
    out = tmp_path / "out"
    export_backlog(out, place.contents)
    assert sorted(texts(out)) == [
        "completed/task-0 - choose-a-name.md",
        "config.yml",
        "tasks/task-1 - sell-things.md",
        "tasks/task-1.1 - pay.md",
        "tasks/task-2 - made-here.md",
    ]
    assert counts(place.take(out)) == (0, 0, 4, 0)
    other = new_place()
    assert counts(other.take(out)) == (4, 0, 0, 0)
    kept = ("title", "description", "tags", "priority", "due", "stage", "status", "depends_on")
    for id_ in ("task-0", "task-1", "task-1.1", own["id"]):
        assert {name: other.get(id_)[name] for name in kept} == {name: place.get(id_)[name] for name in kept}, id_
    with pytest.raises(CallerError, match="not a new or empty folder"):
        export_backlog(out, place.contents)


HOSTILE = {
    "an alias.md": "---\nid: task-5\ntitle: &a x\nstatus: *a\n---\n",
    "an object.md": "---\nid: task-5\ntitle: !!python/object/apply:os.system ['touch RAN']\nstatus: To Do\n---\n",
    "no end.md": "---\nid: task-5\ntitle: x\n",
    "nothing.md": "Only text\n",
    "no title.md": "---\nid: task-5\nstatus: To Do\n---\n",
    "a path.md": "---\nid: ../../etc/passwd\ntitle: x\nstatus: To Do\n---\n",
    "a day.md": "---\nid: task-5\ntitle: x\nstatus: To Do\ndue_date: someday\n---\n",
    "long.md": f"---\nid: task-5\ntitle: x\nstatus: To Do\n---\n{'x' * 300_000}\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_cannot_be_used_is_named_and_the_others_come_in(place: Place, backlog: Path, name: str) -> None:
    (backlog / "tasks" / name).write_text(HOSTILE[name])
    done = place.take(backlog)
    if name == "an object.md":  # a text like any other: nothing is made of it
        assert not (Path.cwd() / "RAN").exists()
    else:
        assert [one.file for one in done.broken] == [f"tasks/{name}"]
    assert place.get("task-1")["title"] == "Sell: things"


def test_links_are_not_followed_and_an_id_is_taken_once(place: Place, backlog: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text(FIRST.replace("TASK-1", "task-9"))
    (backlog / "tasks" / "link.md").symlink_to(secret)
    (backlog / "tasks" / "zz.md").write_text(FIRST)
    done = place.take(backlog)
    assert [(one.file, one.reason) for one in done.broken] == [
        ("tasks/link.md", "is a link; links are not followed"),
        ("tasks/zz.md", "has the id of tasks/task-1 - Sell-things.md, which was taken"),
    ]


@pytest.mark.parametrize(
    "config", ["statuses: [", "- a\n- b", "statuses: [" + ", ".join(f"s{n}" for n in range(40)) + "]"]
)
def test_statuses_that_cannot_be_used_refuse_all_of_it(place: Place, backlog: Path, config: str) -> None:
    (backlog / "config.yml").write_text(config)
    before = place.contents
    with pytest.raises(CallerError, match="Nothing was changed"):
        place.take(backlog)
    assert place.contents == before
