"""Where a text may base a type on another."""

from pathlib import Path

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.features.types.class_heads import Bases, ClassHeads, templates_around
from lsp_mcp.servers.clangd.traits import HIERARCHY
from lsp_mcp.text import Point, Text

ADAPTER = load_adapter("clangd")


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("struct Own : public n::Base {};", [" public n::Base "]),
        ("MAKE(Own, n::Base<int>)", ["Own", "Base"]),
        ("  FOR_EACH (const Base& item, list<Base>) {", ["item", "list"]),
        ("using Other = n::Base;", ["Base"]),
        ("Base f(Base b);", []),
    ],
)
def test_a_type_is_a_base_where_it_is_an_argument_of_a_macro_and_not_where_it_only_declares_one(
    code: str, named: list[str]
) -> None:
    text = Text(f"{code}\n")
    found = ClassHeads(HIERARCHY).stretches(text, ADAPTER.language_of(Path("a.cpp")))
    assert [text.slice(span) for span, _ in found] == named


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("struct Own : A, n::B<int, C> {};", ["A", "B"]),
        ("struct Own : A\n#ifdef X\n, B<int>\n#endif\n{};", ["A", "B"]),
        ("struct Own\n#ifdef X\n: A\n#else /* A */ \\\n\n  : B\n#endif\n{};", ["A", "B"]),
    ],
)
def test_the_bases_of_all_builds_are_named(code: str, named: list[str]) -> None:
    text = Text(f"{code}\n")
    said = ClassHeads(HIERARCHY).statements(text, ADAPTER.language_of(Path("a.cpp")))
    ((head, bases),) = said.bases.items()
    assert (head, [base.name for base in bases]) == ((1, 8), named)


def test_a_parameter_of_a_macro_is_the_base_that_the_use_of_the_macro_names() -> None:
    text = Text("#define MAKE(s, base) \\\n  struct Own : base {} own##s\nvoid f() { MAKE(a, n::Base); }\n")
    said = ClassHeads(HIERARCHY).statements(text, ADAPTER.language_of(Path("a.cpp")))
    assert said.bases_of(["base"]) == Bases()
    assert said.bases_of(["Base"]) == Bases(macros=frozenset({"MAKE"}))
    assert said.by_parameter == {"MAKE": frozenset({Point(2, 10)})}


@pytest.mark.parametrize(
    ("code", "mixins"),
    [
        ("template <class T> struct Mixin : T {};", {"Mixin"}),
        ("template <typename K = int, typename... Ts>\nclass Mixin final : public A, public Ts... {};", {"Mixin"}),
        ("template <template <class> class Of> struct Mixin : Of<int> {};", {"Mixin"}),
        ("template <class T> struct Own : Base<T> {};", set()),
        ("template <class T> struct Other {}; struct Own : T {};", set()),
    ],
)
def test_a_template_is_a_mixin_if_its_own_parameter_is_a_base(code: str, mixins: set[str]) -> None:
    said = ClassHeads(HIERARCHY).statements(Text(f"{code}\n"), ADAPTER.language_of(Path("a.cpp")))
    assert said.mixins == mixins


def test_the_templates_around_a_type_are_those_that_it_is_an_argument_of() -> None:
    code = "A<int, const n::B<Type>*> a; C<Other> c; D<E<int>, Same> d; bool less = f < 2; Type t; F<Types> g;"
    assert templates_around(code, ["Type", "Same"]) == {"A", "B", "D"}
