"""Changes of several lines as changes of single words: `by_word`; changes that overlap."""

from pathlib import Path

import pytest

from lsp_mcp.edits.plan import FileChange, TextChange
from lsp_mcp.edits.rewriting import by_word
from lsp_mcp.errors import EditError
from lsp_mcp.text import Span, Text

BEFORE = Text("def square(x):\n    return x\n\nsquare(square(1))\n")
WHOLE = BEFORE.offsets_span(0, len(BEFORE.content))


def whole(new: str) -> FileChange:
    return FileChange(Path("/a.py"), BEFORE, "", ()).with_changes([TextChange(WHOLE, BEFORE.content, new)])


def test_a_whole_file_with_other_words_becomes_a_change_of_each() -> None:
    step = whole(BEFORE.content.replace("square", "squared"))
    found = by_word(step)
    assert found.after == step.after
    assert [(change.old_text, change.new_text, *change.span.start) for change in found.changes] == [
        ("square", "squared", 1, 5),
        ("square", "squared", 4, 1),
        ("square", "squared", 4, 8),
    ]


def test_a_change_that_adds_words_or_is_in_one_line_stays() -> None:
    longer = whole(BEFORE.content + "more()\n")
    assert by_word(longer) == longer
    line = longer.with_changes([TextChange(Span(*by_word(longer).changes[0].span), BEFORE.content, "one")])
    assert by_word(line).after == "one"


def test_changes_that_overlap_are_refused() -> None:
    step = whole("def squared(x):\n    return x\n\nsquare(square(1))\n")
    word = TextChange(BEFORE.words("square")[1], "square", "squared")
    with pytest.raises(EditError, match=r"the changes of a\.py overlap in line 4"):
        step.with_changes([*step.changes, word])
