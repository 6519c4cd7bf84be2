"""What a type inside a function, or one without a name, declares in Go."""

from __future__ import annotations

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.text import Text
from lsp_mcp.words.lexing import occurrences
from lsp_mcp.words.name_first_types import declared_unlisted

GO = load_adapter("gopls").languages[0]


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("func f() {\n\ttype word struct{ a int }\n}", "struct f"),
        ("func f() {\n\ttype word interface{ a() }\n}", "interface f"),
        ("func f() { type word []int }", "type f"),
        ("func f() { type word = struct{} }", "struct f"),
        ("func f() { type word[T any] struct{} }", "struct f"),
        ("func f() {\n\ttype (\n\t\ta int\n\t\tword func()\n\t)\n}", "type f"),
        ('func (t *T) m() {\n\ttype w struct {\n\t\tword int `json:"x"` // why\n\t}\n}', "field m w"),
        ("func f() { type w struct { a, word *T } }", "field f w"),
        ("func f() { type w struct { word, b <-chan int } }", "field f w"),
        ("func f() { type w interface { word(int) error } }", "method f w"),
        ("func f() { type w struct { in struct { word int } } }", "field f w in"),
        ('func f() {\n\tfor _, t := range []struct {\n\t\tname, word string\n\t}{{"a", "b"}} {\n\t}\n}', "field f"),
        ("func f() { var w struct{ word int } }", "field f"),
        ("func f() { g(func() { type word struct{} }) }", "struct f"),
        ("func f(q struct{ word int }) {}", "field"),
        ("func f() (q struct{ word int }) { return }", "field"),
        ("var v = []struct {\n\tword int\n}{{1}}", "field"),
        ("var (\n\tv struct {\n\t\tword int\n\t}\n)", "field"),
        ("var h = func() { type w struct { word int } }", "field w"),
        ("type S []struct{ word int }", "field"),
        ("type A [3]struct{ word int }", "field"),
        ("type A [n]struct{ word int }", "field"),
        ("type M map[string]struct{ word int }", "field"),
        ("type P *struct{ word int }", "field"),
        ("type T struct {\n\tm map[string]struct{ word int }\n}", "field T"),
        ("type T struct {\n\tf func(a struct{ word int })\n}", "field T"),
        ("type I interface{ do(y struct{ word int }) }", "field I"),
        ("type G[X interface{ word() }] struct{ a X }", "method"),
        ("func f() { type w struct { word } }", "field f w embedded"),
        ("func f() { type w struct { word\n b int } }", "field f w embedded"),
        ("func f() { type w struct { *word } }", "field f w embedded"),
        ('var v = struct {\n\t*p.word[int] `json:"x"` // why\n}{}', "field embedded"),
        # Declared where a search by name looks, or not a declaration.
        ("type word struct{ a int }", None),
        ("type T struct {\n\tin struct {\n\t\tword int\n\t}\n}", None),
        ("type T struct {\n\ta, in struct{ word int }\n}", None),
        ("type (\n\tT struct {\n\t\tword int\n\t}\n\tword int\n)", None),
        ("type G[X any] struct{ word X }", None),
        ("type G[X interface{ m() }, Y any] struct{ word X }", None),
        ("type A = struct{ word int }", None),
        ("type I interface {\n\tword(a int)\n}", None),
        ("type T struct {\n\tm map[string]struct{ a int }\n\tword int\n}", None),
        ("func f() { type w struct { a word } }", None),
        ("type T struct {\n\tword\n}", None),
        ("type S []interface{ p.word }", None),
        ("func f() { type w struct { a func(word int) } }", None),
        ("func f() {\n\tword := 1\n\tword, b := 2, 3\n\tword(b)\n}", None),
        ("func f() { _ = w{word: 1} }", None),
        ("func f() { switch word { case 1: } }", None),
        ("func word() { var word int }", None),
        ("func f() {\n\tx(`type word struct {}`)\n\t// type word struct\n}", None),
        ("func f() { return struct{}{}, word }", None),
        ("func f() {\n\tif x := (struct{ a int }{1}); x.a > 1 {\n\t\tword (x)\n\t}\n}", None),
    ],
)
def test_only_what_a_search_by_name_omits_is_found(code: str, wanted: str | None) -> None:
    text = Text(f"package p\n\n{code}\n")
    found = declared_unlisted(text, [*occurrences(text, "word", GO)], GO)
    said = [" ".join([one.kind, *one.around, *(["embedded"] if one.embedded else [])]) for one in found]
    assert said == ([wanted] if wanted else [])


def test_words_at_several_places_of_a_text_are_each_judged_by_what_is_around_them() -> None:
    text = Text(
        "package p\n\nvar word = 1\n\nfunc f() {\n\ttype w struct{ word int }\n}\n\ntype T struct{ word int }\n"
    )
    found = declared_unlisted(text, [*occurrences(text, "word", GO)], GO)
    assert [(one.span.start.line, one.around) for one in found] == [(6, ("f", "w"))]
