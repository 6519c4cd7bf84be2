"""Boards of each earlier release, with what people had in them, are brought along: nothing is lost, and all agrees."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory

import lsp_mcp.board
from board.boards import World
from lsp_mcp.board import people, talk, tasks
from lsp_mcp.board.store import Store

NOW = "2026-01-02T03:04:05.000006+00:00"


def scripts() -> tuple[Config, ScriptDirectory]:
    config = Config()
    config.set_main_option("script_location", str(Path(lsp_mcp.board.__file__).parent / "migrations"))
    return config, ScriptDirectory.from_config(config)


def make_old(url: str, revision: str, rows: list[tuple[str, dict[str, Any]]]) -> None:
    """A database as the release with that revision had made it, with these rows."""
    config, found = scripts()
    if url.startswith("sqlite"):
        Path(url.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        steps: Callable[..., Any] = lambda old, _: found._upgrade_revs(revision, old)  # noqa: E731
        with EnvironmentContext(config, found, fn=steps) as environment:
            environment.configure(connection=connection, version_table="board_version", transactional_ddl=False)
            environment.run_migrations()
        metadata = sa.MetaData()
        metadata.reflect(connection)
        for table, row in rows:
            connection.execute(metadata.tables[table].insert().values(**row))
    engine.dispose()


def stage(id_: str, position: float, **more: Any) -> tuple[str, dict[str, Any]]:
    name = more.pop("name", id_.title())
    return "stages", {
        "id": id_, "name": name, "color": "#123456", "position": position, "is_default": position == 0,
        "activities": [{"name": "Review", "prompt": "Read."}], **more,
    }  # fmt: skip


def task(id_: str, place: str, status: str, position: float, **more: Any) -> tuple[str, dict[str, Any]]:
    return "tasks", {
        "id": id_, "title": f"Title of {id_}", "description": "- [x] one\n- [ ] two", "status": status, "stage": place,
        "position": position, "tags": ["a"], "revision": 3, "created_at": NOW, "updated_at": NOW, **more,
    }  # fmt: skip


FIRST = [stage("backlog", 0.0), stage("verify", 1.0), stage("done", 2.0)]
AGENT = ("agents", {"id": "a-11111", "name": "codex", "client": "codex", "connected": False, "process": "",
                    "first_seen": NOW, "last_seen": NOW})  # fmt: skip
ROWS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "0001": [
        *FIRST,
        AGENT,
        task("t-aaaaa", "backlog", "pending", 1.0),
        task("t-bbbbb", "backlog", "completed", 2.0),
        task("t-ccccc", "done", "pending", 1.0, claimed_by="a-11111", claimed_at=NOW),
        task("t-ddddd", "done", "completed", 2.0),
        ("task_tags", {"task": "t-aaaaa", "tag": "a"}),
        ("dependencies", {"task": "t-aaaaa", "depends_on": "t-ccccc"}),
        ("anchors", {"task": "t-aaaaa", "position": 0, "anchor": "go://a.go#1:1", "file": "a.go", "symbol": "a",
                     "code": "a", "state": "known"}),
        ("history", {"task": "t-aaaaa", "revision": 1, "at": NOW, "who": "you", "message": "created", "fields": {}}),
        ("history", {"task": "t-aaaaa", "revision": 2, "at": NOW, "who": "codex", "message": "changed description",
                     "fields": {"description": ["x" * 200 + "…", "short"]}}),
        ("history", {"task": "t-aaaaa", "revision": 3, "at": NOW, "who": "codex", "message": "changed title",
                     "fields": {"title": ["Old", "Title of t-aaaaa"]}}),
        ("standards", {"id": "style", "description": "How", "content": "# Style", "revision": 2, "updated_at": NOW,
                       "updated_by": "codex"}),
        ("snippets", {"id": "hello", "title": "Hello", "content": "hi", "tags": ["x"], "revision": 1,
                      "updated_at": NOW, "updated_by": "you"}),
        ("questions", {"id": "q-11111", "agent": "a-11111", "who": "codex", "question": "Which?", "options": [],
                       "allow_freeform": True, "priority": "normal", "task": "t-aaaaa", "asked_at": NOW}),
        ("notifications", {"agent": "a-11111", "who": "codex", "message": "Hi", "level": "info", "at": NOW}),
        ("changes", {"at": NOW, "who": "you", "action": "created", "kind": "task", "ref": "t-aaaaa", "text": "x"}),
    ],
}  # fmt: skip


def question(id_: str, asked: int, answered: int | None = None) -> tuple[str, dict[str, Any]]:
    return "questions", {
        "id": id_, "agent": "a-11111", "who": "codex", "question": "Which?", "options": [], "allow_freeform": True,
        "priority": "normal", "asked_at": NOW.replace("03:04", f"03:{asked:02}"),
        "answered_at": None if answered is None else NOW.replace("03:04", f"03:{answered:02}"),
    }  # fmt: skip


QUESTIONS = {
    "0002": [AGENT, question("q-11111", 30, 40), question("q-22222", 10, 50), question("q-33333", 20),
             question("q-44444", 5)],
}  # fmt: skip


def opened(url: str) -> Any:
    return closing(Store(url))


def test_every_release_but_this_one_has_a_board_here() -> None:
    _, found = scripts()
    head = found.get_current_head()
    assert {*ROWS, *QUESTIONS, "0003", "0004"} == {one.revision for one in found.walk_revisions()} - {head}


@pytest.mark.parametrize("revision", ROWS)
def test_a_board_of_an_older_release_is_brought_along(revision: str, store_url: str) -> None:
    make_old(store_url, revision, ROWS[revision])
    with opened(store_url) as store:
        world = World(store)
        found = {id_: world.get(id_) for id_ in ("t-aaaaa", "t-bbbbb", "t-ccccc", "t-ddddd")}
        assert {id_: (one["stage"], one["status"]) for id_, one in found.items()} == {
            "t-aaaaa": ("Backlog", "pending"),
            "t-bbbbb": ("Done", "completed"),
            "t-ccccc": ("Done", "completed"),
            "t-ddddd": ("Done", "completed"),
        }
        assert world.order("Done") == ["t-ccccc", "t-ddddd", "t-bbbbb"]
        assert (found["t-ccccc"]["claimed_by"], found["t-ccccc"]["completed_at"]) == (None, NOW)
        one = found["t-aaaaa"]
        assert (one["blocked_by"], one["depends_on"], one["priority"]) == ([], ["t-ccccc"], 2)
        assert (one["boxes"], one["ticked"], one["revision"], one["tags"]) == (2, 1, 3, ["a"])
        assert [each["anchor"] for each in one["anchors"]] == ["go://a.go#1:1"]
        assert [each["id"] for each in one["questions"]] == ["q-11111"]
        assert [each["message"] for each in one["history"]] == ["created", "changed description", "changed title"]
        assert world.said("t-bbbbb") == [("lsp-mcp", "moved to Done, where completed tasks are")]
        assert world.said("t-ccccc") == [("lsp-mcp", "completed: its stage says so")]
        assert world.titles(tags=["a"]) == ["Title of t-aaaaa"]
        assert world.write(tasks.update, "t-aaaaa", status="completed", force=True)["stage"] == "Done"
        before = world.everything()
        for table, rows in (("standards", 1), ("snippets", 1), ("notifications", 1), ("agents", 1)):
            assert len(before[table]) == rows
    with opened(store_url) as store:
        assert World(store).everything() == before


def test_questions_of_a_board_without_numbers_keep_the_order_of_their_times(store_url: str) -> None:
    make_old(store_url, "0002", QUESTIONS["0002"])
    with opened(store_url) as store:
        world = World(store)
        assert [one["id"] for one in world.read(talk.waiting)] == ["q-44444", "q-33333"]
        assert [one["id"] for one in world.read(talk.answered, "a-11111")] == ["q-11111", "q-22222"]
        new = world.write(talk.ask, "And this?")["id"]
        assert world.read(talk.waiting)[-1]["id"] == new


def test_a_board_without_people_keeps_who_did_what(store_url: str) -> None:
    make_old(
        store_url,
        "0003",
        [
            *FIRST,
            AGENT,
            task("t-aaaaa", "backlog", "pending", 1.0, claimed_by="a-11111", claimed_at=NOW),
            ("history", {"kind": "task", "ref": "t-aaaaa", "revision": 1, "at": NOW, "who": "you", "message": "created",
                         "fields": {}}),
        ],
    )  # fmt: skip
    with opened(store_url) as store:
        world = World(store)
        assert world.said("t-aaaaa") == [("you", "created")]
        assert world.get("t-aaaaa")["claim_lapsed"] == "codex"
        assert world.read(people.listed) == []
        ada = people.as_actor(world.write(people.come, "Ada"))
        world.write(tasks.update, "t-aaaaa", title="by a person", by=ada)
        assert world.said("t-aaaaa")[-1][0] == "Ada"


def test_a_board_without_due_dates_and_proofs_gets_empty_ones(store_url: str) -> None:
    make_old(
        store_url,
        "0004",
        [
            *FIRST,
            task("t-aaaaa", "backlog", "pending", 1.0),
            ("people", {"id": "p-1", "name": "Ada", "first_seen": NOW}),
        ],
    )
    with opened(store_url) as store:
        world = World(store)
        found = world.get("t-aaaaa")
        assert (found["due"], found["required_proof"], found["proof"], found["revision"]) == (None, [], [], 3)
        assert [one["name"] for one in world.read(people.listed)] == ["Ada"]
        world.write(tasks.update, "t-aaaaa", due="2026-12-31", required_proof=["commit"])
        assert world.get("t-aaaaa")["due"] == "2026-12-31"


@pytest.mark.parametrize(
    ("there", "tasks_", "completes"),
    [
        ([stage("todo", 0.0), stage("shipped", 1.0), stage("ideas", 2.0)], [], ["Shipped"]),
        ([stage("todo", 0.0), stage("live", 1.0)], [task("t-aaaaa", "live", "completed", 1.0)], ["Live"]),
        ([stage("todo", 0.0), stage("review", 1.0)], [task("t-aaaaa", "review", "pending", 1.0)], ["Done"]),
        ([stage("done", 0.0)], [task("t-aaaaa", "done", "pending", 1.0)], ["Completed"]),
        ([stage("todo", 0.0)], [task("t-aaaaa", "todo", "completed", 1.0)], ["Done"]),
    ],
)
def test_no_older_board_has_its_pending_tasks_completed_by_a_guess(
    store_url: str, there: list[Any], tasks_: list[Any], completes: list[str]
) -> None:
    make_old(store_url, "0001", [*there, *tasks_])
    before = {row["id"]: row["status"] for _, row in tasks_}
    with opened(store_url) as store:
        world = World(store)
        found = world.read(lambda at: at.connection.execute(sa.text("SELECT name, completes FROM stages")).all())
        assert [row.name for row in found if row.completes] == completes
        assert {id_: world.get(id_)["status"] for id_ in before} == before
