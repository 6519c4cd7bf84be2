"""Servers without a search by name, and with flat outlines (python-lsp-server 1.14 is both)."""

from pathlib import Path
from typing import Any

import pytest

from fakes.bounded import bounded
from fakes.workspace import FakeWorkspace
from lsp_mcp.features.editing.source_files import source_files
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.requests.workspace_symbol import workspace_symbols
from lsp_mcp.toolsets.trees import instead

TEXT = "class Box\n  def area\n    side\n  def copy\ndef area\n"


def information(fake: FakeWorkspace, name: str, first: int, last: int, container: str = "") -> dict[str, Any]:
    range_ = {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}
    location = {"uri": (fake.root / "a.txt").as_uri(), "range": range_}
    return {"name": name, "kind": 5 if name == "Box" else 6, "location": location, "containerName": container}


NO_SEARCH = (-32601, "Method Not Found: workspace/symbol")
NO_PROJECT = (-32603, "Request workspace/symbol failed: <semantic> TypeScript Server Error: No Project.")


def fake_with_flat_outlines(folder: Path, refusal: tuple[int, str] = NO_SEARCH) -> FakeWorkspace:
    fake = FakeWorkspace(folder)
    fake.write("a.txt", TEXT)
    outline = [
        information(fake, "copy", 3, 4, "Box"),
        information(fake, "Box", 0, 4),
        information(fake, "area", 1, 3, "Box"),
        information(fake, "side", 2, 3, "area"),
        information(fake, "area", 4, 5),
    ]
    rules = {
        "textDocument/documentSymbol": [["answer", outline]],
        "workspace/symbol": [["refuse", *refusal]],
    }
    fake.script({"rules": rules})
    return fake


@bounded
async def test_a_flat_outline_is_the_tree_that_its_extents_form(tmp_path: Path) -> None:
    fake = fake_with_flat_outlines(tmp_path)
    async with fake.session() as session:
        await session.sync()
        found = await document_symbols(session, fake.root / "a.txt")

    def shape(symbols: tuple[Symbol, ...]) -> list[Any]:
        return [(symbol.name, shape(symbol.children)) for symbol in symbols]

    assert shape(found) == [("Box", [("area", [("side", [])]), ("copy", [])]), ("area", [])]


@pytest.mark.parametrize("refusal", [NO_SEARCH, NO_PROJECT])
@bounded
async def test_a_name_is_found_in_outlines_if_the_server_refuses_to_search_by_name(
    refusal: tuple[int, str], tmp_path: Path
) -> None:
    fake = fake_with_flat_outlines(tmp_path, refusal)
    async with fake.session() as session:
        await session.sync()
        method = await workspace_symbols(session, "Box.area", 10)
        both = await workspace_symbols(session, "area", 10)
        part = await workspace_symbols(session, "are", 10)
    assert [(one.name, one.place.span.start.line) for one in method.symbols] == [("Box.area", 2)]
    assert [one.name for one in both.symbols] == ["Box.area", "area"]
    assert (part.symbols, part.alike_capped) == ([], True)


@bounded
async def test_only_tools_that_a_server_can_answer_for_are_recommended(tmp_path: Path) -> None:
    fake = FakeWorkspace(tmp_path)
    for capabilities in ({}, {"implementationProvider": True}):
        fake.script({"capabilities": capabilities})
        async with fake.session() as session:
            await session.sync()
            assert ("find_implementations" in instead(session)) == bool(capabilities)


@bounded
async def test_the_folders_of_cmake_in_a_build_folder_have_no_sources(tmp_path: Path) -> None:
    fake = FakeWorkspace(tmp_path)
    fake.write("build/CMakeFiles/4.0/id.txt", "x")
    kept = [fake.write("a.txt", "x"), fake.write("build/generated.txt", "x")]
    async with fake.session() as session:
        assert source_files(fake.root, session) == kept
