"""The same places before and after a change: `Shift`."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.edits.plan import FileChange, TextChange
from lsp_mcp.features.renaming.tried import Shift
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
