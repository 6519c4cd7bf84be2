"""What is declared by types that no search by name finds."""

from __future__ import annotations

import pytest

from lsp_mcp.syntax.local_types import declared_locally
from lsp_mcp.text import Text

GO = [
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
    # What errors leave open.
    ("func f() {\n\ttype w struct { word int\n\tq string\n", "field"),
    ("func f() {\n\ttype word struct { a int\n", "any"),
]
CPP = [
    ("void f() { class W { public: int word; }; }", "field f W"),
    ("void f() { class W { int word = 1, b; }; }", "field f W"),
    ("void f() { class W { int a, *word[3]; }; }", "field f W"),
    ("void f() { struct W : B<int(int)> { std::map<int, T>& word{x}; }; }", "field f W"),
    ("void f() { struct W { bool word : 1; }; }", "field f W"),
    ("void f() { struct W { FMT_CONSTEXPR void word(int n) {} } w; }", "method f W"),
    ("void f() { struct W { auto word() const -> int; }; }", "method f W"),
    ("void f() { struct W final { void g() { struct V { int word; }; } }; }", "field f W g V"),
    ("void f() { struct W { struct V { int word; }; }; }", "field f W V"),
    ("void f() { struct W { W(int a) : b(a) {} int b, word; }; }", "field f W"),
    ("void f() { struct { int word; } w; }", "field f"),
    ("void f() { struct W { using word = int; }; }", "class f W"),
    ("void f() { struct word { int a; }; }", "class f"),
    ("void f() { class word : public B {}; }", "class f"),
    ("void f() { if (x) { struct W { [[maybe_unused]] alignas(8) T word; }; } }", "field f W"),
    ("auto l = [] { struct W { int word; }; };", "field W"),
    ("template <class T, int N = (1 > 2)> void A<T>::f() const { struct W { T word; }; }", "field f W"),
    ("A::A(int n) : b(n) { struct W { int word; }; }", "field A W"),
    ("TEST(A, B) { struct W { int word; }; }", "field TEST W"),
    # Not in a function, or not a declaration.
    ("struct W { int word; };", None),
    ("namespace n { struct W { int word; void g() { word = 1; } }; }", None),
    ("struct A *f(struct B *b) { int word; return word; }", None),
    ("struct A f(int word) const { return word(word); }", None),
    ("void f() { int word = 1; for (int word = 0; word < 3; ++word) { word(); } }", None),
    ("void f() { struct W { void g(int word) { return word; } }; }", None),
    ("void f() { struct W { W() : a(word) {} int a = word; }; }", None),
    ("void f() { struct W { int a[word]; }; }", None),
    ("void f() { struct W { explicit W(int n) : a(1), word(n) {} }; }", None),
    ("void f() { struct W { explicit W(int n) : word{n} {} }; }", None),
    ("void f() { struct W { using B::word; friend void word(); }; }", None),
    ("void f() { struct W { word a; }; }", None),
    ("void f() { struct word *a; struct word b; }", None),
    ("void f() { g([&](int word) { return word; }); }", None),
    ("void f() { // struct W { int word; };\n}", None),
    ('extern "C" { struct W { int word; }; }', None),
    ("class __attribute__((packed)) EXPORT(x) W { int word; };", None),
    ("enum class E : decltype(x) { word };", None),
    ("int a[] = { word };", None),
    # What errors leave open.
    ("void f() { class W { int word;\n int k() {", "field"),
    ("void f() {\n#if A\n if (x) {\n#else\n {\n#endif\n struct W { int word; }; } }", "field W"),
    ("void f() {\n#if A\n if (x) {\n#else\n if (y) {\n#endif\n } }\nstruct W { int word; };", "field W"),
    ("void f() { class word : B { int a; A(x", "any"),
]


@pytest.mark.parametrize(("code", "wanted"), GO)
def test_what_a_search_by_name_in_go_omits_is_found(code: str, wanted: str | None) -> None:
    assert _said(f"package p\n\n{code}\n", "go") == ([wanted] if wanted else [])


@pytest.mark.parametrize(("code", "wanted"), CPP)
def test_what_a_search_by_name_in_cpp_omits_is_found(code: str, wanted: str | None) -> None:
    assert _said(code, "cpp") == ([wanted] if wanted else [])


@pytest.mark.parametrize("word", ["override", "const", "operator", "noexcept"])
def test_what_stands_beside_parameters_is_not_a_name(word: str) -> None:
    code = "void f() { struct W : B { int g() const noexcept override; bool operator()(int a) { return a; } }; }"
    assert word not in [one.name for one in declared_locally(Text(code), "cpp")]


def test_names_at_several_places_of_a_text_are_each_judged_by_what_is_around_them() -> None:
    code = "int word;\nvoid f() { struct W { int word; }; word(); }\nvoid g() { struct V { int word; }; }\n"
    found = [one for one in declared_locally(Text(code), "cpp") if one.name == "word"]
    assert [(one.span.start.line, one.around) for one in found] == [(2, ("f", "W")), (3, ("g", "V"))]


def test_a_language_without_such_a_query_has_none() -> None:
    assert declared_locally(Text("def f():\n    class W: pass\n"), "python") == []


def _said(code: str, language_id: str) -> list[str]:
    found = [one for one in declared_locally(Text(code), language_id) if one.name == "word"]
    kinds = [one.kinds[0] if len(one.kinds) == 1 else "any" for one in found]
    embedded = [["embedded"] if one.embedded else [] for one in found]
    return [" ".join([kind, *one.around, *marks]) for one, kind, marks in zip(found, kinds, embedded, strict=True)]
