"""Exports: what is written, what is left alone, what is refused; and exports that come back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from board_exchange.exchanges import NEOVA, Place, counts, edit, task_file, texts
from lsp_mcp.board import agents, claims, library, stages, tables, talk, tasks, trash, versions, views
from lsp_mcp.board.exchange import rows
from lsp_mcp.board.exchange.data import Contents, Task
from lsp_mcp.errors import CallerError, UnavailableError

ANCHOR = {
    "anchor": "go://a%20b.go#3:6",
    "file": "a b.go",
    "symbol": "Greet",
    "code": "func Greet() {",
    "state": "known",
}


@pytest.fixture
def full(place: Place) -> Place:
    """A board with something of everything."""
    place.do(
        stages.create, "Überprüfung", color="#abc", after="Verify", activities=[{"name": "Look", "prompt": "a\nb"}]
    )
    place.do(stages.delete, "Prepare")
    first = place.do(
        tasks.create, "First --- of all", description="Text\n\n---\n\ntags: []\n", tags=["Bug", "über uns"]
    )
    second = place.do(tasks.create, "Second", stage="Überprüfung", depends_on=[first["id"]], anchored=[ANCHOR])
    third = place.do(tasks.create, "שלום", stage="Überprüfung")
    place.do(tasks.move, third["id"], "Überprüfung", before=second["id"])
    place.do(tasks.append, second["id"], "More.", "Notes")
    place.do(tasks.update, first["id"], status="completed")
    place.do(library.create_standard, "naming", "# Naming\n", "How things are called")
    place.do(library.create_snippet, "A checklist", "- one\n- two", ["x"])
    return place


def by_title(place: Place, title: str) -> Task:
    return next(task for task in place.contents.tasks if task.title == title)


def test_an_export_comes_back_byte_for_byte(full: Place, new_place: Callable[[], Place], tmp_path: Path) -> None:
    full.give(tmp_path / "out")
    other = new_place()
    done = other.take(tmp_path / "out")
    assert counts(done) == (3, 0, 0, 0)
    assert not done.broken and not done.skipped and not done.notes
    assert other.contents == full.contents
    other.give(tmp_path / "again")
    assert texts(tmp_path / "out") == texts(tmp_path / "again")


def test_the_files_have_names_for_people(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path)
    first, third = by_title(full, "First --- of all"), by_title(full, "שלום")
    assert set(texts(tmp_path)) - {f"tasks/{by_title(full, 'Second').id} second.md"} == {
        "stages.json",
        "talk.json",
        "trash.json",
        f"tasks/{first.id} first-of-all.md",
        f"tasks/{third.id}.md",
        "standards/naming.md",
        "snippets/a-checklist.md",
    }
    text = task_file(tmp_path, first.id).read_text("utf-8")
    assert 'title: "First --- of all"\n' in text
    assert '\ntags: ["Bug", "über uns"]\n' in text
    assert text.endswith("\n---\n\nText\n\n---\n\ntags: []\n\n")


def test_tasks_are_found_by_tag_and_anchor_after_an_import(
    full: Place, new_place: Callable[[], Place], tmp_path: Path
) -> None:
    full.give(tmp_path)
    other = new_place()
    other.take(tmp_path)
    found, _ = other.store.read(lambda at: views.listed(at, tags=["ÜBER UNS"]))
    assert [task["title"] for task in found] == ["First --- of all"]
    files = other.store.read(lambda at: list(at.connection.execute(sa.select(tables.anchors.c.file)).scalars()))
    assert files == ["a b.go"]


def test_pages_are_told_of_an_import(place: Place) -> None:
    place.take(NEOVA)
    told = place.store.read(
        lambda at: {(row.action, row.kind, row.ref) for row in at.connection.execute(sa.select(tables.changes))}
    )
    assert ("created", "task", "1730971200123-k4") in told
    assert ("created", "standard", "naming") in told
    assert ("deleted", "stage", "verify") in told


# --- into a folder ---------------------------------------------------------------------------------


def test_a_second_export_writes_what_changed(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path)
    second = by_title(full, "Second").id
    full.do(tasks.update, second, title="Renamed")
    full.do(tasks.delete, by_title(full, "שלום").id)
    full.do(library.delete_standard, "naming")
    done = full.give(tmp_path)
    assert done.written == [f"tasks/{second} renamed.md", "talk.json", "trash.json"]  # those have what was deleted
    assert len(done.deleted) == 3
    assert set(texts(tmp_path)) == {
        "stages.json",
        "talk.json",
        "trash.json",
        f"tasks/{by_title(full, 'First --- of all').id} first-of-all.md",
        f"tasks/{second} renamed.md",
        "snippets/a-checklist.md",
    }
    assert full.give(tmp_path).written == []


def test_files_of_others_are_left_alone(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path)
    mine = {"tasks/mine.md": b"# Mine\n", "tasks/mine.txt": b"x", "README.md": b"# Ours\n", "tasks/blob.md": b"\xff"}
    for name, content in mine.items():
        (tmp_path / name).write_bytes(content)
    full.do(tasks.delete, by_title(full, "Second").id)
    done = full.give(tmp_path)
    assert done.left == ["tasks/blob.md", "tasks/mine.md"]
    assert {name: texts(tmp_path)[name] for name in mine} == mine


def test_a_folder_with_other_things_in_it_is_refused(full: Place, tmp_path: Path) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "main.go").write_text("package main\n")
    with pytest.raises(CallerError, match=r"has other things in it \(main\.go\)"):
        full.give(folder)
    with pytest.raises(CallerError, match="has other things"):
        full.give(NEOVA / ".neova")
    assert set(texts(folder)) == {"main.go"}


def test_a_repository_without_files_is_taken(full: Place, tmp_path: Path) -> None:
    (tmp_path / "out" / ".git").mkdir(parents=True)
    assert full.give(tmp_path / "out").written


def test_a_folder_whose_parent_is_missing_is_refused(full: Place, tmp_path: Path) -> None:
    with pytest.raises(CallerError, match="does not exist"):
        full.give(tmp_path / "a" / "b")
    (tmp_path / "file").write_text("x")
    with pytest.raises(CallerError, match="is not a folder"):
        full.give(tmp_path / "file")


def test_a_file_that_is_in_the_way_is_not_overwritten(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path)
    (tmp_path / "snippets" / "a-checklist.md").write_text("Mine")
    before = texts(tmp_path)
    full.do(tasks.update, by_title(full, "Second").id, title="Renamed")
    for force in (False, True):
        with pytest.raises(CallerError, match="not from an export"):
            full.give(tmp_path, force=force)
    assert texts(tmp_path) == before


def test_what_was_edited_is_not_overwritten(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path)
    second = by_title(full, "Second").id
    edit(task_file(tmp_path, second), "More.", "Much more.")
    edit(tmp_path / "standards" / "naming.md", "# Naming", "# Names")
    edit(tmp_path / "stages.json", "Verify", "Check")
    before = texts(tmp_path)
    with pytest.raises(CallerError) as caught:
        full.give(tmp_path)
    assert all(name in str(caught.value) for name in ("second.md", "standards/naming.md", "stages.json"))
    assert texts(tmp_path) == before
    done = full.take(tmp_path)
    assert (counts(done), counts(done, "standards"), counts(done, "stages")) == (
        (0, 1, 2, 0),
        (0, 1, 0, 0),
        (0, 1, 4, 0),
    )
    full.give(tmp_path)
    assert "Much more." in task_file(tmp_path, second).read_text("utf-8")
    assert counts(full.take(tmp_path)) == (0, 0, 3, 0)


def test_what_was_edited_is_overwritten_by_force(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path)
    before = texts(tmp_path)
    edit(task_file(tmp_path, by_title(full, "Second").id), "More.", "Much more.")
    (tmp_path / "stages.json").write_text("{")
    full.give(tmp_path, force=True)
    assert texts(tmp_path) == before


def test_an_edited_file_whose_task_is_gone_is_not_deleted(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path)
    second = by_title(full, "Second").id
    edit(task_file(tmp_path, second), "More.", "Much more.")
    full.do(tasks.delete, second)
    with pytest.raises(CallerError, match="edited since"):
        full.give(tmp_path)
    assert task_file(tmp_path, second).exists()


@pytest.mark.parametrize("name", ["tasks", "standards", "stages.json"])
def test_nothing_is_written_through_links(full: Place, tmp_path: Path, name: str) -> None:
    full.give(tmp_path / "out")
    (tmp_path / "out" / name).rename(tmp_path / "elsewhere")
    (tmp_path / "out" / name).symlink_to(tmp_path / "elsewhere")
    before = texts(tmp_path)
    full.do(tasks.update, by_title(full, "Second").id, title="Renamed")
    full.do(library.update_standard, "naming", "New")
    with pytest.raises(CallerError, match="is a link"):
        full.give(tmp_path / "out", force=True)
    assert texts(tmp_path) == before


def test_a_link_in_the_place_of_a_file_is_not_followed(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path / "out")
    (tmp_path / "precious").write_text("Mine")
    file = task_file(tmp_path / "out", by_title(full, "Second").id)
    file.unlink()
    file.symlink_to(tmp_path / "precious")
    with pytest.raises(CallerError, match="not from an export"):
        full.give(tmp_path / "out", force=True)
    assert (tmp_path / "precious").read_text() == "Mine"


@pytest.mark.parametrize("id_", ["../x", "a/b", "/x", "..", "a\0b"])
def test_an_id_that_leads_out_is_not_written(full: Place, tmp_path: Path, id_: str) -> None:
    contents = full.contents
    contents.tasks.append(Task(id_, "Bad"))
    from lsp_mcp.board.exchange.exporting import export_to

    with pytest.raises(CallerError, match="cannot be the id"):
        export_to(tmp_path / "out", contents)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_said(full: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(self: Path, *_: Any) -> Any:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(UnavailableError, match="No space left on device"):
        full.give(tmp_path / "out")
    assert texts(tmp_path / "out") == {}


def test_an_export_that_was_killed_is_finished_by_the_next(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path / "whole")
    (tmp_path / "out" / "tasks").mkdir(parents=True)
    (tmp_path / "out" / ".lsp-mcp-0123456789abcdef.tmp").write_text("{")
    with pytest.raises(CallerError, match=r"has other things in it \(tasks\)"):
        full.give(tmp_path / "out")
    (tmp_path / "out" / "tasks").rmdir()
    full.give(tmp_path / "out")
    (tmp_path / "out" / "tasks" / ".lsp-mcp-0123456789abcdef.tmp").write_text("-")
    task_file(tmp_path / "out", by_title(full, "Second").id).unlink()
    full.give(tmp_path / "out")
    assert texts(tmp_path / "out") == texts(tmp_path / "whole")


# --- back ------------------------------------------------------------------------------------------


def test_an_older_export_does_not_undo_what_the_board_did_since(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path)
    second, first = by_title(full, "Second").id, by_title(full, "First --- of all").id
    full.do(tasks.update, second, title="Ours")
    full.do(tasks.update, first, tags=["ours"])
    edit(task_file(tmp_path, first), "Text", "Edited text")
    full.do(library.update_standard, "naming", "Ours")
    before = full.contents
    done = full.take(tmp_path)
    assert (counts(done), counts(done, "standards")) == ((0, 0, 1, 2), (0, 0, 0, 1))
    assert {one.reason for one in done.skipped if one.file.startswith("tasks/")} == {
        f"the board has a newer {second} (revision 3).",
        f"the board has a newer {first} (revision 3). The file was edited too.",
    }
    assert full.contents == before
    done = full.take(tmp_path, force=True)
    assert counts(done) == (0, 2, 1, 0)
    assert full.get(second)["title"] == "Second"
    assert full.get(first)["description"].startswith("Edited text")
    assert full.get(first)["revision"] == 4


def test_a_newer_export_of_the_same_board_is_taken_with_its_history(
    full: Place, new_place: Callable[[], Place], tmp_path: Path
) -> None:
    full.give(tmp_path / "out")
    other = new_place()
    other.take(tmp_path / "out")
    second = by_title(full, "Second").id
    other.do(tasks.update, second, title="Theirs")
    other.do(tasks.update, second, status="completed")
    other.give(tmp_path / "out")
    assert counts(full.take(tmp_path / "out")) == (0, 1, 2, 0)
    assert full.tasks == other.tasks


def test_an_edit_counts_as_a_change_of_the_one_who_imports(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path)
    second = full.get(by_title(full, "Second").id)
    edit(task_file(tmp_path, second["id"]), 'title: "Second"', 'title: "2nd"')
    full.take(tmp_path)
    after = full.get(second["id"])
    assert (after["title"], after["revision"]) == ("2nd", second["revision"] + 1)
    assert after["history"][:-1] == second["history"]
    assert after["history"][-1]["message"] == "imported: changed title"
    assert after["history"][-1]["fields"] == {"title": ["Second", "2nd"]}
    assert (after["anchors"], after["depends_on"]) == (second["anchors"], second["depends_on"])


def test_a_claim_stays_until_the_task_is_completed(full: Place, tmp_path: Path) -> None:
    claude = full.do(agents.connect, "claude", "a process")
    third = by_title(full, "שלום").id
    full.do(claims.claim, claude, third, by=claude)
    full.give(tmp_path)
    edit(task_file(tmp_path, third), "tags: []", 'tags: ["x"]')
    full.take(tmp_path)
    assert full.get(third)["claimed_by"] == "claude"
    full.give(tmp_path)
    edit(task_file(tmp_path, third), 'status: "pending"', 'status: "completed"')
    full.take(tmp_path)
    assert full.get(third)["claimed_by"] is None


def test_dependencies_that_cannot_be_are_left_out(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path)
    first, second = by_title(full, "First --- of all").id, by_title(full, "Second").id
    edit(task_file(tmp_path, first), "depends_on: []", f'depends_on: ["{second}", "{first}", "t-zzzzz"]')
    done = full.take(tmp_path)
    assert len(done.notes) == 3
    assert sum("waits for it" in note for note in done.notes) == 2
    assert full.get(first)["depends_on"] == []
    assert full.get(second)["depends_on"] == [first]


def test_a_stage_that_was_added_by_hand_is_made(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path)
    path = tmp_path / "stages.json"
    found = json.loads(path.read_text("utf-8"))
    found["stages"].append({"id": "shipped", "name": "Shipped", "color": "#ffffff"})
    found["stages"][1]["is_default"] = True
    path.write_text(json.dumps(found), "utf-8")
    with pytest.raises(CallerError, match="Backlog and Implement are default stages"):
        full.take(tmp_path)
    found["stages"][0]["is_default"] = False
    path.write_text(json.dumps(found), "utf-8")
    done = full.take(tmp_path)
    assert counts(done, "stages") == (1, 2, 3, 0)
    assert [stage.name for stage in full.contents.stages][-1] == "Shipped"
    assert [stage.name for stage in full.contents.stages if stage.is_default] == ["Implement"]
    assert counts(full.take(tmp_path), "stages") == (0, 0, 6, 0)
    full.give(tmp_path)


def test_two_files_of_one_task_are_both_left_out(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path)
    file = task_file(tmp_path, by_title(full, "Second").id)
    (file.parent / "copy.md").write_bytes(file.read_bytes())
    done = full.take(tmp_path)
    (broken,) = done.broken
    assert "keep one of them" in broken.reason
    assert counts(done) == (0, 0, 2, 0)


def test_a_file_with_an_unsafe_id_is_refused(full: Place, tmp_path: Path) -> None:
    full.give(tmp_path)
    second = by_title(full, "Second").id
    edit(task_file(tmp_path, second), f'id: "{second}"', 'id: "../x"')
    edit(tmp_path / "standards" / "naming.md", 'id: "naming"', 'id: "../../x"')
    done = full.take(tmp_path)
    assert len(done.broken) == 2
    assert all("cannot be the id" in one.reason for one in done.broken)


def test_all_or_nothing(full: Place, new_place: Callable[[], Place], tmp_path: Path, monkeypatch: Any) -> None:
    full.give(tmp_path)
    other = new_place()
    before = other.contents

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("half way")

    monkeypatch.setattr(rows, "put", broken)
    with pytest.raises(RuntimeError, match="half way"):
        other.take(tmp_path)
    assert other.contents == before
    assert other.store.read(lambda at: at.connection.execute(sa.select(tables.changes)).all()) == []


def test_too_many_stages_are_refused(place: Place) -> None:
    found = Contents("export", stages=list(place.contents.stages))
    found.stages += [found.stages[0].__class__(f"s-{n}", f"S {n}", "#ffffff", 10.0 + n) for n in range(30)]
    with pytest.raises(CallerError, match="at most 30"):
        place.take(found)


def test_ten_thousand_tasks_come_in_and_go_out(place: Place, tmp_path: Path) -> None:
    many = [
        Task(f"x-{n}", f"Task {n}", stage="backlog", depends_on=(f"x-{n - 1}",) if n else ()) for n in range(10_000)
    ]
    assert counts(place.take(Contents("export", tasks=many))) == (10_000, 0, 0, 0)
    assert len(place.give(tmp_path).written) == 10_001
    assert counts(place.take(tmp_path)) == (0, 0, 10_000, 0)
    assert place.store.read(rows.load).tasks[-1].id == "x-9999"


def test_an_export_has_all_of_a_board_and_its_import_makes_the_same(
    new_place: Callable[[], Place], tmp_path: Path
) -> None:
    one, two = new_place(), new_place()
    agent = one.do(agents.connect, "codex", "a process of before")
    first = one.do(tasks.create, "first", description="- [x] a\n- [ ] b " * 30, priority="P0", tags=["a"])["id"]
    second = one.do(tasks.create, "second", depends_on=[first])["id"]
    one.do(tasks.update, first, description="short", branch="fix", by=agent)
    one.do(claims.claim, agent, first, by=agent)
    one.do(tasks.comment, first, "Is this right?")
    one.do(tasks.update, one.do(tasks.create, "done")["id"], status="completed", archived=True)
    question = one.do(talk.ask, "Which?", task=second, options=[{"id": "x", "label": "X"}], by=agent)["id"]
    one.do(talk.ask, "Why?", by=agent)
    one.do(talk.answer, question, option="x", text="this")
    one.do(talk.notify, "Begun", task=first, by=agent)
    one.do(library.create_standard, "style", "old " * 100)
    one.do(library.update_standard, "style", "new")
    one.do(stages.update, "Verify", color="#123456")
    gone = one.do(tasks.create, "deleted", depends_on=[first], tags=["B"], description="whole text")["id"]
    one.do(tasks.comment, gone, "Not needed")
    one.do(tasks.delete, gone)
    one.do(tasks.delete, one.do(tasks.create, "deleted for good")["id"])
    one.do(trash.empty, one.store.read(trash.listed)[0][0]["id"])
    old = one.do(library.create_snippet, "old", "of old", ["a"])["id"]
    one.do(library.delete_snippet, old)
    one.do(library.create_standard, "old", "of old")
    one.do(library.delete_standard, "old")
    one.do(stages.create, "Waiting", activities=[{"name": "a", "prompt": "b"}])
    one.do(stages.delete, "Waiting", None)
    one.give(tmp_path / "out")
    assert two.take(tmp_path / "out").broken == []

    def everything(place: Place) -> dict[str, list[str]]:
        """All but what is of one process only: who is connected, and the numbers of rows."""
        own = {"connected", "process", "token"}
        found: dict[str, list[str]] = {}
        for name, table in tables.metadata.tables.items():
            if name not in ("changes", "calls"):
                every = place.store.read(lambda at, table=table: list(at.connection.execute(table.select()).mappings()))
                kept = [{key: value for key, value in row.items() if key not in own} for row in every]
                found[name] = sorted(repr({**row, "id": None} if type(row.get("id")) is int else row) for row in kept)
        return found

    assert everything(two) == everything(one)
    two.give(tmp_path / "again")
    assert texts(tmp_path / "again") == texts(tmp_path / "out")
    assert two.take(tmp_path / "out").counts["tasks"]["unchanged"] == 3
    assert everything(two) == everything(one)

    two.do(tasks.comment, first, "another comment has its number by now")
    two.do(versions.revert, "task", gone)
    back = two.get(gone)
    assert (back["description"], back["depends_on"], back["tags"]) == ("whole text", [first], ["B"])
    assert [one["text"] for one in back["comments"]] == ["Not needed"]
    two.do(versions.revert, "stage", "Waiting")
    two.do(trash.empty)
    assert "trash.json" in two.give(tmp_path / "again").written  # the history of what is gone for good
    assert two.take(tmp_path / "out").broken == []
    assert two.get(gone)["title"] == "deleted"


def test_a_talk_file_that_cannot_be_used_is_named_and_the_rest_is_taken(place: Place, tmp_path: Path) -> None:
    place.do(tasks.create, "one")
    place.give(tmp_path / "out")
    (tmp_path / "out" / "talk.json").write_text('{"comments": [{"task": 5}]}')
    (broken,) = place.take(tmp_path / "out").broken
    assert broken.file == "talk.json"
    assert "$.comments[0].task" in broken.reason


HOSTILE = {
    '"tasks": [': '"agents": [',
    '"id": "ID"': '"id": "other"',
    '"id": "ID",': '"id": "ID", "extra": 1,',
    '"ref": "ID"': '"ref": "../x"',
    '"position": 1.0': '"position": "first"',
    '"status": "pending"': '"status": "odd"',
    '"tags": []': '"tags": [5]',
    '"kind": "task"': '"kind": "agent"',
}


@pytest.mark.parametrize("old", HOSTILE)
def test_a_trash_file_that_no_board_has_written_is_named_and_not_used(place: Place, tmp_path: Path, old: str) -> None:
    id_ = place.do(tasks.create, "one")["id"]
    place.do(tasks.delete, id_)
    place.give(tmp_path / "out")
    edit(tmp_path / "out" / "trash.json", old.replace("ID", id_), HOSTILE[old].replace("ID", id_))
    place.do(trash.empty)
    (broken,) = place.take(tmp_path / "out").broken
    assert broken.file == "trash.json"
    assert "it cannot be used" in broken.reason
    assert place.store.read(trash.listed) == ([], 0)
