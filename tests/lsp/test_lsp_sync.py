"""Several callers at once, and files that change in the meantime: nobody gets an answer of an older state."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from fakes.bounded import bounded, gone, steps, told
from fakes.gaps import news_of
from fakes.workspace import FakeWorkspace, do
from lsp_mcp.errors import SilentError
from lsp_mcp.requests.asking import Answered, settled

LOADS = """
[changes]
load_request = "test/load"
load_most = 5
"""


def loaded(fake: FakeWorkspace, life: int = 1) -> list[str]:
    return [params["textDocument"]["uri"].rpartition("/")[2] for params in fake.params("test/load", life)]


@bounded
async def test_changed_sources_are_loaded_by_a_command(fake: FakeWorkspace) -> None:
    async with fake.session(LOADS + 'load_command_field = "URI"\n') as session:
        await session.sync()
        written = fake.write("a.txt", "x")
        await session.sync()
        (params,) = fake.params("workspace/executeCommand")
        assert params == {"command": "test/load", "arguments": [{"URI": written.as_uri()}]}


@bounded
async def test_changed_sources_are_loaded_before_the_question(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/load": [["hold"]], "test/release": [["release"]]}})
    async with fake.session(LOADS) as session:
        await session.sync()
        for name in ("b.txt", "a.txt", "c.md"):
            fake.write(name, "x")
        syncing = asyncio.create_task(session.sync())
        other = asyncio.create_task(session.sync())
        await steps()
        await session.request("test/release", {})
        assert await syncing == await other
        await session.request("test/ask", {})
    assert loaded(fake) == ["a.txt", "b.txt"]
    assert fake.methods().index("test/ask") > fake.methods().index("test/load")


@bounded
async def test_nobody_asks_before_what_another_caller_found_changed_is_loaded(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/load": [["hold"]]}})
    async with fake.session(LOADS) as session:
        await session.sync()
        fake.write("a.txt", "x")
        first = asyncio.create_task(session.sync())
        await session.request("fake/do", do())
        second = asyncio.create_task(session.sync())
        await steps()
        assert not first.done()
        assert not second.done()
        await session.request("fake/do", do(["release"]))
        assert await first == await second
    assert loaded(fake) == ["a.txt"]


@bounded
async def test_what_a_cancelled_caller_left_unloaded_is_loaded_for_the_next(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/load": [["hold"]]}})
    async with fake.session(LOADS) as session:
        await session.sync()
        fake.write("a.txt", "x")
        first = asyncio.create_task(session.sync())
        await session.request("fake/do", do())
        first.cancel()
        await asyncio.wait([first])
        assert first.cancelled()
        second = asyncio.create_task(session.sync())
        await steps()
        await session.request("fake/do", do(["release"]))
        await second
        await session.sync()
    assert loaded(fake) == ["a.txt", "a.txt"]
    assert len(fake.params("$/cancelRequest")) == 1


@bounded
async def test_a_source_that_the_server_cannot_load_stops_nobody(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/load": [["refuse", 0, "no package"]]}})
    async with fake.session(LOADS) as session:
        before = await session.sync()
        fake.write("a.txt", "x")
        assert await session.sync() > before


@bounded
async def test_a_server_that_dies_over_a_changed_source_is_restarted_for_the_question(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/load": [["kill"]]}}, {})
    async with fake.session(LOADS) as session:
        await session.sync()
        fake.write("a.txt", "x")
        await session.sync()
        assert await session.request("fake/do", do(["answer", "second life"])) == "second life"
        assert await news_of(session) == ["fake restarted"]


@bounded
async def test_a_sync_during_a_restart_waits_for_the_new_server(fake: FakeWorkspace) -> None:
    fifo = fake.fifo()
    # The new server stops in the middle of `initialize`, until the file is there.
    fake.script({}, {"rules": {"initialize": [["tell", str(fifo)], ["wait_for_file", "go"]]}})
    path = fake.write("a.txt", "one")
    async with fake.session() as session:
        await session.documents.open(path)
        before = await session.sync()
        os.kill(fake.pids()[0], signal.SIGKILL)
        await gone(fake.pids()[0])
        await told(fifo)
        path.write_text("two")
        syncs = [asyncio.create_task(session.sync()) for _ in range(3)]
        text = asyncio.create_task(session.documents.open(path))
        await steps()
        assert not any(task.done() for task in (*syncs, text))
        (fake.folder / "go").write_text("")
        generations = await asyncio.gather(*syncs)
        assert min(generations) > before
        assert (await text).content == "two"
        await session.request("fake/do", do())
    sent = [params["textDocument"]["text"] for params in fake.params("textDocument/didOpen", life=2)]
    assert sent == ["two"]


@bounded
async def test_a_change_in_the_middle_of_a_question_has_it_asked_again(fake: FakeWorkspace) -> None:
    path = fake.write("a.txt", "one")
    seen: list[str] = []
    async with fake.session() as session:

        async def ask() -> Any:
            text = await session.documents.open(path)
            seen.append(text.content)
            if len(seen) == 1:
                path.write_text("two")
            return await session.request("fake/do", do(["answer", len(seen)]))

        assert await settled(session, ask) == Answered(2)
    assert seen == ["one", "two"]


@bounded
async def test_many_callers_and_many_changes_end_in_what_is_on_disk(fake: FakeWorkspace) -> None:
    paths = [fake.write(f"{n}.txt", "0") for n in range(8)]
    fake.script({"rules": {"test/ask": [["answer", "x"]]}})
    async with fake.session() as session:

        async def caller(number: int) -> None:
            for turn in range(20):
                path = paths[(number + turn) % len(paths)]
                path.write_text(f"{number} {turn}")
                await session.sync()
                await session.documents.open(path)
                await session.request("test/ask", {})
                if turn == 10 and number == 0:
                    os.kill(fake.pids()[-1], signal.SIGKILL)

        await asyncio.gather(*(caller(number) for number in range(6)))
        await session.sync()
        await session.request("fake/do", do())
        believed = {path: (await session.documents.text(path)).content for path in paths}
    life = len(fake.pids())
    texts: dict[str, str] = {}
    for message in fake.received(life):
        if message.get("method") == "textDocument/didOpen":
            texts[message["params"]["textDocument"]["uri"]] = message["params"]["textDocument"]["text"]
        elif message.get("method") == "textDocument/didChange":
            texts[message["params"]["textDocument"]["uri"]] = message["params"]["contentChanges"][0]["text"]
    assert life == 2
    assert believed == {path: path.read_text() for path in paths}
    assert texts == {path.as_uri(): path.read_text() for path in paths}


@bounded
async def test_what_a_caller_that_fails_has_not_told_the_server_is_told_by_the_next(
    fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fake.write("a.txt", "one")

    async def fails(_: object) -> set[Path]:
        raise SilentError("the editor is busy")

    async with fake.session() as session:
        await session.sync()
        await session.documents.open(path)
        fake.write("a.txt", "two")
        with monkeypatch.context() as patched:
            patched.setattr(session._freshness, "_edited", fails)
            with pytest.raises(SilentError):
                await session.sync()
        await session.sync()
        await session.request("fake/do", do())
    (change,) = fake.params("textDocument/didChange")
    assert change["contentChanges"][0]["text"] == "two"
