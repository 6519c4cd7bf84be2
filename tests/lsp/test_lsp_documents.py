"""Open documents: what the server has of a file is what is on disk, and only so many stay open."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.bounded import bounded, gone, told
from fakes.workspace import FakeWorkspace, do, request
from lsp_mcp.adapters import Adapter, Language
from lsp_mcp.disk.files import Files
from lsp_mcp.errors import PathError
from lsp_mcp.lsp.life import documents as documents_module
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.lsp.session import Session
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.servers.traits import Documents as DocumentRules
from lsp_mcp.uris import uri_path

WATCH_ALL = do(
    request(
        "r",
        "client/registerCapability",
        {
            "registrations": [
                {
                    "id": "all",
                    "method": "workspace/didChangeWatchedFiles",
                    "registerOptions": {"watchers": [{"globPattern": "**/*"}]},
                }
            ]
        },
    )
)


def uris(params: list[Any]) -> list[str]:
    """The last parts of the documents' URIs."""
    return [param["textDocument"]["uri"].rpartition("/")[2] for param in params]


def versions(fake: FakeWorkspace, life: int = 1) -> dict[str, int]:
    """The version of each document that the server has open, as it was told; none was ever told twice."""
    known: dict[str, int] = {}
    last = 0
    for message in fake.received(life):
        if not message.get("method", "").startswith("textDocument/did"):
            continue
        name, version = uris([message["params"]])[0], message["params"]["textDocument"].get("version")
        if message["method"] == "textDocument/didClose":
            del known[name]
        elif version is not None:
            assert version > last
            known[name] = last = version
    return known


# --- opening -----------------------------------------------------------------------------------------


@bounded
async def test_a_document_is_opened_once_with_its_text_and_language(fake: FakeWorkspace) -> None:
    path = fake.write("sub/ä b.txt", "one 😀\r\ntwo")
    async with fake.session() as session:
        assert session.documents.version(path) is None
        assert (await session.documents.open(path)).content == "one 😀\r\ntwo"
        assert (await session.documents.open(path)).content == "one 😀\r\ntwo"
        version = session.documents.version(path)
        assert version is not None
        await session.request("fake/do", do())
    assert fake.params("textDocument/didOpen") == [
        {
            "textDocument": {
                "uri": f"{fake.root.as_uri()}/sub/%C3%A4%20b.txt",
                "languageId": "plaintext",
                "version": version,
                "text": "one 😀\r\ntwo",
            }
        }
    ]


@bounded
@pytest.mark.parametrize(("name", "content"), [("a.py", b"x"), ("a.txt", b"\0"), ("a.txt", b"\xff"), ("a.txt", None)])
async def test_what_cannot_be_opened_is_an_error_and_the_server_hears_nothing_of_it(
    fake: FakeWorkspace, name: str, content: bytes | None
) -> None:
    path = fake.root / name
    if content is not None:
        path.write_bytes(content)
    async with fake.session() as session:
        with pytest.raises(PathError):
            await session.documents.open(path)
        assert session.documents.version(path) is None
        await session.request("fake/do", do())
    assert fake.params("textDocument/didOpen") == []


@bounded
async def test_the_text_of_a_document_is_what_the_server_has_and_of_other_files_what_is_on_disk(
    fake: FakeWorkspace,
) -> None:
    opened, other = fake.write("opened.txt", "before"), fake.write("other.txt", "before")
    async with fake.session() as session:
        await session.documents.open(opened)
        opened.write_text("after")
        other.write_text("after")
        assert (await session.documents.text(opened)).content == "before"
        assert (await session.documents.text(other)).content == "after"
        await session.sync()
        assert (await session.documents.text(opened)).content == "after"


