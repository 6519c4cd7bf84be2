"""A use that may mean another symbol is named wherever its file is."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.namesakes import Namesakes
from lsp_mcp.requests.places import Place
from lsp_mcp.text import Point, Span, Text


class _Named:
    name = "clangd"


class _Backend:
    root = Path("/project")
    plugin = _Named()


def test_a_use_in_a_file_of_a_library_is_named_by_its_whole_path() -> None:
    text = Text("int size;\n")
    span = Span(Point(1, 5), Point(1, 9))
    files = [Path("/usr/include/a.h"), Path("/project/b.h")]
    backend = cast(Backend, cast(Any, _Backend()))
    found = Namesakes(unknown=frozenset(files)).gaps(backend, "size", [Place(path, span, text) for path in files])
    assert found[0].text.endswith("/usr/include/a.h, b.h")
