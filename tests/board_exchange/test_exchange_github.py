"""GitHub's issues, as gh prints them, come in and go out again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from board_exchange.exchanges import Place, counts
from lsp_mcp.board import tasks, views
from lsp_mcp.board.exchange.exporting import export_github
from lsp_mcp.errors import CallerError

URL = "https://github.com/octo-org/Hello.World/issues/"
# As `gh issue list --json` of gh 2.62 prints it.
OPEN: dict[str, Any] = {
    "assignees": [{"id": "MDQ6VXNlcjE=", "login": "octocat", "name": "The Octocat"}],
    "body": "Steps:\r\n- [x] run\r\n- [ ] crash",
    "closedAt": None,
    "comments": [
        {
            "id": "IC_kwDOA", "author": {"login": "hubot"}, "authorAssociation": "MEMBER", "body": "Me, too",
            "createdAt": "2026-01-03T10:00:00Z", "includesCreatedEdit": False, "isMinimized": False,
            "minimizedReason": "", "reactionGroups": [], "url": URL + "7#issuecomment-1", "viewerDidAuthor": False,
        }
    ],
    "createdAt": "2026-01-02T03:04:05Z",
    "labels": [{"id": "LA_1", "name": "bug", "description": "", "color": "d73a4a"}, {"name": "P1"}],
    "milestone": {"number": 1, "title": "v1.0", "description": "", "dueOn": "2026-03-01T08:00:00Z"},
    "number": 7,
    "state": "OPEN",
    "title": "It crashes",
    "updatedAt": "2026-01-04T00:00:00Z",
    "url": URL + "7",
}  # fmt: skip
CLOSED = {**OPEN, "number": 8, "url": URL + "8", "state": "CLOSED", "closedAt": "2026-01-05T00:00:00Z",
          "title": "It is slow", "milestone": None, "comments": [], "assignees": [], "labels": []}  # fmt: skip


@pytest.fixture
def issues(tmp_path: Path) -> Callable[..., Path]:
    def write(*some: Any) -> Path:
        path = tmp_path / "issues.json"
        path.write_text(json.dumps(list(some)))
        return path

    return write


def test_an_issue_is_a_task_with_all_that_has_a_place(place: Place, issues: Callable[..., Path]) -> None:
    done = place.take(issues(OPEN, CLOSED))
    assert (counts(done), done.broken, done.notes) == ((2, 0, 0, 0), [], [])
    task = place.get("hello-world-7")
    assert task["description"] == f"Steps:\n- [x] run\n- [ ] crash\n\nIssue: {URL}7"
    assert (task["tags"], task["priority"], task["due"]) == (["@octocat", "milestone: v1.0", "bug"], 1, "2026-03-01")
    assert (task["stage"], task["boxes"], task["ticked"]) == ("Backlog", 2, 1)
    assert [(one["who"], one["text"]) for one in task["comments"]] == [("hubot", "Me, too")]
    assert task["history"][-1]["message"] == "imported from GitHub"
    closed = place.get("hello-world-8")
    assert (closed["status"], closed["completed_at"][:10]) == ("completed", "2026-01-05")


def test_the_later_change_counts_and_what_github_does_not_know_stays(place: Place, issues: Callable[..., Path]) -> None:
    place.take(issues(OPEN))
    assert counts(place.take(issues(OPEN))) == (0, 0, 1, 0)
    place.do(tasks.update, "hello-world-7", stage="Verify", required_proof=["commit"], title="Changed here")
    assert counts(place.take(issues({**OPEN, "title": "Changed there"}))) == (0, 0, 0, 1)
    later = {**OPEN, "title": "Changed there", "updatedAt": "2999-01-01T00:00:00Z"}
    assert counts(place.take(issues(later))) == (0, 1, 0, 0)
    task = place.get("hello-world-7")
    assert (task["title"], task["stage"], task["required_proof"]) == ("Changed there", "Verify", ["commit"])
    assert len(task["comments"]) == 1
    closed = {**later, "state": "CLOSED", "updatedAt": "2999-01-02T00:00:00Z"}
    place.take(issues(closed))
    assert place.get("hello-world-7")["stage"] == "Done"


def test_an_issue_of_another_repository_with_that_name_and_number_is_not_taken_for_it(
    place: Place, issues: Callable[..., Path]
) -> None:
    place.take(issues(OPEN))
    done = place.take(
        issues({**OPEN, "url": URL.replace("octo-org", "fork") + "7", "updatedAt": "2999-01-01T00:00:00Z"})
    )
    assert [one.reason for one in done.skipped] == [f"hello-world-7 is another issue on the board: {URL}7"]


def test_what_was_exported_comes_back_the_same(
    place: Place, new_place: Callable[[], Place], issues: Callable[..., Path], tmp_path: Path
) -> None:
    place.take(issues(OPEN, CLOSED))
    own = place.do(tasks.create, "Made here", tags=["@ada", "x"], priority=4, due="2026-05-06")["id"]
    place.do(tasks.comment, own, "a comment")
    out = tmp_path / "out.json"
    export_github(out, place.contents)
    found = {one["number"]: one for one in json.loads(out.read_text())}
    assert {name: found[7][name] for name in ("title", "state", "url", "createdAt", "milestone")} == {
        **{name: OPEN[name] for name in ("title", "state", "url", "createdAt")},
        "milestone": {"title": "v1.0", "dueOn": "2026-03-01T00:00:00Z"},
    }
    assert found[7]["labels"] == [{"name": "P1"}, {"name": "bug"}]
    assert found[9]["milestone"] == {"title": "", "dueOn": "2026-05-06T00:00:00Z"}
    assert counts(place.take(out)) == (0, 0, 3, 0)
    other = new_place()
    assert counts(other.take(out)) == (3, 0, 0, 0)
    kept = ("title", "description", "tags", "priority", "due", "status", "created_at", "completed_at")
    for id_ in ("hello-world-7", "hello-world-8", own):
        assert {name: other.get(id_)[name] for name in kept} == {name: place.get(id_)[name] for name in kept}
    assert [one["text"] for one in other.get(own)["comments"]] == ["a comment"]
    with pytest.raises(CallerError, match="exists already"):
        export_github(out, place.contents)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"number": -1}, "is not the number of an issue"),
        ({"number": "7; rm -rf"}, "Expected `int`"),
        ({"number": 10**30}, "cannot be the id"),
        ({"state": "MERGED"}, "neither OPEN nor CLOSED"),
        ({"createdAt": "yesterday"}, "is not a time"),
        ({"title": " \u200b\x00 "}, "is empty"),
        ({"body": "x" * 300_000}, "at most 200,000"),
        ({"labels": ["bug"]}, "Expected `object`"),
        ({"comments": [{"body": "x", "createdAt": {}}]}, "Expected `str`"),
    ],
)
def test_an_issue_that_cannot_be_used_is_named_and_the_others_come_in(
    place: Place, issues: Callable[..., Path], change: dict[str, Any], reason: str
) -> None:
    done = place.take(issues({**OPEN, **change}, CLOSED, CLOSED))
    assert counts(done) == (1, 0, 0, 0)
    assert reason in done.broken[0].reason
    assert "is in it twice" in done.broken[1].reason


def test_hostile_texts_and_addresses_are_only_texts(place: Place, issues: Callable[..., Path]) -> None:
    hostile = {**OPEN, "title": "\x1b[31m<img src=x onerror=alert(1)>\u202e", "url": "javascript:alert(1)",
               "body": "\x00\ud800a",
               "labels": [{"name": "a,b\x07"}, {"name": "," * 9}, *({"name": f"l{n}"} for n in range(40))],
               "id": "../../etc"}  # fmt: skip
    done = place.take(issues(hostile))
    assert done.notes == ["issues.json: issue 7: of 43 labels the first 20 are kept."]
    task = place.get("issue-7")
    assert task["title"] == "[31m<img src=x onerror=alert(1)>"
    assert task["description"] == "a"
    assert task["tags"][:3] == ["@octocat", "milestone: v1.0", "a b"]


@pytest.mark.parametrize("text", ["", "{}", "[1]", "[" * 100_000, '[{"title": "x"}]', "\xff", '{"a": 1e999}'])
def test_a_file_that_is_not_a_list_of_issues_is_refused_and_nothing_changes(
    place: Place, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "issues.json"
    path.write_bytes(text.encode("latin-1"))
    before = place.contents
    with pytest.raises(CallerError, match=r"Nothing was changed"):
        place.take(path)
    assert place.contents == before
    assert place.store.read(views.count_archived) == 0