@bounded
async def test_no_version_is_used_twice_not_even_for_another_document_or_another_life(fake: FakeWorkspace) -> None:
    a, b = fake.write("a.txt", "a 0"), fake.write("b.txt", "b 0")
    fake.script({}, {})
    async with fake.session() as session:
        for turn in range(1, 4):
            for path in (a, b):
                await session.documents.open(path)
                path.write_text(f"{path.name} {turn}")
            await session.sync()
            a.unlink()
            await session.sync()
            a.write_text("back")
            await session.sync()
        await session.request("fake/do", do())
        first = versions(fake)
        assert first == {"b.txt": session.documents.version(b)}
        await _kill(fake, session)
        await session.documents.open(a)
        await session.request("fake/do", do())
        second = versions(fake, life=2)
        assert second == {"a.txt": session.documents.version(a), "b.txt": session.documents.version(b)}
        assert min(second.values()) > max(first.values())


# --- how many stay open ------------------------------------------------------------------------------


@bounded
async def test_documents_are_closed_when_they_are_too_large_together_but_never_the_last_one(
    fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents_module, "MAX_OPEN_CHARACTERS", 10)
    a, b, c, d = (fake.write(f"{name}.txt", name * size) for name, size in (("a", 4), ("b", 4), ("c", 5), ("d", 20)))
    async with fake.session() as session:

        async def still_open() -> set[str]:
            await session.request("fake/do", do())
            return set(versions(fake))

        await session.documents.open(a)
        await session.documents.open(b)
        assert await still_open() == {"a.txt", "b.txt"}
        await session.documents.open(c)
        assert await still_open() == {"b.txt", "c.txt"}
        await session.documents.open(d)
        assert await still_open() == {"d.txt"}


@bounded
async def test_the_least_recently_used_document_is_closed_first(
    fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents_module, "MAX_OPEN", 3)
    a, b, c, d, e = (fake.write(f"{name}.txt", name) for name in "abcde")
    async with fake.session() as session:
        for path in (a, b, c, a, d, e):
            await session.documents.open(path)
        await session.request("fake/do", do())
        before = versions(fake)
        assert before.keys() == {"a.txt", "d.txt", "e.txt"}
        assert [session.documents.version(path) for path in (a, b, c, d, e)] == [
            before["a.txt"], None, None, before["d.txt"], before["e.txt"]
        ]  # fmt: skip
        await session.documents.open(b)
        await session.request("fake/do", do())
        assert session.documents.version(b) == versions(fake)["b.txt"]
    assert uris(fake.params("textDocument/didOpen")) == ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "b.txt"]
    assert uris(fake.params("textDocument/didClose")) == ["b.txt", "c.txt", "a.txt"]


@given(st.lists(st.tuples(st.sampled_from("abcdefg"), st.booleans()), max_size=30), st.integers(1, 4))
def test_any_sequence_of_questions_leaves_the_last_ones_and_the_pinned_ones_open(
    tmp_path_factory: pytest.TempPathFactory, questions: list[tuple[str, bool]], most: int
) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name in "abcdefg":
        (folder / f"{name}.txt").write_text(name)
    open_there: set[str] = set()

    def notify(method: str, params: Any) -> None:
        uri = params["textDocument"]["uri"]
        if method == "textDocument/didOpen":
            assert uri not in open_there, "opened twice"
            open_there.add(uri)
        else:
            assert method == "textDocument/didClose"
            open_there.remove(uri)

    language = Language(id="plaintext", name="Text", scheme="txt", extensions=(".txt",))
    documents = Documents(Plugin(Adapter(name="fake", title="", command=(), languages=(language,))), Files(), notify)
    used: list[str] = []
    pinned: set[str] = set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents_module, "MAX_OPEN", most)
        for name, pin in questions:
            assert documents.open(folder / f"{name}.txt", pinned=pin).content == name
            if pin:
                pinned.add(name)
            used = [other for other in used if other != name and other not in pinned]
            used += [] if name in pinned else [name]
            used = used[-most:]
            assert open_there == {(folder / f"{name}.txt").as_uri() for name in {*used, *pinned}}


