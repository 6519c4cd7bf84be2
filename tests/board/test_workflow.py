"""Done is done: status, stage, claim and what waits for a task never contradict each other."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from board.boards import World
from lsp_mcp.board import claims, dependencies, stages, tables, tasks, views, workflow
from lsp_mcp.board.store import Store
from lsp_mcp.errors import CallerError

# --- the laws, of any board ------------------------------------------------------------------------


@st.composite
def boards(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The stages of a board that `check` lets pass."""
    completes = draw(st.lists(st.booleans(), min_size=2, max_size=6).filter(lambda some: len(set(some)) == 2))
    default = draw(st.sampled_from([at for at, ends in enumerate(completes) if not ends]))
    return [
        {"id": f"s{at}", "name": f"S{at}", "is_default": at == default, "completes": ends}
        for at, ends in enumerate(completes)
    ]


@given(boards(), st.data())
def test_a_task_comes_where_it_has_the_status_that_is_wanted(there: list[dict[str, Any]], data: st.DataObject) -> None:
    workflow.check(there)
    some = st.sampled_from(there)
    here, wanted, came_from = (data.draw(st.none() | some) for _ in range(3))
    status: workflow.Status | None = data.draw(st.sampled_from([None, "pending", "completed"]))
    try:
        place = workflow.destination(there, here, stage=wanted, status=status, came_from=came_from)
    except CallerError:
        assert wanted is not None
        assert status not in (None, workflow.status_in(wanted))
        return
    assert status in (None, workflow.status_in(place))
    assert wanted in (None, place)
    assert place in there
    again = workflow.destination(there, place, stage=wanted, status=status, came_from=came_from)
    assert again == place  # to want it once more changes nothing
    if here is not None and wanted is None and status in (None, workflow.status_in(here)):
        assert place == here


@given(boards(), st.data())
def test_entering_a_stage_makes_status_claim_and_times_agree(there: list[dict[str, Any]], data: st.DataObject) -> None:
    row: dict[str, Any] = {"completed_at": None, "claimed_by": None, "archived_at": None}
    before: workflow.Status | None = None
    for step, stage in enumerate(data.draw(st.lists(st.sampled_from(there), min_size=1, max_size=8))):
        row |= workflow.entering(stage, before, f"time {step}")
        assert row["status"] == ("completed" if stage["completes"] else "pending")
        assert (row["completed_at"] is not None) == (row["status"] == "completed")
        if row["status"] == "completed":
            assert row["claimed_by"] is None
            row["archived_at"] = "now"
        else:
            assert row["archived_at"] is None
            row["claimed_by"] = "somebody"
        before = row["status"]


EDGES = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 8)), max_size=20).map(
    lambda pairs: sorted({(f"t{max(one, other)}", f"t{min(one, other)}") for one, other in pairs if one != other})
)


@given(EDGES)
def test_how_much_waits_is_counted_through_all_that_waits(edges: list[tuple[str, str]]) -> None:
    def reached(start: str, by: dict[str, list[str]]) -> set[str]:
        found: set[str] = set()
        todo = [start]
        while todo:
            new = [one for one in by.get(todo.pop(), ()) if one not in found]
            found |= set(new)
            todo += new
        return found

    down: dict[str, list[str]] = {}
    up: dict[str, list[str]] = {}
    for task, other in edges:
        down.setdefault(task, []).append(other)
        up.setdefault(other, []).append(task)
    found = dependencies.waiting_in(edges)
    assert set(found) == set(down) | set(up)
    for task, one in found.items():
        assert sorted(one.blocked_by) == sorted(down.get(task, []))
        assert (one.waits, one.blocks) == (len(reached(task, down)), len(reached(task, up)))


# --- the same of a board that is used --------------------------------------------------------------

NAMES = st.sampled_from(["Backlog", "Verify", "Done", "Dropped"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("stage"), st.integers(0, 3), NAMES),
        st.tuples(st.just("status"), st.integers(0, 3), st.sampled_from(["pending", "completed"])),
        st.tuples(st.just("move"), st.integers(0, 3), NAMES),
        st.tuples(st.just("claim"), st.integers(0, 3), st.none()),
        st.tuples(st.just("archive"), st.integers(0, 3), st.booleans()),
        st.tuples(st.just("completes"), NAMES, st.booleans()),
        st.tuples(st.just("delete"), NAMES, NAMES),
    ),
    max_size=14,
)


