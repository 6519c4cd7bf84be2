"""Servers that do nothing while they are asked are replaced; servers that work are not."""

from __future__ import annotations

import asyncio
import sys

import pytest

from fakes.bounded import bounded
from fakes.gaps import news_of
from fakes.workspace import FakeWorkspace, do, notification, request
from lsp_mcp.errors import SilentError
from lsp_mcp.requests.asking import settled
from lsp_mcp.requests.references import references
from lsp_mcp.text import Point

STUCK = ["fake was stuck and was restarted"]
SECOND = {"rules": {"test/ask": [["answer", "second life"]]}}


@bounded
@pytest.mark.parametrize("silence", ["stall", "hold"], ids=["to everything", "to one question"])
async def test_a_server_that_does_nothing_is_replaced_and_asked_again(fake: FakeWorkspace, silence: str) -> None:
    fake.script({"rules": {"test/ask": [[silence]]}}, SECOND)
    async with fake.session(request_timeout=20) as session:
        assert await session.request("test/ask", {}) == "second life"
        assert await news_of(session) == STUCK
    assert len(fake.pids()) == 2


@bounded
async def test_a_server_that_does_nothing_while_it_is_initialized_is_replaced(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"initialize": [["stall"]]}}, SECOND)
    async with fake.session(request_timeout=20) as session:
        assert await session.request("test/ask", {}) == "second life"
        assert await news_of(session) == STUCK
    assert fake.methods(life=1) == ["initialize"], "nothing is asked before that is answered"


@bounded
@pytest.mark.parametrize("silence", ["stall", "hold"])
async def test_a_server_whose_child_works_is_not_replaced(fake: FakeWorkspace, silence: str) -> None:
    works = ["spawn", [sys.executable, "-c", "while True: pass"], False]
    fake.script({"rules": {"test/ask": [works, [silence]]}})
    async with fake.session(request_timeout=5) as session:
        with pytest.raises(SilentError, match=r"did not answer test/ask within 5 s.* Ask again, or raise"):
            await session.request("test/ask", {})
    assert len(fake.pids()) == 1


@bounded
async def test_a_server_that_says_that_it_works_and_answers_the_probe_is_not_replaced(fake: FakeWorkspace) -> None:
    begins = notification("$/progress", {"token": 1, "value": {"kind": "begin", "title": "downloading modules"}})
    fake.script({"rules": {"test/ask": [begins, ["hold"]]}})
    async with fake.session(request_timeout=5) as session:
        with pytest.raises(SilentError, match=r"did not answer test/ask within 5 s"):
            await session.request("test/ask", {})
    assert len(fake.pids()) == 1


BY_MTIME = """
[changes]
load_most = 5
goes_by_mtime = true
"""


@bounded
async def test_a_file_without_the_name_that_should_stand_there_is_read_again_once(fake: FakeWorkspace) -> None:
    a, b = fake.write("a.txt", "old\n"), fake.write("b.txt", "new\n")
    stretch = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
    ghosts = [{"uri": path.as_uri(), "range": stretch} for path in (a, b)]
    fake.script({"rules": {"textDocument/references": [["answer", ghosts]]}})
    async with fake.session(BY_MTIME) as session:
        uses = (await settled(session, lambda: references(session, a, Point(1, 1)))).value
    assert [place.path for place in uses.places] == [a, b], "of an open document the server has the text"
    opened = [params["textDocument"]["uri"].rpartition("/")[2] for params in fake.params("textDocument/didOpen")]
    assert opened == ["a.txt", "b.txt"]
    assert len(fake.params("textDocument/references")) == 2


@bounded
async def test_files_without_the_name_that_should_stand_there_replace_the_server_once(fake: FakeWorkspace) -> None:
    paths = [fake.write(f"{number}.txt", "other\n") for number in range(8)]  # more than `load_most`
    stretch = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}}
    ghosts = [{"uri": path.as_uri(), "range": stretch} for path in paths]
    origin = fake.write("origin.txt", "name\n")
    fake.script({"rules": {"textDocument/references": [["answer", ghosts]]}})
    async with fake.session(BY_MTIME) as session:
        for _ in range(2):
            uses = await settled(session, lambda: references(session, origin, Point(1, 1)))
            assert [place.path for place in uses.value.places] == paths
            assert not uses.gaps
    assert len(fake.pids()) == 2


@bounded
async def test_who_gives_up_on_a_replacement_leaves_a_server_that_answers(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"shutdown": [["hold"]]}}, SECOND)
    async with fake.session() as session:
        await session.request("fake/do", do())
        replacing = asyncio.create_task(session._lifetime.renew())
        while not session._lifetime._ending:
            await asyncio.sleep(0)
        replacing.cancel()
        assert await session.request("test/ask", {}) == "second life"
    assert len(fake.pids()) == 2


@bounded
async def test_a_link_that_leads_out_of_the_root_is_told_as_deleted(fake: FakeWorkspace) -> None:
    watchers = {"watchers": [{"globPattern": "**/*.txt"}]}
    registration = {"id": "w", "method": "workspace/didChangeWatchedFiles", "registerOptions": watchers}
    outside = fake.folder / "secret.txt"
    outside.write_text("x")
    async with fake.session() as session:
        await session.sync()
        await session.request("fake/do", do(request(1, "client/registerCapability", {"registrations": [registration]})))
        await session.request("fake/do", do())
        (fake.root / "leads.txt").symlink_to(outside)
        fake.write("plain.txt", "x")
        await session.sync()
        await session.request("fake/do", do())
    (told,) = fake.params("workspace/didChangeWatchedFiles")
    assert [(event["uri"].rpartition("/")[2], event["type"]) for event in told["changes"]] == [
        ("plain.txt", 1),
        ("leads.txt", 3),
    ]
