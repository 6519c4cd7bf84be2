"""Tasks on both databases: what each function does, and that all of it is in the history."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from board.boards import World
from lsp_mcp.board import agents, claims, fields, ids, markdown, stages, tables, talk, tasks, views
from lsp_mcp.board.ids import read_id
from lsp_mcp.board.store import PERSON, Actor
from lsp_mcp.errors import CallerError, UnprovenError

# --- creating and reading ----------------------------------------------------------------------------


def test_a_new_task_is_at_the_end_of_the_default_stage(world: World) -> None:
    first, second = world.task("one"), world.task("two")
    assert world.order("Backlog") == [first, second]
    task = world.get(second)
    assert (task["status"], task["stage"], task["revision"], task["description"]) == ("pending", "Backlog", 1, "")
    assert world.said(second) == [("you", "created in Backlog")]


def test_a_new_task_has_all_that_it_was_given(world: World) -> None:
    other = world.task("other")
    agent = world.agent("codex")
    id_ = world.write(
        tasks.create,
        "title",
        description="# Body",
        tags=["a", "B"],
        stage="verify",
        depends_on=[other],
        anchored=[{"anchor": "go://a.go#1:1", "file": "a.go", "symbol": "a", "code": "a", "state": "known"}],
        by=agent,
    )["id"]
    task = world.get(id_)
    assert (task["title"], task["description"], task["tags"], task["stage"]) == (
        "title",
        "# Body",
        ["a", "B"],
        "Verify",
    )
    assert task["depends_on"] == [other]
    assert world.get(other)["needed_by"] == [id_]
    assert [one["anchor"] for one in task["anchors"]] == ["go://a.go#1:1"]
    assert world.said(id_) == [("codex", "created in Verify")]


def test_a_list_has_no_bodies(world: World) -> None:
    world.task("one", description="long " * 1_000)
    (task,), total = world.read(views.listed)
    assert total == 1
    assert "description" not in task
    assert "history" not in task


def test_a_list_is_in_the_order_of_the_board(world: World) -> None:
    for title, stage in (("d", "Done"), ("a", "Backlog"), ("b", "Verify"), ("c", "Done")):
        world.task(title, stage=stage)
    assert world.titles() == ["a", "b", "c", "d"]


def test_a_limit_cuts_the_list_and_not_the_total(world: World) -> None:
    for number in range(7):
        world.task(f"task {number}", tags=["even"] if number % 2 == 0 else [])
    found, total = world.read(views.listed, limit=3)
    assert ([one["title"] for one in found], total) == (["task 0", "task 1", "task 2"], 7)
    assert world.read(views.listed, tags=["even"], limit=1)[1] == 4
    assert world.read(views.ready, 2)[1] == 7


def test_filters_are_all_that_must_hold(world: World) -> None:
    one = world.task("one", tags=["x"])
    world.task("two", tags=["x"], stage="Verify")
    world.write(tasks.update, world.task("three", tags=["x"]), status="completed")
    assert world.titles(stage="backlog", status="pending", tags=["x"], text="ONE") == ["one"]
    agent = world.agent()
    world.write(claims.claim, agent, one, by=agent)
    assert world.titles(agent=agent.id) == ["one"]
    assert world.titles(status="completed") == ["three"]


def test_tags_filter_by_any_of_them_in_any_case(world: World) -> None:
    world.task("one", tags=["Backend"])
    world.task("two", tags=["front end"])
    world.task("three")
    assert world.titles(tags=["backend"]) == ["one"]
    assert world.titles(tags=["BACKEND", "Front  End"]) == ["one", "two"]
    assert world.titles(tags=["back"]) == []
    assert world.titles(tags=["STRASSE"]) == []
    world.task("four", tags=["Straße"])
    assert world.titles(tags=["STRASSE"]) == ["four"]


def test_a_tag_that_gets_longer_in_lower_case_is_found_as_well(world: World) -> None:
    tag = "ﬃ" * 60
    world.task("one", tags=[tag])
    assert world.titles(tags=[tag]) == ["one"]
    assert world.get(world.order()[0])["tags"] == [tag]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("100%", ["100% sure"]),
        ("%", ["100% sure"]),
        ("_", ["snake_case"]),
        ("\\", ["back\\slash"]),
        ("e_c", ["snake_case"]),
        ("E_C", ["snake_case"]),
        ("ärger", ["ÄRGER"]),
        ("ΣΊΣΥΦΟΣ", ["σίσυφος"]),
        ("needle", ["plain"]),
        ("'; DROP TABLE tasks; --", []),
        ("  ", ["100% sure", "snake_case", "back\\slash", "ÄRGER", "σίσυφος", "plain"]),
    ],
)
def test_text_is_looked_for_as_it_is(world: World, text: str, found: list[str]) -> None:
    for title in ("100% sure", "snake_case", "back\\slash", "ÄRGER", "σίσυφος"):
        world.task(title)
    world.task("plain", description="a hay\nNEEDLE stack")
    if text == "ΣΊΣΥΦΟΣ":  # one letter with two small forms: only lower case of the same form
        text = "ΣΊΣΥΦ"
    assert world.titles(text=text) == found


def test_what_is_looked_for_has_bounds(world: World) -> None:
    assert "at most 300" in world.refused(views.listed, text="x" * 301)
    assert "U+0000" in world.refused(views.listed, text="a\0b")
    assert "U+D800" in world.refused(views.listed, tags=["\ud800"])


def test_an_unknown_stage_is_said_with_those_there_are(world: World) -> None:
    said = world.refused(views.listed, stage="Doing")
    assert said == "unknown stage 'Doing'; available: Backlog, Prepare, Implement, Verify, Done"
    assert world.refused(tasks.create, "t", stage="Doing") == said


# --- ids ---------------------------------------------------------------------------------------------


def test_ids_are_short_and_read_in_any_way_to_type_them(world: World) -> None:
    id_ = world.task("one")
    assert re.fullmatch(r"t-[0-9a-hjkmnp-tv-z]{5}", id_)
    for typed in (id_.upper(), f"  {id_} ", id_.removeprefix("t-"), id_.removeprefix("t-").upper()):
        assert world.get(typed)["id"] == id_
    assert world.get(id_.replace("0", "O").replace("1", "l"))["id"] == id_


@given(st.sampled_from("taq"), st.text(ids._ALPHABET, min_size=5, max_size=5), st.data())
def test_every_id_is_read_however_it_is_typed(kind: str, tail: str, data: st.DataObject) -> None:
    mistaken = {"0": "0oO", "1": "1iIlL"}
    typed = "".join(data.draw(st.sampled_from(mistaken.get(char, char + char.upper()))) for char in tail)
    assert read_id(kind, f"{kind}-{typed}") == read_id(kind, f"{kind.upper()}-{typed}") == f"{kind}-{tail}"
    assert read_id(kind, f" {typed} ") == f"{kind}-{tail}"


@given(st.text())
def test_whatever_is_typed_for_an_id_is_read_without_a_crash(typed: str) -> None:
    assert isinstance(read_id("t", typed), str)


def test_a_taken_id_is_replaced_by_another(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made = iter(["t-00001", "t-00001", "t-00002", "q-00001", "q-00001", "q-00002", "a-00001", "a-00001", "a-00002"])
    for module in (tasks, talk, agents):
        monkeypatch.setattr(module, "new_id", lambda _: next(made))
    assert [world.task(), world.task()] == ["t-00001", "t-00002"]
    assert [world.write(talk.ask, "?")["id"] for _ in range(2)] == ["q-00001", "q-00002"]
    assert [world.agent().id for _ in range(2)] == ["a-00001", "a-00002"]


def test_the_alphabet_of_ids_has_no_letters_that_are_mistaken() -> None:
    assert len(ids._ALPHABET) == 32
    assert not set(ids._ALPHABET) & set("ilou")


def test_an_unknown_task_is_said_with_what_is_like_it(world: World) -> None:
    id_ = world.task("Write the parser")
    other = "t-0" + ("0" if id_[3] != "0" else "1") + id_[4:]
    assert world.refused(views.get, other) == (
        f"unknown task '{other}'; like it: {id_} (Write the parser). See list_tasks."
    )
    assert f"like it: {id_}" in world.refused(views.get, "the parser")
    assert world.refused(views.get, "xyz") == "unknown task 'xyz'. See list_tasks."
    assert world.refused(views.get, " ") == "the task ID is empty. See list_tasks."
    assert world.refused(views.get, "%") == "unknown task '%'. See list_tasks."


@pytest.mark.parametrize("typed", ["a\0b", "\ud800", "\x1b[31m", "x" * 301, "x" * 100_000])
@pytest.mark.parametrize("function", [views.get, talk.get, stages.find])
def test_nonsense_for_an_id_is_refused(world: World, function: Callable[..., Any], typed: str) -> None:
    assert len(world.refused(function, typed)) < 300


# --- texts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("", "the title is empty"),
        (" \t\n ", "the title is empty"),
        ("\u200b\u200d\ufeff", "the title is empty"),
        ("x" * 301, "the title has 301 characters; at most 300"),
        ("x" * 10_000, "the title has 10,000 characters; at most 300"),
        ("a\0b", "U+0000 at character 2"),
        ("\x1b[31mred", "U+001B at character 1"),
        ("a\x7f", "U+007F"),
        ("a\u202eb", "U+202E"),
        ("a\u2066b", "U+2066"),
        ("\ud83d", "U+D83D"),
    ],
)
def test_a_title_that_cannot_be_used_is_refused(world: World, title: str, words: str) -> None:
    assert words in world.refused(tasks.create, title)
    id_ = world.task("good")
    assert words in world.refused(tasks.update, id_, title=title)


@pytest.mark.parametrize(
    "title", ["x" * 300, "😀" * 300, "عنوان المهمة", "שלום — hello", "a\u200fb", "e\u0301", "👩‍👩‍👧"]
)
def test_a_title_in_any_script_is_kept(world: World, title: str) -> None:
    assert world.get(world.task(title))["title"] == title
    assert world.titles(text=title[:100]) == [title]


def test_a_title_is_one_line(world: World) -> None:
    assert world.get(world.task("  two\nlines\t here "))["title"] == "two lines here"


def test_a_huge_description_is_kept_and_a_larger_one_refused(world: World) -> None:
    text = "ä" * fields.MOST_TEXT
    id_ = world.task("big", description=text)
    assert world.get(id_)["description"] == text
    assert "has 200,001 characters; at most 200,000" in world.refused(tasks.create, "big", description=text + "b")
    assert "at most 200,000" in world.refused(tasks.append, id_, "more")
    assert "U+0000" in world.refused(tasks.update, id_, description="\0")
    assert "U+DC00" in world.refused(tasks.update, id_, description="a\udc00")


def test_line_ends_are_those_of_unix(world: World) -> None:
    assert world.get(world.task("t", description="a\r\nb\rc\n"))["description"] == "a\nb\nc\n"


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        (["x"] * 21, None),
        ([str(number) for number in range(21)], "there are 21 tags; at most 20"),
        ([""], "'' cannot be a tag"),
        (["x" * 61], "cannot be a tag: 1 to 60"),
        (["a,b"], "without commas"),
        (["a\x07b"], "U+0007"),
    ],
)
def test_tags_have_bounds(world: World, tags: list[str], words: str | None) -> None:
    if words is None:
        assert world.get(world.task("t", tags=tags))["tags"] == ["x"]
    else:
        assert words in world.refused(tasks.create, "t", tags=tags)


# --- changing ----------------------------------------------------------------------------------------


def test_only_what_is_given_changes_and_the_history_says_it(world: World) -> None:
    agent = world.agent("codex")
    id_ = world.task("old", description="body", tags=["a"])
    world.write(tasks.update, id_, title="new", by=agent)
    task = world.get(id_)
    assert (task["title"], task["description"], task["tags"], task["revision"]) == ("new", "body", ["a"], 2)
    entry = task["history"][-1]
    assert (entry["who"], entry["message"], entry["fields"]) == ("codex", "changed title", {"title": ["old", "new"]})
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", entry["at"])


def test_each_kind_of_change_has_its_words(world: World) -> None:
    id_, other = world.task("one"), world.task("other")
    agent = world.agent("codex")
    for change in (
        lambda: world.write(tasks.update, id_, tags=["x"], description="d", by=agent),
        lambda: world.write(tasks.update, id_, depends_on=[other]),
        lambda: world.write(tasks.update, id_, depends_on=[]),
        lambda: world.write(tasks.update, id_, stage="verify"),
        lambda: world.write(tasks.move, id_, "Prepare"),
        lambda: world.write(tasks.append, id_, "text", "Findings"),
        lambda: world.write(claims.claim, agent, id_, by=agent),
        lambda: world.write(claims.release, agent, id_, by=agent),
        lambda: world.write(tasks.update, id_, status="completed"),
        lambda: world.write(tasks.update, id_, status="pending"),
    ):
        change()
    assert world.said(id_) == [
        ("you", "created in Backlog"),
        ("codex", "changed tags, description"),
        ("you", "changed dependencies"),
        ("you", "changed dependencies"),
        ("you", "moved to Verify"),
        ("you", "moved to Prepare"),
        ("you", "added 4 characters under Findings"),
        ("codex", "claimed by codex"),
        ("codex", "released by codex"),
        ("you", "completed: moved to Done"),
        ("you", "reopened: moved to Prepare"),
    ]
    history = world.get(id_)["history"]
    assert [one["revision"] for one in history] == list(range(1, 12))
    assert [one["at"] for one in history] == sorted(one["at"] for one in history)


def test_a_change_that_changes_nothing_is_none(world: World) -> None:
    other = world.task()
    id_ = world.task("one", description="d", tags=["a"], depends_on=[other])
    before = world.everything()
    world.write(
        tasks.update,
        id_,
        title=" one ",
        description="d",
        tags=["a"],
        stage="Backlog",
        status="pending",
        depends_on=[other],
    )
    world.write(tasks.update, id_)
    assert world.everything() == before


def test_of_a_long_text_the_history_keeps_all_that_was_taken_out_and_put_in(world: World) -> None:
    id_ = world.task("one", description="a" * 10_000 + "b" * 10_000 + "c" * 10_000)
    world.write(tasks.update, id_, description="a" * 10_000 + "new" + "c" * 10_000)
    kept = {"at": 10_000, "removed": "b" * 10_000, "added": "new"}
    assert world.get(id_)["history"][-1]["fields"] == {"description": kept}


def test_completing_a_task_ends_its_claim(world: World) -> None:
    agent = world.agent()
    id_ = world.task()
    world.write(claims.claim, agent, id_, by=agent)
    world.write(tasks.update, id_, status="completed", by=agent)
    assert (world.get(id_)["claimed_by"], world.get(id_)["status"]) == (None, "completed")
    world.write(tasks.update, id_, status="completed", by=agent)
    assert len(world.said(id_)) == 3


def test_a_stale_revision_is_refused_with_what_changed_since(world: World) -> None:
    id_ = world.task("one")
    world.write(tasks.update, id_, title="two", by=world.agent("codex"))
    world.write(tasks.move, id_, "Done")
    for change in (
        lambda: world.refused(tasks.update, id_, title="three", expected_revision=1),
        lambda: world.refused(tasks.move, id_, "Verify", expected_revision=1),
        lambda: world.refused(tasks.delete, id_, 1),
    ):
        assert change() == (
            f"{id_} has revision 3, not 1; since then: codex: changed title; you: completed: moved to Done. "
            "Nothing was changed: read it with get_task, then try again."
        )
    assert f"{id_} has revision 3, not 9." in world.refused(tasks.update, id_, title="three", expected_revision=9)
    assert world.write(tasks.update, id_, title="three", expected_revision=3)["revision"] == 4


def test_a_deleted_task_is_gone_with_all_that_is_its(world: World) -> None:
    other = world.task("other")
    id_ = world.task("one", tags=["a"], depends_on=[other])
    third = world.task("third", depends_on=[id_])
    assert world.write(tasks.delete, id_)["title"] == "one"
    assert world.order() == [other, third]
    assert world.get(third)["depends_on"] == []
    assert world.get(other)["needed_by"] == []
    assert "unknown task" in world.refused(views.get, id_)
    assert world.titles(tags=["a"]) == []


# --- appending ---------------------------------------------------------------------------------------

DOCUMENT = """intro

