"""What uses are for, by the syntax around them: `lsp_mcp.syntax.roles` and `lsp_mcp.syntax.switches`."""

from __future__ import annotations

import pytest

from lsp_mcp.syntax.roles import roles_at, written_through
from lsp_mcp.syntax.switches import siblings_of, switches_around
from lsp_mcp.text import Text

USES = {
    ("go", "x := Kind{}"): ["literal"],
    ("go", "var x []Kind"): ["type"],
    ("go", "x := f(pkg.Kind, (&Kind), Kind.Size)"): ["argument", "argument", ""],
    ("go", "switch y { case Kind, m.Kind: }"): ["case", "case"],
    ("go", "switch y.(type) { case *Kind: }"): ["case"],
    ("go", "return 1, (Kind)"): ["return"],
    ("c", "switch (y) { case Kind: return Kind; }"): ["case", "return"],
    ("c", "struct T t = { .Kind = 1 }; f(&p->Kind);"): ["literal", "argument"],
    ("cpp", "auto x = new Kind(1); ns::Kind y; std::vector<Kind> z;"): ["literal", "type", "type"],
    ("cpp", "struct A : public ns::Kind { };"): ["embed"],
    ("python", "class A(Kind):\n    def f(self, a: list[Kind]) -> Kind: return Kind"): [
        *("embed", "type", "type", "return")
    ],
    ("python", "match x:\n    case Kind() | m.Kind: f(Kind, k=m.Kind)"): ["case", "case", "argument", "argument"],
    ("python", "match x:\n    case Kind() as k: pass\n    case [Kind(), (Kind(), 1)]: pass"): ["case", "case", "case"],
    ("python", "def f(a: Kind | None, b: 'Kind', c: list[int | str | Kind]): return Kind | None"): [
        *("type", "type", "type", "")
    ],
    ("typescript", "const { Kind } = x; f({ Kind })"): ["taken", "given,literal"],
    ("typescript", "class A extends Kind implements I<Kind> { }"): ["embed", "type"],
    ("typescript", "switch (x) { case E.Kind: f(Kind); return new Kind() }"): ["case,member", "argument", "literal"],
    ("rust", "fn f(k: &Kind) -> Kind { match k { E::Kind => return Kind { x: 1 }, _ => g(&Kind) } }"): [
        *("type", "type", "case", "literal", "argument")
    ],
    ("java", "class A extends Kind implements I { Kind f() { return new Kind(); } }"): ["embed", "type", "literal"],
}


@pytest.mark.parametrize(("language", "code"), USES)
def test_the_role_of_a_use_is_that_of_the_expression_that_stands_for_it(language: str, code: str) -> None:
    text = Text(f"package a\n\nfunc f() {{\n{code}\n}}\n" if language == "go" else f"{code}\n")
    spans = text.words("Kind")
    found = roles_at(text, language, spans)
    assert [",".join(sorted(found[span] or ())) for span in spans] == USES[language, code]


def test_a_use_in_a_syntax_error_has_no_known_role() -> None:
    text = Text("package a\n\nfunc f() { if ( Kind { \n")
    (span,) = text.words("Kind")
    assert roles_at(text, "go", [span]) == {span: None}


def test_a_sibling_has_the_type_of_the_constant_and_is_in_its_group() -> None:
    text = Text("package a\n\nconst (\n\tA Kind = iota\n\tB\n\tC Other = 7\n\tD\n\tE = 9\n)\nconst F Kind = 2\n")

    def siblings(name: str) -> list[str]:
        return [text.slice(one) for one in siblings_of(text, "go", text.words(name)[0])]

    assert (siblings("A"), siblings("D"), siblings("E"), siblings("F")) == (["B"], ["C"], [], [])


def test_the_innermost_switch_around_a_case_counts_with_its_own_default() -> None:
    text = Text("void f(int a) { switch (a) { case 1: switch (a) { case 2: break; } default: break; } }\n")
    inner = text.words("2")
    outer = text.words("1")
    found = switches_around(text, "c", [*inner, *outer])
    assert not found[inner[0]].has_default
    assert found[outer[0]].has_default


WRITES = {
    ("go", "a.kind.Store(1); kind.x[2].Lock(); y = kind.x"): ["Store", "Lock", ""],
    ("go", "kind[a[0]], y = 1, 2; kind.x++; (a.kind).x.y -= 1; kind = 2; if kind.x == 1 { }"): [
        "[]",
        ".x",
        ".x.y",
        "",
        "",
    ],
    ("go", "clear(kind); delete(a.kind, b); copy(b, kind); kind[1] <- 2; for kind.i = range y { }"): [
        *("clear", "delete", "", "[]", ".i")
    ],
    ("go", "f(&a.kind); g(&kind.x[1]); h(1 & kind)"): ["&", "&", ""],
    ("c", "kind.x.y = 1; kind->x = 1; f(&a->kind); f(&kind->x); n = 1 & kind; kind[2]++;"): [
        *(".x.y", "", "&", "", "", "[]")
    ],
    ("c", "#define M(a) kind.a = 1"): [None],
    ("cpp", "a.kind->store(1); kind.items[0].clear(); f(&N::kind); kind.x <<= 1;"): ["store", "clear", "&", ".x"],
    ("python", "self.kind.append(1)\nkind.x += 1\na, kind[0] = b\ndel kind['x']\nprint(kind.x)"): [
        *("append", ".x", "[]", "[]", "")
    ],
    ("typescript", "this.kind.push(1); kind!.x = 1; kind[0]++; delete kind.x; f(kind.x); [kind.x] = y;"): [
        *("push", "!.x", "[]", ".x", "", ".x")
    ],
    ("javascript", "kind?.x.splice(1); for (kind.x of y) { }"): ["splice", ".x"],
    ("rust", "fn f() { self.kind.push(1); kind.x[0] = 1; g(&mut kind); g(&kind); assert!(kind.pop()); }"): [
        *("push", "[]", "&", "", "pop")
    ],
    ("java", "class A { void f() { this.kind.add(1); kind.x[0] = 1; kind.x++; g(kind.x); } }"): ["add", "[]", ".x", ""],
}


@pytest.mark.parametrize(("language", "code"), WRITES)
def test_a_use_may_write_through_a_call_an_address_or_a_part(language: str, code: str) -> None:
    text = Text(f"package a\n\nfunc f() {{\n{code}\n}}\n" if language == "go" else f"{code}\n")
    spans = text.words("kind")
    found = written_through(text, language, spans)
    assert [found[span] for span in spans] == WRITES[language, code]
