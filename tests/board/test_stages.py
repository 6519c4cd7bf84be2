"""Stages on both databases."""

from __future__ import annotations

import pytest

from board.boards import World
from lsp_mcp.board import claims, stages, tasks


def names(world: World) -> list[str]:
    return [stage["name"] for stage in world.read(stages.listed)]


def test_a_new_board_has_the_usual_stages(world: World) -> None:
    assert names(world) == ["Backlog", "Prepare", "Implement", "Verify", "Done"]
    assert world.read(stages.default)["name"] == "Backlog"
    world.write(stages.fill)
    assert len(names(world)) == 5


def test_a_stage_is_made_where_it_is_wanted(world: World) -> None:
    world.write(stages.create, "Last")
    world.write(stages.create, "Second", after="backlog")
    world.write(stages.create, "First", after="")
    world.write(stages.create, "Third", after="Second", color="#ABC")
    assert names(world) == [
        "First", "Backlog", "Second", "Third", "Prepare", "Implement", "Verify", "Done", "Last",
    ]  # fmt: skip
    assert world.read(stages.find, "third")["color"] == "#abc"


def test_there_is_room_between_two_stages_for_ever(world: World) -> None:
    for number in range(80):
        world.write(stages.create, f"s{number}", after="Backlog")
        assert names(world)[:3] == ["Backlog", f"s{number}", "Prepare"]
        world.write(stages.delete, f"s{number}")
        world.write(stages.update, "Done", after="Backlog")
        world.write(stages.update, "Done", after="Verify")
    assert names(world) == ["Backlog", "Prepare", "Implement", "Verify", "Done"]


def test_a_stage_is_changed(world: World) -> None:
    id_ = world.task("t", stage="Verify")
    prompts = [{"name": "Review", "prompt": "Read it."}]
    made = world.write(
        stages.update, "verify", new_name="Review", color="#123456", after="", is_default=True, activities=prompts
    )
    assert (made["name"], made["color"], made["is_default"], made["activities"]) == ("Review", "#123456", True, prompts)
    assert names(world)[0] == "Review"
    assert world.get(id_)["stage"] == "Review"
    assert [stage["name"] for stage in world.read(stages.listed) if stage["is_default"]] == ["Review"]
    assert world.get(world.task())["stage"] == "Review"


def test_a_stage_that_is_behind_itself_stays(world: World) -> None:
    world.write(stages.update, "Verify", after="Verify")
    assert names(world) == ["Backlog", "Prepare", "Implement", "Verify", "Done"]


def test_a_name_comes_before_an_id(world: World) -> None:
    world.write(stages.update, "Backlog", new_name="Todo")
    assert world.read(stages.find, "BACKLOG")["name"] == "Todo"
    world.write(stages.create, "Backlog")
    assert world.read(stages.find, "backlog")["name"] == "Backlog"
    assert world.read(stages.find, " TODO ")["name"] == "Todo"


@pytest.mark.parametrize("name", ["x" * 60, "Проверка", "待办", "!!!", "a" * 31 + " " + "b" * 28])
def test_a_stage_has_any_name(world: World, name: str) -> None:
    world.write(stages.create, name)
    id_ = world.task("t", stage=name)
    assert world.get(id_)["stage"] == name


def test_what_cannot_be_a_stage_is_refused(world: World) -> None:
    assert "the stage 'BACKLOG' exists already" in world.refused(stages.create, "BACKLOG")
    assert "the stage 'done' exists already" in world.refused(stages.update, "Verify", new_name="done")
    assert "the stage's name is empty" in world.refused(stages.create, " ")
    assert "the stage's name has 61 characters" in world.refused(stages.create, "x" * 61)
    assert "'red' is not a color" in world.refused(stages.create, "x", color="red")
    assert "not a color" in world.refused(stages.update, "Done", color="#12345g")
    assert "unknown stage 'Nope'" in world.refused(stages.create, "x", after="Nope")
    assert "the activity's name is empty" in world.refused(stages.create, "x", activities=[{"prompt": "p"}])
    assert "Backlog is the default stage" in world.refused(stages.update, "Backlog", is_default=False)
    for number in range(25):
        world.write(stages.create, f"s{number}")
    assert "there are 30 stages already" in world.refused(stages.create, "one more")


def test_the_tasks_of_a_deleted_stage_go_behind_those_of_another(world: World) -> None:
    before = [world.task(name, stage="Done") for name in "ba"][::-1]  # the last one completed comes first
    moved = [world.task(name, stage="Verify") for name in "cd"]
    for _ in range(5):  # to positions below 0
        moved.reverse()
        world.write(tasks.move, moved[0], "Verify", before=moved[1])
    assert world.order("Verify") == moved
    assert "Verify has 2 tasks; pass move_tasks_to" in world.refused(stages.delete, "Verify")
    assert "is Verify itself" in world.refused(stages.delete, "Verify", "verify")
    assert "unknown stage 'Nope'" in world.refused(stages.delete, "Verify", "Nope")
    revision = world.get(moved[0])["revision"]
    assert world.write(stages.delete, "Verify", "Done", by=world.agent("codex")) == 2
    assert world.order("Done") == moved + before
    assert world.said(moved[0])[-1] == ("codex", "moved to Done, since Verify was deleted")
    assert world.get(moved[0])["revision"] == revision + 1
    assert world.get(moved[0])["history"][-1]["fields"] == {
        "stage": ["verify", "done"],
        "status": ["pending", "completed"],
    }


def test_a_board_keeps_a_default_stage_and_one_that_completes_tasks(world: World) -> None:
    assert world.write(stages.delete, "Backlog") == 0
    assert world.read(stages.default)["name"] == "Prepare"
    for name in names(world)[1:-1]:
        world.write(stages.delete, name)
    assert "no stage would complete tasks any more" in world.refused(stages.delete, "Done")
    assert "no stage would complete tasks any more" in world.refused(stages.update, "Done", completes=False)
    assert "Prepare is the only stage for pending tasks" in world.refused(stages.delete, "Prepare")
    assert "Done would be the default stage" in world.refused(stages.update, "Done", is_default=True)
    assert "Prepare would be the default stage" in world.refused(stages.update, "Prepare", completes=True)
    assert "would be the default stage" in world.refused(stages.create, "New", is_default=True, completes=True)
    assert [(stage["is_default"], stage["completes"]) for stage in world.read(stages.listed)] == [
        (True, False),
        (False, True),
    ]


def test_what_a_stage_does_to_tasks_is_done_to_those_that_are_in_it(world: World) -> None:
    agent = world.agent("codex")
    id_ = world.task("one", stage="Verify")
    world.write(claims.claim, agent, id_, by=agent)
    world.write(stages.update, "Verify", completes=True)
    task = world.get(id_)
    assert (task["status"], task["claimed_by"], task["stage"]) == ("completed", None, "Verify")
    assert world.said(id_)[-1] == ("you", "completed, since Verify completes tasks")
    world.write(stages.update, "Verify", completes=False)
    assert (world.get(id_)["status"], world.get(id_)["completed_at"]) == ("pending", None)
    assert world.said(id_)[-1] == ("you", "pending, since Verify no longer completes tasks")


def test_stages_are_listed_with_their_tasks(world: World) -> None:
    world.task()
    world.write(tasks.update, world.task(), status="completed")
    world.write(tasks.update, world.task(), status="completed", archived=True)
    assert [
        (stage["name"], stage["tasks"], stage["pending"]) for stage in world.read(stages.listed) if stage["tasks"]
    ] == [
        ("Backlog", 1, 1),
        ("Done", 1, 0),
    ]
