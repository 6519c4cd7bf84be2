"""A `.neova` folder into a board: nothing of it is lost, again and again, and what is broken has a name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from board_exchange.exchanges import NEOVA, Place, counts
from lsp_mcp.board import library, stages, tasks, views
from lsp_mcp.board.exchange.reading import read_folder
from lsp_mcp.errors import CallerError

RETRY = "1730971200123-k4"


@pytest.fixture
def neova(tmp_path: Path) -> Path:
    """A `.neova` folder that may be changed."""
    return Path(shutil.copytree(NEOVA / ".neova", tmp_path / "project" / ".neova"))


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **values}), "utf-8")


def test_all_of_a_board_comes_over(place: Place) -> None:
    done = place.take(NEOVA / ".neova")
    assert counts(done) == (5, 0, 0, 0)
    assert not done.broken
    assert [stage.name for stage in place.contents.stages] == ["Backlog", "Prepare", "Implement", "Code review", "Done"]
    assert [stage.is_default for stage in place.contents.stages] == [True, False, False, False, False]
    prepare = place.contents.stages[1]
    assert prepare.color == "#f59e0b"
    assert [one["name"] for one in prepare.activities] == ["Plan"]
    assert prepare.activities[0]["prompt"].startswith("Read {task.title}")
    task = place.get(RETRY)
    assert (task["title"], task["stage"], task["status"]) == ("Retry uploads that time out", "Implement", "pending")
    assert task["tags"] == ["backend", "bug"]
    assert task["description"].endswith("## Attachments\n\n- attachments/timeout.png")
    assert task["created_at"] == "2024-11-07T09:20:00.123000+00:00"
    assert task["updated_at"] == "2024-11-08T14:05:11.000000+00:00"
    assert [(one["who"], one["message"]) for one in task["history"]] == [
        ("user", "Task created"),
        ("claude-code", "Moved from Prepare to Implement"),
        ("you", "imported from Neova"),
    ]
    assert task["history"][1]["at"] == "2024-11-08T14:05:11.000000+00:00"


def test_the_order_of_a_stage_is_kept(place: Place) -> None:
    place.take(NEOVA)
    listed, _ = place.store.read(lambda at: views.listed(at, stage="Implement"))
    assert [task["id"] for task in listed] == ["1730975000456-zz", RETRY]


def test_other_spellings_of_times_and_tags_are_understood(place: Place) -> None:
    place.take(NEOVA)
    review = place.get("1730979999999-0a")
    assert review["created_at"] == "2024-11-07T11:46:39.999000+00:00"
    assert review["updated_at"] == "2024-11-09T06:00:00.000000+00:00"
    assert review["description"].startswith("---\nkey: value\n---\n")
    assert place.get("1730980000001-9q")["tags"] == ["chore", "v2", "later"]


def test_the_archive_is_completed_and_says_so(place: Place) -> None:
    done = place.take(NEOVA)
    old = place.get("1729000000000-aa")
    assert (old["status"], old["tags"], old["stage"]) == ("completed", ["spike", "archived"], "Done")
    assert any("unknown stage 'removed-stage'; it is in Done" in note for note in done.notes)


def test_standards_snippets_and_prompts_come_over(place: Place) -> None:
    done = place.take(NEOVA)
    standards = {one.id: one for one in place.contents.standards}
    assert set(standards) == {"error-handling", "naming", "project"}
    assert standards["error-handling"].description == "Error handling: How errors are raised, and what they say"
    assert standards["error-handling"].content == "# Error handling\n\nErrors say what to do next."
    snippets = {one.id: one for one in place.contents.snippets}
    assert set(snippets) == {"review-checklist", "commit-message", "release-notes"}
    assert snippets["commit-message"].tags == ("git", "style")
    assert snippets["release-notes"].tags == ("activity",)
    assert "stages.json: Code review names the activity no-such-activity, which is not there." in done.notes


def test_values_of_several_lines_come_over_and_what_has_no_place_is_named(place: Place, neova: Path) -> None:
    head = "title: >-\n  Errors,\n  all of them\ndescription: |\n  First.\n  Second: yes\nreview:\n  by: [ada]\n"
    (neova / "standards" / "long.md").write_text(f"---\n{head}---\nText")
    (neova / "snippets" / "loop.md").write_text('---\ntags:\n  - go\n  - "a loop"\nkey: 2024-01-01\n---\nfor')
    notes = place.take(neova).notes
    standard = next(one for one in place.contents.standards if one.id == "long")
    assert standard.description == "Errors, all of them: First. Second: yes"
    snippet = next(one for one in place.contents.snippets if one.id == "2024-01-01")
    assert (snippet.tags, snippet.content) == (("go", "a loop"), "for")
    assert "standards/long.md: no place for review; left out." in notes


def test_an_imported_id_is_a_valid_id(place: Place) -> None:
    place.take(NEOVA)
    place.do(tasks.update, RETRY.upper(), title="Another title")
    place.do(tasks.update, "1730975000456-zz", depends_on=[RETRY])
    assert place.get("1730975000456-zz")["depends_on"] == [RETRY]


def test_again_it_changes_nothing(place: Place) -> None:
    place.take(NEOVA)
    before = place.contents
    done = place.take(NEOVA)
    assert counts(done) == (0, 0, 5, 0)
    assert counts(done, "stages") == (0, 0, 5, 0)
    assert counts(done, "standards") == (0, 0, 3, 0)
    assert counts(done, "snippets") == (0, 0, 3, 0)
    assert place.contents == before


def test_what_changed_in_neova_is_taken(place: Place, neova: Path) -> None:
    place.take(neova)
    place.do(tasks.update, "1730975000456-zz", depends_on=[RETRY])
    change(neova / "tasks" / "1730975000456-zz.json", title="Progress bar", updatedAt="2100-01-01T00:00:00Z")
    (neova / "standards" / "naming.md").write_text("# Naming\n\nShorter words.\n")
    done = place.take(neova)
    assert counts(done) == (0, 1, 4, 0)
    assert counts(done, "standards") == (0, 1, 2, 0)
    task = place.get("1730975000456-zz")
    assert (task["title"], task["depends_on"]) == ("Progress bar", [RETRY])
    assert task["history"][-1]["message"] == "imported: changed title"
    assert task["history"][-1]["fields"]["title"][1] == "Progress bar"


def test_what_changed_here_is_kept(place: Place, neova: Path) -> None:
    place.take(neova)
    place.do(tasks.update, RETRY, title="Ours")
    place.do(library.update_standard, "naming", "Ours.")
    place.do(stages.update, "Prepare", activities=[{"name": "Ours", "prompt": "Think."}])
    done = place.take(neova)
    assert counts(done) == (0, 0, 4, 1)
    assert counts(done, "standards") == (0, 0, 2, 1)
    assert counts(done, "stages") == (0, 0, 4, 1)
    assert place.get(RETRY)["title"] == "Ours"
    assert [one.file for one in done.skipped] == ["stages.json", f"tasks/{RETRY}.json", "standards/naming.md"]
    assert counts(place.take(neova, force=True)) == (0, 1, 4, 0)
    assert place.get(RETRY)["title"] == "Retry uploads that time out"
    assert "Ours" in json.dumps(place.get(RETRY)["history"])


def test_a_board_with_tasks_keeps_its_stages(place: Place) -> None:
    mine = place.do(tasks.create, "Mine", stage="Verify")
    done = place.take(NEOVA)
    assert counts(done, "stages") == (1, 2, 2, 0)
    assert {stage.name for stage in place.contents.stages} >= {"Verify", "Code review", "Implement"}
    assert place.get(mine["id"])["stage"] == "Verify"
    assert place.get("1730979999999-0a")["stage"] == "Code review"


def test_missing_parts_are_omitted(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / ".neova"
    (folder / "tasks").mkdir(parents=True)
    (folder / "tasks" / "1730971200123-k4.json").write_text('{"title": "Only a title"}')
    assert counts(place.take(folder)) == (1, 0, 0, 0)
    task = place.get(RETRY)
    assert (task["stage"], task["status"], task["tags"]) == ("Backlog", "pending", [])
    assert task["created_at"] == "2024-11-07T09:20:00.123000+00:00"
    assert counts(place.take(folder)) == (0, 0, 1, 0)


def test_an_empty_neova_folder_has_nothing(place: Place, tmp_path: Path) -> None:
    (tmp_path / ".neova").mkdir()
    assert counts(place.take(tmp_path / ".neova")) == (0, 0, 0, 0)


BROKEN: list[tuple[str, bytes, str]] = [
    ("tasks/a.json", b"{", "it is not JSON"),
    ("tasks/a.json", b'{"title": "A",\n\n}', "it is not JSON, line 3"),
    ("tasks/a.json", b"[]", "is not a JSON object"),
    ("tasks/a.json", b'{"id": "x-1"}', "has no title"),
    ("tasks/a.json", b'{"id": "x-1", "title": "\\u200b"}', "the title is empty"),
    ("tasks/a.json", b'{"id": "../../x", "title": "A"}', "cannot be the id of a task"),
    ("tasks/a.json", b'{"title": "\xff"}', "is not UTF-8 text"),
    ("tasks/a.json", b'{"id": "1730971200123-K4", "title": "A"}', "has the id of"),
    ("tasks/a.json", b'{"id": "x-1", "title": "A", "description": "' + b"a" * 300_000 + b'"}', "has 300,000 charac"),
    ("tasks/a.json", b"[" * 100_000, "it is not JSON"),
    ("tasks/a.json", b" " * 17_000_000, "has 17,000,000 bytes"),
    ("standards/a.md", b"---\ntitle: A\n", "that ends the values is missing"),
    ("standards/a.md", b"---\ntitle: Errors: how\n---\n", "not YAML: mapping values are not allowed here, line 2"),
    ("standards/a.md", b"---\n- a\n---\n", "not of the form `name: value`"),
    ("standards/a.md", b"---\na: &a [x]\nb: [*a, *a]\n---\n", "aliases are not supported"),
    ("standards/a.md", b"---\na: " + b"[" * 5_000 + b"\n---\n", "not YAML"),
    ("snippets/a.json", b"nothing", "it is not JSON"),
    ("activities/a.json", b"nothing", "it is not JSON"),
]


@pytest.mark.parametrize(("name", "content", "reason"), BROKEN)
def test_a_broken_file_has_a_name_and_the_rest_is_taken(
    place: Place, neova: Path, name: str, content: bytes, reason: str
) -> None:
    (neova / name).write_bytes(content)
    done = place.take(neova)
    (broken,) = done.broken
    assert reason in broken.reason
    assert broken.file.endswith(".json") or broken.file == name
    assert sum(counts(done)[:1]) == 5


def test_nothing_hidden_comes_in(place: Place, neova: Path) -> None:
    change(neova / "tasks" / f"{RETRY}.json", title="a\u202eb\x00c\ud800", description="x\r\ny\x1b[31m", tags=["\x07t"])
    place.take(neova)
    task = place.get(RETRY)
    assert (task["title"], task["tags"]) == ("abc", ["t"])
    assert task["description"].startswith("x\ny[31m")


def test_a_title_that_is_too_long_is_kept_in_the_description(place: Place, neova: Path) -> None:
    change(neova / "tasks" / f"{RETRY}.json", title="long " * 100)
    place.take(neova)
    task = place.get(RETRY)
    assert len(task["title"]) <= 300 and task["title"].endswith("…")
    assert task["description"].startswith(("long " * 100).strip())


@pytest.mark.parametrize("content", ["{", "7", '{"stages": {}}', '{"stages": [7]}'])
def test_broken_stages_stop_the_import(place: Place, neova: Path, content: str) -> None:
    (neova / "stages.json").write_text(content)
    before = place.contents
    with pytest.raises(CallerError, match=r"stages\.json"):
        place.take(neova)
    assert place.contents == before


def test_links_are_not_followed(place: Place, neova: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"id": "secret-1", "title": "Secret"}')
    (neova / "tasks" / "link.json").symlink_to(tmp_path / "secret.json")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.md").write_text("Secret")
    shutil.rmtree(neova / "standards")
    (neova / "standards").symlink_to(tmp_path / "elsewhere")
    done = place.take(neova)
    assert {(one.file, one.reason) for one in done.broken} == {
        ("tasks/link.json", "is a link; links are not followed"),
        ("standards", "is a link; links are not followed"),
    }
    assert "Secret" not in str(place.contents)


def test_a_folder_without_a_board_is_refused(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Hello")
    with pytest.raises(CallerError, match="has no board"):
        read_folder(tmp_path)
    with pytest.raises(CallerError, match="does not exist"):
        read_folder(tmp_path / "nowhere")
    with pytest.raises(CallerError, match=r"it is not JSON.*gh issue list"):
        read_folder(tmp_path / "README.md")
