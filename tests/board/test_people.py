"""People: names, mentions, tasks of theirs, links that can be revoked."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2

from board.boards import World
from board.running import ENV, TOKEN, Running, running
from lsp_mcp.board import agents, claims, people, tasks, views
from lsp_mcp.board.store import Actor, Store
from mcp_process import BOUND


def person(world: World, name: str) -> Actor:
    return people.as_actor(world.write(people.come, name))


def said(world: World, who: Actor) -> list[str]:
    return [one["text"] for one in world.read(people.said_to, who.person, 10)]


def test_a_person_is_one_by_name_and_shares_it_with_no_agent(world: World) -> None:
    ada = person(world, "Ada")
    assert person(world, " ada ") == ada
    assert world.agent("Ada").name != "ada"
    world.agent("claude")
    assert "an agent is called Claude" in world.refused(people.come, "Claude")
    grace = person(world, "Grace")
    assert "another person is called" in world.refused(people.rename, grace.person, "ADA")
    assert world.write(people.rename, grace.person, "Hopper") == "Hopper"
    assert [one["name"] for one in world.read(people.listed)] == ["Ada", "Hopper"]


def test_history_and_comments_say_which_person_it_was(world: World) -> None:
    ada, grace = person(world, "Ada"), person(world, "Grace")
    id_ = world.write(tasks.create, "a task", by=ada)["id"]
    world.write(tasks.update, id_, priority=0, by=grace)
    world.write(tasks.comment, id_, "Why?", by=grace)
    assert [name for name, _ in world.said(id_)] == ["Ada", "Grace"]
    assert [one["who"] for one in world.get(id_)["comments"]] == ["Grace"]
    assert "Grace: changed priority" in world.refused(tasks.update, id_, title="x", expected_revision=1, by=ada)


def test_a_task_is_given_to_a_person_whose_claim_does_not_lapse(world: World) -> None:
    ada, grace, agent = person(world, "Ada"), person(world, "Grace"), world.agent()
    id_ = world.task("a task")
    world.write(claims.assign, id_, ada.person, by=grace)
    assert (world.get(id_)["claimed_by"], world.get(id_)["claim_lapsed"]) == ("Ada", None)
    assert said(world, ada) == [f"Grace gave you {id_} (a task): work on it"]
    assert world.read(views.ready) == ([], 0)
    assert "Ada works on" in world.refused(claims.claim, agent, id_, by=agent)
    assert "Ada works on" in world.refused(tasks.update, id_, title="x", by=agent)
    world.write(tasks.update, id_, title="x", force=True, by=agent)
    assert "changed" in said(world, ada)[0]
    world.write(claims.assign, id_, agent.id, by=grace)
    assert said(world, ada)[0].endswith(f"to {agent.name}: stop working on it")
    world.write(claims.assign, id_, ada.person, by=ada)
    assert len(said(world, ada)) == 3  # nobody is told what they did


def test_a_mention_reaches_the_person_or_agent_and_nobody_with_a_longer_name(world: World) -> None:
    ada, other, agent = person(world, "Ada"), person(world, "Ada Two"), world.agent("claude")
    id_ = world.task("a task")
    world.write(tasks.comment, id_, "@ada two: look; mail me@ada.org; @Claude, too", by=ada)
    assert said(world, ada) == []
    assert said(world, other) == [f"Ada mentions you on {id_} (a task): @ada two: look; mail me@ada.org; @Claude, too"]
    told = [row for row in world.everything()["changes"] if "'told'" in row]
    assert len(told) == 1
    assert str(agent.id) in told[0]


def test_two_boards_on_one_database_know_each_others_people(new_store: Callable[[], str]) -> None:
    url = new_store()
    with closing(Store(url)) as one, closing(Store(url)) as two:
        one.write(lambda at: people.come(at, "Ada"))
        assert [row["name"] for row in two.read(people.listed)] == ["Ada"]


def test_the_mentions_of_an_agent_are_in_its_next_answer_and_survive_nothing_else(world: World) -> None:
    agent = world.agent("claude")
    world.write(agents.disconnect, agent)
    id_ = world.task()
    world.write(tasks.comment, id_, f"@{agent.name} look")  # it is gone: the comment stays on the task
    assert world.get(id_)["comments"][0]["text"] == f"@{agent.name} look"


# --- links -------------------------------------------------------------------------------------------


def enter(board: Running, name: str | None = None) -> httpx2.Client:
    """A browser that has opened a link, for the person of that name."""
    address = f"http://localhost:{board.port}"
    client = httpx2.Client(base_url=address, headers={"Origin": address}, timeout=30)
    body = {} if name is None else {"as": name}
    link = client.post("/link", json=body, headers={"Authorization": f"Bearer {TOKEN}"}).json()["link"]
    assert client.get(link).status_code == 200
    return client


def me(client: httpx2.Client) -> Any:
    return client.get("/api/workspace").json()["me"]["name"]


def test_what_a_page_without_a_link_recommends_works_on_whatever_port_the_board_has(tmp_path: Path) -> None:
    with running(tmp_path, "--port", "0") as board:
        address = f"http://localhost:{board.port}"
        refused = httpx2.get(address)
        assert refused.status_code == 401
        (words,) = re.findall(r"^ +lsp-mcp (board .*)$", refused.text, re.M)
        command = [sys.executable, "-m", "lsp_mcp", *words.split()]
        done = subprocess.run(
            command, cwd=tmp_path, env=ENV, capture_output=True, text=True, timeout=BOUND, check=False
        )
        assert done.stdout.startswith(f"{address}/open?key="), done.stderr
        with httpx2.Client() as browser:
            assert browser.get(done.stdout.strip()).status_code == 200
            assert browser.get(address).status_code == 200


def test_a_link_is_for_a_person_who_cannot_become_another_and_can_be_revoked(tmp_path: Path) -> None:
    with (
        running(tmp_path, "--port", "0", "--as", "Olive") as board,
        closing(enter(board)) as olive,
        closing(enter(board, "Bob")) as bob,
    ):
        assert (me(olive), me(bob)) == ("Olive", "Bob")
        id_ = bob.post("/api/tasks", json={"title": "by Bob"}).json()["id"]
        assert olive.get(f"/api/tasks/{id_}").json()["history"][0]["who"] == "Bob"
        refused = bob.post("/api/me", json={"name": "Olive"})
        assert (refused.status_code, refused.json()["error"]) == (400, "another person is called Olive.")
        assert bob.post("/api/me", json={"name": "Robert"}).status_code == 200
        assert me(bob) == "Robert"
        assert olive.post("/api/me", json={"name": "Popeye"}).json()["name"] == "Popeye"
        assert me(olive) == "Popeye"
        cookie = next(iter(bob.cookies.jar))
        forged = re.sub(r"^p-\w+", "p-00000", str(cookie.value))
        headers = {"Cookie": f"{cookie.name}={forged}"}
        assert httpx2.get(f"http://localhost:{board.port}/api/board", headers=headers).status_code == 401
        with bob.stream("GET", "/api/events") as events:
            command = [sys.executable, "-m", "lsp_mcp", "board", "people", "--revoke", "robert"]
            done = subprocess.run(
                [*command, "--workspace-root", str(tmp_path)], capture_output=True, timeout=BOUND, check=False
            )
            assert done.stdout.decode().split() == ["Olive", "Popeye", "Robert"], done.stderr
            assert b"ended the links and open pages of robert" in done.stderr
            for _ in events.iter_lines():  # until the server ends it
                pass
        assert bob.get("/api/board").status_code == 401
        assert olive.get("/api/board").status_code == 200
