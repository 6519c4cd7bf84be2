"""Strings that name what a module exports or a class has: `bound_for_exports`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Span, Text


def bound_for_exports(text: Text, language_id: str, spans: Iterable[Span]) -> dict[Span, Span]:
    """Where the module binds the names that are in strings at `spans`, as in Python's `__all__`, or its class has them,
    as in `__slots__`.

    Empty for a language without a query `exports`; without other places, and without names that are bound nowhere, or
    in several places. Takes about 100 ms for a megabyte: call it in a thread for large texts.
    """
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    query = grammar.query("exports") if grammar else None
    if grammar is None or query is None:
        return {}
    tree = TREES.tree_of(text, grammar)
    captures = QueryCursor(query).captures(tree.root)
    found = {kind: [text.offsets_span(*tree.offsets(one)) for one in nodes] for kind, nodes in captures.items()}
    bound: dict[str, list[Span]] = {}
    for span in found.get("bound", ()):
        bound.setdefault(text.slice(span), []).append(span)
    exported = set(found.get("exported", ())).intersection(spans)
    named = ((span, bound.get(text.slice(span), [])) for span in exported)
    exports = {span: there[0] for span, there in named if len(there) == 1}
    return exports | _attributes(text, found, set(found.get("slot", ())).intersection(spans))


def _attributes(text: Text, found: Mapping[str, Sequence[Span]], slots: Iterable[Span]) -> dict[Span, Span]:
    """Where the code of the class around each of `slots` first has the attribute of that name."""

    def own(span: Span) -> Span | None:
        around = (one for one in found.get("class", ()) if one.start <= span.start and span.end <= one.end)
        return max(around, key=lambda one: one.start, default=None)

    attributes: dict[Span, Span] = {}
    for slot in slots:
        alike = (one for one in found.get("attribute", ()) if text.slice(one) == text.slice(slot))
        if there := next((one for one in alike if own(one) == own(slot)), None):
            attributes[slot] = there
    return attributes
