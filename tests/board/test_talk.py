"""Notifications and questions on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from board.boards import World
from lsp_mcp.board import talk

OPTIONS = [{"id": "a", "label": "The first"}, {"id": "b", "label": "The second"}]


def test_a_question_waits_until_it_is_answered(world: World) -> None:
    agent = world.agent("codex")
    question = world.write(talk.ask, "  Which?\n", options=OPTIONS, by=agent)
    assert (question["question"], question["who"], question["answered_at"]) == ("Which?", "codex", None)
    assert world.read(talk.answered, agent.id) == []
    assert [one["id"] for one in world.read(talk.waiting)] == [question["id"]]
    answered = world.write(talk.answer, question["id"].upper(), option="b", text=" because\nso ")
    assert talk.shown(answered) == "The second: because\nso"
    assert (answered["answered_by"], answered["answer_option"]) == ("you", "b")
    assert world.read(talk.answered, agent.id) == [answered]
    assert world.read(talk.waiting) == []
    assert world.read(talk.recently_answered, 5) == [answered]


def test_an_answered_question_is_answered_once(world: World) -> None:
    id_ = world.write(talk.ask, "Which?", options=OPTIONS)["id"]
    world.write(talk.answer, id_, option="a")
    said = world.refused(talk.answer, id_, option="b")
    assert said.startswith(f"{id_} was answered by you at 20")
    assert said.endswith("Z: The first.")


@pytest.mark.parametrize(
    ("asked", "answer", "words"),
    [
        ({}, {}, "the answer is empty"),
        ({}, {"text": "  "}, "the answer is empty"),
        ({"options": OPTIONS}, {"option": "c"}, "unknown option 'c'; available: a, b"),
        ({}, {"option": "a"}, "unknown option 'a'; available: none"),
        ({"options": OPTIONS, "allow_freeform": False}, {"text": "x"}, "accepts only one of its options"),
        ({"options": OPTIONS, "allow_freeform": False}, {"option": "a", "text": "x"}, "only one of its options"),
        ({}, {"text": "x" * 4_001}, "the answer has 4,001 characters; at most 4,000"),
        ({}, {"text": "a\0b"}, "U+0000"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(
    world: World, asked: dict[str, Any], answer: dict[str, Any], words: str
) -> None:
    id_ = world.write(talk.ask, "Which?", **asked)["id"]
    assert words in world.refused(talk.answer, id_, **answer)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"question": " "}, "the question is empty"),
        ({"question": "x" * 4_001}, "the question has 4,001 characters"),
        ({"allow_freeform": False}, "nobody could answer this: pass options, or leave allowFreeform true"),
        ({"options": [OPTIONS[0], OPTIONS[0]]}, "each with a different id"),
        ({"options": [{"id": str(one), "label": "x"} for one in range(21)]}, "there are 21 options; at most 20"),
        ({"options": [{"id": "", "label": "x"}]}, "the option's id is empty"),
        ({"options": [{"id": "x", "label": ""}]}, "the option's label is empty"),
        ({"task": "t-00000"}, "unknown task 't-00000'"),
    ],
)
def test_a_question_that_nobody_can_answer_is_refused(world: World, asked: dict[str, Any], words: str) -> None:
    named = {"question": "Which?", **asked}
    assert words in world.refused(talk.ask, named.pop("question"), **named)


def test_an_unknown_question_is_said(world: World) -> None:
    words = "unknown question 'q-00000'; ask_user returns the id."
    assert world.refused(talk.get, "q-00000") == words
    assert world.refused(talk.answer, "q-00000", text="x") == words


def test_urgent_questions_are_shown_first(world: World) -> None:
    ids = [world.write(talk.ask, name, priority=priority)["id"]
           for name, priority in (("a", "normal"), ("b", "high"), ("c", "normal"), ("d", "high"))]  # fmt: skip
    assert [one["id"] for one in world.read(talk.waiting)] == [ids[1], ids[3], ids[0], ids[2]]


def test_the_answers_of_an_agent_are_in_the_order_in_which_they_came(world: World) -> None:
    one, two = world.agent("a"), world.agent("b")
    ids = [world.write(talk.ask, "?", by=one)["id"] for _ in range(3)]
    other = world.write(talk.ask, "?", by=two)["id"]
    for id_ in (ids[2], other, ids[0]):
        world.write(talk.answer, id_, text="x")
    assert [found["id"] for found in world.read(talk.answered, one.id)] == [ids[2], ids[0]]


def test_notifications_are_in_the_timeline_the_newest_first(world: World) -> None:
    agent = world.agent("codex")
    task = world.task()
    world.write(talk.notify, "begun", by=agent)
    world.write(talk.notify, "done", task=task.upper(), level="success", by=agent)
    done, begun = world.read(talk.timeline)
    assert (done["message"], done["level"], done["task"], done["who"]) == ("done", "success", task, "codex")
    assert (begun["level"], begun["task"]) == ("info", None)
    assert [one["message"] for one in world.read(talk.timeline, 1)] == ["done"]
    assert "the message is empty" in world.refused(talk.notify, " ")
    assert "unknown task" in world.refused(talk.notify, "x", task="t-00000")


def test_an_agent_that_notifies_without_end_is_told_to_wait_and_others_are_not(world: World) -> None:
    loud, calm = world.agent("loud"), world.agent("calm")
    for number in range(60):
        world.write(talk.notify, str(number), by=loud)
    assert "wait, then send a summary" in world.refused(talk.notify, "once more", by=loud)
    world.write(talk.notify, "fine", by=calm)
    world.write(talk.notify, "fine")


def test_an_agent_with_many_open_questions_asks_no_more_until_some_are_answered(world: World) -> None:
    agent = world.agent("asker")
    asked = [world.write(talk.ask, str(number), by=agent)["id"] for number in range(50)]
    assert "wait for an answer" in world.refused(talk.ask, "more?", by=agent)
    world.write(talk.answer, asked[0], text="yes")
    world.write(talk.ask, "more?", by=agent)


def test_the_oldest_notifications_are_forgotten(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk, "_KEPT", 3)
    for number in range(5):
        world.write(talk.notify, str(number))
    assert [one["message"] for one in world.read(talk.timeline)] == ["4", "3", "2"]


def test_limits_and_order_hold_when_the_clock_is_set_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = world.agent()
    for number in range(59):
        world.write(talk.notify, str(number), by=agent)
    first = world.write(talk.ask, "first?", by=agent)["id"]
    monkeypatch.setattr("lsp_mcp.board.fields.now", lambda: "2020-01-01T00:00:00.000000+00:00")
    for number in range(59, 119):
        world.write(talk.notify, str(number), by=agent)
    second = world.write(talk.ask, "second?", by=agent)["id"]
    assert [one["id"] for one in world.read(talk.waiting)] == [first, second]
    for id_ in (second, first):
        world.write(talk.answer, id_, text="yes")
    assert [one["id"] for one in world.read(talk.answered, agent.id)] == [second, first]
    assert [one["id"] for one in world.read(talk.recently_answered, 2)] == [first, second]
    assert [one["message"] for one in world.read(talk.timeline, 2)] == ["118", "117"]
