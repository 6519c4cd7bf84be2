"""Print the syntax tree of a file, and the queries that are made for its language: tree.py LANGUAGE FILE."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.kinds import made_query
from lsp_mcp.syntax.trees import parsed
from lsp_mcp.text import Text

if TYPE_CHECKING:
    from tree_sitter import Node


def show(node: Node, field: str | None, depth: int) -> None:
    """Print `node` and what is in it, each with the name of its field and, at the ends of the tree, its text."""
    name = node.type if node.is_named else repr(node.type)
    own = "" if node.children else f"  {(node.text or b'').decode('utf-8', 'replace')!r}"
    print(f"{'  ' * depth}{f'{field}: ' if field else ''}{name}{own if node.is_named else ''}")
    for number, child in enumerate(node.children):
        show(child, node.field_name_for_child(number), depth + 1)


def main() -> None:
    """Print both."""
    language, file = sys.argv[1:]
    if (grammar := grammar_of(language)) is None:
        raise SystemExit(f"no grammar for {language!r}")
    show(parsed(Text(Path(file).read_text("utf-8")), grammar).root, None, 0)
    for query in ("code", "definitions"):
        print(f"\n; {query}.scm, as it is made\n{made_query(grammar.language, query)}")


if __name__ == "__main__":
    main()
