"""A server that reads a file only when it is opened: what changed, and what includes it, is opened for it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fakes.bounded import bounded, gone, steps, told
from fakes.gaps import missing, news_of
from fakes.workspace import FakeWorkspace, do, notification
from lsp_mcp.backend import Scope, Use
from lsp_mcp.features.finding.passthrough import send
from lsp_mcp.lsp.session import Session
from lsp_mcp.requests.asking import settled
from lsp_mcp.requests.workspace_symbol import workspace_symbols

TABLES = r"""
[ready]
incomplete_pattern = 'Failed to compile (.+), index may be incomplete'

[inactive_regions]
method = "textDocument/inactiveRegions"

[compilation]
load_most = 3
database = "commands.json"
folders = [".", "build"]
argument = "--database={folder}"
index_folder = "index"
own_folders = []
shard_pattern = '(.+)\.[0-9A-F]+\.idx'
include_pattern = '^#include (?:"(.+)")?'
include_options = ["-include", "-imacros"]
how_to_get = "write one"
"""
INDEXING = TABLES.replace("[ready]", '[ready]\nprogress_title = "indexing"')
BEGIN, END = (
    notification("$/progress", {"token": 1, "value": {"kind": kind, "title": "indexing"}}) for kind in ("begin", "end")
)
READS: dict[str, Any] = {"textDocument/didOpen": [["read"]], "textDocument/didChange": [["read"]]}
FIRST = "begin.txt"  # opened so that the server begins to index


class ReadingWorkspace(FakeWorkspace):
    """A workspace whose server reads documents, and a database of what is compiled."""

    @property
    def command(self) -> tuple[str, ...]:
        return (sys.executable, "-I", "-S", str(Path(__file__).with_name("reading_server.py")), str(self.folder))

    def build(self, *names: str, flags: str = "") -> Path:
        """Write a database that compiles these, which need not be there."""
        return self.write("build/commands.json", self.commands(*names, flags=flags))

    def commands(self, *names: str, flags: str = "") -> str:
        """The text of such a database."""
        return json.dumps(
            [{"directory": str(self.root), "file": name, "command": f"cc {flags} {name}"} for name in names]
        )

    @contextlib.asynccontextmanager
    async def reading(self, tables: str = TABLES, **options: Any) -> AsyncIterator[Session]:
        """A session that has seen all that is there now. As in the program, its server is spawned first."""
        async with self.session(tables, **options) as session:
            session.spawn()
            await session.sync()
            yield session

    def told(self, life: int = 1) -> list[str]:
        """What the server was told of documents: `+a.txt one` opened, `~a.txt two` changed, `-a.txt` closed."""
        out = []
        for message in self.received(life):
            document = message.get("params", {}).get("textDocument", {}) if message.get("params") else {}
            name = document.get("uri", "").rpartition("/")[2]
            if name == FIRST:
                continue
            match message.get("method"):
                case "textDocument/didOpen":
                    out.append(f"+{name} {document['text']}".strip())
                case "textDocument/didChange":
                    out.append(f"~{name} {message['params']['contentChanges'][0]['text']}")
                case "textDocument/didClose":
                    out.append(f"-{name}")
        return out

    def version(self, name: str, life: int = 1) -> int:
        """Of the document, as the server was told last."""
        said = [*self.params("textDocument/didOpen", life), *self.params("textDocument/didChange", life)]
        return max(one["textDocument"]["version"] for one in said if one["textDocument"]["uri"].endswith(f"/{name}"))

    def diagnostics(self, name: str, version: int | None) -> list[Any]:
        """The action that publishes that nothing is wrong with it."""
        params = {"uri": (self.root / name).as_uri(), "diagnostics": []}
        return notification("textDocument/publishDiagnostics", {**params, "version": version} if version else params)

    def silent_about(self, *names: str) -> Path:
        """Make the server read nothing but the first file; a named pipe that hears when it gets one of `names`."""
        fifo = self.fifo()
        actions = [["for", name, [["tell", str(fifo)]]] for name in names]
        self.script({"rules": {"textDocument/didOpen": actions, "textDocument/didChange": actions}})
        return fifo


@pytest.fixture
def fake(tmp_path: Path) -> ReadingWorkspace:
    fake = ReadingWorkspace(tmp_path)
    fake.script({"rules": READS})
    return fake


# --- what changed is opened --------------------------------------------------------------------------


async def told_of(session: Session) -> list[str]:
    """The news but for where the database is."""
    return [news for news in await news_of(session) if " uses build/" not in news]


@bounded
async def test_a_changed_file_is_opened_read_and_closed_before_the_question(fake: ReadingWorkspace) -> None:
    path = fake.write("a.txt", "one")
    fake.build("a.txt")
    async with fake.reading() as session:
        before = await session.sync()
        assert fake.told() == []
        path.write_text("two")
        assert await session.sync() > before
        await session.request("test/ask", {})
        assert session.documents.version(path) is None
    assert fake.told() == ["+a.txt two", "-a.txt"]
    assert fake.methods()[-3:] == ["test/ask", "shutdown", "exit"]


@bounded
async def test_nobody_asks_before_the_diagnostics_of_just_that_version_have_come(fake: ReadingWorkspace) -> None:
    path = fake.write("a.txt", "one")
    fake.build("a.txt")
    fifo = fake.silent_about("a.txt")
    async with fake.reading() as session:
        path.write_text("two")
        syncing, other = (asyncio.create_task(session.sync()) for _ in range(2))
        await told(fifo)
        version = fake.version("a.txt")
        for unhelpful in (
            fake.diagnostics("a.txt", None),
            fake.diagnostics("a.txt", version - 1),
            fake.diagnostics("b.txt", version + 1),
        ):
            await session.request("fake/do", do(unhelpful))
            await steps()
            assert not syncing.done()
            assert not other.done()
        await session.request("fake/do", do(fake.diagnostics("a.txt", version)))
        assert await syncing == await other
    assert fake.told() == ["+a.txt two", "-a.txt"]


@bounded
async def test_a_deleted_file_of_the_build_replaces_the_server_once(fake: ReadingWorkspace) -> None:
    # Its index would keep what was defined there.
    path = fake.write("a.txt", "one")
    fake.write("b.txt", "two")
    fake.build("a.txt", "b.txt")
    async with fake.reading() as session:
        before = await session.sync()
        path.unlink()
        after = await session.sync()
        assert after > before
        assert await session.sync() == after
        assert len(fake.pids()) == 2
        assert await told_of(session) == []
    assert [*fake.told(), *fake.told(life=2)] == []


@bounded
async def test_a_deleted_file_of_no_language_replaces_no_server_and_what_includes_it_is_opened(
    fake: ReadingWorkspace,
) -> None:
    path = fake.write("part.inc", "1")
    fake.write("a.txt", '#include "part.inc"')
    fake.build("a.txt")
    async with fake.reading() as session:
        path.unlink()
        await session.sync()
    # That was not a file of the server's: nothing in its index is about it, and opening what includes it is enough.
    assert len(fake.pids()) == 1
    assert fake.told() == ['+a.txt #include "part.inc"', "-a.txt"]


@bounded
async def test_a_deleted_file_that_the_build_leaves_out_replaces_no_server(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", "one")
    path = fake.write("notes.md", "x")
    fake.build("a.txt")
    async with fake.reading() as session:
        path.unlink()
        await session.sync()
        assert len(fake.pids()) == 1


@bounded
async def test_what_includes_a_changed_file_is_opened_too_through_others_also(fake: ReadingWorkspace) -> None:
    fake.write("c.txt", "1")
    fake.write("b.txt", '#include "c.txt"')
    fake.write("a.txt", '#include "b.txt"')
    fake.write("other.txt", "x")
    fake.build("a.txt", "other.txt")
    async with fake.reading() as session:
        fake.write("c.txt", "1, 2")
        await session.sync()
    opened = ['+a.txt #include "b.txt"', '+b.txt #include "c.txt"', "+c.txt 1, 2"]
    assert sorted(fake.told()) == [*opened, "-a.txt", "-b.txt", "-c.txt"]


@bounded
@pytest.mark.parametrize("flags", ["-include force.txt", "-include sub/../force.txt", "-imacros force.txt"])
async def test_what_a_compile_command_includes_counts_as_an_include(fake: ReadingWorkspace, flags: str) -> None:
    fake.write("force.txt", "one")
    fake.write("a.txt", "a")
    fake.write("b.txt", "b")
    fake.build("a.txt", flags=flags)
    async with fake.reading() as session:
        fake.write("force.txt", "two")
        await session.sync()
    assert sorted(fake.told()) == ["+a.txt a", "+force.txt two", "-a.txt", "-force.txt"]


@bounded
async def test_an_open_document_that_changed_is_told_the_change_and_stays_open(fake: ReadingWorkspace) -> None:
    path = fake.write("a.txt", "one")
    fake.build("a.txt")
    async with fake.reading() as session:
        await session.documents.open(path)
        path.write_text("two")
        await session.sync()
        await session.request("fake/do", do())
        assert session.documents.version(path) == fake.version("a.txt")
    assert fake.told() == ["+a.txt one", "~a.txt two"]


@bounded
async def test_an_open_document_that_includes_what_changed_is_opened_again_and_stays_open(
    fake: ReadingWorkspace,
) -> None:
    fake.write("b.txt", "one")
    path = fake.write("a.txt", '#include "b.txt"')
    fake.build("a.txt")
    async with fake.reading() as session:
        await session.documents.open(path)
        fake.write("b.txt", "two")
        await session.sync()
        await session.request("fake/do", do())
        assert session.documents.version(path) == fake.version("a.txt")
    assert [one for one in fake.told() if "a.txt" in one] == [
        '+a.txt #include "b.txt"',
        "-a.txt",
        '+a.txt #include "b.txt"',
    ]


@bounded
async def test_a_document_is_closed_when_the_server_has_read_the_last_text_that_it_was_told(
    fake: ReadingWorkspace,
) -> None:
    fake.write("b.txt", "one")
    path = fake.write("a.txt", '#include "b.txt"')
    fake.build("a.txt")
    fifo = fake.silent_about("a.txt")
    rules = [["for", "a.txt", [["tell", str(fifo)]]], ["for", "b.txt", [["read"]]]]
    fake.script({"rules": dict.fromkeys(READS, rules)})
    async with fake.reading(TABLES + "\n[documents]\nclose_when_read = true\n") as session:
        await session.documents.open(path)
        await told(fifo)
        path.write_text('#include "b.txt"\n')
        fake.write("b.txt", "two")
        syncing = asyncio.create_task(session.sync())
        await told(fifo)
        version = fake.version("a.txt")
        for said in (version - 1, version):
            await steps()
            assert "-a.txt" not in fake.told()
            await session.request("fake/do", do(fake.diagnostics("a.txt", said)))
        await told(fifo)  # it was closed and opened, so that what it includes is read again
        await session.request("fake/do", do(fake.diagnostics("a.txt", fake.version("a.txt"))))
        await syncing
    assert [one.partition(" ")[0] for one in fake.told() if "a.txt" in one] == ["+a.txt", "~a.txt", "-a.txt", "+a.txt"]


@bounded
async def test_what_is_open_only_to_be_read_is_closed_when_it_was_though_nobody_waits_any_more(
    fake: ReadingWorkspace,
) -> None:
    path = fake.write("a.txt", "one")
    fake.build("a.txt")
    fifo = fake.silent_about("a.txt")
    async with fake.reading(TABLES + "\n[documents]\nclose_when_read = true\n") as session:
        path.write_text("two")
        syncing = asyncio.create_task(session.sync())
        await told(fifo)
        syncing.cancel()
        await asyncio.wait([syncing])
        await session.request("fake/do", do())
        assert fake.told() == ["+a.txt two"]
        await session.request("fake/do", do(fake.diagnostics("a.txt", fake.version("a.txt"))))
        await session.request("fake/do", do())
        assert session.documents.version(path) is None
    assert fake.told() == ["+a.txt two", "-a.txt"]


@bounded
async def test_a_file_that_the_build_leaves_out_is_not_opened_because_it_changed(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", "one")
    fake.build("a.txt")
    async with fake.reading() as session:
        fake.write("new.txt", "x")
        fake.write("new.md", "x")
        await session.sync()
    assert fake.told() == []


@bounded
async def test_a_document_that_somebody_asks_about_in_the_meantime_stays_open(fake: ReadingWorkspace) -> None:
    path = fake.write("a.txt", "one")
    fake.build("a.txt")
    fifo = fake.silent_about("a.txt")
    async with fake.reading() as session:
        path.write_text("two")
        syncing = asyncio.create_task(session.sync())
        await told(fifo)
        assert (await session.documents.open(path)).content == "two"
        version = fake.version("a.txt")
        await session.request("fake/do", do(fake.diagnostics("a.txt", version)))
        await syncing
        await session.request("fake/do", do())
        assert session.documents.version(path) == version
    assert fake.told() == ["+a.txt two"]


@bounded
async def test_what_a_cancelled_caller_left_unread_is_read_for_the_next(fake: ReadingWorkspace) -> None:
    path = fake.write("a.txt", "one")
    fake.build("a.txt")
    fifo = fake.silent_about("a.txt")
    async with fake.reading() as session:
        path.write_text("two")
        first = asyncio.create_task(session.sync())
        await told(fifo)
        first.cancel()
        await asyncio.wait([first])
        assert first.cancelled()
        await session.request("fake/do", do())  # it has closed the pipe
        second = asyncio.create_task(session.sync())
        await told(fifo)
        await session.request("fake/do", do(fake.diagnostics("a.txt", fake.version("a.txt"))))
        await second
    assert fake.told() == ["+a.txt two", "-a.txt", "+a.txt two", "-a.txt"]


# --- what is not read --------------------------------------------------------------------------------


@bounded
async def test_diagnostics_that_never_come_hold_nobody_up_longer_than_a_request_and_are_named(
    fake: ReadingWorkspace,
) -> None:
    path = fake.write("a.txt", "a word")
    fake.build("a.txt")
    fifo = fake.silent_about("never")
    async with fake.reading(request_timeout=0.5) as session:
        path.write_text("two words")
        await session.sync()
        late = "fake has not read a.txt in time"
        # Nobody knows what it would have found there.
        assert await missing(session, path, Use("words")) == [late]
        assert await missing(session, path, Use("other")) == [late]
        # The next time it is read, though it did not change.
        syncing = asyncio.create_task(session.sync())
        while fake.told().count("+a.txt two words") < 2:
            await session.request("fake/do", do())
        await session.request("fake/do", do(fake.diagnostics("a.txt", fake.version("a.txt"))))
        await syncing
        assert await missing(session, path, Use("words")) == []
    assert fifo.exists()


@bounded
async def test_an_error_in_a_document_is_named_to_who_asks_about_a_word_in_it(fake: ReadingWorkspace) -> None:
    path = fake.write("a.txt", "x")
    other = fake.write("b.txt", "x")
    fake.build("a.txt", "b.txt")
    async with fake.reading() as session:
        path.write_text("error: no header\na word")
        other.write_text("error: no header either\nanother")
        await session.sync()
        assert await missing(session, other, Use("word")) == [
            "files with errors may have more uses of word: a.txt (error: no header)"
        ]
        assert await missing(session, path, Use("nothing")) == []
        assert await missing(session) == []
        path.write_text("a word")
        await session.sync()
        assert await missing(session, other, Use("word")) == []


@bounded
async def test_of_many_files_with_errors_three_are_named_and_the_others_counted(fake: ReadingWorkspace) -> None:
    names = [f"{n}.txt" for n in range(1, 6)]
    for name in names:
        fake.write(name, "x")
    fake.build(*names)
    async with fake.reading() as session:
        for name in names:
            fake.write(name, f"error {name} word")
            await session.sync()
        assert await missing(session, None, Use("word")) == [
            "files with errors may have more uses of word: 1.txt (error 1.txt word), 2.txt (error 2.txt word), "
            "3.txt (error 3.txt word) and 2 more"
        ]


@bounded
async def test_what_the_server_says_on_stderr_that_it_could_not_index_whole_is_named_too(
    fake: ReadingWorkspace,
) -> None:
    path = fake.write("a.txt", "a word")
    fake.build("a.txt")
    said = f"E[12:00] Failed to compile {path}, index may be incomplete\n"
    fifo = fake.fifo()
    fake.script({"rules": {**READS, "test/say": [["stderr", said, 1]], "test/end": [["tell", str(fifo)], ["kill"]]}})
    async with fake.reading() as session:
        await session.request("test/say", {})
        # It comes another way than answers do.
        while not (notes := await missing(session, None, Use("word"))):
            await session.request("fake/do", do())
        assert notes == ["files with errors may have more uses of word: a.txt (could not be compiled to its end)"]
        assert await missing(session, None, Use("other")) == []
        path.write_text("a word, in order now")
        await session.sync()
        assert await missing(session, None, Use("word")) == []


@bounded
async def test_a_part_of_other_files_that_has_errors_alone_is_indexed_where_it_is_included(
    fake: ReadingWorkspace,
) -> None:
    fake.write("part.txt", "word")
    fake.write("a.txt", '#include "part.txt"')
    fake.build("a.txt")
    async with fake.reading() as session:
        before = await session.sync()
        fake.write("part.txt", "error: means nothing alone\nword")
        assert await session.sync() > before
        assert len(fake.pids()) == 2
        assert await missing(session, None, Use("word")) == []
        assert await told_of(session) == []
    assert fake.told(life=2) == []


# --- a new server ------------------------------------------------------------------------------------


@bounded
async def test_for_more_files_than_the_adapter_says_the_server_is_replaced(fake: ReadingWorkspace) -> None:
    names = [f"{n}.txt" for n in range(5)]
    for name in names:
        fake.write(name, "before")
    fake.build(*names)
    async with fake.reading() as session:
        await session.documents.open(fake.root / "0.txt")
        before = await session.sync()
        for name in names[1:]:
            fake.write(name, "after")
        assert await session.sync() > before
        assert await session.request("fake/pid", {}) == fake.pids()[1]
        assert await told_of(session) == []  # nothing happened that anybody must know
        assert fake.told(life=2) == ["+0.txt before"]
        # A death is news as ever.
        await kill(fake, session)
        await session.request("fake/pid", {})
        assert await told_of(session) == ["fake restarted"]


@bounded
async def test_a_request_that_waits_for_a_server_that_is_replaced_is_answered_by_the_next(
    fake: ReadingWorkspace,
) -> None:
    names = [f"{n}.txt" for n in range(5)]
    for name in names:
        fake.write(name, "before")
    fake.build(*names)
    fifo = fake.fifo()
    fake.script(
        {"rules": {**READS, "test/ask": [["tell", str(fifo)], ["hold"]]}},
        {"rules": {**READS, "test/ask": [["answer", "second life"]]}},
    )
    async with fake.reading() as session:
        asking = asyncio.create_task(session.request("test/ask", {}))
        await told(fifo)
        for name in names:
            fake.write(name, "after")
        await session.sync()
        assert await asking == "second life"
        assert await told_of(session) == []


@bounded
async def test_a_question_waits_until_the_new_server_knows_the_workspace(fake: ReadingWorkspace) -> None:
    names = [f"{n}.txt" for n in range(5)]
    for name in names:
        fake.write(name, "before")
    fake.build(*names)
    fifo = fake.fifo()
    fake.script(
        {"rules": {**READS, "initialized": [BEGIN, END]}},
        {"rules": {**READS, "initialized": [BEGIN, ["tell", str(fifo)]]}},
    )
    async with fake.reading(INDEXING) as session:
        for name in names:
            fake.write(name, "after")
        syncing = asyncio.create_task(session.sync())
        await told(fifo)
        await steps()
        assert not syncing.done()
        await session.request("fake/do", do(END))
        await syncing
        assert await missing(session) == []


@bounded
async def test_a_server_that_dies_over_a_file_is_restarted_and_the_file_does_not_stay_open(
    fake: ReadingWorkspace,
) -> None:
    path = fake.write("a.txt", "one")
    kept = fake.write("kept.txt", "kept")
    fake.build("a.txt", "kept.txt")
    deadly = {**READS, "textDocument/didOpen": [["for", "a.txt", [["kill"]]], ["read"]]}
    fake.script({"rules": deadly}, {"rules": READS})
    async with fake.reading() as session:
        await session.documents.open(kept)
        path.write_text("two")
        await session.sync()
        assert await session.request("fake/do", do(["answer", "second life"])) == "second life"
        assert await told_of(session) == ["fake restarted"]
        assert session.documents.version(path) is None
        assert session.documents.version(kept) is not None
    # Its index has the file as it is: it was taken out before the server began.
    assert fake.told(life=2) == ["+kept.txt kept"]


@bounded
async def test_a_server_that_dies_while_it_reads_several_files_leaves_none_of_them_open(
    fake: ReadingWorkspace,
) -> None:
    names = [f"{n}.txt" for n in range(20)]
    for name in names:
        fake.write(name, "one")
    fake.build(*names)
    fake.script({"rules": {"textDocument/didOpen": [["for", "1.txt", [["kill"]]]]}}, {"rules": READS})
    async with fake.reading(TABLES.replace("load_most = 3", "load_most = 30")) as session:
        for name in names:
            fake.write(name, "two")
        await session.sync()
        await session.request("fake/pid", {})
        assert [name for name in names if session.documents.version(fake.root / name)] == []
        # Only what is opened after the death may have been told to the next server, and is closed again.
    assert sorted(one[1:] for one in fake.told(life=2) if one.startswith("-")) == sorted(
        one[1:].partition(" ")[0] for one in fake.told(life=2) if one.startswith("+")
    )


# --- the database ------------------------------------------------------------------------------------


@bounded
async def test_other_commands_replace_the_server_the_same_ones_do_not(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", "one")
    file = fake.build("a.txt")
    async with fake.reading() as session:
        before = await session.sync()
        fake.build("a.txt", flags="")
        os.utime(file)
        assert await session.sync() == before
        assert len(fake.pids()) == 1
        fake.build("a.txt", flags="-DMORE")
        assert await session.sync() > before
        assert len(fake.pids()) == 2
        assert await told_of(session) == []


@bounded
async def test_a_database_that_cannot_be_used_is_a_note_and_the_server_goes_on_with_the_one_before(
    fake: ReadingWorkspace,
) -> None:
    fake.write("a.txt", "one")
    file = fake.build("a.txt")
    whole = file.read_text()
    async with fake.reading() as session:
        file.write_text(whole[:-5])
        await session.sync()
        (note,) = await missing(session)
        assert note.startswith("build/commands.json is not JSON: ")
        assert note.endswith("fake uses the previous one; make it again")
        file.write_text(whole)
        await session.sync()
        assert await missing(session) == []
        assert len(fake.pids()) == 1


@bounded
@pytest.mark.parametrize("spawned_first", [True, False])
async def test_the_server_has_the_database_in_the_folder_that_it_is_started_with(
    fake: ReadingWorkspace, spawned_first: bool
) -> None:
    fake.write("a.txt", "one")
    fake.build("a.txt")
    async with fake.session(TABLES) as session:
        if spawned_first:
            session.spawn()
        await session.sync()
        assert database_given(fake, 1) == [str(fake.root / "a.txt")]


@bounded
async def test_a_database_that_comes_later_is_found_and_given_to_a_new_server(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", "one")
    async with fake.reading() as session:
        without = "no commands.json: covers only files that fake opened, with guessed flags"
        assert await missing(session) == [without]
        (news,) = await news_of(session)
        assert news.startswith(
            f"commands.json is not in {fake.root}, its usual build folders or above; make one (write"
        )
        assert arguments(fake, 1) == []
        fake.build("a.txt")
        await session.sync()
        assert await missing(session) == []
        await session.request("fake/do", do())  # it has had everything that came before
        assert database_given(fake, 2) == [str(fake.root / "a.txt")]
        assert [FIRST in one["textDocument"]["uri"] for one in fake.params("textDocument/didOpen", 2)] == [True]


@bounded
async def test_a_database_that_goes_is_a_note(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", "one")
    file = fake.build("a.txt")
    async with fake.reading() as session:
        file.unlink()
        await session.sync()
        (note,) = await missing(session)
        assert note.startswith("no commands.json: ")
        assert arguments(fake, 2) == []


@bounded
async def test_a_database_of_another_machine_is_a_note(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", "one")
    fake.build("a.txt", "/elsewhere/b.txt", "/elsewhere/c.txt")
    async with fake.reading() as session:
        (note,) = await missing(session)
        assert note.startswith("build/commands.json names 3 files, and only 1 of them exist (not /elsewhere/b.txt)")
        fake.build()
        await session.sync()
        assert await missing(session) == ["build/commands.json is empty; make it again"]


async def kill(fake: ReadingWorkspace, session: Session) -> None:
    """End the server, and wait until `session` has seen it."""
    os.kill(fake.pids()[-1], signal.SIGKILL)
    await gone(fake.pids()[-1])
    assert session._lifetime.connection
    await asyncio.wait([session._lifetime.connection.dead])


def arguments(fake: ReadingWorkspace, life: int) -> list[str]:
    """The extra arguments of the server's command, in one life."""
    (found,) = [entry["arguments"] for entry in fake.log() if entry["life"] == life and "arguments" in entry]
    return found


