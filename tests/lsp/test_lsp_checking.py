"""Diagnostics requested from an unknown server, and what an answer says about them."""

import sys
from pathlib import Path
from typing import Any

from fakes.bounded import bounded
from fakes.gaps import missing
from fakes.workspace import FakeWorkspace
from lsp_mcp.backend import Use
from lsp_mcp.lsp.session import Session

AT = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
ERROR = {"range": AT, "severity": 1, "message": "broken"}
NOTHING = {"kind": "full", "items": []}
WRONG = {"kind": "full", "items": [ERROR]}
PULL = "textDocument/diagnostic"
OPENED = "textDocument/didOpen"
CHANGED = "textDocument/didChange"


def published(fake: FakeWorkspace, name: str, **more: Any) -> list[Any]:
    params = {"uri": (fake.root / name).as_uri(), "diagnostics": [ERROR], **more}
    return ["send", {"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params}]


async def changed(fake: FakeWorkspace, session: Session, name: str) -> None:
    """Change a file, and have the server told."""
    fake.write(name, "two\n")
    await session.sync()


@bounded
async def test_a_server_that_answers_about_documents_is_asked_about_changed_and_open_ones(fake: FakeWorkspace) -> None:
    changes, beside = fake.write("a.txt", "one\n"), fake.write("b.txt", "one\n")
    fake.script({"capabilities": {"diagnosticProvider": {"identifier": "x"}}, "rules": {PULL: [["answer", WRONG]]}})
    async with fake.session() as session:
        await session.documents.open(beside)
        await changed(fake, session, "a.txt")
        checked = await session.problems.check()
        # Whatever it says of a file, it depends on others: the open one is asked about again, though it is the same.
        assert set(checked.diagnostics) == set(checked.covers or ()) == {changes, beside}
        assert [gap.about for gap in checked.gaps] == ["dependents"]
    asked = [(one["textDocument"]["uri"].rpartition("/")[2], one["identifier"]) for one in fake.params(PULL)]
    assert sorted(asked) == [("a.txt", "x"), ("b.txt", "x")]


@bounded
async def test_a_server_that_offers_to_be_asked_only_later_is_asked_then(fake: FakeWorkspace) -> None:
    fake.write("a.txt", "one\n")
    registration = {"id": "1", "method": PULL, "registerOptions": {}}
    register = {
        "jsonrpc": "2.0",
        "id": "r",
        "method": "client/registerCapability",
        "params": {"registrations": [registration]},
    }
    fake.script({"rules": {OPENED: [["send", register]], PULL: [["answer", NOTHING]]}})
    async with fake.session() as session:
        await session.sync()
        await changed(fake, session, "a.txt")
        checked = await session.problems.check()
    assert [path.name for path in checked.covers or ()] == ["a.txt"]
    assert [gap.about for gap in checked.gaps] == ["dependents"]


@bounded
async def test_what_a_server_says_of_no_version_is_told_with_the_warning_that_it_may_be_old(
    fake: FakeWorkspace,
) -> None:
    path = fake.write("a.txt", "one\n")
    fake.script({"rules": {OPENED: [published(fake, "a.txt")]}})
    async with fake.session() as session:
        await session.sync()
        await changed(fake, session, "a.txt")
        checked = await session.problems.check()
        assert list(checked.diagnostics) == [path]
        (gap, _) = checked.gaps
        assert (gap.kind, gap.files, gap.hides) == ("unverified", (path,), True)
        assert "fake does not say when it is done: its errors for a.txt may be outdated or incomplete" in gap.text


@bounded
async def test_a_file_about_which_a_server_reports_nothing_counts_as_not_checked(fake: FakeWorkspace) -> None:
    known, silent = fake.write("a.txt", "one\n"), fake.write("b.txt", "one\n")
    fake.script({"rules": {OPENED: [published(fake, "a.txt")]}})  # whatever is opened
    async with fake.session() as session:
        await session.sync()
        await changed(fake, session, "a.txt")
        await session.problems.check()
        await changed(fake, session, "b.txt")
        checked = await session.problems.check()
        gaps = {gap.about: gap for gap in checked.gaps}
        assert (gaps["silent"].kind, gaps["silent"].files) == ("not_read", (silent,))
        assert gaps["silent"].text == "fake has not reported about b.txt; ask again"
        assert gaps["undated"].files == (known,)
        again = await session.problems.check()
        assert [gap.files for gap in again.gaps if gap.about == "silent"] == [(silent,)]


@bounded
async def test_open_documents_are_read_again_after_those_that_changed(fake: FakeWorkspace) -> None:
    beside = fake.write("b.txt", "one\n")
    fake.write("a.txt", "one\n")
    fake.script({"rules": {OPENED: [["read"]]}})
    reading = (sys.executable, "-I", "-S", str(Path(__file__).with_name("reading_server.py")), str(fake.folder))
    async with fake.session(command=reading) as session:
        await session.documents.open(beside)
        await changed(fake, session, "a.txt")
        checked = await session.problems.check()
        assert len(checked.covers or ()) == 2
    opened = [one["textDocument"]["uri"].rpartition("/")[2] for one in fake.params(OPENED)]
    assert opened == ["b.txt", "a.txt", "b.txt"]


@bounded
async def test_errors_that_a_server_found_with_an_old_text_of_another_file_are_not_told(fake: FakeWorkspace) -> None:
    path = fake.write("a.txt", "one\n")
    outdated = {**ERROR, "code": "outdated", "message": "b.h was modified"}
    first = published(fake, "a.txt", version=100, diagnostics=[outdated, ERROR])
    then = published(fake, "a.txt", version=200, diagnostics=[{**ERROR, "message": "true"}])
    fake.script({"rules": {OPENED: [first], CHANGED: [then]}})
    tables = '[diagnostics]\noutdated_code = "outdated"\n[documents]\nreread_fields = { forced = true }\n'
    async with fake.session(tables) as session:
        await session.sync()
        await changed(fake, session, "a.txt")
        checked = await session.problems.check()
        assert [one["message"] for one in checked.diagnostics[path]] == ["true"]
    assert [one["forced"] for one in fake.params(CHANGED)] == [True]


@bounded
async def test_a_file_whose_errors_stay_outdated_is_not_checked(fake: FakeWorkspace) -> None:
    path = fake.write("a.txt", "one\n")
    outdated = published(fake, "a.txt", version=100, diagnostics=[{**ERROR, "code": "outdated"}])
    fake.script({"rules": {OPENED: [outdated], CHANGED: [outdated]}})
    async with fake.session('[diagnostics]\noutdated_code = "outdated"\n', request_timeout=0.5) as session:
        await session.sync()
        await changed(fake, session, "a.txt")
        checked = await session.problems.check()
        assert (dict(checked.diagnostics), checked.covers) == ({}, frozenset())
        assert next(gap for gap in checked.gaps if gap.kind == "not_read").files == (path,)
    assert len(fake.params(CHANGED)) == 3, "it is made to read the file again, but not for ever"


@bounded
async def test_what_is_not_checked_in_time_is_named_and_the_next_check_asks_again(fake: FakeWorkspace) -> None:
    path = fake.write("a.txt", "one\n")
    fake.script({"capabilities": {"diagnosticProvider": {}}, "rules": {PULL: [["hold"]]}})
    async with fake.session(request_timeout=0.05) as session:
        await session.sync()
        await changed(fake, session, "a.txt")
        for _ in range(2):
            checked = await session.problems.check()
            assert (dict(checked.diagnostics), checked.covers) == ({}, frozenset())
            gap = next(gap for gap in checked.gaps if gap.kind == "not_read")
            assert (gap.text, gap.files, gap.hides) == ("not checked in time: a.txt; ask again", (path,), True)


@bounded
async def test_a_check_of_the_whole_workspace_that_takes_too_long_covers_no_file(fake: FakeWorkspace) -> None:
    fake.write("a.txt", "one\n")
    checks = '[diagnostics]\ncommand = "check"\ncommand_field = "Files"\ncommand_covers = "workspace"\n'
    fake.script({"rules": {"workspace/executeCommand": [published(fake, "a.txt"), ["hold"]]}})
    async with fake.session(checks, request_timeout=0.05) as session:
        for _ in range(2):
            checked = await session.problems.check()
            assert not checked.covers
            assert checked.covers is not None
            assert [gap.text for gap in checked.gaps] == ["fake did not check all files in time; ask again"]
            assert [gap.hides for gap in checked.gaps] == [True]
    assert len(fake.params("workspace/executeCommand")) == 2


@bounded
async def test_a_check_does_not_wait_for_a_parser_which_the_next_question_asks(fake: FakeWorkspace) -> None:
    fake.write("a.txt", "one\n")
    parser = fake.folder / "parser"
    log = fake.folder / "parsed"
    parser.write_text(f'#!/bin/sh\necho "$@" >> {log}\necho "$1:1:1: broken" >&2\n', "utf-8")
    parser.chmod(0o755)
    rules = f'[changes]\nload_request = "test/load"\nload_most = 20\nsyntax_command = ["{parser}"]\n'
    async with fake.session(rules) as session:
        await session.sync()
        fake.write("a.txt", "one two\n")
        await session.sync(to_check=True)
        assert not log.exists()
        told = ["files with errors may have more uses of one: a.txt (broken)"]
        assert await missing(session, use=Use("one")) == told
        assert await missing(session, use=Use("one")) == told
    assert log.read_text("utf-8").splitlines() == ["0.txt"]


@bounded
async def test_the_file_for_which_all_are_checked_is_the_same_until_it_is_gone(fake: FakeWorkspace) -> None:
    first = fake.write("b.txt", "one\n")
    checks = '[diagnostics]\ncommand = "check"\ncommand_field = "Files"\ncommand_covers = "workspace"\n'
    async with fake.session(checks) as session:
        await session.problems.check()
        fake.write("a.txt", "one\n")
        await session.sync()
        await session.problems.check()
        first.unlink()
        await session.sync()
        await session.problems.check()
    asked = [one["arguments"][0]["Files"] for one in fake.params("workspace/executeCommand")]
    assert [[uri.rpartition("/")[2] for uri in uris] for uris in asked] == [["b.txt"], ["b.txt"], ["a.txt"]]
