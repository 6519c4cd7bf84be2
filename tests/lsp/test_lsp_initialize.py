"""What a session says of itself, and how its server is configured."""

from __future__ import annotations

import os
from typing import Any

import pytest

from fakes.bounded import bounded
from fakes.gaps import missing
from fakes.launched import child_of
from fakes.workspace import FakeWorkspace, do, replies, request
from lsp_mcp.text import PositionEncoding

SETTINGS = """
[settings]
section = "fake"

[settings.values]
level = 3
nested = { list = [1, 2] }
"""
VALUES = {"level": 3, "nested": {"list": [1, 2]}}


@bounded
async def test_a_server_is_initialized_with_the_root_and_then_told_so(fake: FakeWorkspace) -> None:
    async with fake.session() as session:
        await session.request("fake/pid", {})
        assert fake.methods() == ["initialize", "initialized"]
    (params,) = fake.params("initialize")
    assert params["processId"] == os.getpid()
    assert params["rootUri"] == fake.root.as_uri()
    assert params["workspaceFolders"] == [{"uri": fake.root.as_uri(), "name": "root"}]
    assert params["capabilities"]["general"]["positionEncodings"] == ["utf-32", "utf-8", "utf-16"]
    assert params["capabilities"]["workspace"]["didChangeWatchedFiles"]["dynamicRegistration"] is True
    assert params["capabilities"]["textDocument"]["documentSymbol"]["hierarchicalDocumentSymbolSupport"] is True
    assert params["capabilities"]["window"]["workDoneProgress"] is True


@bounded
@pytest.mark.parametrize(("announced", "unit"), [(None, "utf-16"), ("utf-8", "utf-8"), ("utf-32", "utf-32")])
async def test_positions_are_counted_as_agreed(fake: FakeWorkspace, announced: str | None, unit: Any) -> None:
    fake.script({"capabilities": {"positionEncoding": announced}})
    async with fake.session("[positions]\nlone_cr_ends_line = false\n") as session:
        await session.request("fake/pid", {})
        assert session.encoding == PositionEncoding(unit, False)


@bounded
async def test_a_restarted_server_may_count_otherwise(fake: FakeWorkspace) -> None:
    fake.script(
        {"capabilities": {"positionEncoding": "utf-8"}, "rules": {"test/die": [["kill"]]}},
        {"capabilities": {"positionEncoding": "utf-32"}},
    )
    async with fake.session() as session:
        await session.request("fake/pid", {})
        units = [session.encoding.unit]
        await session.request("test/die", {})
        units.append(session.encoding.unit)
        assert units == ["utf-8", "utf-32"]


@bounded
async def test_configuration_is_answered_by_section(fake: FakeWorkspace) -> None:
    items = [
        {"section": "fake"},
        {},
        {"section": "other"},
        {"section": "fake", "scopeUri": fake.root.as_uri()},
        {"section": None},
        {"section": "fake.nested"},
    ]
    async with fake.session(SETTINGS) as session:
        await session.request("fake/do", do(request("c", "workspace/configuration", {"items": items})))
        answers = replies(await session.request("fake/received", {}))
    assert answers["c"]["result"] == [VALUES, VALUES, None, VALUES, VALUES, VALUES["nested"]]
    assert fake.params("initialize")[0]["initializationOptions"] == VALUES


@bounded
async def test_initialization_options_of_their_own_go_before_the_settings(fake: FakeWorkspace) -> None:
    async with fake.session(SETTINGS + '\n[initialization_options]\nindex = "private"\n') as session:
        await session.request("fake/pid", {})
    assert fake.params("initialize")[0]["initializationOptions"] == {"index": "private"}


@bounded
async def test_configuration_asked_for_before_the_answer_to_initialize_is_given(fake: FakeWorkspace) -> None:
    asked = request("c", "workspace/configuration", {"items": [{"section": "fake"}]})
    fake.script({"rules": {"initialize": [asked]}})
    async with fake.session(SETTINGS) as session:
        answers = replies(await session.request("fake/received", {}))
    assert answers["c"]["result"] == [VALUES]


@bounded
async def test_a_server_gets_the_environment_of_its_options(fake: FakeWorkspace) -> None:
    async with fake.session(env={"FAKE": "special"}) as session:
        await session.request("fake/pid", {})
    assert fake.log()[0]["environment"] == "special"


@bounded
async def test_a_server_that_was_spawned_early_is_the_one_that_is_initialized(fake: FakeWorkspace) -> None:
    async with fake.session() as session:
        session.spawn()
        assert await session.request("fake/pid", {}) == child_of(session).pid
    assert len(fake.pids()) == 1


@bounded
async def test_an_error_that_a_server_shows_is_in_the_notes_until_something_changes(fake: FakeWorkspace) -> None:
    shown = ["send", {"method": "window/showMessage", "params": {"type": 1, "message": " cannot load\nx.mod \n"}}]
    warning = ["send", {"method": "window/showMessage", "params": {"type": 2, "message": "only a warning"}}]
    async with fake.session() as session:
        await session.request("fake/do", do(shown, warning))
        assert await missing(session) == ["fake says: cannot load x.mod"]
        assert await missing(session) == ["fake says: cannot load x.mod"]
        fake.write("x.txt", "fixed")
        await session.sync()
        assert await missing(session) == []
