"""What of a text belongs to a declaration, given the range that a server gives: `declaration`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.adapters import Language, load_adapter
from lsp_mcp.requests.declaration import Declaration, declaration
from lsp_mcp.text import Text

GO = load_adapter("gopls").languages[0]
CPP = load_adapter("clangd").languages[1]
PYTHON = Language(
    id="python",
    name="Python",
    scheme="py",
    extensions=(".py",),
    line_comment="#",
    lead_pattern=r"(?<=\n)[ \t]*@[^\n]*\n[ \t]*|\basync\s+",
    blocks="indented",
)


def declared(source: str, language: Language | None) -> Declaration:
    """The declaration of `source`, where « and » stand around the range that the server gives."""
    start, end = source.index("«"), source.index("»")
    text = Text(source.replace("«", "").replace("»", ""))
    return declaration(text, text.offsets_span(start, end - len("«")), language)


@pytest.mark.parametrize(
    ("language", "source", "whole", "body"),
    [
        (GO, "x()\n\n// A.\n//\n// B.\ntype «T int» // c\nvar y", "// A.\n//\n// B.\ntype T int // c", None),
        (GO, "const (\n\t// A.\n\t«A = iota»\n\tB\n)", "// A.\n\tA = iota", None),
        (GO, "var b = 1 // no comment of f\n«func f() interface{} { return nil }»\n", None, "{ return nil }"),
        (GO, "«func f() {\n\ts := \"}\" + `{`\n\tr := '{' // {\n}»", None, "{\n\ts := \"}\" + `{`\n\tr := '{' // {\n}"),
        (GO, "/* A.\n B. */\r\n«func f() { g() }»\r\n", "/* A.\n B. */\r\nfunc f() { g() }", "{ g() }"),
        (GO, "// Far.\n\n«func f()»", "func f()", None),
        (CPP, "// A.\ntemplate <class T>\n«class B : C { int x; }»;  // d\n", None, "{ int x; }"),
        (CPP, 'int x;\n[[deprecated("};")]]\n«int f()»;', '[[deprecated("};")]]\nint f();', None),
        (CPP, "enum E { «A», B };", "A,", None),
        (CPP, "«A::A() : a{1}, b{2} { c(1'000, '}'); }»", None, "{ c(1'000, '}'); }"),
        (CPP, '«void f() { auto s = R"x(})" }})x"; }»', None, '{ auto s = R"x(})" }})x"; }'),
        (CPP, "«int f() try { g(); } catch (...) { h(); }»", None, "{ g(); } catch (...) { h(); }"),
        (CPP, "«int f() {\n#if A\n  if (a) {\n#else\n  if (b) {\n#endif\n  }\n}»", None, None),
        (PYTHON, "y\n\n# A.\n@b(c)\n@d\n«def f(x: int = {1: 2}):\n    return x»\n", None, "return x"),
        (None, "// A.\n«fn f() { g() }»;", "fn f() { g() }", None),
    ],
)
def test_a_declaration_is_whole(language: Language | None, source: str, whole: str | None, body: str | None) -> None:
    found = declared(source, language)
    bare = source.replace("«", "").replace("»", "")
    wanted = whole or bare.strip().partition("of f\n")[2] or bare.strip().removeprefix("y\n\n")
    assert found.text.slice(found.span) == wanted
    assert (found.text.slice(found.body) if found.body else None) == body


def test_the_hash_is_of_the_comment_too() -> None:
    one, other = declared("// A.\n«func f() {}»\n", GO), declared("// B.\n«func f() {}»\n", GO)
    assert one.hash != other.hash
    assert one.hash == declared("x\n\n// A.\n«func f() {}»\n\ny", GO).hash


@given(
    st.lists(st.sampled_from(["// a", "/* b", "c */", "{", "}", '"', "type", "f(", ")", "'", "`", "\n", "\r\n", " "]))
)
def test_whatever_a_text_holds_the_range_is_within_the_declaration(pieces: list[str]) -> None:
    before, inside = "".join(pieces[: len(pieces) // 2]), "".join(pieces[len(pieces) // 2 :])
    text = Text(before + "f" + inside)
    span = text.offsets_span(len(before), len(text.content))
    for language in (GO, CPP, PYTHON):
        found = declaration(text, span, language)
        assert found.span.start <= found.code.start <= span.start
        assert span.end <= found.code.end == found.span.end
        assert not found.body or (found.code.start <= found.body.start and found.body.end <= found.code.end)
        assert not found.doc or found.doc.end <= found.code.start
