"""`make demo` finds something to ask about in answers as a model gets them."""

import sys
from pathlib import Path

from lsp_mcp.features.places import Place
from lsp_mcp.features.symbols import Symbol
from lsp_mcp.render.answers import Outline
from lsp_mcp.render.compact import compact
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
