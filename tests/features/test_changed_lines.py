"""Uncommitted changes are taken for the declarations that they are in."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.features.impact.changed_lines import Hunk, hunks, touched
from lsp_mcp.requests.containers import Container
from lsp_mcp.requests.places import Place
from lsp_mcp.text import Point, Span, Text

TEXT = Text("\n".join(f"line{number}" for number in range(1, 60)))


def declared(name: str, first: int, last: int, kind: str = "function") -> Container:
    span = Span(Point(first, 1), Point(last, 3))
    return Container(name, kind, Place(Path("/a.go"), Span(Point(first, 1), Point(first, 3)), TEXT), span)


def test_a_diff_without_context_gives_the_lines_of_each_file_that_is_still_there() -> None:
    diff = (
        "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1,2 @@ func A() {\n-x\n+y\n+++ b/z\n"
        "@@ -9,2 +10,0 @@\n-x\n--- b/c\n"
        "diff --git a/gone.go b/gone.go\n--- a/gone.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/sub/b.go b/sub/b.go\n--- /dev/null\n+++ b/sub/b.go\n@@ -0,0 +1,3 @@\n+x\n"
    )
    assert hunks(diff) == {"a.go": [Hunk(1, 2), Hunk(10, 0)], "sub/b.go": [Hunk(1, 3)]}


def test_the_innermost_declaration_is_touched_and_its_neighbours_are_not() -> None:
    outer, first, second = declared("T", 1, 20), declared("a", 2, 5), declared("b", 6, 9)
    every = [outer, first, second]
    assert touched(every, [Hunk(5, 1)]) == [first]
    assert touched(every, [Hunk(5, 2)]) == [first, second]
    assert touched(every, [Hunk(12, 1)]) == [outer]
    assert touched(every, [Hunk(5, 0)]) == [outer]  # removed between two: neither was changed
    assert touched(every, [Hunk(4, 0)]) == [first]
    assert touched(every, [Hunk(30, 3)]) == []


def test_a_changed_local_is_a_change_of_its_function() -> None:
    function, local, inner = declared("f", 1, 20), declared("n", 3, 3, "variable"), declared("g", 5, 8)
    of_inner, top = declared("m", 6, 6, "variable"), declared("V", 22, 22, "variable")
    every = [function, local, inner, of_inner, top]
    assert touched(every, [Hunk(3, 1)]) == [function]
    assert touched(every, [Hunk(6, 1)]) == [inner]
    assert touched(every, [Hunk(22, 1)]) == [top]


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 5)), max_size=4))
def test_a_changed_line_is_in_a_touched_declaration_if_it_is_in_any(changes: list[tuple[int, int]]) -> None:
    flat = [declared(f"f{line}", line, line + 3) for line in range(1, 50, 5)]
    found = touched(flat, [Hunk(*change) for change in changes])
    lines = {line + more for line, length in changes for more in range(length)}
    for one in flat:
        own = set(range(one.extent.start.line, one.extent.end.line + 1))
        if lines & own:
            assert one in found
