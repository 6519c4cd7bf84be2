"""Whole declarations replaced, extended and deleted, worked out on text."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.adapters import Language, load_adapter
from lsp_mcp.edits.rewriting import change_of
from lsp_mcp.errors import CallerError
from lsp_mcp.features.editing.symbol_edit import Action, edited
from lsp_mcp.requests.declaration import Declaration, declaration
from lsp_mcp.text import Text

GO = load_adapter("gopls").language_of(Path("a.go"))
PYTHON = Language(id="python", name="Python", scheme="py", extensions=(".py",), line_comment="#", blocks="indented")


def declared(content: str, code: str, language: Language | None = GO) -> Declaration:
    text = Text(content)
    start = content.index(code)
    return declaration(text, text.offsets_span(start, start + len(code)), language)


def after(content: str, code: str, action: Action, new: str = "", language: Language | None = GO) -> str:
    return edited(declared(content, code, language), action, new, language, nested=False)


F = "// F is f.\nfunc F() int {\n\treturn 1\n}\n"


def test_code_without_a_comment_leaves_the_comment_and_code_with_one_replaces_it() -> None:
    assert after(f"package a\n\n{F}", F[11:-1], "replace", "func G() {}") == "package a\n\n// F is f.\nfunc G() {}\n"
    assert after(f"package a\n\n{F}", F[11:-1], "replace", "// G.\nfunc G() {}") == "package a\n\n// G.\nfunc G() {}\n"


@pytest.mark.parametrize("body", ["return 2", "\treturn 2\n", "{ return 2 }", "{\n    return 2\n}"])
def test_a_body_is_given_with_or_without_its_braces_and_any_indentation(body: str) -> None:
    assert after(F, F[11:-1], "replace_body", body) == "// F is f.\nfunc F() int {\n\treturn 2\n}\n"


def test_what_is_deleted_goes_with_its_comment_and_leaves_one_blank_line() -> None:
    content = f"package a\n\n{F}\nvar x = 1\n"
    assert after(content, F[11:-1], "delete") == "package a\n\nvar x = 1\n"
    assert after(f"package a\n\n{F}", F[11:-1], "delete") == "package a\n"


def test_lines_end_as_those_of_the_file_do() -> None:
    content = "package a\r\n\r\nfunc F() {}\r\n"
    assert after(content, "func F() {}", "insert_after", "func G() {\n}") == content + "\r\nfunc G() {\r\n}\r\n"


def test_a_method_of_an_indented_class_gets_the_indentation_of_its_place() -> None:
    content = "class A:\n    def f(self):\n        return 1\n"
    code = "def f(self):\n        return 1"
    assert after(content, code, "replace_body", "x = 2\nreturn x", PYTHON) == (
        "class A:\n    def f(self):\n        x = 2\n        return x\n"
    )
    assert after(content, code, "insert_before", "def g(self):\n    pass", PYTHON) == (
        "class A:\n    def g(self):\n        pass\n\n    def f(self):\n        return 1\n"
    )


def test_a_body_is_wanted_of_what_has_none() -> None:
    with pytest.raises(CallerError, match="it has no body; use action=replace"):
        after("package a\n\nvar x = 1\n", "x = 1", "replace_body", "2")


LINES = st.lists(st.sampled_from(["", "a", "b", "\tc", "é𝄞"]), max_size=8)
ENDS = st.sampled_from(["\n", "\r\n"])


@given(LINES, LINES, ENDS, st.sampled_from(["", "\ufeff"]), st.booleans())
def test_the_changes_of_a_rewritten_text_make_that_text(
    old: list[str], new: list[str], end: str, mark: str, final: bool
) -> None:
    before = Text(mark + end.join(old) + end * final)
    wanted = end.join(new) + end * final
    change = change_of(Path("/w/a"), before, wanted)
    if change is None:
        assert before.content == mark + wanted
        return
    assert change.after == mark + wanted
    assert all(before.slice(one.span) == one.old_text for one in change.changes)
    again = change.without(())
    assert again is not None
    assert again.after == change.after


def test_code_from_a_file_with_other_line_ends_gets_those_of_the_text() -> None:
    windows, other = Text("a\r\nb\r\n"), Text("a\nb\n")
    assert (change_of(Path("/w/a"), windows, "a\r\nnew\nb\r\n") or pytest.fail()).after == "a\r\nnew\r\nb\r\n"
    assert (change_of(Path("/w/a"), other, "a\nnew\r\nb\n") or pytest.fail()).after == "a\nnew\nb\n"
