"""A server that is stopped (SIGSTOP) costs a call its time at most; what is told is right; it works when it goes on."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without
from fakes.bounded import bounded, stop
from lsp_mcp.errors import LspMcpError
from lsp_mcp.lsp.session import SessionOptions
from nvim.neovims import skip_without_nvim
from nvim.truth_helpers import GO, Desk, desk, document
from test_nothing_hangs import CPP, USES, Tree, places, planted, server_process, serving
from test_nothing_hangs import GO as GO_TREE

IMPATIENT = SessionOptions(request_timeout=4.0)
ANCHORED = ["find_symbol_references_by_anchor", "find_calls", "find_impact", "rename_symbol_by_anchor"]


def arguments_of(tool: str, anchor: str, file: str, name: str) -> dict[str, Any]:
    """Of a call that a server must be asked for."""
    calls: dict[str, dict[str, Any]] = {
        "find_symbol_references_by_anchor": {"symbol_anchor": anchor},
        "find_calls": {"symbol": anchor},
        "find_impact": {"symbols": [anchor]},
        "rename_symbol_by_anchor": {"symbol_anchor": anchor, "new_name": "Renamed"},
        "find_symbol_definitions_by_name": {"symbol_name": name},
        "list_symbols_in_file": {"file_path": file},
        "check": {},
    }
    return calls[tool]


def contents(root: Path) -> dict[str, str]:
    sources = (path for path in sorted(root.rglob("*")) if path.suffix in (".go", ".cpp", ".h"))
    return {str(path.relative_to(root)): path.read_text() for path in sources}


def renamed(before: dict[str, str], name: str) -> dict[str, str]:
    return {path: text.replace(name, "Renamed") for path, text in before.items()}


# --- servers of ours -------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", [*ANCHORED, "find_symbol_definitions_by_name", "list_symbols_in_file", "check"])
@pytest.mark.parametrize("tree", [GO_TREE, CPP], ids=["gopls", "clangd"])
def test_a_stopped_server_is_replaced_whatever_is_asked_and_what_is_told_is_so(
    tree: Tree, tool: str, tmp_path: Path
) -> None:
    planted(tree, tmp_path)
    name = "Target" if tree is GO_TREE else "target"
    arguments = arguments_of(tool, tree.target, tree.victim, name)
    with serving(tree, tmp_path) as server:
        server.initialize()
        asked = server.call(USES, symbol_anchor=tree.target)
        assert not asked["isError"], asked
        expected = places(json.loads(asked["content"][0]["text"]))
        before = contents(tmp_path)
        pid = server_process(server, tree)
        # It is asked about this file first.
        (tmp_path / tree.victim).write_text(before[tree.victim] + "\n")
        before[tree.victim] += "\n"
        stop(pid)
        result = server.call(tool, **arguments)
        said = result["content"][0]["text"]
        if result["isError"]:
            # A rename is refused while the new server reads.
            is_refused = tool == "rename_symbol_by_anchor" and "no file changed" in said
            assert is_refused or (tree.backend in said and "ask again" in said.lower()), said
        if tool == "rename_symbol_by_anchor" and not result["isError"]:
            assert contents(tmp_path) == renamed(before, name)
            return
        assert contents(tmp_path) == before
        again = server.call(USES, symbol_anchor=tree.target)
        assert not again["isError"], again
        assert places(json.loads(again["content"][0]["text"])) == expected
        assert server_process(server, tree) != pid


# --- servers of Neovim, and Neovim -----------------------------------------------------------------


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[None]:
    stop(pid)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


async def told(at: Desk, tool: str) -> tuple[str, bool]:
    """The error of a call, or the status of its answer; and whether it is an error."""
    if tool == "read":
        arguments: dict[str, Any] = {"document": document("lib.go")}
    elif tool == "lsp_hover":
        arguments = {"document": document("lib.go"), "line": 4, "character": 6}
    else:
        arguments = arguments_of(tool, GO.anchor, "use.go", "Target")
    try:
        answer = await at.call(tool, **arguments)
    except LspMcpError as error:
        return str(error), True
    return f"{answer.text}\n{answer.said}", False


async def works(at: Desk) -> None:
    assert (await at.references(GO))[0] == [("lib.go", 4), ("use.go", 4), ("use.go", 5)]


@pytest.mark.parametrize("tool", [*ANCHORED, "find_symbol_definitions_by_name", "lsp_hover", "check"])
@bounded
async def test_a_stopped_server_of_neovim_is_named_whatever_is_asked_and_answers_when_it_goes_on(
    tool: str, tmp_path: Path
) -> None:
    skip_without_nvim()
    skip_without("gopls")
    GO.write(tmp_path, use=2)
    async with desk(tmp_path, "lib.go", options=IMPATIENT) as at:
        await works(at)
        await at.type_text("lib.go", GO.fixed["lib.go"] + "\n// more\n")
        before = contents(tmp_path)
        with at.stopped("gopls"):
            said, is_error = await told(at, tool)
            assert "gopls" in said
            assert is_error or '"status": "complete' not in said, said
            assert contents(tmp_path) == before
        await works(at)
        assert contents(tmp_path) == before, "it was done when nobody waited for it any more"


@pytest.mark.parametrize("tool", [*ANCHORED, "find_symbol_definitions_by_name", "lsp_hover", "check", "read"])
@bounded
async def test_a_stopped_neovim_is_named_whatever_is_asked_and_answers_when_it_goes_on(
    tool: str, tmp_path: Path
) -> None:
    skip_without_nvim()
    skip_without("gopls")
    GO.write(tmp_path, use=2)
    async with desk(tmp_path, "lib.go", options=IMPATIENT) as at:
        await works(at)
        before = contents(tmp_path)
        with stopped(at.nv.pid):
            said, is_error = await told(at, tool)
            assert is_error, said
            assert at.nv.socket in said
            assert contents(tmp_path) == before
        await works(at)
        assert contents(tmp_path) == before, "it was done when nobody waited for it any more"