# Plan

steps

## Findings

- one

```sh
# Findings in code
```

### Deeper

x

## Next

y"""


@pytest.mark.parametrize(
    ("text", "section", "expected"),
    [
        ("", None, "NEW"),
        ("a", None, "a\n\nNEW"),
        ("a\n\n\n", None, "a\n\nNEW"),
        ("", "Findings", "## Findings\n\nNEW"),
        ("a", "Findings", "a\n\n## Findings\n\nNEW"),
        ("# Plan\n\nx", "Findings", "# Plan\n\nx\n\n# Findings\n\nNEW"),
        ("## Findings", "Findings", "## Findings\n\nNEW"),
        ("## Findings\n## Next", "findings", "## Findings\n\nNEW\n\n## Next"),
        (DOCUMENT, "Findings", DOCUMENT.replace("x\n\n## Next", "x\n\nNEW\n\n## Next")),
        (DOCUMENT, "deeper", DOCUMENT.replace("x\n\n## Next", "x\n\nNEW\n\n## Next")),
        (DOCUMENT, "  FINDINGS ", DOCUMENT.replace("x\n\n## Next", "x\n\nNEW\n\n## Next")),
        (DOCUMENT, "## Findings", DOCUMENT.replace("x\n\n## Next", "x\n\nNEW\n\n## Next")),
        (DOCUMENT, "Plan", DOCUMENT + "\n\nNEW"),
        (DOCUMENT, "Next", DOCUMENT + "\n\nNEW"),
        (DOCUMENT, "Findings in code", DOCUMENT + "\n\n# Findings in code\n\nNEW"),
        ("## A ##\n\ntext\n\n## B", "A", "## A ##\n\ntext\n\nNEW\n\n## B"),
        ("~~~\n# A\n```\n~~~\n# A\nx", "A", "~~~\n# A\n```\n~~~\n# A\nx\n\nNEW"),
        ("````\n```\n# A\n````\n\n## A\nx", "A", "````\n```\n# A\n````\n\n## A\nx\n\nNEW"),
        ("a\n\n```sh\nls", None, "a\n\n```sh\nls\n```\n\nNEW"),
        ("~~~~\n# A", "A", "~~~~\n# A\n~~~~\n\n## A\n\nNEW"),
        ("#no heading", "no heading", "#no heading\n\n## no heading\n\nNEW"),
        ("## C#\n\nx\n\n## D", "C#", "## C#\n\nx\n\nNEW\n\n## D"),
    ],
)
def test_content_goes_to_the_end_or_under_a_heading(text: str, section: str | None, expected: str) -> None:
    assert markdown.appended(text, "NEW", section) == expected


LINES = st.lists(
    st.sampled_from(["# A", "## A", "## B", "### A b", "text", "", "```", "~~~", "- item", "  indented", "C#"]),
    max_size=12,
).map("\n".join)


@given(
    LINES, st.sampled_from([None, "A", "B", "a b", "other"]), st.lists(st.sampled_from("xy"), min_size=1, max_size=3)
)
def test_nothing_is_lost_or_reordered_by_appending(text: str, section: str | None, contents: list[str]) -> None:
    after = text
    for number, content in enumerate(contents):
        after = markdown.appended(after, f"{content}{number} is new", section)
    kept = [line for line in after.split("\n") if line.strip()]
    new = [line for line in kept if line.endswith("is new")]
    assert new == [f"{content}{number} is new" for number, content in enumerate(contents)]
    rest = [line for line in kept if not line.endswith("is new")]
    for line in filter(str.strip, text.split("\n")):
        assert line in rest  # in this order: what stands before it was not in the text
        added = rest[: rest.index(line)]
        assert all(one.strip("`~") == "" for one in added)
        rest = rest[rest.index(line) + 1 :]
    made = [line for line in rest if line.strip("`~")]
    assert len(made) <= 1  # the heading that was missing
    assert all(line.lstrip("# ") == section for line in made)
    assert len(rest) - len(made) <= 1  # the end of a block that was open


def test_a_block_of_code_that_content_leaves_open_does_not_swallow_what_follows() -> None:
    assert markdown.appended("# A\nx\n# B", "```\ncode", "A") == "# A\nx\n\n```\ncode\n```\n\n# B"


def test_content_is_added_without_reading(world: World) -> None:
    id_ = world.task("t", description="## Findings\n\n- one\n\n## Next\n")
    world.write(tasks.append, id_, "- two\r\n", "Findings", by=world.agent("codex"))
    assert world.get(id_)["description"] == "## Findings\n\n- one\n\n- two\n\n## Next\n"
    assert world.said(id_)[-1] == ("codex", "added 6 characters under Findings")
    assert "the content is empty" in world.refused(tasks.append, id_, " \n")
    assert "the section is empty" in world.refused(tasks.append, id_, "x", " ")
    assert "U+202E" in world.refused(tasks.append, id_, "x\u202e")


# --- dependencies ------------------------------------------------------------------------------------


def test_a_circle_of_tasks_that_wait_for_each_other_is_refused(world: World) -> None:
    a, b, c, d = (world.task(name) for name in "abcd")
    world.write(tasks.update, b, depends_on=[a])
    world.write(tasks.update, c, depends_on=[b])
    world.write(tasks.update, d, depends_on=[c, a])
    assert f"{a} cannot depend on {a}: they would wait for each other ({a} → {a})" in world.refused(
        tasks.update, a, depends_on=[a]
    )
    assert f"({a} → {b} → {a})" in world.refused(tasks.update, a, depends_on=[b])
    assert f"({a} → {d} → " in world.refused(tasks.update, a, depends_on=[d])
    assert "unknown task" in world.refused(tasks.update, a, depends_on=["t-00000"])
    assert "unknown task" in world.refused(tasks.create, "x", depends_on=["nothing"])


def test_a_long_circle_is_refused_too(world: World) -> None:
    chain = [world.task("0")]
    for number in range(1, 60):
        chain.append(world.task(str(number), depends_on=[chain[-1]]))
    said = world.refused(tasks.update, chain[0], depends_on=[chain[-1]])
    assert said.count("→") == 60


def test_tasks_are_ready_in_the_order_of_the_board_once_nothing_holds_them(world: World) -> None:
    first = world.task("first")
    second = world.task("second", depends_on=[first])
    third = world.task("third", stage="Verify")
    fourth = world.task("fourth")
    assert [one["title"] for one in world.read(views.ready)[0]] == ["first", "fourth", "third"]
    world.write(tasks.move, fourth, "Backlog", before=first)
    assert [one["id"] for one in world.read(views.ready)[0]] == [fourth, first, third]
    agent = world.agent()
    world.write(claims.claim, agent, fourth, by=agent)
    world.write(tasks.update, first, status="completed")
    assert [one["id"] for one in world.read(views.ready)[0]] == [second, third]
    world.write(agents.disconnect, agent)
    assert [one["id"] for one in world.read(views.ready)[0]] == [fourth, second, third]
    world.write(tasks.update, first, status="pending")
    assert second not in [one["id"] for one in world.read(views.ready)[0]]


# --- positions ---------------------------------------------------------------------------------------


def test_a_task_is_moved_before_another_and_to_the_end(world: World) -> None:
    a, b, c = (world.task(name) for name in "abc")
    world.write(tasks.move, c, "Backlog", before=a)
    assert world.order() == [c, a, b]
    world.write(tasks.move, c, "backlog", before=b)
    assert world.order() == [a, c, b]
    world.write(tasks.move, a, "Backlog")
    assert world.order() == [c, b, a]
    assert world.said(a)[-1] == ("you", "moved to the end in Backlog")
    assert world.said(c)[-1] == ("you", f"moved before {b} in Backlog")
    assert world.get(c)["revision"] == 1


def test_a_task_that_is_there_already_stays_without_a_word(world: World) -> None:
    a, b = world.task("a"), world.task("b")
    before = world.everything()
    world.write(tasks.move, a, "Backlog", before=b)
    world.write(tasks.move, a, "Backlog", before=a)
    world.write(tasks.move, b, "Backlog")
    assert world.everything() == before


def test_a_task_comes_into_another_stage_before_a_task_there(world: World) -> None:
    a, b, c = world.task("a"), world.task("b", stage="Verify"), world.task("c", stage="Verify")
    world.write(tasks.move, a, "Verify", before=c)
    assert world.order("Verify") == [b, a, c]
    assert world.said(a)[-1] == ("you", "moved to Verify")
    assert f"{b} is not in Backlog" in world.refused(tasks.move, c, "Backlog", before=b)
    assert "unknown task" in world.refused(tasks.move, c, "Backlog", before="t-00000")


def test_there_is_always_room_before_a_task(world: World) -> None:
    first, last = world.task("first"), world.task("last")
    others = [world.task("x"), world.task("y")]
    expected = [first, last, *others]
    for number in range(120):  # more than a number of floating point can be halved
        moved = others[number % 2]
        world.write(tasks.move, moved, "Backlog", before=last)
        expected.remove(moved)
        expected.insert(expected.index(last), moved)
        if number > 40:
            assert world.order() == expected
    positions = [one["position"] for one in world.read(views.listed)[0]]
    assert len(set(positions)) == 4


def test_who_shows_a_stage_is_told_when_its_positions_are_spread_again(world: World) -> None:
    first, last, moved = world.task("first"), world.task("last"), world.task("moved")
    with world.store._engine.begin() as connection:
        for id_, position in ((first, 1.0), (last, 1.0 + 2**-52)):
            connection.execute(sa.update(tables.tasks).where(tables.tasks.c.id == id_).values(position=position))
    world.write(tasks.move, moved, "Backlog", before=last)
    assert world.order() == [first, moved, last]
    told = world.read(lambda at: at.connection.execute(sa.select(tables.changes.c.kind, tables.changes.c.ref)).all())
    assert ("stage", "backlog") in [tuple(one) for one in told]


MOVES = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(["Backlog", "Verify"]), st.none() | st.integers(0, 5)), max_size=12
)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(MOVES)
def test_moves_do_what_they_do_to_a_list(world: World, steps: list[tuple[int, str, int | None]]) -> None:
    for id_ in (*world.order("Backlog"), *world.order("Verify")):
        world.write(tasks.delete, id_)
    all_ = [world.task(str(number)) for number in range(6)]
    model: dict[str, list[str]] = {"Backlog": [*world.order("Backlog")], "Verify": [*world.order("Verify")]}
    for which, stage, where in steps:
        moved, before = all_[which], None if where is None else all_[where]
        if before is not None and before not in model[stage]:
            with pytest.raises(CallerError):
                world.write(tasks.move, moved, stage, before=before)
            continue
        world.write(tasks.move, moved, stage, before=before)
        if before == moved:
            continue
        for ids_ in model.values():
            if moved in ids_:
                ids_.remove(moved)
        model[stage].insert(len(model[stage]) if before is None else model[stage].index(before), moved)
    assert {stage: world.order(stage) for stage in model} == model


# --- claims ------------------------------------------------------------------------------------------


def test_a_claimed_task_is_nobody_elses(world: World) -> None:
    one, two = world.agent("claude"), world.agent("codex")
    id_ = world.task()
    assert world.write(claims.claim, one, id_, by=one)["claimed_by"] == "claude"
    said = world.refused(claims.claim, two, id_, by=two)
    assert re.fullmatch(
        rf"claude works on {id_} since \d{{4}}-\d\d-\d\dT\d\d:\d\dZ\. See list_tasks ready=true\.", said
    )
    before = world.everything()
    world.write(claims.claim, one, id_, by=one)
    assert world.everything() == before


def test_the_first_task_that_is_ready_is_claimed_if_none_is_named(world: World) -> None:
    agent = world.agent()
    blocked_by = world.task("b", stage="Verify")
    world.task("a", depends_on=[blocked_by])
    assert world.write(claims.claim, agent, None, by=agent)["id"] == blocked_by
    assert "no task is ready" in world.refused(claims.claim, agent, None, by=agent)


def test_a_task_that_cannot_be_begun_cannot_be_claimed(world: World) -> None:
    agent = world.agent()
    first = world.task()
    second = world.task(depends_on=[first])
    assert f"{second} waits for {first}; complete those first." in world.refused(claims.claim, agent, second, by=agent)
    world.write(tasks.update, first, status="completed")
    assert f"{first} is completed" in world.refused(claims.claim, agent, first, by=agent)
    assert world.write(claims.claim, agent, second, by=agent)["claimed_by"] == agent.name


def test_only_its_agent_or_a_person_releases_a_claim(world: World) -> None:
    one, two = world.agent("claude"), world.agent("codex")
    id_ = world.task()
    world.write(claims.claim, one, id_, by=one)
    assert "only claude or a person can release it" in world.refused(claims.release, two, id_, by=two)
    assert world.write(claims.release, PERSON, id_)["claimed_by"] is None
    before = world.everything()
    world.write(claims.release, one, id_, by=one)
    assert world.everything() == before


def test_the_task_of_an_agent_that_is_gone_can_be_taken_over(world: World) -> None:
    one, two = world.agent("claude"), world.agent("codex")
    id_ = world.task()
    world.write(claims.claim, one, id_, by=one)
    world.write(agents.disconnect, one)
    assert world.write(claims.claim, two, id_, by=two)["claimed_by"] == "codex"
    assert world.said(id_)[-1] == ("codex", "claimed by codex, who takes over from claude")


def test_the_questions_of_a_task_are_with_it(world: World) -> None:
    agent = world.agent()
    id_ = world.task()
    question = world.write(talk.ask, "Which?", task=id_, by=agent)["id"]
    assert world.read(views.listed)[0][0]["questions_waiting"] == 1
    world.write(talk.answer, question, text="that")
    assert world.read(views.listed)[0][0]["questions_waiting"] == 0
    assert [one["id"] for one in world.get(id_)["questions"]] == [question]


def test_reading_writes_nothing(world: World) -> None:
    id_ = world.task("one", tags=["a"])
    before = world.everything()
    for _ in range(2):
        world.get(id_)
        world.read(views.listed, tags=["a"])
        world.read(views.ready)
        world.read(stages.listed)
    assert world.everything() == before


def test_postgresql_refuses_a_write_by_a_reader(world: World) -> None:
    if not world.store.is_sqlite:
        from lsp_mcp.errors import UnavailableError

        with pytest.raises(UnavailableError, match="read-only"):
            world.read(tasks.create, "x")


def test_an_actor_without_an_id_is_a_person() -> None:
    assert Actor("you") == PERSON


def test_a_claim_protects_against_other_agents_and_force_is_told(world: World) -> None:
    holder, other = world.agent("alpha"), world.agent("beta")
    id_ = world.task("claimed")
    world.write(claims.claim, holder, id_, by=holder)
    for refused in (
        lambda: world.refused(tasks.update, id_, description="mine", by=other),
        lambda: world.refused(tasks.update, id_, status="completed", by=other),
        lambda: world.refused(tasks.update, id_, stage="Verify", by=other),
        lambda: world.refused(tasks.move, id_, "Verify", by=other),
        lambda: world.refused(tasks.delete, id_, by=other),
    ):
        said = refused()
        assert said.startswith(f"alpha works on {id_} since 20")
        assert said.endswith("pass force=true, which notifies alpha.")
    world.write(tasks.append, id_, "a finding", by=other)  # nothing of alpha's is lost
    assert world.write(tasks.update, id_, title="by alpha", by=holder)["claimed_by"] == "alpha"
    assert "overrode" not in world.write(tasks.update, id_, title="by a person")
    assert world.write(tasks.update, id_, title="forced", force=True, by=other)["overrode"] == "alpha"
    forced = sa.select(tables.changes.c.ref, tables.changes.c.text).where(tables.changes.c.action == "told")
    told = f"beta changed {id_}, on which alpha works; read it again"
    assert world.read(lambda at: at.connection.execute(forced).all())[-1] == (holder.id, told)
    world.write(agents.disconnect, holder)
    world.write(tasks.update, id_, title="alpha is gone", by=other)


def test_what_a_change_answers_is_what_is_there(world: World) -> None:
    agent = world.agent()
    made = world.write(tasks.create, "one", tags=["a"], stage="Verify", by=agent)
    assert made == world.read(views.one, made["id"])
    for change in (
        lambda: world.write(tasks.update, made["id"], title="two", tags=["b"], stage="Prepare", by=agent),
        lambda: world.write(tasks.append, made["id"], "- [x] done", by=agent),
        lambda: world.write(claims.claim, agent, made["id"], by=agent),
        lambda: world.write(tasks.update, made["id"], priority="P0", by=agent),
        lambda: world.write(tasks.update, made["id"], status="completed", by=agent),
        lambda: world.write(tasks.update, made["id"], status="pending", archived=False, by=agent),
    ):
        assert change() == world.read(views.one, made["id"])


def test_an_agent_completes_a_task_that_lacks_something_only_with_force_and_a_reason(world: World) -> None:
    agent, first = world.agent(), world.task("first")
    id_ = world.task("second", description="- [ ] test it\n- [x] write it", depends_on=[first])
    lacks = f"{id_} is not done: 1 checkbox of 2 is not ticked; it waits for {first}. Nothing was changed"
    for change in ({"status": "completed"}, {"stage": "Done"}, {"status": "completed", "force": True}):
        assert lacks in world.refused(tasks.update, id_, by=agent, **change)
    assert "the reason is empty" in world.refused(
        tasks.update, id_, status="completed", force=True, reason=" ", by=agent
    )
    world.write(tasks.update, id_, status="completed", force=True, reason="nobody needs it", by=agent)
    assert world.said(id_)[-1][1] == (
        f"completed: moved to Done, although 1 checkbox of 2 is not ticked; it waits for {first}: nobody needs it"
    )


def test_what_a_task_lacks_is_judged_after_the_change_that_completes_it(world: World) -> None:
    agent, first = world.agent(), world.task("first")
    id_ = world.task("second", description="- [ ] test it", depends_on=[first])
    done = world.write(tasks.update, id_, status="completed", tick=["1"], depends_on=[], by=agent)
    assert done["status"] == "completed"
    assert "although" not in world.said(id_)[-1][1]


def test_a_person_completes_a_task_that_lacks_something_with_force_and_the_history_says_what(world: World) -> None:
    id_ = world.task("a task", description="- [ ] test it")
    for change in (partial(tasks.update, status="completed"), partial(tasks.move, stage="Done")):
        with pytest.raises(UnprovenError, match=f"{id_} is not done: 1 checkbox of 1 is not ticked"):
            world.write(change, id_)
        assert world.read(views.get, id_)["status"] == "pending"
    world.write(tasks.move, id_, "Done", force=True)
    assert world.said(id_)[-1][1] == "completed: moved to Done, although 1 checkbox of 1 is not ticked"
