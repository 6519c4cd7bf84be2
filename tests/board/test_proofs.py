"""Done means proven, and due dates."""

from __future__ import annotations

import pytest

from board.boards import World
from lsp_mcp.board import fields, proofs, saved_views, tasks, versions, views
from lsp_mcp.errors import CallerError

COMMIT = "9f1c2ab"


@pytest.mark.parametrize(
    ("wanted", "proof", "missing"),
    [
        ([], [], []),
        (["commit"], ["https://ci.example/1"], ["the hash of a commit"]),
        (["commit", "link"], [COMMIT, "https://ci.example/1"], []),
        (["command"], ["make test=>0"], []),
        (["make test"], ["make lint => 0"], ["make test => 0"]),
        (["make test => 0"], ["make  test => 00"], []),
    ],
)
def test_what_is_required_is_proven_by_its_kind_or_by_that_command(
    wanted: list[str], proof: list[str], missing: list[str]
) -> None:
    assert proofs.missing(proofs.required(wanted), proofs.checked(proof)) == missing


@pytest.mark.parametrize("proof", ["it works", "make test => 2", "make test", "ftp://a/b", "9f1c", "=> 0", ""])
def test_what_proves_nothing_is_refused(world: World, proof: str) -> None:
    id_ = world.task(required_proof=["command"])
    said = world.refused(tasks.update, id_, proof=[proof])
    assert "proves nothing" in said or "not a proof" in said or "is empty" in said


def test_a_task_without_its_proof_is_not_completed_and_one_with_it_is(world: World) -> None:
    agent = world.agent()
    id_ = world.task(required_proof=["make test", "commit"])
    said = world.refused(tasks.update, id_, status="completed", by=agent)
    assert "it requires as proof: make test => 0, the hash of a commit" in said
    assert "pass proof to complete_task" in said
    assert "requires" in world.refused(tasks.move, id_, "Done", by=agent)
    assert "requires" in world.refused(tasks.update, id_, status="completed", force=True, by=agent)  # and no reason
    world.write(tasks.update, id_, proven=["make test => 0"], by=agent)
    assert "requires as proof: the hash of a commit." in world.refused(tasks.update, id_, status="completed")
    done = world.write(tasks.update, id_, status="completed", proven=[COMMIT], by=agent)
    assert (done["stage"], done["proof"]) == ("Done", ["make test => 0", COMMIT])
    assert world.said(id_)[-1][1] == "changed proof; completed: moved to Done"


def test_a_task_that_requires_a_proof_does_not_begin_as_completed(world: World) -> None:
    assert "in another stage" in world.refused(tasks.create, "x", stage="Done", required_proof=["commit"])


def test_a_reason_completes_a_task_without_its_proof_and_is_kept(world: World) -> None:
    agent = world.agent()
    id_ = world.task(required_proof=["link"])
    world.write(tasks.update, id_, status="completed", force=True, reason="the CI is down", by=agent)
    assert world.said(id_)[-1][1].endswith("although it requires as proof: a link: the CI is down")


def test_a_reopened_task_has_to_be_proven_again_and_its_history_has_the_old_proof(world: World) -> None:
    id_ = world.task(required_proof=["commit"])
    world.write(tasks.update, id_, status="completed", proven=[COMMIT])
    world.write(tasks.move, id_, "Verify")
    assert world.get(id_)["proof"] == []
    assert "requires" in world.refused(tasks.update, id_, status="completed")
    assert world.get(id_)["history"][-1]["fields"]["proof"] == [[COMMIT], []]
    world.write(versions.revert, "task", id_)
    assert (world.get(id_)["status"], world.get(id_)["proof"]) == ("completed", [COMMIT])


def test_due_dates_are_days_and_order_what_is_ready_and_equally_urgent(world: World) -> None:
    some = {"late": "2026-03-01", "soon": "2026-02-28", "never": None}
    ids = {title: world.task(title, due=due) for title, due in some.items()}
    world.task("urgent", priority=0)
    assert [one["title"] for one in world.read(views.ready)[0]] == ["urgent", "soon", "late", "never"]
    world.write(tasks.update, ids["soon"], due="")
    assert world.get(ids["soon"])["due"] is None
    assert world.said(ids["soon"])[-1][1] == "changed due date"
    for day in ("tomorrow", "2026-02-30", "20260228", "2026-W01-1"):
        assert "is not a day" in world.refused(tasks.update, ids["late"], due=day)
    with pytest.raises(CallerError):
        fields.due("2026-2-3")


def test_the_most_urgent_tasks_of_a_stage_come_first_and_of_done_ones_the_last(world: World) -> None:
    for title, priority in (("b", 2), ("c", 4), ("a", 0), ("b2", 2)):
        world.task(title, priority=priority)
    assert world.titles(stage="Backlog") == ["a", "b", "b2", "c"]
    for id_ in world.order():
        world.write(tasks.update, id_, status="completed")
    assert world.titles(stage="Done") == ["c", "b2", "b", "a"]


def test_a_view_is_saved_for_everybody_replaced_by_its_name_and_deleted(world: World) -> None:
    first = world.write(saved_views.save, "Mine", "agent=Ada&sort=due")
    assert world.write(saved_views.save, "mine", "q=is:overdue")["id"] == first["id"]
    assert [(one["name"], one["query"]) for one in world.read(saved_views.listed)] == [("mine", "q=is:overdue")]
    assert "at most 2,000" in world.refused(saved_views.save, "Long", "x" * 3_000)
    assert world.write(saved_views.delete, first["id"]) == "mine"
    assert "no saved view" in world.refused(saved_views.delete, first["id"])
