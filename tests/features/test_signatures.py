"""Names with the types of their parameters tell overloads apart."""

import pytest

from lsp_mcp.requests.signatures import fits, split_signature


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("A::f(const X&)", ("A::f", "(const X&)")),
        ("f()", ("f", "()")),
        ("A::f(int (*)(int), char) const", ("A::f", "(int (*)(int), char) const")),
        ("A::operator()", ("A::operator()", None)),
        ("A::operator()(int)", ("A::operator()", "(int)")),
        ("operator==(const A&, const A&)", ("operator==", "(const A&, const A&)")),
        ("A<int>::get(T) noexcept", ("A<int>::get", "(T) noexcept")),
        ("(*T).M", ("(*T).M", None)),
        ("A::f", ("A::f", None)),
    ],
)
def test_the_parameters_of_a_name_are_what_its_last_parentheses_hold(name: str, split: tuple[str, str | None]) -> None:
    assert split_signature(name) == split


@pytest.mark.parametrize(
    ("parameters", "detail", "same"),
    [
        ("const X&", "void (const X &)", True),
        ("const X& x, int n = 3", "void (const ns::X &, int) const", True),
        ("const ns::X&", "void (const X &)", True),
        ("X const& x", "void (const X &)", True),
        ("ns::X const volatile*", "void (const volatile X *)", True),
        ("X* const", "void (const X *)", False),
        ("std::vector<X const*> const& all", "void (const std::vector<const X *> &)", True),
        ("std::map<int, X const> m, Y const& y", "void (std::map<int, const X>, const Y &)", True),
        ("X&", "void (const X &)", False),
        ("int", "int (double)", False),
        ("int", "int (int, int)", False),
        ("const X&, …", "int (const X &, int, int)", True),
        ("...", "int (int)", True),
        ("", "(const X &)", False),
        ("void", "int ()", True),
        ("std::map<int, X> m", "void (map<int, X>)", True),
        ("int (*)(int)", "void (int (*)(int))", True),
    ],
)
def test_parameters_fit_the_type_that_a_server_gives(parameters: str, detail: str, same: bool) -> None:
    assert fits(f"({parameters})", detail) == same


@pytest.mark.parametrize(
    ("signature", "detail", "same"),
    [
        ("(int) const", "void (int) const", True),
        ("(int) const override", "void (int) const", True),
        ("(int) const", "void (int)", False),
        ("(const X&) const", "void (const X &)", False),
        ("() const &", "int () const &", True),
        ("() &", "int () &&", False),
        ("(int)", "void (int) const", True),
    ],
)
def test_const_behind_the_parentheses_is_part_of_the_type_if_it_is_there(
    signature: str, detail: str, same: bool
) -> None:
    assert fits(signature, detail) == same
