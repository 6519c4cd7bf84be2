"""What is new, fixed and remaining between two looks at a workspace."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.features.checking.problems import Kind, Problem, compare, known, known_lines
from lsp_mcp.requests.places import Place
from lsp_mcp.text import Point, Span, Text

A, B = Path("/w/a.go"), Path("/w/b.go")


def problem(path: Path, text: Text, line: int, message: str) -> Problem:
    return Problem(Place(path, Span(Point(line, 1), Point(line, 1)), text), "error", message)


def test_a_problem_that_only_moved_is_the_same_and_a_second_one_of_its_message_is_new() -> None:
    before = known([problem(A, Text("bad()\n"), 1, "no")], None, (), None)
    text = Text("\nworse()\nbad()\n")
    now = [problem(A, text, 2, "no"), problem(A, text, 3, "no")]
    delta = compare(now, None, before)
    assert [one.place.code for one in delta.new] == ["worse()"]
    assert [one.place.code for one in delta.remaining] == ["bad()"]
    assert delta.fixed == []


def test_what_was_not_looked_at_again_is_neither_fixed_nor_forgotten() -> None:
    text = Text("x\n")
    first = known([problem(A, text, 1, "a"), problem(B, text, 1, "b")], {A, B}, (), None)
    delta = compare([], {A}, first)
    assert delta.fixed == [Kind(A, "error", "a")]
    second = known([], {A}, (), first)
    assert compare([], {B}, second).fixed == [Kind(B, "error", "b")]
    assert compare([], {A}, second).fixed == []


def test_errors_of_files_that_nobody_had_looked_at_are_named_as_maybe_old() -> None:
    before = known_lines([], {A}, ())
    delta = compare([problem(A, Text("x"), 1, "no"), problem(B, Text("x"), 1, "no")], {A, B}, before)
    assert delta.undated == [B]


LINES = st.lists(st.sampled_from(["a()", "b()", "c()"]), max_size=8)


@given(LINES, LINES)
def test_each_problem_is_new_or_remaining_and_each_of_before_remains_or_is_fixed(
    old: list[str], new: list[str]
) -> None:
    def found(lines: list[str]) -> list[Problem]:
        text = Text("\n".join(lines))
        return [problem(A, text, number, "no") for number, _ in enumerate(lines, 1)]

    delta = compare(found(new), None, known(found(old), None, (), None))
    assert len(delta.new) + len(delta.remaining) == len(new)
    assert len(delta.remaining) + len(delta.fixed) == len(old)
    assert not (delta.new and delta.fixed)  # of one message: a problem that is there still is not a new one
