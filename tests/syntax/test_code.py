"""Which parts of a text are code: `lsp_mcp.syntax.code`."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.syntax import grammars
from lsp_mcp.syntax.codes import code_of
from lsp_mcp.syntax.grammars import grammar_of, has_grammar
from lsp_mcp.text import Text

LANGUAGES = sorted(path.parent.name for path in Path(grammars.__file__).with_name("languages").glob("*/grammar.toml"))


def marked(code: str, *languages: str) -> None:
    """Each `foo!` of `code` is code, and no other `foo` is; the mark itself is not in the text."""
    content, wanted = "", []
    for part in code.split("foo"):
        content += part.removeprefix("!") + "foo"
        wanted.append(part.startswith("!"))
    content = content.removesuffix("foo")
    for language in languages:
        found = code_of(Text(content), language)
        assert found is not None
        starts = [start for start in range(len(content)) if content.startswith("foo", start)]
        assert [found.part(start) == "code" for start in starts] == wanted[1:], language


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_its_grammar_and_its_queries(language: str) -> None:
    grammar = grammar_of(language)
    assert grammar and has_grammar(language)
    assert grammar.query("code")


def test_a_language_without_a_grammar_has_no_code() -> None:
    assert not has_grammar("cobol")
    assert code_of(Text("foo"), "cobol") is None


def test_names_in_f_strings_are_code() -> None:
    marked('print(f"hello {foo!(1)} foo", foo!, "foo", rb"foo")  # foo\n', "python")
    marked('f"{foo!!r:>{foo!}} {{foo}} {a["foo"]}"', "python")
    marked('f"""\n{foo!}\nfoo {f"{foo!} foo"}"""\n\'foo\'', "python")


def test_quoted_annotations_and_exports_of_python_are_code() -> None:
    marked('def f(a: "foo!", b: list["foo!"] = "foo") -> "foo!": ...\n__all__ = ["foo!"]\nall = ["foo"]\n', "python")


def test_names_in_template_literals_are_code() -> None:
    code = "let a = `foo ${foo!(`foo ${foo!}`)} foo` + foo! + 'foo' + /foo[/]foo/g + foo! / 2 // foo\n/* foo */"
    marked(code, "javascript", "typescript", "typescriptreact")
    marked("type A = `foo${foo!}`; let a = <foo!>b;", "typescript")


def test_text_between_tags_is_not_code() -> None:
    marked('let a = <foo! b="foo" c={foo!}>foo {foo!} foo</foo!>;', "javascript", "typescriptreact")


def test_nested_comments_end_where_the_outer_one_ends() -> None:
    marked("/* foo /* foo */ foo */ fn foo!() {} // foo\n/// foo\n", "rust")


def test_names_in_strings_that_macros_format_are_code() -> None:
    marked('println!("foo {foo!} {{foo}} {foo!:?}", "foo", r#"foo {foo!}"#); f("{foo}", \'f\', b"foo");', "rust")


def test_names_in_strings_and_paths_of_nix_are_code_where_they_are_interpolated() -> None:
    marked(
        "{ a = \"foo ${foo!.b \"foo\"}\"; b = ''foo ${foo!}''; c = <foo>; d = ./foo/${foo!}.nix; } # foo\n/* foo */",
        "nix",
    )


def test_lifetimes_begin_no_characters() -> None:
    marked("fn a<'a>(x: &'a foo!) -> &'a foo! { 'x' }", "rust")


def test_comments_and_strings_of_java_are_not_code() -> None:
    marked('class foo! { String a = "foo" + """\n foo " foo\n""" + foo!; /** {@link foo} */ }', "java")
    marked("class foo! { char c = '\"'; foo! d; }", "java")


def test_quotes_in_text_of_a_macro_begin_strings() -> None:
    marked('#define M(x) foo!(#x "foo" x##foo! /* foo */) // foo\n#pragma foo!("foo")\nfoo!();', "c", "cpp")


def test_strings_of_macros_that_stand_like_declarations_are_not_code() -> None:
    flags = """FLAG(int, a, 1, "foo (http://x/)");
FLAG(bool, b, true, "foo");
FLAG(bool, c, 1'0,
     "Each foo to <foo>.x" R"x(foo)")x");
#include <foo.h>
#error it isn't foo
namespace foo! { char foo! = '"'; /* foo */ int foo!; } // foo
"""
    marked(flags, "cpp")


def test_suffixes_of_literals_are_names() -> None:
    marked('auto a = "foo"foo! + f("foo");', "cpp")


def test_text_that_does_not_parse_is_code_unless_a_comment() -> None:
    marked("func a( { foo! := ) // foo\n", "go")
    marked("x = '''foo!\nfoo!", "python")
    marked("let a = `foo!\nfoo!", "javascript")


@given(st.text(alphabet="a/*\\\"'`\n0R( )#{}$fé\U0001f600", max_size=60))
def test_parts_are_in_order_without_overlaps_and_inside_the_text(content: str) -> None:
    for language in LANGUAGES:
        found = code_of(Text(content), language)
        assert found is not None
        ends = [0, *found.ends]
        assert all(end <= start for end, start in zip(ends, found.starts, strict=False))
        assert all(start < end <= len(content) for start, end in zip(found.starts, found.ends, strict=True))
