"""Words that are keywords in one place and names in another."""

from __future__ import annotations

import pytest

from lsp_mcp.syntax.keywords import keywords_at
from lsp_mcp.text import Text


@pytest.mark.parametrize(
    ("language", "word", "source"),
    [
        ("typescript", "object", "type A = «object»; const b = { object: 1 }; b.object;"),
        ("typescript", "type", "«type» type = {type: 1}; import «type» {A} from 'x'; a.type;"),
        ("typescriptreact", "of", "for (const of «of» of) {}"),
        ("typescript", "get", "class A { «get» get() { return 1 } set() { this.get } }"),
        ("javascript", "static", "class A { «static» static = 1 }"),
        ("python", "match", "«match» match:\n    case 1:\n        match = 2\n        match(3)\n"),
        ("rust", "union", "fn f() { vec![a.union(b)]; }"),
        ("go", "any", "func f(x any) {}"),
    ],
)
def test_a_word_is_a_keyword_where_the_grammar_says_so(language: str, word: str, source: str) -> None:
    marked = source.replace("«", "").replace("»", "")
    text, wanted, behind = Text(marked), set(), 0
    for part in source.split("«")[:-1]:
        behind += len(part.replace("»", ""))
        wanted.add(behind)
    found = keywords_at(text, language, list(text.words(word)))
    assert {text.point_offset(span.start) for span in found} == wanted


def test_nothing_is_a_keyword_inside_broken_code() -> None:
    text = Text("class A { get get( { of of } type = = }")
    assert not keywords_at(text, "typescript", list(text.words("get")))
