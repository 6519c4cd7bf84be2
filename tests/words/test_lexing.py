"""Where a word is in code: `lsp_mcp.words.lexing`."""

from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.adapters import Language, load_adapter
from lsp_mcp.text import Text
from lsp_mcp.words.lexing import identifiers_in_code, macro_at, occurrences

GO = load_adapter("gopls").languages[0]
C, CPP = load_adapter("clangd").languages
PYTHON = Language(id="python", name="Python", scheme="py", extensions=(".py",))


def marked(code: str, language: Language | None) -> None:
    """Every `foo` of `code` that is followed by `!` in the test's own spelling is found, and no other."""
    text = Text(code.replace("foo!", "foo"))
    wanted, removed = [], 0
    for number in range(len(code)):
        if code.startswith("foo!", number):
            wanted.append(number - removed)
            removed += 1
    found = [text.point_offset(span.start) for span in occurrences(text, "foo", language)]
    assert found == wanted


def test_comments_and_strings_of_go_are_not_code() -> None:
    marked('package foo! // foo\n/* foo\nfoo */ var foo!, b = "foo", `foo " \n foo` + foo! + "\\"foo" + foo!', GO)
    marked("var a, foo! = '\"', foo!('\\'', \"foo\")", GO)


def test_comments_that_name_symbols_for_the_compiler_are_code() -> None:
    marked("//go:linkname foo! runtime.foo!\n//export foo!\n//go:embed foo\n//go:generate foo\n//exporting foo\n", GO)


def test_what_the_preprocessor_leaves_out_is_code() -> None:
    marked("#if FOO\ndon't foo!\n#else\nfoo!();\n#endif\n", CPP)


def test_what_no_configuration_compiles_is_not_code() -> None:
    marked("foo!;\n#if 0\ndon't foo\n#else\nfoo!();\n#endif\nfoo!\n", CPP)
    marked("#if 0 // why\n#ifdef A\nfoo\n#else\nfoo\n#endif\nfoo\n# endif\nfoo!", C)
    marked("#ifdef A\n#  if 0\nfoo\n#  elif B\nfoo!\n#  endif\n#else\nfoo!\n#endif\nfoo!", C)
    marked("/*\n#if 0\n*/ foo!\n#if 0 || B\nfoo!\n#endif\n#if 01\nfoo!\n#endif\n#if 0\nfoo!", C)


def test_words_in_macros_are_code_and_are_told_apart() -> None:
    text = Text("int foo;\n#define M(x) x##foo \\\n  + foo /* foo */\nfoo();\n")
    found = occurrences(text, "foo", C)
    assert [span.start for span in found] == [(1, 5), (2, 17), (3, 5), (4, 1)]
    assert sorted(span.start for span in found.in_macros) == [(2, 17), (3, 5)]


def test_comments_go_on_after_a_line_that_ends_in_a_backslash() -> None:
    marked("foo!(); // foo \\\n foo\nfoo!();", CPP)


def test_raw_strings_end_where_they_say() -> None:
    marked('auto a = R"x(foo )" foo " )x" + foo! + u8R"(foo\n"foo)" + foo! + "foo";', CPP)
    marked('M_R"(foo" + foo!', CPP)


def test_quotes_in_numbers_begin_no_character() -> None:
    marked("int a = 1'000'000, foo! = 0x1'f; char b = 'f', c = u8'\"'; foo!('\"');", CPP)


def test_included_files_and_errors_of_the_preprocessor_are_not_code() -> None:
    marked('#include <foo>\n#  include "foo"\n#error don\'t foo\n#include foo!\n#pragma foo!\n', C)


def test_a_text_in_an_unknown_language_has_the_word_everywhere_and_the_answer_says_so() -> None:
    marked('# foo!\n"foo!" food afoo', None)
    assert not occurrences(Text("# foo"), "foo", None).lexed
    assert occurrences(Text("// foo"), "foo", GO).lexed


def test_names_in_holes_of_strings_are_found() -> None:
    text = Text('print(f"hello {greet(1)} greet")  # greet')
    assert [span.start.character for span in occurrences(text, "greet", PYTHON)] == [16]


def test_names_of_other_characters_than_letters_are_found() -> None:
    text = Text("let $el = el; // $el\nempty?(x) empty")
    assert [text.slice(span) for span in occurrences(text, "$el", None)] == ["$el", "$el"]
    assert [span.start.character for span in occurrences(text, "empty?", None)] == [1]


def test_names_of_destructors_and_operators_are_found() -> None:
    text = Text("A::~A(); x = ~A; ~AB; a operator==(b); operator== (c)")
    assert [span.start.character for span in occurrences(text, "~A", CPP)] == [4, 14]
    assert [span.start.character for span in occurrences(text, "operator==", CPP)] == [25, 40]


def test_a_word_with_a_mark_is_another_word() -> None:
    assert len(occurrences(Text("e e\u0301 e"), "e", GO)) == 2


@given(st.text(alphabet="a/*\\\"'`\n0R( )#", max_size=60))
def test_any_text_is_read_to_its_end_and_places_are_whole_words_in_order(content: str) -> None:
    text = Text(content)
    for language in (GO, C, CPP):
        spans = list(occurrences(text, "a", language))
        assert spans == sorted(spans)
        assert set(spans) <= set(text.words("a"))


def test_the_identifiers_of_a_line_are_those_in_its_code() -> None:
    text = Text('x := f(a, "say %q", b) // why\n/* and\nso */ g(`h\ni`, j)\n')
    found = [[text.slice(span) for span in identifiers_in_code(text, line, GO)] for line in (1, 2, 3, 4)]
    assert found == [["x", "f", "a", "b"], [], ["g"], ["j"]]
    assert len(identifiers_in_code(Text("for // x"), 1, None)) == 2
    assert identifiers_in_code(Text("for // x"), 1, GO) == []


_PIECES = ["#define M(x) ", " # define N", "\\\n", "\\\r\n", "\n", "foo ", "\\ ", "/* \n */", "#if 1"]


@given(st.lists(st.sampled_from(_PIECES)))
def test_a_place_is_in_a_macro_by_itself_as_among_all_places_of_a_text(parts: list[str]) -> None:
    text = Text("".join(parts))
    found = occurrences(text, "foo", CPP)
    assert {span for span in found if macro_at(text, span, CPP)} == found.in_macros
