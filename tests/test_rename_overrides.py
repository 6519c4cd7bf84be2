"""A rename takes along what overrides a method, also where the server leaves that as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.wire.peer import Peer

FILES = {
    "env.h": "#pragma once\nstruct Env { virtual void start(int n) = 0; virtual ~Env(); };\n",
    "posix.cpp": '#include "env.h"\nstruct Posix : Env { void start(int n) override {} };\n',
    "use.cpp": '#include "env.h"\nvoid use(Env &env) { env.start(1); }\n',
    "windows.cpp": (
        '#include "env.h"\nnamespace {\nstruct Windows : Env { void start(int n) override {} };\n'
        "struct Stranger { void start(); };\nvoid also(Windows &env) { env.start(2); }\n}\n"
    ),
}
BUILT = ("posix.cpp", "use.cpp")


def test_an_override_that_clangd_has_no_relation_of_is_renamed_in_a_file_that_the_build_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """clangd 22 renames the overrides of its index; of a file that it reads at the same time it may not know yet."""
    skip_without("clangd")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    database = [{"directory": str(tmp_path), "file": name, "command": f"c++ -std=c++17 -c {name}"} for name in BUILT]
    (tmp_path / "compile_commands.json").write_text(json.dumps(database))
    request = Peer.request

    async def forgetful(self: Peer, method: str, *arguments: Any, **named: Any) -> Any:
        result = await request(self, method, *arguments, **named)
        if method == "textDocument/rename":
            result["changes"] = {uri: edits for uri, edits in result["changes"].items() if "windows" not in uri}
        if method == "textDocument/references":
            result = [one for one in result if "windows" not in one["uri"]]
        return result

    monkeypatch.setattr(Peer, "request", forgetful)

    async def question(ask: Ask) -> None:
        answer = await ask("rename_symbol_by_anchor", symbol_anchor="env.h:2:start", new_name="begin")
        assert answer["status"].startswith("complete"), answer
        for name, text in FILES.items():
            assert (tmp_path / name).read_text() == text.replace("start(int", "begin(int").replace(".start", ".begin")

    asking("clangd", tmp_path, question)