@given(st.lists(st.tuples(st.sampled_from(["open", "read", "end", "write", "said"]), st.sampled_from("abc"))))
def test_no_document_is_closed_before_the_server_has_read_it(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("documents")
    told: dict[Path, int] = {}  # the version of each document that the server has open
    said: dict[Path, int] = {}
    files = Files()

    def notify(method: str, params: Any) -> None:
        path = uri_path(params["textDocument"]["uri"])
        if method == "textDocument/didClose":
            assert told.pop(path) <= said.get(path, -1)
        else:
            assert (method == "textDocument/didOpen") == (path not in told)
            told[path] = params["textDocument"]["version"]

    language = Language(id="plaintext", name="Text", scheme="txt", extensions=(".txt",))
    rules = DocumentRules(close_when_read=True, tell_saved=False)
    plugin = Plugin(Adapter(name="fake", title="", command=(), languages=(language,)))
    plugin.documents = rules
    documents = Documents(plugin, files, notify)
    for number, (step, name) in enumerate(steps):
        path = folder / f"{name}.txt"
        if step == "write" or not path.exists():
            path.write_text(str(number))
            files.forget([path])
            documents.refresh([path])
        match step:
            case "open":
                assert documents.open(path).content == path.read_text()
            case "read" if documents.unread_version(path) is None:
                assert documents.open_to_read(path) == told[path]
            case "end":
                documents.close_if_only_read(path)
            case "said" if path in told:
                said[path] = told[path]
                documents.published(path, told[path])
        assert all(path in documents for path in told)
    for path, version in list(told.items()):
        documents.close_if_only_read(path)
        said[path] = version
        documents.published(path, version)
    assert not any(document.passing for document in documents._open.values())


# --- the disk changes --------------------------------------------------------------------------------


@bounded
async def test_a_changed_text_is_told_with_the_next_version_before_the_next_question(fake: FakeWorkspace) -> None:
    path = fake.write("a.txt", "one")
    async with fake.session() as session:
        before = await session.sync()
        await session.documents.open(path)
        first = session.documents.version(path)
        path.write_text("two")
        after = await session.sync()
        assert (await session.documents.open(path)).content == "two"
        second = session.documents.version(path)
        await session.request("test/ask", {})
        path.write_text("three")
        assert before < after < await session.sync()
        third = session.documents.version(path)
        await session.request("test/ask", {})
    assert first is not None
    assert second is not None
    assert third is not None
    assert first < second < third
    assert fake.params("textDocument/didChange") == [
        {
            "textDocument": {"uri": path.as_uri(), "version": version},
            "contentChanges": [{"text": text}],
        }
        for version, text in ((second, "two"), (third, "three"))
    ]
    edits = [m.removeprefix("textDocument/") for m in fake.methods()[2:-2]]
    assert edits == ["didOpen", "didChange", "didSave", "test/ask", "didChange", "didSave", "test/ask"]


@bounded
async def test_the_same_text_written_again_is_not_told_as_a_change(fake: FakeWorkspace) -> None:
    path = fake.write("a.txt", "one")
    async with fake.session() as session:
        await session.documents.open(path)
        before = session.documents.version(path)
        path.write_text("one")
        replacement = fake.write("a.tmp", "one")
        replacement.replace(path)
        os.utime(path)
        await session.sync()
        await session.request("fake/do", do())
        assert session.documents.version(path) == before == versions(fake)["a.txt"]
    assert fake.params("textDocument/didChange") == []


@bounded
async def test_a_file_that_is_not_open_is_told_only_to_who_watches_it(fake: FakeWorkspace) -> None:
    path = fake.write("a.txt", "one")
    async with fake.session() as session:
        await session.sync()
        path.write_text("two")
        await session.sync()
        await session.request("fake/do", do())
    assert fake.methods() == ["initialize", "initialized", "shutdown", "exit"]


@bounded
@pytest.mark.parametrize("how", ["deleted", "moved away", "binary"])
async def test_a_document_that_is_gone_is_closed_and_its_watcher_hears_of_it(fake: FakeWorkspace, how: str) -> None:
    path = fake.write("a.txt", "one")
    async with fake.session() as session:
        await session.request("fake/do", WATCH_ALL)
        await session.documents.open(path)
        if how == "deleted":
            path.unlink()
        elif how == "moved away":
            path.rename(fake.folder / "elsewhere.txt")
        else:
            path.write_bytes(b"\0")
        await session.sync()
        assert session.documents.version(path) is None
        with pytest.raises(PathError):
            await session.documents.open(path)
        await session.request("fake/do", do())
        path.write_text("back")
        await session.sync()
        await session.documents.open(path)
        await session.request("fake/do", do())
        assert session.documents.version(path) == versions(fake)["a.txt"]
    assert uris(fake.params("textDocument/didClose")) == ["a.txt"]
    assert fake.params("textDocument/didOpen")[1]["textDocument"]["text"] == "back"
    kinds = [event["type"] for params in fake.params("workspace/didChangeWatchedFiles") for event in params["changes"]]
    assert kinds == ([2, 2] if how == "binary" else [3, 1])
    close = fake.methods().index("textDocument/didClose")
    assert fake.methods()[close + 1] == "workspace/didChangeWatchedFiles"


@bounded
async def test_a_document_outside_the_workspace_is_fresh_too(fake: FakeWorkspace) -> None:
    inside, outside = fake.write("in.txt", "in 1"), fake.folder / "out.txt"
    outside.write_text("out 1")
    async with fake.session() as session:
        await session.documents.open(inside)
        await session.documents.open(outside)
        await session.sync()
        outside.write_text("out of the workspace 2")
        generation = await session.sync()
        await session.request("fake/do", do())
        assert fake.params("textDocument/didChange")[-1]["contentChanges"] == [{"text": "out of the workspace 2"}]
        assert session.documents.version(outside) == versions(fake)["out.txt"]
        assert await session.sync() == generation
        # Both at once, in one sync.
        inside.write_text("in 2")
        outside.write_text("out of the workspace, number 3")
        assert await session.sync() > generation
        await session.request("fake/do", do())
        assert versions(fake) == {
            "in.txt": session.documents.version(inside),
            "out.txt": session.documents.version(outside),
        }
        texts = [params["contentChanges"][0]["text"] for params in fake.params("textDocument/didChange")]
        assert sorted(texts[1:]) == ["in 2", "out of the workspace, number 3"]
        outside.unlink()
        await session.sync()
        assert session.documents.version(outside) is None


@bounded
async def test_a_file_that_has_nothing_to_do_with_the_server_does_not_count_as_a_change(fake: FakeWorkspace) -> None:
    async with fake.session() as session:
        before = await session.sync()
        fake.write("server.log", "one more line")
        assert await session.sync() == before
        fake.write("new.txt", "x")
        assert await session.sync() > before


# --- a new server ------------------------------------------------------------------------------------


@bounded
async def test_a_restarted_server_gets_its_documents_again_with_the_present_text(fake: FakeWorkspace) -> None:
    changed, gone_, same = (fake.write(f"{name}.txt", "before") for name in ("changed", "gone", "same"))
    # The second life lets the test act before it is initialized.
    fifo = fake.folder / "fifo"
    os.mkfifo(fifo)
    fake.script({}, {"rules": {"initialize": [["tell", str(fifo)]]}})
    async with fake.session() as session:
        for path in (changed, gone_, same):
            await session.documents.open(path)
        changed.write_text("while it ran")
        await session.sync()
        await session.request("fake/do", do())
        before = versions(fake)
        assert session.documents.version(changed) == before["changed.txt"]
        await _kill(fake)
        changed.write_text("while it was dead")
        gone_.unlink()
        await told(fifo)
        await session.sync()
        await session.request("fake/do", do())
        after = versions(fake, life=2)
        assert after == {"changed.txt": session.documents.version(changed), "same.txt": session.documents.version(same)}
        assert session.documents.version(gone_) is None
        assert min(after.values()) > max(before.values())
    opened = {
        Path(params["textDocument"]["uri"]).name: params["textDocument"]["text"]
        for params in fake.params("textDocument/didOpen", life=2)
    }
    assert opened == {"changed.txt": "while it was dead", "same.txt": "before"}
    assert fake.params("textDocument/didChange", life=2) == []


@bounded
async def test_a_restarted_server_gets_its_documents_before_any_question(fake: FakeWorkspace) -> None:
    path = fake.write("a.txt", "one")
    fake.script({"rules": {"test/ask": [["kill"]]}}, {"rules": {"test/ask": [["answer", "second life"]]}})
    async with fake.session() as session:
        await session.documents.open(path)
        assert await session.request("test/ask", {}) == "second life"
    assert fake.methods(life=2)[:4] == ["initialize", "initialized", "textDocument/didOpen", "test/ask"]


@bounded
async def test_a_restarted_server_keeps_what_was_pinned_and_what_was_used_last(
    fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents_module, "MAX_OPEN", 2)
    a, b, c, d = (fake.write(f"{name}.txt", name) for name in "abcd")
    async with fake.session() as session:
        session._documents.open(a, pinned=True)
        for path in (b, c, b):
            await session.documents.open(path)
        await session.request("fake/do", do())
        await _kill(fake, session)
        await session.documents.open(d)
        await session.request("fake/do", do())
    assert uris(fake.params("textDocument/didOpen", life=2)) == ["a.txt", "c.txt", "b.txt", "d.txt"]
    assert uris(fake.params("textDocument/didClose", life=2)) == ["c.txt"]


@bounded
async def test_a_death_while_documents_are_reopened_is_survived(fake: FakeWorkspace) -> None:
    paths = [fake.write(f"{n}.txt", str(n)) for n in range(10)]
    fake.script({}, {"rules": {"textDocument/didOpen": [["kill"]]}}, {})
    async with fake.session() as session:
        for path in paths:
            await session.documents.open(path)
        await session.request("fake/do", do())
        await _kill(fake, session)
        assert await session.request("fake/do", do(["answer", "third life"])) == "third life"
    assert uris(fake.params("textDocument/didOpen", life=3)) == [path.name for path in paths]
    assert len(fake.params("textDocument/didOpen", life=2)) == 1


@bounded
async def test_what_changed_while_the_server_was_dead_is_told_to_nobody_twice(fake: FakeWorkspace) -> None:
    path = fake.write("a.txt", "one")
    fake.script({"rules": {"initialized": [["send", WATCH_ALL["actions"][0][1]]]}})
    async with fake.session() as session:
        await session.documents.open(path)
        await session.request("fake/do", do())
        path.write_text("two")
        await _kill(fake)
        await session.request("fake/do", do())
        await session.sync()
        path.write_text("three")
        await session.sync()
        await session.request("fake/do", do())
    assert [params["textDocument"]["text"] for params in fake.params("textDocument/didOpen", life=2)] == ["two"]
    changes = fake.params("textDocument/didChange", life=2)
    assert [params["contentChanges"][0]["text"] for params in changes] == ["three"]
    (opened,) = fake.params("textDocument/didOpen", life=2)
    assert changes[0]["textDocument"]["version"] > opened["textDocument"]["version"]


async def _kill(fake: FakeWorkspace, session: Session | None = None) -> None:
    """End the server, and wait until `session` has seen it."""
    pid = fake.pids()[-1]
    os.kill(pid, signal.SIGKILL)
    await gone(pid)
    if session and session._lifetime.connection:
        await asyncio.wait([session._lifetime.connection.dead])
