"""Where a text may base a type on another."""

import pytest

from lsp_mcp.features.types.class_heads import Bases, statements, stretches, templates_around
from lsp_mcp.text import Point, Span, Text


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("struct Own : public n::Base {};", [": public n::Base"]),
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
    found = stretches(text, "cpp")
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
    said = statements(text, "cpp")
    ((head, bases),) = said.bases.items()
    assert (head, [base.name for base in bases]) == ((1, 8), named)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("class ALIGN_AS(64) Own final : public B<C> { struct In : D {}; };", {"Own": ["B"], "In": ["D"]}),
        ("struct EXPORT Own : A {};", {"Own": ["A"]}),
        ("class EXPORT Own { class In : B {}; };", {"In": ["B"]}),
        ("#ifdef X\nstruct Own : A {\n#else\nstruct Own : B {\n#endif\nint x; };", {"Own": ["A", "B"]}),
        ("enum class Own : int { A };", {}),
        ("template <class T> Own<T>::Own(A a, int n) : first(a), second(n) {}", {}),
        ("class A /* of: what; { */ : public B {};", {"A": ["B"]}),
        ("struct A<int>::In : n::template B<C>::D, decltype(e) {};", {"In": ["D", "e"]}),
    ],
)
def test_a_type_behind_a_macro_has_its_bases_and_what_only_looks_like_one_has_none(
    code: str, said: dict[str, list[str]]
) -> None:
    text = Text(f"{code}\n")
    bases: dict[str, list[str]] = {}
    for head, named in statements(text, "cpp").bases.items():
        bases.setdefault(text.slice(text.identifier_at(head) or Span(head, head)), []).extend(one.name for one in named)
    assert bases == said


@pytest.mark.parametrize(
    ("code", "aliases"),
    [
        ("using Other = typename n::Base<int>::In;", {("Other", "In")}),
        ("typedef struct Base Other, *Pointer;", {("Other", "Base")}),
        ("template <class T> using Other = Base<T>;", {("Other", "Base")}),
        ("#define ALIASES using Other = Base; \\\n  typedef n::Base Second\n", {("Other", "Base"), ("Second", "Base")}),
        ("using Function = Base (*)();", set()),
        ("class ALIGN_AS(64) Own : A { using Other = Base; };", {("Other", "Base")}),
    ],
)
def test_another_name_of_a_type_is_known_with_the_type(code: str, aliases: set[tuple[str, str]]) -> None:
    assert set(statements(Text(f"{code}\n"), "cpp").aliases) == aliases


def test_a_parameter_of_a_macro_is_the_base_that_the_use_of_the_macro_names() -> None:
    text = Text("#define MAKE(s, base) \\\n  struct Own : base {} own##s\nvoid f() { MAKE(a, n::Base); }\n")
    said = statements(text, "cpp")
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
    said = statements(Text(f"{code}\n"), "cpp")
    assert said.mixins == mixins


def test_the_templates_around_a_type_are_those_that_it_is_an_argument_of() -> None:
    code = "A<int, const n::B<Type>*> a; C<Other> c; D<E<int>, Same> d; bool less = f < 2; Type t; F<Types> g;"
    assert templates_around(code, ["Type", "Same"]) == {"A", "B", "D"}