def database_given(fake: ReadingWorkspace, life: int) -> list[str]:
    """The files of the database that the server was given."""
    (argument,) = arguments(fake, life)
    file = Path(argument.removeprefix("--database=")) / "commands.json"
    return [entry["file"] for entry in json.loads(file.read_text("utf-8"))]


# --- what the build leaves out -----------------------------------------------------------------------


@bounded
async def test_files_that_the_build_leaves_out_are_read_for_a_question_about_a_word_in_them(
    fake: ReadingWorkspace,
) -> None:
    fake.write("a.txt", "word")
    new = fake.write("new.txt", "word")
    fake.write("other.txt", "words")
    fake.build("a.txt")
    async with fake.reading() as session:
        not_searched = "not searched: new.txt, not in commands.json, with the word word"
        assert await missing(session, new, Use("word")) == [not_searched]
        await session.coverage.load(new, "word")
        await session.coverage.load(new, "word")
        assert await missing(session, new, Use("word")) == []
        await session.request("fake/do", do())
        assert fake.told() == ["+new.txt word"]  # it stays open: its words are asked about next
        # From then on it counts as the build's files do.
        new.write_text("word word")
        await session.sync()
        await session.request("fake/do", do())
        assert fake.told()[1:] == ["~new.txt word word"]
        # A new server knows nothing of it.
        await kill(fake, session)
        await session.sync()
        assert await missing(session, new, Use("word")) == [not_searched]


