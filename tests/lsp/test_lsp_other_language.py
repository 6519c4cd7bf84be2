"""The core is not made for one language: the tools on a language of words, with a pygls server and one TOML file."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.bounded import bounded, gone
from fakes.launched import child_of
from lsp_mcp.adapters import read_adapter
from lsp_mcp.errors import RefusedError
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.calls import CallTools
from lsp_mcp.toolsets.code import CodeTools
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.impact import ImpactTools
from lsp_mcp.toolsets.implementations import ImplementationTools
from lsp_mcp.toolsets.outlines import OutlineTools
from lsp_mcp.toolsets.renames import RenameTools
from lsp_mcp.toolsets.tool import Call, tools_of
from lsp_mcp.workspace import Workspace

SERVER = Path(__file__).parent.parent / "fakes" / "word_server.py"
ADAPTER = """
name = "words"
title = "the server of words"
command = {command}

[[languages]]
id = "words"
name = "Words"
scheme = "words"
extensions = [".words"]

[positions]
offers = ["{unit}"]
"""

ANIMALS = "= Animals\n: cat\n: dog\nA 😀 cat and a dog, cat.\n"
STORY = "= Story\n😀😀 the cat met a dog 😀 cat\n"

Ask = Callable[..., Awaitable[dict[str, Any]]]


@contextlib.asynccontextmanager
async def asking(tmp_path: Path, unit: str, *options: str) -> AsyncIterator[tuple[Path, Ask, Sessions]]:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "animals.words").write_text(ANIMALS, "utf-8")
    (root / "sub" / "story.words").write_text(STORY, "utf-8")
    toml = tmp_path / "words.toml"
    command = json.dumps([sys.executable, str(SERVER), str(root), *options])
    toml.write_text(ADAPTER.format(command=command, unit=unit), "utf-8")
    sessions = Sessions(Workspace(root), [read_adapter(toml)], {})
    kinds = (OutlineTools, CodeTools, RenameTools, CallTools, ImplementationTools, ImpactTools)
    tools = {tool.name: tool for kind in kinds for tool in tools_of(kind(ToolContext(sessions)))}

    async def ask(name: str, **arguments: Any) -> dict[str, Any]:
        return json.loads(await tools[name].call(Call(), arguments))

    sessions.begin()
    try:
        yield root, ask, sessions
        await sessions.close()
    finally:
        sessions.kill()


@bounded
async def test_what_a_server_cannot_do_is_said_with_a_tool_that_can(tmp_path: Path) -> None:
    async with asking(tmp_path, "utf-8") as (_, ask, _):
        for tool, why in (
            ("find_calls", "it has no call hierarchy; find_symbol_references_by_anchor has all uses"),
            ("find_implementations", "it knows neither implementations nor types above and below others; find_calls"),
        ):
            with pytest.raises(RefusedError, match=why):
                await ask(tool, symbol="cat")
        impact = await ask("find_impact", symbols=["cat"])
        assert impact["message"] == "4 uses of Animals.cat."
        assert "not looked for: callers, and tests that reach it, as words has no call hierarchy" in impact["status"]


@bounded
async def test_names_that_a_search_does_not_find_are_found_in_the_outlines_of_the_files_that_have_them(
    tmp_path: Path,
) -> None:
    async with asking(tmp_path, "utf-8", "--no-names") as (_, ask, _):
        (found,) = (await ask("find_symbol_definitions_by_name", symbol_name="cat"))["definitions"]
        assert found["anchor"] == "words://animals.words#2:3"
        uses = await ask("find_symbol_references_by_anchor", symbol_anchor="cat")
        assert len(uses["references"]) == 5
        assert (await ask("find_symbol_definitions_by_name", symbol_name="met"))["definitions"] == []


@bounded
async def test_a_file_moves_with_the_edits_that_its_server_names(tmp_path: Path) -> None:
    async with asking(tmp_path, "utf-8") as (root, ask, _):
        (root / "animals.words").write_text(f"{ANIMALS}see story\n", "utf-8")
        (root / "sub" / "story.words").write_text(f"{STORY}this story\n", "utf-8")
        arguments = {"symbol_anchor": "sub/story.words", "new_name": "tales/tale.words"}
        preview = await ask("rename_symbol_by_anchor", **arguments, apply=False)
        assert (root / "sub" / "story.words").exists()
        assert preview["file_operations"] == [
            {"kind": "rename", "file": "sub/story.words", "new_file": "tales/tale.words"}
        ]
        moved = await ask("rename_symbol_by_anchor", **arguments)
        assert moved["message"].startswith("Moved sub/story.words to tales/tale.words with 2 edits across 2 files")
        assert (root / "tales" / "tale.words").read_text("utf-8") == f"{STORY}this tale\n"
        assert (root / "animals.words").read_text("utf-8") == f"{ANIMALS}see tale\n"
        assert not (root / "sub" / "story.words").exists()


@bounded
@pytest.mark.parametrize("unit", ["utf-8", "utf-16", "utf-32"])
async def test_every_code_tool_works_for_a_language_of_words(tmp_path: Path, unit: str) -> None:
    async with asking(tmp_path, unit) as (root, ask, sessions):
        outline = await ask("list_symbols_in_file", file_path="animals.words")
        (animals,) = outline["file_symbols"]
        assert animals["name"] == "Animals"
        assert [child["name"] for child in animals["children"]] == ["cat", "dog"]

        found = await ask("find_symbol_definitions_by_name", symbol_name="cat")
        assert "words://animals.words#2:3" in json.dumps(found)

        uses = json.dumps(await ask("find_symbol_references_by_anchor", symbol_anchor="words://animals.words#2:3"))
        anchors = re.findall(r'"anchor": ?"words://([^"]+)"', uses)
        assert anchors == [
            "animals.words#2:3",
            "animals.words#4:5",
            "animals.words#4:20",
            "sub/story.words#2:8",
            "sub/story.words#2:24",
        ]

        # The server dies; the next answer is right, and says that it did.
        (session,) = sessions._sessions
        assert session.encoding.unit == unit
        pid = child_of(session).pid
        os.kill(pid, signal.SIGKILL)
        await gone(pid)
        again = json.dumps(await ask("find_symbol_references_by_anchor", symbol_anchor="cat"))
        assert "Found 5 references" in again
        assert "words restarted" in again

        # Written by somebody else, and asked about at once.
        (root / "new.words").write_text("a cat\n", "utf-8")
        fresh = json.dumps(await ask("find_symbol_references_by_anchor", symbol_anchor="cat"))
        assert "Found 6 references" in fresh

        await ask("rename_symbol_by_anchor", symbol_anchor="words://animals.words#2:3", new_name="tiger")
        assert (root / "animals.words").read_text("utf-8") == ANIMALS.replace("cat", "tiger")
        assert (root / "sub" / "story.words").read_text("utf-8") == STORY.replace("cat", "tiger")
        renamed = json.dumps(await ask("find_symbol_references_by_anchor", symbol_anchor="tiger"))
        assert "Found 6 references" in renamed
