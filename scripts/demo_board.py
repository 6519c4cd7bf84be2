"""`make demo BACKEND=board`: two agents and a person on one board, all real. See `demo`."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
from demo_screen import Asker, Screen
from mcp import Client, StdioServerParameters

_PROGRAM = Path(sys.executable).with_name("lsp-mcp")
_CODE = "package shelf\n\n// Find looks an item up.\nfunc Find(id string) string {\n\treturn id\n}\n"


async def demo(screen: Screen) -> None:
    """Open a board in a new folder; agents work on it over stdio while a person answers as the page does."""
    with tempfile.TemporaryDirectory(prefix="lsp-mcp-demo-") as name:
        folder = Path(name).resolve() / "shelf"
        folder.mkdir()
        (folder / "shelf.go").write_text(_CODE)
        async with _board(folder) as link:
            screen.title("A board opens in your browser")
            screen.say(f"  {link}")
            async with _person(link) as person, _agent(folder) as one, _agent(folder) as two:
                await _work(screen, person, Asker(screen, one), Asker(screen, two))


async def _work(screen: Screen, person: httpx.AsyncClient, one: Asker, two: Asker) -> None:
    screen.title("A person plans")
    first = await _post(person, "/api/tasks", title="Find must not return unknown ids", tags=["bug"], stage="Prepare")
    await _post(person, "/api/tasks", title="Describe the shelf in the README", tags=["docs"])
    screen.say(f"  two cards on the page: {first['id']} and another", "dim")

    screen.title("The first agent")
    await one.ask("register_agent", preferredName="ada")
    await one.ask("list_ready_tasks")
    claimed = json.loads(await one.ask("claim_task", id=first["id"]))
    await one.ask("update_task", id=claimed["id"], stage="Implement", anchors=["go://shelf.go#4:6"])
    await one.ask(
        "add_to_task",
        id=claimed["id"],
        section="Findings",
        content="`Find` returns its argument: no shelf is looked at.",
    )
    question = json.loads(
        await one.ask(
            "ask_user",
            question="What should Find return for an unknown id?",
            options=[{"id": "error", "label": "An error"}, {"id": "empty", "label": "An empty string"}],
            taskId=claimed["id"],
            priority="high",
        )
    )

    screen.title("The second agent, at the same time")
    await two.ask("register_agent", preferredName="grace")
    await two.ask("find_tasks_by_anchor", anchor="go://shelf.go#4:6")
    screen.say("  ada's task cannot be taken, so the next one is:", "dim")
    await two.ask("claim_task")

    screen.title("The person answers on the page, while ada waits")
    waiting = asyncio.create_task(one.ask("get_response", questionId=question["questionId"], wait_seconds=30))
    await _post(person, f"/api/questions/{question['questionId']}/answer", option="error", text="and say which id")
    await waiting

    screen.title("Done")
    await one.ask("complete_task", id=claimed["id"])
    await one.ask("notify_user", message="Find reports unknown ids.", level="success", taskId=claimed["id"])
    await one.ask("get_task", id=claimed["id"])
    screen.say("  Yours:  lsp-mcp board", "bold")


@asynccontextmanager
async def _board(folder: Path) -> AsyncIterator[str]:
    """The link to the page of a board that runs until the context ends."""
    words = ("board", "--workspace-root", str(folder), "--port", "0", "--no-open")
    process = await asyncio.create_subprocess_exec(str(_PROGRAM), *words, stdout=asyncio.subprocess.PIPE)
    assert process.stdout
    try:
        printed = ""
        while not (found := re.search(r"http://localhost\S+", printed)):
            line = await process.stdout.readline()
            if not line:
                raise RuntimeError(f"the board did not start: {printed}")
            printed += line.decode()
        yield found[0]
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def _person(link: str) -> AsyncIterator[httpx.AsyncClient]:
    """What the page asks with."""
    address = link.partition("/open")[0]
    async with httpx.AsyncClient(base_url=address, headers={"Origin": address}) as client:
        await client.get(link)
        yield client


async def _post(person: httpx.AsyncClient, path: str, **body: Any) -> dict[str, Any]:
    answer = await person.post(path, json=body)
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


@asynccontextmanager
async def _agent(folder: Path) -> AsyncIterator[Client]:
    """An agent with a server of its own, on stdio."""
    words = ["board", "--mcp", "--workspace-root", str(folder)]
    async with Client(StdioServerParameters(command=str(_PROGRAM), args=words)) as client:
        yield client