@bounded
async def test_only_a_few_of_the_files_that_the_build_leaves_out_stay_open(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", "word")
    for number in range(12):
        fake.write(f"new{number}.txt", "word")
    fake.build("a.txt")
    async with fake.reading(TABLES.replace("load_most = 3", "load_most = 30")) as session:
        assert await session.coverage.load(None, "word") == frozenset()
        await session.request("fake/do", do())
        kinds = [one[0] for one in fake.told()]
        assert kinds.count("+") == 12
        assert 0 < kinds.count("+") - kinds.count("-") <= 8


@bounded
async def test_no_answer_waits_long_for_what_the_build_leaves_out_and_says_what_it_lacks(
    fake: ReadingWorkspace,
) -> None:
    fake.write("a.txt", "word")
    new = fake.write("new.txt", "word")
    fake.build("a.txt")
    fifo = fake.silent_about("new.txt")
    async with fake.reading(ready_timeout=0) as session:
        unsearched = await session.coverage.load(new, "word")
        assert unsearched == {new}
        not_yet = "not searched yet: new.txt, not in commands.json, with the word word; ask again later"
        assert await missing(session, new, Use("word")) == [not_yet]
        await told(fifo)
        await session.request("fake/do", do(fake.diagnostics("new.txt", fake.version("new.txt"))))
        while await session.coverage.load(new, "word"):
            await asyncio.sleep(0)
        assert await missing(session, new, Use("word")) == []
        # What was asked before it was read lacks it still.
        before = await session.gaps(Scope(path=new, use=Use("word"), unsearched=unsearched))
        assert [gap.text for gap in before if gap.hides] == [not_yet]


@bounded
async def test_for_a_question_about_no_file_a_part_of_a_word_is_enough(fake: ReadingWorkspace) -> None:
    # Names are found by parts of them, whatever the case of their letters.
    path = fake.write("a.txt", "x")
    fake.write("new.txt", "Swords")
    fake.write("other.txt", "wo rd")
    fake.build("a.txt")
    async with fake.reading() as session:
        assert await missing(session, path, Use("word")) == []
        assert await missing(session, None, Use("word")) == [
            "not searched: new.txt, not in commands.json, with the word word"
        ]
        await session.coverage.load(path, "word")
        assert fake.told() == []
        await session.coverage.load(None, "word")
        assert await missing(session, None, Use("word")) == []
        await session.request("fake/do", do())
        assert fake.told() == ["+new.txt Swords"]


@bounded
async def test_too_many_files_that_the_build_leaves_out_are_named_and_not_read(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", "x")
    for n in range(5):
        fake.write(f"new {n}.txt", "word")
    fake.build("a.txt")
    async with fake.reading() as session:
        await session.coverage.load(None, "word")
        assert await missing(session, None, Use("word")) == [
            "not searched: new 0.txt, new 1.txt, new 2.txt and 2 more, not in commands.json, with the word word"
        ]
    assert fake.told() == []


@bounded
async def test_a_file_that_is_included_by_one_of_the_build_is_not_left_out(fake: ReadingWorkspace) -> None:
    fake.write("part.txt", "word")
    fake.write("a.txt", '#include "part.txt"')
    fake.build("a.txt")
    async with fake.reading() as session:
        assert await missing(session, None, Use("word")) == []


@bounded
async def test_what_another_database_leaves_out_is_looked_for_again(fake: ReadingWorkspace) -> None:
    for name in ("a.txt", "b.txt"):
        fake.write(name, "word")
    # No event names it: it is not below the root.
    elsewhere = fake.folder / "commands.json"
    elsewhere.write_text(fake.commands("a.txt", "b.txt"))
    async with fake.reading(database=elsewhere) as session:
        assert await missing(session, None, Use("word")) == []
        for inside, outside in (("a.txt", "b.txt"), ("b.txt", "a.txt")):
            elsewhere.write_text(fake.commands(inside))
            await session.sync()
            (note,) = await missing(session, None, Use("word"))
            assert note.startswith(f"not searched: {outside}, not in commands.json")


@bounded
async def test_without_a_word_nothing_is_read(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", "x")
    fake.write("new.txt", "any text")
    fake.build("a.txt")
    async with fake.reading() as session:
        await session.coverage.load(None, "")
    assert fake.told() == []


@bounded
async def test_a_file_that_seems_included_but_is_not_in_the_index_is_searched(fake: ReadingWorkspace) -> None:
    fake.write("part.txt", "word")
    fake.write("a.txt", '#include "part.txt"')
    fake.build("a.txt")
    async with fake.reading() as session:
        # As long as nothing is in the index, its gaps are unknown.
        assert await missing(session, None, Use("word")) == []
        folder = Path(arguments(fake, 1)[0].removeprefix("--database=")) / "index"
    folder.mkdir()
    (folder / "a.txt.0123456789ABCDEF.idx").touch()
    async with fake.reading() as session:
        unsearched = "not searched: part.txt, not in commands.json, with the word word"
        assert await missing(session, None, Use("word")) == [unsearched]
        await session.coverage.load(None, "word")
        assert await missing(session, None, Use("word")) == []
    assert "+part.txt word" in fake.told(life=2)
    (folder / "part.txt.0123456789ABCDEF.idx").touch()
    async with fake.reading() as session:
        assert await missing(session, None, Use("word")) == []
    assert fake.told(life=3) == []


@bounded
async def test_an_index_that_cannot_be_kept_is_a_note_and_stops_no_server(
    fake: ReadingWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_file: Path, _content: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/cache/files.json")

    monkeypatch.setattr("lsp_mcp.servers.clangd.compilation.index_folder.write_private", full)
    fake.write("a.txt", "one")
    fake.build("a.txt")
    async with fake.reading() as session:
        await session.request("test/ask", {})
        assert await missing(session) == [
            "/cache/files.json cannot be written (No space left on device): fake may know too little, or outdated facts"
        ]


@bounded
async def test_a_server_that_comes_back_on_a_full_disk_gets_a_folder_elsewhere(
    fake: ReadingWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LSP_MCP_CACHE", str(fake.folder / "cache"))
    fake.write("a.txt", "one")
    fake.build("a.txt")
    async with fake.reading() as session:
        await session.request("test/ask", {})
        monkeypatch.setattr("lsp_mcp.cache_folders._LEAST", 2**62)
        await kill(fake, session)
        await session.request("test/ask", {})
        (before,), (now,) = (arguments(fake, life) for life in (1, 2))
        assert str(fake.folder / "cache") in before
        assert str(fake.folder / "cache") not in now
        assert await missing(session) == []


@bounded
async def test_a_compiled_file_outside_the_watched_folders_is_looked_at_before_each_question(
    fake: ReadingWorkspace,
) -> None:
    elsewhere = fake.folder / "generated.txt"
    elsewhere.write_text("one")
    fake.write("a.txt", "a")
    fake.build("a.txt", str(elsewhere))
    async with fake.reading() as session:
        before = await session.sync()
        elsewhere.write_text("two, longer")
        after = await session.sync()
        assert after > before
        assert await session.sync() == after
    assert fake.told() == ["+generated.txt two, longer", "-generated.txt"]


# --- what the preprocessor leaves out ----------------------------------------------------------------


def leaves_out(fake: ReadingWorkspace, name: str, *lines: int) -> list[Any]:
    """The action that says which lines of a document are not compiled, each as a region of its own."""
    ends = [({"line": line - 1, "character": 0}, {"line": line - 1, "character": 99}) for line in lines]
    regions = [{"start": start, "end": end} for start, end in ends]
    params = {"textDocument": {"uri": (fake.root / name).as_uri()}, "regions": regions}
    return notification("textDocument/inactiveRegions", params)


CONDITIONAL = "#ifdef EXTRA\nword\nother\n#endif\nword\n"


@bounded
async def test_code_that_is_not_compiled_is_named_to_who_asks_about_a_word_in_it(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", CONDITIONAL)
    fake.build("a.txt")
    rules = {**READS, "textDocument/didOpen": [["for", "a.txt", [leaves_out(fake, "a.txt", 2, 3)]], ["read"]]}
    fake.script({"rules": rules})
    async with fake.reading() as session:
        unseen = "not searched for word between #if and #endif: a.txt"
        assert await missing(session, None, Use("word")) == [unseen]
        assert await missing(session, None, Use("nothing")) == []
        assert fake.told() == []
        await session.coverage.load(None, "word")
        await session.coverage.load(None, "word")
        assert await missing(session, None, Use("word")) == ["not compiled, so not searched: a.txt line 2, with word"]
        # Once read, it is known of every word.
        assert await missing(session, None, Use("other")) == ["not compiled, so not searched: a.txt line 3, with other"]
        await session.request("fake/do", do())
        assert fake.told() == [f"+a.txt {CONDITIONAL}".strip()]


@bounded
async def test_code_that_is_compiled_after_all_makes_no_note(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", CONDITIONAL)
    fake.build("a.txt")
    async with fake.reading() as session:
        await session.coverage.load(None, "word")
        assert await missing(session, None, Use("word")) == []


@bounded
async def test_what_is_not_compiled_is_looked_at_again_when_the_file_changes(fake: ReadingWorkspace) -> None:
    path = fake.write("a.txt", CONDITIONAL)
    fake.build("a.txt")
    rules = {**READS, "textDocument/didOpen": [["for", "a.txt", [leaves_out(fake, "a.txt", 2, 3)]], ["read"]]}
    fake.script({"rules": rules})
    async with fake.reading() as session:
        await session.coverage.load(None, "word")
        path.write_text(CONDITIONAL.replace("word", "world"))
        await session.sync()
        assert await missing(session, None, Use("word")) == []
        assert await missing(session, None, Use("world")) == ["not compiled, so not searched: a.txt line 2, with world"]


@bounded
async def test_of_many_lines_that_are_not_compiled_three_are_named(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", "#ifdef EXTRA\nword\nword word\nword\nword\n#endif\n")
    fake.build("a.txt")
    rules = {**READS, "textDocument/didOpen": [["for", "a.txt", [leaves_out(fake, "a.txt", 2, 3, 4, 5)]], ["read"]]}
    fake.script({"rules": rules})
    async with fake.reading() as session:
        await session.coverage.load(None, "word")
        assert await missing(session, None, Use("word")) == [
            "not compiled, so not searched: a.txt line 2, 3, 4 and 1 more, with word"
        ]


@bounded
async def test_too_many_files_with_conditions_are_named_and_not_read(fake: ReadingWorkspace) -> None:
    names = [f"{n}.txt" for n in range(5)]
    for name in names:
        fake.write(name, CONDITIONAL)
    fake.build(*names)
    async with fake.reading() as session:
        await session.coverage.load(None, "word")
        assert await missing(session, None, Use("word")) == [
            "not searched for word between #if and #endif: 0.txt, 1.txt, 2.txt and 2 more"
        ]
    assert fake.told() == []


@bounded
async def test_a_new_server_knows_nothing_of_what_is_not_compiled(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", CONDITIONAL)
    fake.build("a.txt")
    async with fake.reading() as session:
        await session.coverage.load(None, "word")
        assert await missing(session, None, Use("word")) == []
        await kill(fake, session)
        await session.sync()
        assert await missing(session, None, Use("word")) == ["not searched for word between #if and #endif: a.txt"]


# --- a server that says what is not so ---------------------------------------------------------------


def finds(fake: ReadingWorkspace, name: str, line: int) -> list[Any]:
    """The rule for `workspace/symbol` that finds `word` at the beginning of a line of a file."""
    start, stop = {"line": line - 1, "character": 0}, {"line": line - 1, "character": 4}
    location = {"uri": (fake.root / name).as_uri(), "range": {"start": start, "end": stop}}
    return [["answer", [{"name": "word", "kind": 12, "location": location}]]]


async def found(session: Session) -> list[str]:
    """The files of the places where `word` is defined."""
    answered = await settled(session, lambda: workspace_symbols(session, "word", 10))
    assert not answered.gaps
    return [symbol.place.path.name for symbol in answered.value.symbols]


@bounded
async def test_a_symbol_where_its_name_is_not_replaces_the_server_if_it_read_that_file_again(
    fake: ReadingWorkspace,
) -> None:
    path = fake.write("a.txt", "word")
    fake.write("b.txt", "word")
    fake.build("a.txt", "b.txt")
    fake.script(
        {"rules": {**READS, "workspace/symbol": finds(fake, "a.txt", 1)}},
        {"rules": {**READS, "workspace/symbol": finds(fake, "b.txt", 1)}},
    )
    async with fake.reading() as session:
        assert await found(session) == ["a.txt"]
        path.write_text("else")
        assert await found(session) == ["b.txt"]
        assert len(fake.pids()) == 2
        assert await told_of(session) == []


@bounded
@pytest.mark.parametrize("line", [1, 7])
async def test_a_server_that_goes_on_saying_so_is_replaced_once(fake: ReadingWorkspace, line: int) -> None:
    path = fake.write("a.txt", "word")
    fake.build("a.txt")
    fake.script({"rules": {**READS, "workspace/symbol": finds(fake, "a.txt", line)}})
    async with fake.reading() as session:
        path.write_text("else")
        for _ in range(3):
            await found(session)
        assert len(fake.pids()) == 2
        # Nor when the file changes again: a macro makes such a name.
        path.write_text("elsewhere")
        await found(session)
        assert len(fake.pids()) == 2


@bounded
async def test_a_server_that_says_so_of_a_file_that_did_not_change_is_left_alone(fake: ReadingWorkspace) -> None:
    fake.write("a.txt", "else")
    changed = fake.write("b.txt", "word")
    fake.build("a.txt", "b.txt")
    fake.script({"rules": {**READS, "workspace/symbol": finds(fake, "a.txt", 1)}})
    async with fake.reading() as session:
        changed.write_text("word word")
        await found(session)
        assert len(fake.pids()) == 1


@bounded
@pytest.mark.parametrize(
    ("method", "params", "result"),
    [
        ("textDocument/definition", {"textDocument": {"uri": "URI"}, "position": {"line": 2, "character": 1}}, {}),
        ("workspace/symbol", {"query": "word"}, {"name": "ns::word", "kind": 12}),
    ],
)
async def test_what_is_sent_for_a_caller_is_looked_at_too(
    fake: ReadingWorkspace, method: str, params: dict[str, Any], result: dict[str, Any]
) -> None:
    fake.write("a.txt", "a\nword")
    path = fake.write("b.txt", "word")
    fake.build("a.txt", "b.txt")
    uri, start = path.as_uri(), {"line": 0, "character": 0}
    location = {"uri": uri, "range": {"start": start, "end": {"line": 0, "character": 4}}}
    lie = {**result, "location": location} if result else location
    fake.script({"rules": {**READS, method: [["answer", [lie]]]}}, {"rules": READS})
    params = json.loads(json.dumps(params).replace("URI", (fake.root / "a.txt").as_uri()))

    async def ask(session: Session) -> Any:
        asked = await settled(session, lambda: send(session, method, params, base=1, word="word"))
        return asked.value.result

    async with fake.reading() as session:
        assert len(await ask(session)) == 1
        path.write_text("else")
        assert await ask(session) is None
        assert len(fake.pids()) == 2
