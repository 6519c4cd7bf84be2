"""The same places before and after a change: `Shift`, `spelled_out`."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.edits.plan import FileChange, TextChange
from lsp_mcp.features.renaming.shifts import Shift, spelled_out
from lsp_mcp.text import Text


def renamed(before: str, old: str, new: str) -> FileChange:
    text = Text(before)
    changes = [TextChange(span, old, new) for span in text.words(old)]
    return FileChange(Path("/a.go"), text, "", ()).with_changes(changes)


words = st.lists(st.sampled_from(["old", "x", "other", "\n", "𝒳"]), max_size=20).map(" ".join)


@given(words, st.sampled_from(["n", "new", "longer"]))
def test_every_word_is_at_its_place_after_the_change_and_back(before: str, new: str) -> None:
    change = renamed(before, "old", new)
    shift = Shift(change)
    for word, becomes in (("old", new), ("x", "x"), ("other", "other")):
        spans = shift.before.words(word)
        assert [shift.to_after(span.start) for span in spans] == [span.start for span in shift.after.words(becomes)]
        assert [shift.to_before(shift.to_after(span.start)) for span in spans] == [span.start for span in spans]


def test_a_word_that_becomes_two_is_written_twice_before_it_is_renamed() -> None:
    text = Text("const { old, x } = all; f(old, x, { old })\n")
    first, second, third = text.words("old")
    changes = [
        TextChange(first, "old", "old: longer"),
        TextChange(second, "old", "longer"),
        TextChange(third, "old", "old: longer"),
    ]
    change = FileChange(Path("/a.ts"), text, "", ()).with_changes(changes)
    found = spelled_out(change, "old", "longer")
    assert found.text.content == "const { old: old, x } = all; f(old, x, { old: old })\n"
    assert found.shift.after.content == change.after
    words = found.text.words("old")
    assert [found.places[span.start] for span in (first, second, third)] == [words[at].start for at in (1, 2, 4)]
    after = [found.shift.to_after(found.places[span.start]) for span in (first, second, third)]
    assert after == [Shift(change, "longer").to_after(span.start) for span in (first, second, third)]
    assert found.shift.to_after(found.text.words("x")[-1].start) == found.shift.after.words("x")[-1].start
