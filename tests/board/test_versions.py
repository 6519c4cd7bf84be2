"""Nothing is lost: each earlier text can be read and brought back, and what was deleted as well."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from board.boards import World
from lsp_mcp.board import library, stages, tables, tasks, text_changes, trash, versions

TEXTS = st.text(st.sampled_from("ab\nä😀"), max_size=300)


@given(TEXTS, TEXTS)
def test_each_of_two_texts_comes_of_the_other_and_what_is_kept(before: str, after: str) -> None:
    kept = text_changes.change(before, after)
    assert text_changes.before(after, kept) == before
    if isinstance(kept, dict):
        assert len(kept["removed"]) <= len(before)
        assert before[: kept["at"]] + kept["added"] + before[kept["at"] + len(kept["removed"]) :] == after


def state(world: World, id_: str) -> dict[str, Any]:
    """What a task says, without times, revisions and its history."""
    found = world.get(id_)
    names = ("title", "description", "tags", "stage", "status", "priority", "branch", "depends_on")
    return {name: found[name] for name in names}


CHANGES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "title": st.sampled_from(["one", "two"]),
            "description": st.text(st.sampled_from("xy\n"), max_size=260),
            "tags": st.lists(st.sampled_from("abc"), max_size=2),
            "stage": st.sampled_from(["Backlog", "Verify", "Done"]),
            "priority": st.integers(0, 4),
            "branch": st.sampled_from(["", "main", "fix"]),
            "depends_on": st.booleans(),
        },
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(CHANGES, st.data())
def test_a_task_goes_back_to_any_of_its_revisions(
    world: World, changes: list[dict[str, Any]], data: st.DataObject
) -> None:
    other = world.task("other")
    id_ = world.task("first", description="text " * 60)
    states = {1: state(world, id_)}
    for change in changes:
        if "depends_on" in change:
            change["depends_on"] = [other] if change["depends_on"] else []
        revision = world.write(tasks.update, id_, **change, force=True)["revision"]
        states[revision] = state(world, id_)
    wanted = data.draw(st.sampled_from(sorted(states)))
    found = world.read(versions.as_of, "task", id_, wanted)
    assert found["description"] == states[wanted]["description"]
    before = len(world.said(id_))
    world.write(versions.revert, "task", id_, wanted)
    assert state(world, id_) == states[wanted]
    if states[wanted] != states[max(states)]:
        assert world.said(id_)[before:] == [("you", f"went back to revision {wanted}")]


def test_standards_snippets_and_stages_keep_each_text_and_go_back(world: World) -> None:
    agent = world.agent("codex")
    world.write(library.create_standard, "style", "old " * 200, "How")
    world.write(library.update_standard, "style", "new", by=agent)
    world.write(library.create_snippet, "Hello", "hi", ["a"])
    world.write(library.update_snippet, "hello", content="ho", tags=[], by=agent)
    prompts = [{"name": "Review", "prompt": "Read it."}]
    world.write(stages.update, "Verify", activities=prompts, after="", color="#123456")
    world.write(stages.update, "Verify", new_name="Check", activities=[], after="Backlog", by=agent)
    found = world.read(versions.revisions, "standard", "style")
    assert [(one["revision"], one["who"], one["message"]) for one in found["entries"]] == [
        (1, "you", "created"),
        (2, "codex", "changed content"),
    ]
    assert world.read(versions.as_of, "standard", "style", 1)["content"] == "old " * 200
    assert world.write(versions.revert, "standard", "style") == {"id": "style", "revision": 3}
    assert world.read(library.get_standard, "style")["content"] == "old " * 200
    world.write(versions.revert, "snippet", "hello", 1)
    assert world.read(library.get_snippet, "hello")["content"] == "hi"
    world.write(versions.revert, "stage", "Check")
    assert [one["name"] for one in world.read(stages.listed)][:2] == ["Verify", "Backlog"]
    assert world.read(stages.find, "Verify")["activities"] == prompts


def test_what_was_deleted_comes_back_with_all_that_was_its(world: World) -> None:
    other, third = world.task("other"), world.task("third")
    id_ = world.task("one", description="- [x] a", tags=["Tag"], depends_on=[other], priority="P0")
    world.write(tasks.update, third, depends_on=[id_])
    world.write(tasks.comment, id_, "Look at this")
    before = world.get(id_)
    world.write(tasks.delete, id_)
    assert [(one["ref"], one["title"], one["who"]) for one in world.read(trash.listed)[0]] == [(id_, "one", "you")]
    world.write(tasks.comment, other, "Written since")  # which may have the number of the one that is gone
    assert world.write(versions.revert, "task", id_.upper())["id"] == id_
    after = world.get(id_)
    changed = ("revision", "updated_at", "history", "position", "comments")
    assert [one["text"] for one in after["comments"]] == ["Look at this"]
    assert {**after, **{name: before[name] for name in changed}} == before
    assert [message for _, message in world.said(id_)] == ["created in Backlog", "deleted", "restored from the trash"]
    assert world.titles(tags=["tag"]) == ["one"]
    assert world.read(trash.listed) == ([], 0)


def test_what_comes_back_fits_the_board_of_now(world: World) -> None:
    other = world.task("other")
    id_ = world.task("one", stage="Verify", depends_on=[other])
    world.write(tasks.delete, id_)
    world.write(stages.delete, "Verify")
    world.write(tasks.delete, other)
    world.write(versions.revert, "task", id_)
    assert (world.get(id_)["stage"], world.get(id_)["depends_on"]) == ("Backlog", [])
    assert world.said(id_)[-1] == ("you", "restored from the trash; 1 dependency did not fit any more")
    world.write(stages.update, "Prepare", new_name="verify")
    assert "the stage 'Verify' exists again" in world.refused(versions.revert, "stage", "Verify")
    world.write(library.create_standard, "style", "a")
    world.write(library.delete_standard, "style")
    world.write(library.create_standard, "style", "b")
    assert world.read(library.get_standard, "style")["revision"] == 3
    assert "style has not changed since it was created" in world.refused(versions.revert, "standard", "style")
    assert "revision 1 was of another style, which was deleted" in world.refused(
        versions.revert, "standard", "style", 1
    )


def test_a_text_that_an_older_release_cut_is_not_made_up(world: World) -> None:
    id_ = world.task("one", description="short")

    def old(at: Any) -> None:
        at.connection.execute(tables.history.delete())
        fields: list[dict[str, Any]] = [{}, {"description": ["x" * 200 + "…", "short"]}, {"title": ["Old", "one"]}]
        for revision, said in enumerate(fields, 1):
            values = {"kind": "task", "ref": id_, "revision": revision, "at": at.now, "who": "you", "message": "m"}
            at.connection.execute(tables.history.insert().values(**values, fields=said))

    world.store.write(old)
    assert world.read(versions.as_of, "task", id_, 2)["title"] == "Old"
    assert "is not known: an older lsp-mcp kept only the beginning of texts" in world.refused(
        versions.revert, "task", id_, 1
    )
    assert f"{id_} has no revision 9; available: 1 to 3" in world.refused(versions.revert, "task", id_, 9)


def test_what_nobody_changed_or_knows_cannot_be_taken_back(world: World) -> None:
    assert "has not changed since it was created" in world.refused(versions.revert, "task", world.task())
    assert "unknown task" in world.refused(versions.revert, "task", "t-00000")
    world.write(library.create_standard, "old", "a")
    world.store.write(lambda at: at.connection.execute(tables.history.delete()))  # of board version 0001
    world.write(library.update_standard, "old", "b")
    world.write(versions.revert, "standard", "old")
    assert world.read(library.get_standard, "old")["content"] == "a"
    assert "unknown standard 'style'" in world.refused(versions.revert, "standard", "style")
