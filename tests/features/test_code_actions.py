"""Which servers are asked for actions."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest

from lsp_mcp.backend import Backend
from lsp_mcp.requests.code_actions import code_actions
from lsp_mcp.text import Point, PositionEncoding, Span, Text


@pytest.mark.parametrize(
    ("provider", "is_asked"),
    [
        (True, True),
        ({"codeActionKinds": ["quickfix", "source.organizeImports"]}, True),
        ({"codeActionKinds": ["source"]}, True),
        ({"codeActionKinds": ["source.organizeImports.python"]}, True),
        ({"codeActionKinds": ["quickfix", "refactor", "info"]}, False),
        (False, False),
    ],
)
def test_a_server_that_offers_only_other_kinds_is_not_asked_and_reads_nothing(
    provider: bool | dict[str, list[str]], is_asked: bool
) -> None:
    opened: list[Path] = []

    async def open_(path: Path) -> Text:
        opened.append(path)
        return Text("")

    async def request(*_: object) -> list[Any]:
        return []

    server = SimpleNamespace(
        capabilities={"codeActionProvider": provider},
        documents=SimpleNamespace(open=open_),
        request=request,
        encoding=PositionEncoding("utf-8"),
        plugin=SimpleNamespace(refactorings=SimpleNamespace(built=())),
    )
    at = Span(Point(1, 1), Point(1, 1))

    async def ask() -> None:
        kinds = ["source.organizeImports"]
        assert await code_actions(cast("Backend", server), Path("/a.c"), Text(""), at, only=kinds) == []

    anyio.run(ask)
    assert bool(opened) == is_asked
