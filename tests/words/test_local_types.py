"""What a type inside a function declares."""

from __future__ import annotations

import re

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.text import Text
from lsp_mcp.words.lexing import occurrences
from lsp_mcp.words.local_types import declared_inside_functions

CPP = next(one for one in load_adapter("clangd").languages if one.id == "cpp")


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
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
        ("void f() { if (x) { struct W { [[maybe_unused]] alignas(8) T word; }; } }", "field f if W"),
        ("auto l = [] { struct W { int word; }; };", "field W"),
        ("template <class T, int N = (1 > 2)> void A<T>::f() const { struct W { T word; }; }", "field f W"),
        ("A::A(int n) : b(n) { struct W { int word; }; }", "field A W"),
        ("TEST(A, B) { struct W { int word; }; }", "field TEST W"),
        ("void f() {\n#if A\n if (x) {\n#else\n {\n#endif\n struct W { int word; }; } }", "field f W"),
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
        ("void f() {\n#if A\n if (x) {\n#else\n if (y) {\n#endif\n } }\nstruct W { int word; };", None),
        ("void f() { // struct W { int word; };\n}", None),
        ('extern "C" { struct W { int word; }; }', None),
        ("class __attribute__((packed)) EXPORT(x) W { int word; };", None),
        ("enum class E : decltype(x) { word };", None),
        ("int a[] = { word };", None),
    ],
)
def test_only_what_a_type_in_a_function_declares_is_found(code: str, wanted: str | None) -> None:
    text = Text(code)
    found = declared_inside_functions(text, [*occurrences(text, "word", CPP)], CPP)
    assert [" ".join([one.kind, *one.around]) for one in found] == ([wanted] if wanted else [])


@pytest.mark.parametrize("word", ["override", "const", "operator", "noexcept"])
def test_what_stands_beside_parameters_is_not_a_name(word: str) -> None:
    text = Text("void f() { struct W : B { int g() const noexcept override; bool operator()(int a) { return a; } }; }")
    assert not declared_inside_functions(text, [*occurrences(text, word, CPP)], CPP)


def test_words_at_several_places_of_a_text_are_each_judged_by_what_is_around_them() -> None:
    code = "int word;\nvoid f() { struct W { int word; }; word(); }\nvoid g() { struct V { int word; }; }\n"
    text = Text(code)
    found = declared_inside_functions(text, [*occurrences(text, "word", CPP)], CPP)
    assert [(one.span.start.line, one.around) for one in found] == [(2, ("f", "W")), (3, ("g", "V"))]
    assert len(re.findall("word", code)) > len(found)
