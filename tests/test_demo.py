"""`make demo` finds something to ask about in answers as a model gets them."""

import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

from lsp_mcp.render.answers import Outline
from lsp_mcp.render.compact import compact
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.text import Point, Span, Text

TEXT = Text("func Add() {\n}\nvar n = 1\ntype Shelf struct {\n}\n")


def symbol(name: str, kind: str, line: int, last: int) -> Symbol:
    place = Place(Path("a.go"), Span(Point(line, 6), Point(line, 6 + len(name))), TEXT)
    return Symbol(name, kind, place, extent=Span(Point(line, 1), Point(last, 2)))


def test_the_demo_reads_functions_and_types_in_a_compact_outline() -> None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
    import demo

    symbols = symbol("Add", "function", 1, 2), symbol("n", "variable", 3, 3), symbol("Shelf", "struct", 4, 5)
    answer = Outline(message="3 symbols", arguments={}, path=Path("a.go"), symbols=symbols)
    outline = compact(answer, str, lambda *_: "go://a.go")
    assert demo.functions_and_types(outline) == ["Add", "Shelf"]


@pytest.mark.parametrize(
    ("status", "summary"),
    [
        ("complete", "1 of 1 answers are complete."),
        ("indexing 4/5", "0 of 1 answers are complete; the status of the others says what may be missing."),
    ],
)
def test_an_incomplete_answer_is_counted_apart_from_errors(status: str, summary: str) -> None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
    import demo_screen

    output = io.StringIO()
    screen = demo_screen.Screen(Console(file=output, width=100), answers=1)
    demo_screen.Asker(screen, client=None).show(f"Found 1 reference.\na.go:1\nstatus: {status}")  # type: ignore[arg-type]
    screen.sum_up()
    assert output.getvalue().splitlines()[-2:] == [summary, ""]
    assert screen.errors == 0
