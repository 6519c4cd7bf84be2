"""Anchors don't rot: they are followed through edits, or refused; never silently something else."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.adapters import load_adapter
from lsp_mcp.edits.plan import TextChange
from lsp_mcp.features.finding.anchor_memory import AnchorMemory, Followed, LostError, Other
from lsp_mcp.text import Point, Span, Text

FILE = Path("/w/a.go")
BEFORE = Text("package a\n\nfunc Foo() {}\n\nfunc Bar() { Foo() }\n")
FOO = Point(3, 6)


def followed(now: str, point: Point = FOO, before: Text = BEFORE) -> Point:
    memory = AnchorMemory()
    memory.remember(FILE, before, [point])
    return memory.follow(FILE, point, Text(now)).point


def test_an_anchor_to_unchanged_text_stays() -> None:
    assert followed(BEFORE.content) == FOO


def test_an_anchor_that_was_never_handed_out_is_taken_as_it_is() -> None:
    assert AnchorMemory().follow(FILE, Point(9, 9), Text("x")) == Followed(Point(9, 9))


def test_lines_added_above_move_the_anchor_down() -> None:
    assert followed("// new\n// lines\n" + BEFORE.content) == Point(5, 6)


def test_lines_removed_above_move_the_anchor_up() -> None:
    assert followed("package a\nfunc Foo() {}\n\nfunc Bar() { Foo() }\n") == Point(2, 6)


def test_a_changed_line_that_still_has_the_identifier_once_is_followed_into_the_line() -> None:
    assert followed(BEFORE.content.replace("func Foo() {}", "func (t T) Foo(a int) {}")) == Point(3, 12)


def test_an_anchor_inside_an_identifier_keeps_its_place_in_it() -> None:
    assert followed(BEFORE.content.replace("func Foo()", "func  Foo()"), Point(3, 8)) == Point(3, 9)


def test_a_symbol_that_is_gone_is_refused_with_the_places_that_still_have_its_name() -> None:
    with pytest.raises(LostError) as lost:
        followed("package a\n\nfunc Other() {}\n\nfunc Bar() { Foo() }\n")
    assert lost.value.identifier == "Foo"
    assert lost.value.nearest == [Point(5, 14)]


def test_a_changed_line_that_has_the_identifier_twice_is_refused_with_both() -> None:
    with pytest.raises(LostError) as lost:
        followed("package a\n\nfunc Foo() { Foo() }\n\nfunc Bar() { Foo() }\n")
    assert lost.value.nearest == [Point(3, 6), Point(3, 14)]


def test_the_newest_text_that_an_anchor_was_handed_out_from_counts() -> None:
    memory = AnchorMemory()
    memory.remember(FILE, Text("a\nb\n"), [Point(2, 1)])
    memory.remember(FILE, Text("x\na\n"), [Point(2, 1)])
    assert memory.follow(FILE, Point(2, 1), Text("x\nnew\na\n")).point == Point(3, 1)


def test_an_anchor_goes_through_a_rename_that_we_made_ourselves() -> None:
    memory = AnchorMemory()
    memory.remember(FILE, BEFORE, [FOO, Point(5, 14), Point(5, 6)])
    changes = tuple(
        TextChange(Span(Point(line, c), Point(line, c + 3)), "Foo", "Longer") for line, c in ((3, 6), (5, 14))
    )
    after = Text(BEFORE.content.replace("Foo", "Longer"))
    memory.edited(FILE, BEFORE, after, changes)
    assert memory.follow(FILE, FOO, after).point == FOO
    assert memory.follow(FILE, Point(5, 14), after).point == Point(5, 14)
    assert memory.follow(FILE, FOO, Text("// top\n" + after.content)).point == Point(4, 6)


def test_memory_is_bounded_and_forgets_the_files_asked_about_longest_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsp_mcp.features.finding.anchor_memory._CHARACTERS", 100)
    memory = AnchorMemory()
    for number in range(10):
        memory.remember(Path(f"/w/{number}.go"), Text(f"{number}" * 40), [Point(1, 1)])
    assert len(memory._files) == 2
    assert memory._characters <= 100


WORDS = st.lists(st.sampled_from(["foo", "bar", "baz", "x y", ""]), max_size=12).map("\n".join)


@given(WORDS, WORDS, st.data())
def test_a_followed_anchor_stands_on_the_identifier_that_it_was_handed_out_for(
    before: str, now: str, data: st.DataObject
) -> None:
    old, new = Text(before), Text(now)
    found = [span for line in range(1, old.line_count + 1) for span in old.identifiers(line)]
    if not found:
        return
    span = data.draw(st.sampled_from(found))
    try:
        point = followed(now, span.start, old)
    except LostError as lost:
        assert all(new.identifier_at(place) is not None for place in lost.nearest)
    else:
        there = new.identifier_at(point)
        assert there is not None
        assert new.slice(there) == old.slice(span)


def test_a_position_handed_out_for_two_symbols_names_the_older_one_too() -> None:
    memory = AnchorMemory()
    memory.remember(FILE, Text("alpha\nbeta\n"), [Point(2, 1)])
    now = Text("new\nalpha\nbeta\n")
    memory.remember(FILE, now, [Point(2, 1)])
    assert memory.follow(FILE, Point(2, 1), now) == Followed(Point(2, 1), (Other("beta", Point(3, 1)),))


def test_a_position_handed_out_for_two_symbols_names_one_that_is_gone() -> None:
    memory = AnchorMemory()
    memory.remember(FILE, Text("alpha\nbeta\n"), [Point(2, 1)])
    now = Text("new\nalpha\n")
    memory.remember(FILE, now, [Point(2, 1)])
    assert memory.follow(FILE, Point(2, 1), now) == Followed(Point(2, 1), (Other("beta", None),))


def test_a_followed_anchor_names_what_stands_at_its_old_position_now() -> None:
    memory = AnchorMemory()
    memory.remember(FILE, Text("alpha\nbeta\n"), [Point(2, 1)])
    now = Text("new\nalpha\nbeta\n")
    assert memory.follow(FILE, Point(2, 1), now) == Followed(Point(3, 1), (Other("alpha", Point(2, 1)),))


def test_a_moved_function_whose_line_is_unique_is_followed() -> None:
    before = Text("func Foo() {}\n\nfunc Bar() { Foo() }\n\nfunc Baz() {}\n")
    assert followed("func Bar() { Foo() }\n\nfunc Baz() { Foo(); Foo() }\n\nfunc Foo() {}\n", Point(1, 6), before) == (
        5,
        6,
    )


def test_a_statement_that_comes_again_elsewhere_is_not_taken_for_the_one_that_went() -> None:
    before = Text("func A() {\n\tx := 1\n\tuse(x)\n}\n\nfunc B() {\n}\n")
    with pytest.raises(LostError):
        followed("func A() {\n}\n\nfunc B() {\n\tdo()\n\tx := 1\n}\n", Point(2, 2), before)


def test_a_word_of_a_comment_at_the_old_place_is_no_other_symbol() -> None:
    memory = AnchorMemory()
    memory.remember(FILE, BEFORE, [FOO])
    language = load_adapter("gopls").languages[0]
    for line, others in (("// a Foo it", ()), ("var (Other int)", (Other("Other", FOO),))):
        now = Text(f"package a\n\n{line}\n\nfunc Foo() {{}}\n\nfunc Bar() {{ Foo() }}\n")
        assert memory.follow(FILE, FOO, now, language) == Followed(Point(5, 6), others)


@pytest.mark.parametrize(
    ("now", "point"),
    [
        ("package a\n\nx = f(x) // said\ny = 1 // said\n", Point(3, 7)),
        ("package a\n\n// new\n\nx = f(x) // said\ny = 1 // said\n", Point(5, 7)),
        ("package a\n\nx = f(x)g\n", None),
        ("package a\n\nx = f(x) // one\nx = f(x) // two\n", None),
    ],
)
def test_an_anchor_is_followed_in_a_line_with_more_at_its_end(now: str, point: Point | None) -> None:
    before = Text("package a\n\nx = f(x)\ny = 1\n")
    if point:
        assert followed(now, Point(3, 7), before) == point
        return
    with pytest.raises(LostError):
        followed(now, Point(3, 7), before)
