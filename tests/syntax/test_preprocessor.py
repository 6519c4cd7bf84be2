"""What macros take their arguments for."""

from __future__ import annotations

import pytest

from lsp_mcp.syntax.preprocessor import argument_at, is_spliced, names_member

OFFSET = "of(ptr, type, member) ((type *)((char *)(ptr) - \\\n  __builtin_offsetof(type, member)))\nnot(member)"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("f(a, ^b)", ("f", 1)),
        ("f(g(a, b), (c, d), ^e)", ("f", 2)),
        ("f(g(a, ^b), c)", ("g", 1)),
        ("f (^a)", ("f", 0)),
        ("x = ^a;", None),
        ("f(a); ^b", None),
        ("if (f(a)) { ^b", None),
        ("f(a[^b])", None),
    ],
)
def test_a_word_is_an_argument_of_the_innermost_call(code: str, found: tuple[str, int] | None) -> None:
    start = code.index("^")
    there = argument_at(code.replace("^", ""), start)
    assert (there and (code[there[0] : there[1]], there[2])) == found


def test_a_macro_takes_an_argument_for_a_member_behind_an_operator_or_in_offsetof() -> None:
    assert [names_member(OFFSET, index) for index in range(4)] == [False, False, True, False]
    assert names_member("FIELD(p, f) ((p)->f)", 1)
    assert not names_member("PLAIN f", 0)


@pytest.mark.parametrize(
    ("definition", "expansion", "spliced"),
    [
        ("TEST(name) class name##_Test", "class size_Test", True),
        ("SAID(name) #name", '"size"', True),
        ("SAID(name) OTHER(name)", '"the size of"', True),
        ("BOTH(name) name = #name", 'size = "size"', False),
        ("DROPPED(name) (size_t)0", "(size_t)0", False),
        ("DROPPED(name) 0", "0", False),
        ("LATER(name) DROPPED(name)", "0", False),
        ("QUOTED(name) put('\"'), name, put('\"')", "put('\"'), size, put('\"')", False),
        ("SAID(name) put('\"'), #name", 'put(\'"\'), "size"', True),
    ],
)
def test_an_argument_is_spliced_if_only_longer_names_and_strings_are_made_of_it(
    definition: str, expansion: str, spliced: bool
) -> None:
    assert is_spliced(definition, 0, expansion, "size") == spliced
