"""What `check` says when a server is too slow, and when a folder has more files than one check looks at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.errors import SilentError
from lsp_mcp.toolsets import checking
from lsp_mcp.wire.peer import Peer


def test_a_check_that_is_not_done_in_time_says_that_nothing_is_known_and_the_next_one_finds_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("gopls")
    (tmp_path / "go.mod").write_text("module example.com/a\n\ngo 1.23\n", "utf-8")
    file = tmp_path / "a.go"
    file.write_text("package a\n\nfunc f() int { return 1 }\n\nvar _ = f\n", "utf-8")
    request, silent = Peer.request, False

    async def met(self: Peer, method: str, *arguments: Any, **named: Any) -> Any:
        if silent and method == "workspace/executeCommand" and "diagnose" in str(arguments):
            raise SilentError("it does not answer")
        return await request(self, method, *arguments, **named)

    monkeypatch.setattr(Peer, "request", met)

    async def question(ask: Ask) -> None:
        nonlocal silent
        assert (await ask("check"))["status"] == "complete"
        file.write_text(file.read_text("utf-8").replace("return 1", 'return ""'), "utf-8")
        silent = True
        slow = await ask("check")
        assert slow["message"] == "Not checked: not all files. Errors known so far: none."
        assert "gopls did not check all files in time; ask again" in slow["status"]
        silent = False
        known = await ask("check")
        assert (known["message"], known["status"]) == ("1 new error in 1 file, none fixed, none remaining.", "complete")

    asking("gopls", tmp_path, question)


def test_a_check_of_a_folder_with_too_many_files_says_how_many_it_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("clangd")
    monkeypatch.setattr(checking, "_MOST_BELOW", 2)
    (tmp_path / "src").mkdir()
    names = [f"src/{letter}.c" for letter in "abc"]
    for name in names:
        (tmp_path / name).write_text("int unused;\n", "utf-8")
    commands = [{"directory": str(tmp_path), "file": name, "arguments": ["clang", "-c", name]} for name in names]
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands), "utf-8")

    async def question(ask: Ask) -> None:
        assert "checked 2 of 3 files below src; pass a smaller folder" in (await ask("check", path="src"))["status"]

    asking("clangd", tmp_path, question)
