"""What declares a word in code that nobody has parsed."""

from __future__ import annotations

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.text import Text
from lsp_mcp.words.scopes import Declared, declared_around

LOCAL = Declared()
CPP = next(one for one in load_adapter("clangd").languages if one.id == "cpp")


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("int f(int size) { return @size; }", LOCAL),
        ("int f(const T* size, int n) { if (n) { return *@size; } }", LOCAL),
        ("void f() { unsigned size = 3; g(@size); }", LOCAL),
        ("void f() { std::vector<int> size; { g(@size); } }", LOCAL),
        ("void f() { int @size = 3; }", LOCAL),
        ("struct A { int g() { return @size; } int size; };", Declared("A")),
        ("template <class T, int n = -1> class A : B { A(): @size(0) {} unsigned char size; };", Declared("A")),
        ("struct A { void f() { this->@size = 1; } private: int size; };", Declared("A")),
        ("struct A { int @size() const; };", Declared("A")),
        ("struct A { A &operator=(T *t) { if (t) { @size = 1; } else { size = 2; } } int size; };", Declared("A")),
        ("struct A { bool operator()(int size) const { return @size; } };", LOCAL),
        ("struct A { struct B { int size; }; int f() { return @size; } };", None),
        ("struct A : B { int f() { return @size; } };", None),
        ("struct A { int f() { return @size; }\n#ifdef X\n int size;\n#endif\n};", None),
        ("int f(int size) {\n#if X\n return @size;\n#endif\n}", None),
        ("int f(int n) { return @size * n; }", None),
        ("void f() { { int size; } g(@size); }", None),
        ("void f() { g(@size); int size; }", None),
        ("void f() { while (n * size) { g(@size); } }", None),
        ("void f(int n) { return size; g(@size); }", None),
        ("void f() { // int size;\n g(@size); }", None),
        ("void f(int n) { x = n * size; g(@size); }", None),
        ("void f() { else size = 3; g(@size); }", None),
        ("namespace n { int size; int f() { return @size; } }", None),
        ("struct A { friend int size(); int f() { return @size(); } };", None),
        ("struct A { using B::size; int f() { return @size; } };", None),
        ("void f() { int (*g)(int size); h(@size); }", None),
        ("void f() { struct size; }\nvoid g() { h(@size); }", None),
        ("void f(int size) { for (int i = 0; i < 3; ++i) { if (i) { g(@size); } else { h(); } } }", LOCAL),
        ("struct foo *f(struct bar *size) { switch (1) { case 2: { return @size; } } }", LOCAL),
        ("C::C(int size) : B(1), n(2) { g(@size); }", LOCAL),
        ("void f() { auto g = [&](int n) { return @size; }; int size; }", None),
        ("typedef struct { int @size; } T;", None),
        ("struct __attribute__((packed)) A { int @size; };", None),
        ("struct PACKED(4) { int @size; };", None),
        ("class A : B<int(int)> { int @size; };", None),
        ("struct A\n#if X\n: B\n#endif\n{ int @size; };", None),
        ("int a[] = { @size };", None),
        ("enum { @size };", None),
    ],
)
def test_a_word_is_declared_by_the_function_or_class_around_it_or_nobody_knows(
    code: str, wanted: Declared | None
) -> None:
    at = code.index("@")
    text = Text(code.replace("@", ""))
    assert declared_around(text, text.offsets_span(at, at + len("size")), CPP) == wanted
