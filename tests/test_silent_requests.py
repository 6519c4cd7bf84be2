"""One request of many that a server does not answer in time costs an answer its part, which is named, not the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.errors import LspMcpError, SilentError
from lsp_mcp.features.impact import unused
from lsp_mcp.wire.peer import Peer

skip_without("clangd")

FILES = {
    "base.h": "#pragma once\nstruct Base { virtual int run(); };\n",
    "base.cpp": '#include "base.h"\nint Base::run() { return 0; }\n',
    "one.cpp": '#include "base.h"\nstruct One : Base { int run() override { return 1; } };\nstatic int lost() {}\n',
    "two.cpp": '#include "base.h"\nstruct Two : Base { int run() override { return 2; } };\nstatic int left() {}\n',
}
UNITS = [name for name in FILES if name.endswith(".cpp")]


class Silence:
    """No answer to any request of `method` about the file `name`."""

    def __init__(self) -> None:
        self.method = self.name = ""
        self.met = 0

    def meets(self, method: str, params: Any) -> bool:
        is_met = method == self.method and f"/{self.name}" in json.dumps(params)
        self.met += is_met
        return is_met


@pytest.fixture
def silence(monkeypatch: pytest.MonkeyPatch) -> Silence:
    silence, request = Silence(), Peer.request

    async def asked(peer: Peer, method: str, params: Any, **named: Any) -> Any:
        if silence.meets(method, params):
            raise SilentError("no answer")
        return await request(peer, method, params, **named)

    monkeypatch.setattr(Peer, "request", asked)
    return silence


def _written(root: Path) -> None:
    for name, text in FILES.items():
        (root / name).write_text(text)
    entries = [{"directory": str(root), "command": f"c++ -std=c++17 -c {name}", "file": name} for name in UNITS]
    (root / "compile_commands.json").write_text(json.dumps(entries))


def _files(answer: dict[str, Any], field: str) -> set[str]:
    return {one["location"]["file"] for one in answer.get(field, [])}


@pytest.mark.parametrize(
    ("method", "symbol"),
    [
        ("textDocument/documentSymbol", "Base"),
        ("textDocument/documentSymbol", "base.h:2:run"),
        ("typeHierarchy/subtypes", "Base"),
        ("textDocument/implementation", "base.h:2:run"),
    ],
)
def test_the_implementations_that_are_known_are_listed_without_an_answer_about_one(
    tmp_path: Path, silence: Silence, method: str, symbol: str
) -> None:
    _written(tmp_path)

    async def question(ask: Ask) -> None:
        await ask("find_implementations", symbol="Base")
        (tmp_path / "two.cpp").write_text(FILES["two.cpp"] + "\n")  # nothing that was said before is known
        silence.method, silence.name = method, "one.cpp"
        answer = await ask("find_implementations", symbol=symbol)
        assert silence.met
        assert "two.cpp" in _files(answer, "implementations")
        assert "one.cpp" in answer["status"], answer
        assert "not in time; ask again" in answer["status"]

    asking("clangd", tmp_path, question)


@pytest.mark.parametrize("method", ["textDocument/documentSymbol", "textDocument/references"])
def test_a_symbol_without_an_answer_about_it_is_not_called_unused_but_named(
    tmp_path: Path, silence: Silence, method: str
) -> None:
    _written(tmp_path)

    async def question(ask: Ask) -> None:
        whole = await ask("find_impact", unused=True, path=".")
        assert {"one.cpp", "two.cpp"} <= _files(whole, "unused")
        (tmp_path / "two.cpp").write_text(FILES["two.cpp"] + "\n")
        silence.method, silence.name = method, "one.cpp"
        answer = await ask("find_impact", unused=True, path=".")
        assert silence.met
        assert _files(answer, "unused") == _files(whole, "unused") - {"one.cpp"}
        assert "clangd did not answer about one.cpp: not in time; ask again" in answer["status"]
        assert ("not judged" in answer["status"]) == (method == "textDocument/references"), answer["status"]

    asking("clangd", tmp_path, question)


def test_symbols_for_which_there_is_no_time_are_counted_and_not_called_unused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _written(tmp_path)

    async def question(ask: Ask) -> None:
        whole = await ask("find_impact", unused=True, path=".")
        assert "lost" in json.dumps(whole["unused"])
        (tmp_path / "two.cpp").write_text(FILES["two.cpp"] + "\n")  # what was found out is forgotten
        monkeypatch.setattr(unused, "within", lambda _: 0.0)  # the call's time is over
        answer = await ask("find_impact", unused=True, path=".")
        assert answer["message"].startswith("0 unused symbols of 0 examined in the workspace (3 to go).")
        said = "capped at 0 of 3 symbols for lack of time; ask again, which continues, or pass a smaller path"
        assert said in answer["status"]
        assert "unused" not in answer

    asking("clangd", tmp_path, question)


def test_a_question_of_one_request_without_an_answer_is_an_error(tmp_path: Path, silence: Silence) -> None:
    _written(tmp_path)

    async def question(ask: Ask) -> None:
        silence.method, silence.name = "typeHierarchy/subtypes", "base.h"
        with pytest.raises(LspMcpError, match="no answer"):
            await ask("find_implementations", symbol="Base")

    asking("clangd", tmp_path, question)
