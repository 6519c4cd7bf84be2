"""Calls in templates that only an instance resolves (`syntax.dependent_calls`)."""

from __future__ import annotations

import pytest

from lsp_mcp.syntax.dependent_calls import depends_on_instance

DEPENDENT = [
    "template <class T> void f(T a) { «g»(a); }",
    "template <class T> void f(const T &a) { if (a) { h(); } return «g»(1, a); }",
    "template <class T> void f(T a = {}) { «g»(a); }",
    "template <class T> void f(T a = «g»(T())) {}",
    "template <class T> S<T>::S(T a) : x{1}, y{a} { «g»(a); }",
    "template <class T> S<T>::S(T a) : x(«g»(a)) {}",
    "template <class T> auto f(T a) -> decltype(«g»(a)) { return 1; }",
    "template <class T> concept C = requires(T a) { «g»(a); };",
    "template <class T> requires requires(T a) { a.h(); } void f(T a) { «g»(a); }",
    "template <class T> struct S { void h() {} void f(T a) { «g»(a); } };",
    "template <int N> void f() { «g»(N); }",
    "void f(int b) { [](auto a) { h(a); }; }\ntemplate <class T> void k() { T a; «g»(a); }",
]
KNOWN = [
    "template <class T> void f(T a) { «g»(1); }",
    "template <class T> void f(T a) { a = «g»; }",
    "template <class T> void «g»(T a);",
    "template <class T> void f(T a) {} void h(int a) { «g»(a); }",
    "template <class T> void f(T a); void h(int a) { «g»(a); }",
    "template <class T> struct S { T a; }; void h(int a) { «g»(a); }",
    "template <class T> T v = {}; void h(int a) { «g»(a); }",
    "template <class T> concept C = requires(T a) { a.h(); }; void h(int a) { «g»(a); }",
]


def depends(code: str) -> bool:
    before, name, after = code.replace("»", "«").split("«")
    return depends_on_instance(f"{before}{name}{after}", len(before), len(before) + len(name))


@pytest.mark.parametrize("code", DEPENDENT)
def test_a_call_depends_on_the_template_whose_parameters_its_arguments_are_made_of(code: str) -> None:
    assert depends(code)


@pytest.mark.parametrize("code", KNOWN)
def test_a_call_depends_on_no_template_that_has_ended_or_gives_no_argument(code: str) -> None:
    assert not depends(code)
