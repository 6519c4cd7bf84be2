"""Outlines of files are asked for once for each text, where a server reads them from the text alone."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.requests import containers
from lsp_mcp.requests.containers import Containers
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.servers.registry import plugin_of
from lsp_mcp.text import PositionEncoding, Text

FUNCTION = "func {}() {{\n}}\n"


@dataclass(eq=False)
class Outlined:
    """A server of Go with one function in each file, whose name follows `func`."""

    plugin: Plugin
    encoding: PositionEncoding
    files: dict[Path, str]
    asked: list[str] = field(default_factory=list)

    @property
    def documents(self) -> Outlined:
        return self

    async def text(self, path: Path) -> Text:
        return Text(self.files[path])

    async def request(self, method: str, params: Any) -> Any:
        assert method == "textDocument/documentSymbol"
        self.asked.append(params["textDocument"]["uri"].rpartition("/")[2])
        text = self.files[Path("/" + self.asked[-1])]
        name = text.split("(")[0].removeprefix("func ")
        at = {"start": {"line": 0, "character": 5}, "end": {"line": 0, "character": 5 + len(name)}}
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 1}}
        return [{"name": name, "kind": 12, "range": whole, "selectionRange": at}]


def names(server: Any, path: str) -> list[str]:
    return [one.name for one in asyncio.run(Containers(server).declarations(Path(path)))]


@pytest.fixture
def server() -> Outlined:
    files = {Path("/a.go"): FUNCTION.format("A"), Path("/b.go"): FUNCTION.format("B")}
    return Outlined(plugin=plugin_of(load_adapter("gopls")), encoding=PositionEncoding("utf-8"), files=files)


def test_an_outline_is_asked_for_again_only_when_the_text_is_another(server: Outlined) -> None:
    assert [names(server, "/a.go") for _ in range(3)] == [["A"]] * 3
    assert server.asked == ["a.go"]
    server.files[Path("/a.go")] = FUNCTION.format("Renamed")
    assert [names(server, "/a.go") for _ in range(2)] == [["Renamed"]] * 2
    assert server.asked == ["a.go"] * 2


def test_outlines_that_were_used_longest_ago_go_first(server: Outlined, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers._OUTLINES, "_most", 3)
    for path in ("/a.go", "/b.go", "/b.go", "/a.go"):
        names(server, path)
    assert server.asked == ["a.go", "b.go", "a.go"]


def test_what_one_server_said_is_not_said_for_another(server: Outlined) -> None:
    other = replace(server, asked=[])
    assert names(server, "/a.go") == names(other, "/a.go")
    assert server.asked == other.asked == ["a.go"]
