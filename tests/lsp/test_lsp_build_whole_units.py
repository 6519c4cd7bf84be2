"""How a compiled file is shown to a server so that it tells all, and its word brought back to the file's own text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.adapters import load_adapter
from lsp_mcp.protocol.lsp import Diagnostic, DiagnosticRelatedInformation, Range
from lsp_mcp.servers.clangd.compilation.conditionals import leading_includes
from lsp_mcp.servers.clangd.compilation.includes import Includes
from lsp_mcp.servers.clangd.compilation.unit_text import UnitText
from lsp_mcp.servers.clangd.compilation.whole_units import WholeUnit
from lsp_mcp.servers.clangd.rules import COMPILATION
from lsp_mcp.text import PositionEncoding, Text

ADAPTER = load_adapter("clangd")
PATTERN = COMPILATION.include_pattern
UTF_32 = PositionEncoding("utf-32")
URI = "file:///a.cc"


@given(st.text(alphabet="ab\n€"), st.lists(st.tuples(st.integers(0, 30), st.text(alphabet="x\n", max_size=4))))
def test_a_place_of_the_text_is_found_again_whatever_was_put_in(content: str, put: list[tuple[int, str]]) -> None:
    put = sorted(((min(at, len(content)), more) for at, more in put), key=lambda one: one[0])
    text = UnitText(Text(content), put)
    for offset in range(len(content)):
        shown = offset + sum(len(more) for at, more in put if at <= offset)
        assert text.shown.content[shown] == content[offset]
        position, before = text.shown.offset_position(shown, UTF_32), Text(content).offset_position(offset, UTF_32)
        range_: Range = {"start": position, "end": position}
        related: DiagnosticRelatedInformation = {"location": {"uri": URI, "range": range_}, "message": ""}
        told: Diagnostic = {"range": range_, "message": "", "relatedInformation": [related]}
        here = text.diagnostic(told, URI, UTF_32)
        assert here["range"]["start"] == before == here["relatedInformation"][0]["location"]["range"]["end"]


@pytest.mark.parametrize(
    ("header", "leading"),
    [
        ('#pragma once\n\n#include "a.h"\n// and\n#include <b.h>\nint x;\n#include "c.h"\n', ["a.h", "b.h"]),
        ('// A.\n#ifndef A_H\n#define A_H\n#include "a.h" /* a\n a */\n#include "b.h"\n#endif\n', ["a.h", "b.h"]),
        ('#include "a.h"\n', []),
        ('#pragma once\n#if X\n#include "a.h"\n#endif\n', []),
        ('#pragma once\n#include NAME\n#include "a.h"\n', []),
        ("#pragma once\n", []),
    ],
)  # fmt: skip
def test_what_a_header_that_is_read_once_includes_first_is_known(header: str, leading: list[str]) -> None:
    assert leading_includes(header.encode(), re.compile(PATTERN.encode(), re.MULTILINE)) == tuple(
        one.encode() for one in leading
    )


def whole_unit(folder: Path, files: dict[str, str], *, apart: bool = False) -> WholeUnit:
    """How a.cc of `files`, which are written to `folder`, is shown."""
    for name, content in files.items():
        (folder / name).write_text(content, "utf-8")
    paths = [folder / name for name in files]
    includes = Includes(PATTERN)
    includes.update(paths, paths)
    unit, language = folder / "a.cc", ADAPTER.language_of(folder / "a.cc")
    assert language
    return WholeUnit(unit, Text(files["a.cc"]), language, ";", PATTERN, includes, lambda _: False, apart=apart)


def test_each_header_gets_an_include_of_its_own_and_only_the_others_may_hide_errors(tmp_path: Path) -> None:
    files = {
        "a.cc": '#include "b.h"\nint a;\n',
        "b.h": '#pragma once\n#include "c.h"\nint b;\n#include "d.h"\n',
        "c.h": '#pragma once\n#include "e.h"\n',
        "d.h": "",
        "e.h": "#pragma once\n",
    }
    whole = whole_unit(tmp_path, files, apart=True)
    assert whole.shown.content.split("\n")[:4] == [
        ";", f'#include "{tmp_path / "e.h"}"', f'#include "{tmp_path / "c.h"}"', '#include "b.h"'
    ]  # fmt: skip

    def error(line: int) -> dict[str, object]:
        at = {"line": line, "character": 9}
        related = {"location": {"uri": (tmp_path / "d.h").as_uri(), "range": {"start": at, "end": at}}}
        return {"range": {"start": at, "end": at}, "relatedInformation": [related]}

    assert whole.hidden([error(2)], UTF_32) == {tmp_path / "c.h"}
    assert whole.hidden([error(3)], UTF_32) == {tmp_path / "b.h", tmp_path / "d.h"}
    assert whole.diagnostics([error(3)], UTF_32)[0]["range"]["start"] == {"line": 0, "character": 9}


def test_an_include_that_an_earlier_one_leads_to_may_hide_errors_of_that(tmp_path: Path) -> None:
    files = {
        "a.cc": '#include "b.h"\n#include "c.h"\n#include "d.h"\n',
        "b.h": '#pragma once\nint b;\n#include "c.h"\n',
        "c.h": "#pragma once\n",
        "d.h": "#pragma once\n",
    }
    whole = whole_unit(tmp_path, files)
    assert whole.apart == {tmp_path / "b.h", tmp_path / "d.h"}
    at = {"line": 1, "character": 9}
    related = {"location": {"uri": "file:///usr/include/array", "range": {"start": at, "end": at}}}
    told = {"range": {"start": at, "end": at}, "relatedInformation": [related]}
    assert whole.hidden([told], UTF_32) == {tmp_path / "b.h", tmp_path / "c.h"}
