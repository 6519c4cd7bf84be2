"""What declarations of types begin with, and the types above them (`syntax.type_heads`)."""

from __future__ import annotations

import pytest

from lsp_mcp.syntax.type_heads import type_heads
from lsp_mcp.text import Text

HEADS = {
    "python": {
        "class B(A): pass": ["A"],
        "class B: pass": [],
        "@d(\n    é=1,\n)\n# of\nclass B[T](m.A[T, x.Y], C, metaclass=M(N)):\n    pass": ["A", "C"],
        "class B(\n    A,  # (the first\n    make(C, x=D),\n    *E,\n):\n    pass": ["A", "make", "C", "E"],
    },
    "typescript": {
        "class B extends A {}": ["A"],
        "class B {}": [],
        "@Component({ a: 1 }) class B<T extends { a: D }> extends m.A<E> implements I<F>, n.J<G> {}": ["A", "I", "J"],
        "interface B<T = {}> extends n.J<T>, K {}": ["J", "K"],
        "abstract class B extends mix(A) {}": ["mix", "A"],
        "const B = class extends A {};": ["A"],
    },
    "javascript": {
        "class B extends m.A {}": ["A"],
        "const B = class extends A {};": ["A"],
    },
}


@pytest.mark.parametrize(
    ("language", "code", "above"),
    [(language, code, above) for language, heads in HEADS.items() for code, above in heads.items()],
)
def test_the_head_of_a_type_ends_at_its_body_and_names_the_types_above(
    language: str, code: str, above: list[str]
) -> None:
    content = f"'ä𝒳'\n{code}\n"
    [(name, head)] = type_heads(Text(content), language).items()
    assert content[name] == "B"
    assert [content[start:end] for start, end in head.above] == above
    assert content[head.end :].startswith(("pass", "{}"))
    assert content[head.start :].startswith(("class", "@", "interface", "abstract", "B ="))
