"""What a text declares, imports and uses, where folders are packages: `declarations_of`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from lsp_mcp.syntax.grammars import Grammar, grammar_of
from lsp_mcp.syntax.trees import TREES, Parsed
from lsp_mcp.text import Text

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = "declarations"
_Stretch = tuple[int, int]


class Declared(Struct, frozen=True):
    """One declaration at `span`, which begins without its comment; `names` has more than one for `var a, b`.

    `receiver` is the type that a method belongs to. A part of a group needs the `keyword` to stand alone; `is_ordered`:
    its value depends on its place there.
    """

    span: _Stretch
    names: tuple[_Stretch, ...]
    receiver: str = ""
    keyword: str = ""
    is_ordered: bool = False


class Declarations(Struct, frozen=True):
    """The top of one text. `uses` are words that may name a declaration, with what qualifies them before a dot."""

    text: Text
    declared: tuple[Declared, ...]
    imports: Mapping[str, str]  # what each import says, by its path
    has_import_list: bool
    import_at: int  # where an import can be added
    uses: Mapping[_Stretch, _Stretch | None]

    def slice(self, stretch: _Stretch) -> str:
        """The text there."""
        return self.text.content[stretch[0] : stretch[1]]

    def import_lines(self, specs: Mapping[str, str], clause: str) -> str:
        """What to add at `import_at` for `specs`, imports by their paths, without those that are there.

        `clause` is an import of {spec} by itself.
        """
        new = [spec for path, spec in specs.items() if path not in self.imports]
        return "".join(f"\t{spec}\n" if self.has_import_list else f"\n\n{clause.format(spec=spec)}" for spec in new)


async def declarations_of(text: Text, language_id: str) -> Declarations | None:
    """What `text` declares; None for a language without such a query."""
    grammar = grammar_of(language_id)
    if grammar is None or grammar.query(_QUERY) is None:
        return None
    return await asyncio.to_thread(_declarations, text, grammar)


def _declarations(text: Text, grammar: Grammar) -> Declarations:
    from tree_sitter import QueryCursor

    query = grammar.query(_QUERY)
    assert query
    tree = TREES.tree_of(text, grammar)
    captured = QueryCursor(query).captures(tree.root)
    lists = sorted(captured.get("imports", ()), key=lambda one: one.start_byte)
    clause = next(iter(captured.get("clause", ())), None)
    import_at = lists[0].end_byte - len(b")") if lists else clause.end_byte if clause else 0
    qualifiers = {node.parent.id: tree.offsets(node) for node in captured.get("qualifier", ()) if node.parent}
    spans = set(qualifiers.values())
    uses: dict[_Stretch, _Stretch | None] = {}
    for node in captured.get("use", ()):
        is_part = node.parent and node.parent.id in qualifiers and tree.offsets(node) not in spans
        uses[tree.offsets(node)] = qualifiers[node.parent.id] if is_part and node.parent else None
    return Declarations(
        text,
        tuple(_declared(tree, captured)),
        {
            text.content[slice(*tree.offsets(path))].strip("\"'`"): text.content[slice(*tree.offsets(path.parent))]
            for path in sorted(captured.get("import", ()), key=lambda one: one.start_byte)
            if path.parent
        },
        bool(lists),
        tree.offset(import_at),
        uses,
    )


def _declared(tree: Parsed, captured: Mapping[str, Sequence[Node]]) -> Iterator[Declared]:
    wholes = {node.id: node for node in captured.get("declaration", ())}
    parts = {node.id: node for node in captured.get("part", ())}
    ordered = {whole.id for node in captured.get("ordered", ()) if (whole := _above(node, wholes))}
    receivers = {
        whole.id: tree.data[node.start_byte : node.end_byte].decode("utf-8", "replace")
        for node in captured.get("receiver", ())
        if (whole := _above(node, wholes))
    }
    units: dict[int, tuple[Node, Node, list[_Stretch]]] = {}
    for node in sorted(captured.get("name", ()), key=lambda one: one.start_byte):
        whole = _above(node, wholes)
        if whole and node.is_named:
            part = _above(node, parts) or whole
            units.setdefault(part.id, (part, whole, []))[2].append(tree.offsets(node))
    of_whole = [whole.id for _, whole, _ in units.values()]
    for part, whole, names in units.values():
        is_alone = of_whole.count(whole.id) == 1
        start, end = tree.offsets(whole if is_alone else part)
        keyword = "" if is_alone else tree.text.content[slice(*tree.offsets(whole))].split()[0]
        receiver = receivers.get(whole.id, "").lstrip("*(").partition("[")[0].rstrip(")")
        yield Declared((start, end), tuple(names), receiver, keyword, not is_alone and whole.id in ordered)


def _above(node: Node, among: Mapping[int, Node]) -> Node | None:
    """The nearest node of `among` at or above `node`."""
    above: Node | None = node
    while above and above.id not in among:
        above = above.parent
    return above