def agrees(world: World, agent: str) -> None:
    """Status, stage, claim, what is ready and what is blocked say the same of every task."""
    ends = {stage["name"]: stage["completes"] for stage in world.read(stages.listed)}
    ready = {one["id"] for one in world.read(views.ready)[0]}
    rows = [*world.read(views.listed)[0], *world.read(views.listed, archived=True)[0]]
    status = {one["id"]: one["status"] for one in rows}
    for one in rows:
        task = world.get(one["id"])
        done = ends[one["stage"]]
        assert one["status"] == ("completed" if done else "pending")
        assert (one["completed_at"] is not None) == done
        assert done or one["archived_at"] is None
        assert not done or (one["claimed_by"] is None and one["blocked_by"] == [])
        waits = [other for other in task["depends_on"] if status[other] == "pending"]
        assert done or one["blocked_by"] == sorted(waits)
        assert (one["id"] in ready) == (not done and not waits and one["claimed_by"] != agent)


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS)
def test_whatever_is_done_to_tasks_and_stages_they_agree(world: World, steps: list[tuple[str, Any, Any]]) -> None:
    def clear(at: Any) -> None:
        for table in reversed(tables.metadata.sorted_tables):
            at.connection.execute(table.delete())
        stages.fill(at)

    world.store.write(clear)
    world.write(stages.create, "Dropped", completes=True)
    agent = world.agent("codex")
    made = [world.task("0")]
    for number in range(1, 4):
        made.append(world.task(str(number), depends_on=[made[number // 2]]))
    for kind, what, value in steps:
        try:
            match kind:
                case "stage":
                    world.write(tasks.update, made[what], stage=value)
                case "status":
                    world.write(tasks.update, made[what], status=value)
                case "move":
                    world.write(tasks.move, made[what], value)
                case "claim":
                    world.write(claims.claim, agent, made[what], by=agent)
                case "archive":
                    world.write(tasks.update, made[what], archived=value)
                case "completes":
                    world.write(stages.update, what, completes=value)
                case _:
                    world.write(stages.delete, what, value)
        except CallerError:
            pass
        agrees(world, "codex")


# --- in words --------------------------------------------------------------------------------------


def test_a_task_that_somebody_drags_to_done_is_done(world: World) -> None:
    first = world.task("first")
    second = world.task("second", depends_on=[first])
    assert world.read(views.listed)[0][1]["blocked_by"] == [first]
    world.write(tasks.move, first, "Done")
    assert (world.get(first)["status"], world.get(first)["completed_at"] is None) == ("completed", False)
    assert [one["id"] for one in world.read(views.ready)[0]] == [second]
    agent = world.agent()
    assert world.write(claims.claim, agent, None, by=agent)["id"] == second
    world.write(tasks.update, first, stage="Verify")
    assert world.get(first)["status"] == "pending"
    assert world.get(second)["blocked_by"] == [first]


def test_to_complete_a_task_moves_it_to_done_and_to_reopen_it_back(world: World) -> None:
    id_ = world.task("one", stage="Implement")
    assert world.write(tasks.update, id_, status="completed")["stage"] == "Done"
    assert world.write(tasks.update, id_, status="pending")["stage"] == "Implement"
    done = world.task("made there", stage="Done")
    assert world.get(done)["status"] == "completed"
    assert world.write(tasks.update, done, status="pending")["stage"] == "Backlog"


def test_a_stage_and_a_status_that_contradict_each_other_are_refused(world: World) -> None:
    id_ = world.task()
    assert world.refused(tasks.update, id_, stage="Done", status="pending") == (
        "a task in Done is completed, not pending. Leave out stage or status, "
        "or name a stage in which tasks are pending: Backlog, Prepare, Implement and 1 more."
    )
    assert "a stage in which tasks are completed: Done." in world.refused(
        tasks.update, id_, stage="Verify", status="completed"
    )
    assert world.write(tasks.update, id_, stage="Done", status="completed")["status"] == "completed"


def test_the_archive_has_only_what_is_done_and_is_not_listed(world: World) -> None:
    id_ = world.task("one")
    assert f"{id_} is pending; only completed tasks go to the archive" in world.refused(
        tasks.update, id_, archived=True
    )
    world.write(tasks.update, id_, status="completed", archived=True)
    assert world.titles() == []
    assert world.titles(archived=True) == ["one"]
    world.write(tasks.update, id_, status="pending")
    assert (world.titles(), world.titles(archived=True)) == (["one"], [])


@pytest.mark.parametrize("priority", ["P5", "high", "", -1, "P-1", "2.0"])
def test_a_priority_is_one_of_five(world: World, priority: Any) -> None:
    assert "is not a priority; use P0 (most urgent)" in world.refused(tasks.create, "t", priority=priority)


def test_what_is_ready_comes_by_priority(world: World) -> None:
    for title, priority in (("usual", None), ("low", "P4"), ("urgent", "p0"), ("high", 1)):
        world.task(title, priority=priority)
    assert [one["title"] for one in world.read(views.ready)[0]] == ["urgent", "high", "usual", "low"]
    assert world.titles() == ["urgent", "high", "usual", "low"]
    agent = world.agent()
    assert world.write(claims.claim, agent, None, by=agent)["title"] == "urgent"


def test_the_columns_of_a_row_are_written_by_one_module_only(world: World) -> None:
    """A row whose status is not that of its stage cannot come from what the board does; this finds one that does."""
    world.task("one")
    world.write(tasks.update, world.task("two"), status="completed")
    wrong = (
        sa.select(tables.tasks.c.id)
        .join(tables.stages, tables.stages.c.id == tables.tasks.c.stage)
        .where((tables.tasks.c.status == "completed") != tables.stages.c.completes)
    )
    assert world.read(lambda at: at.connection.execute(wrong).all()) == []


def test_a_stage_that_changes_while_a_task_enters_it_is_seen(postgres: Any) -> None:
    url = postgres.database()
    with closing(Store(url)) as one, closing(Store(url)) as two:
        world, other = World(one), World(two)
        id_ = world.task("one")

        def work(at: Any) -> Any:
            before = stages.find(at, "Verify")["completes"]
            if at.attempt == 0:
                other.write(stages.update, "Verify", completes=True)
            return before, tasks.update(at, id_, stage="Verify")["status"]

        assert one.write(work) == (True, "completed")
        agrees(world, "nobody")
