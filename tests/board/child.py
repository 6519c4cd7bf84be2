"""What tests run as processes of their own: `child("write", url, …)`. Each line that it prints is an event."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from lsp_mcp.board import agents, claims, stages, talk, tasks, views
from lsp_mcp.board.board import Board
from lsp_mcp.board.participants import Participants
from lsp_mcp.board.processes import new_name
from lsp_mcp.board.store import PERSON, Actor, Store, Transaction
from lsp_mcp.errors import LspMcpError, UnavailableError


def child(*words: str, **options: Any) -> subprocess.Popen[str]:
    """This file as a process; its standard output is a pipe."""
    return subprocess.Popen(
        [sys.executable, __file__, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
    )


def say(value: Any) -> None:
    """A line that is out once this returns."""
    os.write(1, f"{json.dumps(value)}\n".encode())


def migrate(url: str) -> None:
    """Say so when ready; open the store on a line of input."""
    say("ready")
    sys.stdin.readline()
    try:
        store = Store(url)
        store.write(stages.fill)
        say(len(store.read(stages.listed)))
    except LspMcpError as error:
        say(str(error))


def claim(url: str, threads: str) -> None:
    """Claim tasks in threads until there are none, and print all."""
    store = Store(url)
    process = new_name()
    got: list[str] = []

    def work() -> None:
        agent: Actor = store.write(lambda at: agents.connect(at, "worker", process))
        while True:
            try:
                got.append(store.write(lambda at: claims.claim(at, agent, None), agent)["id"])
            except LspMcpError:
                return

    say("ready")
    sys.stdin.readline()
    running = [threading.Thread(target=work) for _ in range(int(threads))]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    say(got)


def write(url: str, end: str, *firsts: str) -> None:
    """One process for each number of `firsts`, which writes from there up to `end`. Prints their pids, then goes on."""
    pids = []
    for writer, first in enumerate(firsts):
        if pid := os.fork():
            pids.append(pid)
            continue
        sys.stdin.readline()  # the first who reads gets the line, the others the end of the input
        write_from(url, f"writer-{writer}", int(first), int(end))
        os._exit(0)
    say(pids)
    for pid in pids:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # all keep their numbers until all have ended


def write_from(url: str, name: str, first: int, end: int) -> None:
    """Write, and print what each write that was acknowledged has made; of three kinds."""
    store = Store(url)
    agent = Actor(name, None)

    def write(work: Callable[[Transaction], Any]) -> Any:
        while True:
            try:
                return store.write(work, agent)
            except UnavailableError as error:
                if not str(error).endswith("try again."):
                    raise

    for number in range(first, end):
        title = f"{name} {number}"
        made = write(lambda at, title=title: tasks.create(at, title, tags=[name]))["id"]
        say([number, "created", made])
        if number % 3 == 0:
            write(lambda at, made=made, text=title: tasks.append(at, made, text, "Log"))
            say([number, "appended", made])
        elif number % 3 == 1:
            write(lambda at, made=made: tasks.move(at, made, "Done"))
            say([number, "moved", made])
        else:
            id_ = write(lambda at, text=title: talk.notify(at, text))["id"]
            say([number, "notified", str(id_)])


def fill_disk(url: str) -> None:
    """Write until that fails for a file that may not become larger; then read the file."""
    import resource

    store = Store(url)
    store.write(stages.fill)
    size = store.file.stat().st_size if store.file else 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 400_000, resource.RLIM_INFINITY))
    written = 0
    while True:
        try:
            store.write(lambda at: tasks.create(at, "a task", description="x" * 50_000), PERSON)
            written += 1
        except LspMcpError as error:
            say([written, str(error)])
            break
    say(store.read(lambda at: views.listed(at, limit=1_000))[1])
    try:
        store.write(lambda at: tasks.create(at, "one more", description="x" * 100_000), PERSON)
    except LspMcpError as error:
        say(str(error))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    store.write(lambda at: tasks.create(at, "there is room again"), PERSON)
    say(store.read(lambda at: views.listed(at, limit=1_000))[1])


def use(url: str) -> None:
    """Open a store, read it and write into it; the error of each step."""
    try:
        store = Store(url)
    except LspMcpError as error:
        say(str(error))
        return
    for step in (lambda: store.read(stages.listed), lambda: store.write(lambda at: tasks.create(at, "x"))):
        try:
            say(len(step()))
        except LspMcpError as error:
            say(str(error))


def follow(url: str) -> None:
    """Print the events of a board; do what lines of input say: a title to be created, or `look ID` to be looked at."""

    async def run() -> None:
        board = Board(Store(url))
        participants = Participants(board)
        loop = asyncio.get_running_loop()
        lines: asyncio.Queue[str] = asyncio.Queue()
        await board.begin()
        with board.listening() as listener:
            agent = await participants.actor("key", "follower")

            def read() -> None:
                for line in sys.stdin:
                    loop.call_soon_threadsafe(lines.put_nowait, line.strip())
                loop.call_soon_threadsafe(lines.put_nowait, "")

            async def show() -> None:
                async for event in listener:
                    say([event.type, event.data])

            showing = asyncio.create_task(show())
            threading.Thread(target=read, daemon=True).start()
            say("ready")
            while line := await lines.get():
                if line.startswith("look "):
                    board.looked_at(agent, "task", [line.removeprefix("look ")])
                else:
                    await board.write(lambda at, title=line: tasks.create(at, title), agent)
            showing.cancel()
        await board.close()

    asyncio.run(run())


if __name__ == "__main__":
    {one.__name__: one for one in (migrate, claim, write, fill_disk, use, follow)}[sys.argv[1]](*sys.argv[2:])
