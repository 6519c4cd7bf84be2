"""Agents on both databases: their names, and what becomes of those that are gone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import sqlalchemy as sa

from board.boards import World
from fakes.bounded import wait_gone
from lsp_mcp.board import agents, claims, processes, tables, talk, views
from lsp_mcp.board.store import Actor


def connected(world: World) -> list[str]:
    return [one["name"] for one in world.read(agents.connected)]


@pytest.mark.parametrize(
    ("client", "name"),
    [
        ("claude-code", "claude-code"),
        ("Visual Studio Code", "visual-studio-code"),
        ("codex-mcp-client", "codex"),
        ("", "agent"),
        ("日本", "agent"),
        ("x" * 500, "x" * 40),
        ("a\0b\ud800", "a-b"),
    ],
)
def test_an_agent_is_named_after_its_program(world: World, client: str, name: str) -> None:
    assert world.agent(client).name == name


def test_two_agents_of_one_program_have_two_names(world: World) -> None:
    assert [world.agent("claude").name for _ in range(3)] == ["claude", "claude-2", "claude-3"]


def test_an_agent_gets_the_name_that_it_wants(world: World) -> None:
    agent = world.agent("claude")
    task = world.task()
    world.write(claims.claim, agent, task, by=agent)
    named = world.write(agents.register, agent, "  Ada \n Lovelace ")
    assert named == Actor("Ada Lovelace", agent.id)
    assert connected(world) == ["Ada Lovelace"]
    assert world.get(task)["claimed_by"] == "Ada Lovelace"
    assert world.write(agents.register, named, None) == named
    before = world.everything()
    assert world.write(agents.register, named, "Ada Lovelace") == named
    assert world.everything() == before


def test_a_name_that_is_taken_gets_a_number(world: World) -> None:
    world.write(agents.register, world.agent(), "Ada")
    assert world.write(agents.register, world.agent(), "ADA").name == "ADA-2"
    assert sorted(connected(world)) == ["ADA-2", "Ada"]


@pytest.mark.parametrize("name", ["", " ", "x" * 61, "a\0b", "a\u202eb", "\ud800", "\u200b"])
def test_a_name_that_cannot_be_used_is_refused(world: World, name: str) -> None:
    assert "the name" in world.refused(agents.register, world.agent(), name)


def test_who_takes_the_name_of_one_that_is_gone_is_another(world: World) -> None:
    gone = world.write(agents.register, world.agent("claude"), "Ada")
    task = world.task()
    world.write(claims.claim, gone, task, by=gone)
    world.write(agents.disconnect, gone)
    new = world.write(agents.register, world.agent("claude"), "ada")
    assert (new.name, new.id != gone.id) == ("ada-2", True)
    assert world.get(task)["claim_lapsed"] == "Ada"


def test_an_agent_that_comes_back_with_its_token_has_its_name_tasks_and_answers(world: World) -> None:
    gone = world.write(agents.connect, "claude", world.process, "secret of the first")
    gone = world.write(agents.register, gone, "Ada")
    task, own = world.task("old"), world.task("own")
    world.write(claims.claim, gone, task, by=gone)
    question = world.write(talk.ask, "?", by=gone)["id"]
    world.write(agents.disconnect, gone)
    assert connected(world) == []
    assert [one["asker_gone"] for one in world.read(talk.waiting)] == [True]

    new = world.agent("claude")
    world.write(claims.claim, new, own, by=new)
    asked = world.write(talk.ask, "own?", by=new)["id"]
    heir = world.write(agents.come_back, "secret of the first", "claude", world.process)
    assert heir == gone
    assert not world.read(talk.waiting)[0]["asker_gone"]
    world.write(agents.succeed, new, heir)
    assert connected(world) == ["Ada"]
    for id_ in (task, own):
        assert world.get(id_)["claimed_by"] == "Ada"
        assert "works on" in world.refused(claims.claim, world.agent("x"), id_)
    for id_ in (question, asked):
        world.write(talk.answer, id_, text="yes")
    assert [one["id"] for one in world.read(talk.answered, heir.id)] == [question, asked]
    assert "no agent of this board has that agentToken" in world.refused(agents.come_back, "x", "c", world.process)
    assert "secret of the first" not in repr(world.everything())


def test_the_claims_of_an_agent_that_leaves_lapse_for_all_to_see(world: World) -> None:
    agent = world.agent()
    task = world.task("half done")
    world.write(claims.claim, agent, task, by=agent)
    world.write(agents.disconnect, agent, "another process")
    assert connected(world) == [agent.name]  # it has come back elsewhere
    world.write(agents.disconnect, agent, world.process)
    assert [one["id"] for one in world.read(views.ready)[0]] == [task]
    for shown in (world.get(task), world.read(views.listed)[0][0], world.read(views.ready)[0][0]):
        assert (shown["claimed_by"], shown["claim_lapsed"]) == (None, agent.name)
    lapsed = sa.select(tables.changes.c.ref, tables.changes.c.text).where(tables.changes.c.action == "lapsed")
    assert world.read(lambda at: at.connection.execute(lapsed).all()) == [(task, "half done")]
    assert world.said(task)[-1][1] == f"the claim has lapsed: {agent.name} is gone"


def test_an_agent_that_leaves_nothing_is_forgotten_and_its_name_is_free(world: World) -> None:
    agent = world.agent("claude")
    world.write(agents.disconnect, agent)
    assert world.agent("claude").name == "claude"
    assert len(world.everything()["agents"]) == 1


def test_an_agent_that_leaves_a_claim_is_remembered(world: World) -> None:
    agent = world.agent("claude")
    task = world.task()
    world.write(claims.claim, agent, task, by=agent)
    world.write(agents.disconnect, agent)
    assert world.agent("claude").name == "claude-2"
    assert world.get(task)["claim_lapsed"] == "claude"


def test_the_agents_of_a_process_that_ends_are_gone(world: World) -> None:
    one, other = world.agent("one"), world.agent("other", "elsewhere 1 abc")
    world.write(agents.end, world.process)
    assert connected(world) == [other.name]
    assert one.name == "one"


def test_the_agents_of_a_process_that_was_killed_are_gone_at_the_next_sign_of_life_of_another(world: World) -> None:
    code = "from lsp_mcp.board.processes import new_name; print(new_name(), flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.PIPE) as child:
        assert child.stdout
        name = child.stdout.readline().decode().strip()
        agent = world.agent("claude", name)
        task = world.task()
        world.write(claims.claim, agent, task, by=agent)
        world.write(agents.beat, world.process)
        assert connected(world) == ["claude"]
        child.kill()
    assert wait_gone(child.pid)
    assert world.read(agents.are_others, world.process)
    world.write(agents.beat, world.process)
    assert connected(world) == []
    assert [one["id"] for one in world.read(views.ready)[0]] == [task]


def test_a_silent_process_of_another_machine_is_gone_until_it_speaks_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = "elsewhere 17 abc"
    agent = world.agent("claude", there)
    clock = [0.0]
    monkeypatch.setattr(agents, "monotonic", lambda: clock[0])
    has_gone = agents.Sightings().has_gone
    for time in (0.0, agents.SILENT):
        clock[0] = time
        world.write(agents.beat, world.process, has_gone)
        assert connected(world) == ["claude"]
    clock[0] += 1
    world.write(agents.beat, world.process, has_gone)
    assert connected(world) == []
    assert world.read(agents.are_others, there)
    world.write(agents.beat, there)
    assert connected(world) == [agent.name]


def test_nobody_beats_on_a_board_without_agents(world: World) -> None:
    assert not world.read(agents.are_others, world.process)


def test_a_process_is_known_to_have_ended_only_on_its_own_machine() -> None:
    own = processes.new_name()
    assert own != processes.new_name()
    assert str(os.getpid()) in own.split()
    assert not processes.has_ended(own)
    for name in ("", "x", "elsewhere 1 abc", "elsewhere 99999999 abc"):
        assert not processes.has_ended(name)
