"""What compact answers leave out, because it stands there already."""

from pathlib import Path

from lsp_mcp.edits.plan import EditPlan
from lsp_mcp.edits.rewriting import change_of
from lsp_mcp.features.impact.impact import Reached
from lsp_mcp.render.answers import ImpactReport
from lsp_mcp.render.changes import diff_lines
from lsp_mcp.render.impact import impact_lines
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.text import Point, Span, Text

FUNCTION = "func f() {\n\ta()\n\tb()\n}\n"


def anchor(path: Path, point: Point | None) -> str:
    return f"go://{path.name}#" + (f"{point.line}:{point.character}" if point else "")


def diff(**files: tuple[str, str]) -> list[str]:
    steps = [change_of(Path(f"/{name}.go"), Text(old), new) for name, (old, new) in files.items()]
    return list(diff_lines(EditPlan(tuple(step for step in steps if step)), str, anchor))


def test_lines_that_only_move_are_named_and_not_shown() -> None:
    assert diff(a=("one\n", f"one\n\n{FUNCTION}"), b=(f"{FUNCTION}\ntwo\n", "two\n")) == [
        "moved go://b.go#1-4 → go://a.go#3-6"
    ]


def test_what_changes_beside_lines_that_move_is_shown() -> None:
    shown = diff(a=("one\n", f"one\n{FUNCTION}"), b=(f"{FUNCTION}two\nfour\n", "two\nthree\n"))
    assert shown == ["moved go://b.go#1-4 → go://a.go#2-5", "go://b.go#", "-6| four", "+2| three"]


def test_a_line_or_two_and_lines_that_differ_are_shown_where_they_are() -> None:
    shown = diff(a=("one\n", "one\nx\ny\n"), b=("x\ny\ntwo\n", "two\n"))
    assert shown == ["go://a.go#", "+2| x", "+3| y", "go://b.go#", "-1| x", "-2| y"]


def test_a_way_that_goes_on_as_one_before_ends_there() -> None:
    def reached(name: str, *way: str) -> Reached:
        return Reached(Symbol(name, "function", Place(Path("/t.go"), Span(Point(1, 1), Point(1, 2)), Text("x"))), way)

    ways = [("run", "execute", "check"), ("help", "run", "execute", "check"), ("run", "execute", "check"), ("check",)]
    answer = ImpactReport(
        message="",
        arguments={},
        uses=[],
        functions=[],
        exported=[],
        through=[],
        tests=[reached(f"Test{number}", *way) for number, way in enumerate(ways)],
        commands=[],
    )
    assert [line.partition(" < ")[2] for line in impact_lines(answer, str, anchor)] == [
        "run < execute < check",
        "help < run …",
        "run …",
        "check",
    ]
