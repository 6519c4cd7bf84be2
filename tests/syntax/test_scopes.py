"""What declares a word in code that nobody has parsed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.syntax.scopes import Declared, declared_around
from lsp_mcp.text import Text

LOCAL = Declared()


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("int f(int size) { return @size; }", LOCAL),
        ("int f(const T* size, int n) { if (n) { return *@size; } }", LOCAL),
        ("void f() { unsigned size = 3; g(@size); }", LOCAL),
        ("void f() { std::vector<int> size; { g(@size); } }", LOCAL),
        ("void f() { int @size = 3; }", LOCAL),
        ("struct A { int g() { return @size; } int size; };", Declared("A")),
        ("template <class T, int n = -1> class A : B { A(): @size(0) {} unsigned char size; };", Declared("A", True)),
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
        ("struct __attribute__((packed)) A { int @size; };", Declared("A")),
        ("struct PACKED(4) { int @size; };", None),
        ("class A : B<int(int)> { int @size; };", Declared("A", True)),
        ("struct A\n#if X\n: B\n#endif\n{ int @size; };", None),
        ("int a[] = { @size };", None),
        ("class EXPORTED A : public B { int f() { return @size; } int size; };", Declared("A", True)),
        ("void f(T *size) { if (auto &[a, b] = *@size) { } }", LOCAL),
        ("void f() { auto g = [&](int size) { return @size; }; }", LOCAL),
        ("CASE(x) { int size; g(@size); }", LOCAL),
        ("void f(int size) { g(p->@size); }", None),
        ("void f(int size) { g(A::@size); }", None),
        ("void f(T __unused size) { g(@size); }", None),
        ("void f(int size) { if (a) { g(@size); }", None),
        ("enum { @size };", None),
        # What only looks like a declaration.
        ("void f() { for (i = 0; i < size; i++) { } g(@size); }", None),
        ("void f() { for (p = a; p && size; p++) { g(@size); } }", None),
        ("void f() { for (int size = 0; @size < 3; size++) { } }", LOCAL),
        ("void f() { foo size(@size); }", None),
        ("void f() { emit size(3); g(@size); }", None),
        ("void f() { LOCK\n size = 3; g(@size); }", None),
        ("void f() { LOCK\n *size = 3; g(@size); }", None),
        ("void f() { UNLOCK\n return size; g(@size); }", None),
        ("void f() { LOCK size: g(@size); }", None),
        ("void f() { x, size; g(@size); }", None),
        ("void f() { std::map<K, size, L> m; @size x; }", None),
        ("void f(std::map<K, size, L> m) { @size x; }", None),
        ("void f(int, size) { @size x; }", None),
        ("void f(const size) { @size x; }", None),
        ("struct A { explicit operator size() const { return @size(1); } };", None),
        ("struct A { constexpr friend int size(); int f() { return @size(); } };", None),
        ("struct A { const size (*get)(void); @size a; };", None),
        ("enum class E { a, @size, b };", None),
        ("struct Foo bar { x * @size };", None),
        # A type, before what it is the type of.
        ("void f() { CONST @size size = 3; }", None),
        ("void f() { unsigned @size n = 3; }", None),
        ("struct A { @size *size; };", None),
        ("struct A { int size; char name[@size]; };", None),
        # These declare it, but mean one from elsewhere.
        ("void f() { extern int size; g(@size); }", None),
        ("void f() { int size(void); g(@size()); }", None),
        ("void f() { int a, *size, b[3]; g(@size); }", LOCAL),
        ("void f() { std::map<int, std::vector<int>> size; g(@size); }", LOCAL),
        ("void f(int a[3], std::function<int(int)> g, char *const size = 0) { h(@size); }", LOCAL),
        ("struct A { virtual int size(int n = 3) const = 0; int f() { return @size(); } };", Declared("A")),
        ("struct A { int a, size : 3; int f() { return @size; } };", Declared("A")),
    ],
)
def test_a_word_is_declared_by_the_function_or_class_around_it_or_nobody_knows(
    code: str, wanted: Declared | None
) -> None:
    assert _declared(code) == wanted


# Statements of which none declares `size` for what follows it.
USES = st.sampled_from(
    [
        "g(size);", "size = 3;", "size++;", "return size;", "a = b * size;", "*p = size;", "T other;",
        "T b = size, *c;",
        "for (i = 0; i < size; i++) { g(i); }", "for (; p && size; p++) ;", "for (int size = 0; ; ) { g(size); }",
        "LOCK\n size = 1;", "LOCK\n return size;", "std::map<int, size, char> m;", "extern int size;",
        "int size(int);", "goto size;", "size: g();", "p->size = x.size;", "{ int size; g(size); }", "delete size;",
        "if (a < size && b > 0) { T size; }", "if (T size = g()) { } else size--;", "switch (size) { case 1: break; }",
        "auto h = [&](T size) { return size; };", "T v[] = { a, size };", "// T size;", 'g("T size;");',
        "while (size) size--;", "do { T size = 1; } while (size);", "static size n;", "const size &r = n;",
    ]
)  # fmt: skip
BLOCKS = st.sampled_from(
    ["{", "if (a) {", "for (i = 0; i < n; i++) {", "if (a) h(); else {", "switch (a) {", "while (size) {"]
)
DECLARATIONS = st.sampled_from(
    ["int size;", "const char *size = g();", "T a, size;", "std::vector<int> size{1};", "T size[3];"]
)
LEVELS = st.lists(st.tuples(BLOCKS, st.lists(USES, max_size=4)), max_size=4)


def code_of(levels: list[tuple[str, list[str]]]) -> str:
    return "".join(f"{block}\n" + "\n".join(uses) + "\n" for block, uses in levels)


@given(st.lists(USES, max_size=4), LEVELS)
def test_nothing_is_declared_by_statements_that_use_it(uses: list[str], levels: list[tuple[str, list[str]]]) -> None:
    code = "void f(T *other) {\n" + "\n".join(uses) + "\n" + code_of(levels) + "g("
    assert _declared(f"{code}@size);{'}' * len(levels)} }}") is None


@given(LEVELS, DECLARATIONS, LEVELS)
def test_a_declaration_counts_in_the_blocks_around_the_word(
    outer: list[tuple[str, list[str]]], declaration: str, inner: list[tuple[str, list[str]]]
) -> None:
    code = f"void f() {{ {code_of(outer)} {declaration}\n{code_of(inner)} g("
    assert _declared(f"{code}@size);{'}' * (len(outer) + len(inner))} }}") == LOCAL


def _declared(code: str) -> Declared | None:
    at = code.index("@")
    text = Text(code.replace("@", ""))
    return declared_around(text, text.offsets_span(at, at + len("size")), "cpp")
