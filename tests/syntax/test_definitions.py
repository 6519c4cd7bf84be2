"""What a syntax tree alone says about definitions: `lsp_mcp.syntax.definitions`."""

from __future__ import annotations

import pytest

from lsp_mcp.syntax.codes import code_of
from lsp_mcp.syntax.definitions import definitions, errors
from lsp_mcp.syntax.grammars import grammar_of, has_grammar
from lsp_mcp.syntax.trees import parsed
from lsp_mcp.text import Text

CASES = {
    "python": (
        "X = 1\nclass A:\n  y = 2\n  def f(self):\n    z = 1\ndef top(): pass\n",
        "X variable, A class, A.y field, A.f method, top function",
    ),
    "go": (
        "package a\n\nconst C = 1\nvar V, W int\ntype T struct { f int }\nfunc (t *T) M() { x := 1 }\nfunc F() {}\n",
        "C constant, V variable, W variable, T type, T.f field, T>M method, F function",
    ),
    "c": (
        "struct s { int f; };\nint *f(void);\nstatic int v = 3, w;\nint *f(void) { int z = 1; struct s q; return 0; }\n"
        "typedef struct { int a; } T;\nenum E { A, B };\n",
        "s struct, s.f field, f function, v variable, w variable, f function, T type, T.a field, E enum, "
        "E.A enum_member, E.B enum_member",
    ),
    "cpp": (
        "namespace n { class A : public B { void m(); int x; }; void A::m() {} }\n"
        "class N_API D final : public B { void m(); };\n"
        "template <typename T> struct N_API(1) N_EXPORT C<T> { int x; };\n"
        "N_API void f() { struct N_POINT p; }\n",
        "n module, n.A class, A.m method, A.x field, n.A>m method, D class, D.m method, C struct, C.x field, "
        "f function",
    ),
    "rust": (
        "struct S { a: i32 }\nimpl S { fn new() -> S { let x = 1; S{a:x} } }\nenum E { A }\ntrait T { fn m(&self); }\n",
        "S struct, S.a field, S>new method, E enum, E.A enum_member, T interface, T.m method",
    ),
    "java": (
        "class A { int f; A(){} void m() { int l = 1; } } interface I { void q(); }",
        "A class, A.f field, A.A constructor, A.m method, I interface, I.q method",
    ),
    "typescript": (
        "export const a = 1;\nfunction f() { const b = 2 }\nclass A { x = 1; m() {} }\ntype T = number;\n",
        "a variable, f function, A class, A.x field, A.m method, T type",
    ),
    "swift": ("class A { func greet() { let l = 2 } }\nprotocol P {}\n", "A class, A.greet method, P interface"),
    "csharp": ("namespace N { class A { void M() { var l = 1; } } }", "N module, N.A class, A.M method"),
    "elixir": (
        "defmodule M do\n  def greet(n), do: n\n  def g(x) when x > 1 do 2 end\nend\n",
        "M module, M.greet function, M.g function",
    ),
    "zig": ("pub fn greet(n: u8) u8 { const l = 1; return n; }\n", "greet function"),
    "nix": (
        "{ lib }: let greet = name: let l = 1; in l; in { a.enable = rec { b = 2; }; inherit greet; }\n",
        "greet function, enable variable, enable.b variable",
    ),
    "proto": ("message M { string f = 1; }\n", "M class, M.f field"),
    "terraform": ('resource "a" "b" {\n}\nvariable "v" {}\n', "b class, v class"),
    "haskell": ("data T = A | B\ngreet n = n\n", "T type, T.A constructor, T.B constructor, greet function"),
    "ocaml": ("let greet n = n\n", "greet function"),
    "scala": ("object O { def greet(n: Int) = n }\ntrait T\n", "O class, O.greet method, T interface"),
    "julia": ("function greet(n)\n l = 1\nend\n", "greet function"),
    "erlang": ("-module(m).\ngreet(N) -> N.\n", "m module, greet function"),
}


@pytest.mark.parametrize("language", CASES)
def test_definitions_are_found_without_local_variables(language: str) -> None:
    if not has_grammar(language):
        pytest.skip("tree_sitter_language_pack: not installed")
    content, expected = CASES[language]
    grammar = grammar_of(language)
    assert grammar
    found = definitions(parsed(Text(content), grammar), grammar)
    assert found is not None
    named = [
        f"{found[one.above].name}." * (one.above >= 0) + f"{one.owner}>" * bool(one.owner) + f"{one.name} {one.kind}"
        for one in found
    ]
    assert named == expected.split(", ")
    assert [content[one.name_start : one.name_end] for one in found] == [one.name for one in found]


def test_a_text_that_cannot_be_parsed_says_where() -> None:
    grammar = grammar_of("python")
    assert grammar
    (first, *_) = errors(parsed(Text("x = 1\ndef f(:\n  pass\n"), grammar))
    assert first[0] >= len("x = 1\n")
    assert errors(parsed(Text("x = 1\n"), grammar)) == []


@pytest.mark.parametrize(
    ("language", "content"),
    [
        ("lua", 'x = word -- word\ny = "word"\n'),
        ("ruby", 'x = "#{word}" # word\ny = "word"\n'),
        ("swift", 'let x = "\\(word)" // word\nlet y = "word"\n'),
    ],
)
def test_grammars_without_queries_of_our_own_tell_code_from_comments_and_strings(language: str, content: str) -> None:
    if not has_grammar(language):
        pytest.skip("tree_sitter_language_pack: not installed")
    text = Text(content)
    code = code_of(text, language)
    assert code
    parts = [code.part(text.point_offset(span.start)) for span in text.words("word")]
    assert parts == ["code", "comment", "string"]
