"""What is declared in files that a server reads well only where they are included: `declared_where_included`.

Once it was shown such a file alone, clangd 22 forgets what its index had about the names in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Definitions, is_misread_alone
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.symbols import FUNCTIONS, Symbol
from lsp_mcp.requests.workspace_symbol import Keep, is_called, parts_of
from lsp_mcp.syntax.definitions import Definition, definitions
from lsp_mcp.syntax.grammars import Grammar
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Text

_MOST_FILES = 10  # that are read where they are included


async def declared_where_included(backend: Backend, meanings: Definitions, name: str, keep: Keep) -> list[Symbol]:
    """The symbols called `name` that such files declare by their syntax and by the server's word, and that fit `keep`.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    if not backend.plugin.compiles_files or not (parts := parts_of(name)) or not parts[-1].isidentifier():
        return []
    having = (await backend.words.files_with(parts[-1], seconds=budget.left())).files
    found: list[Symbol] = []
    for path in [path for path in having if await is_misread_alone(backend, path)][:_MOST_FILES]:
        grammar = backend.plugin.grammar_of(path)
        text = await text_or_none(backend, path) if grammar else None
        if not (grammar and text):
            continue
        separator = backend.plugin.symbols.scope_separator
        for one in await asyncio.to_thread(_declared, path, text, grammar, parts[-1], separator):
            site = path, one.place.span.start
            if is_called(one, name) and keep(one.kind, path):
                meaning = await meanings.where_included(site)
                found += [one] if any(site in symbol.sites for symbol in meaning) else []
    return found


def _declared(path: Path, text: Text, grammar: Grammar, word: str, separator: str) -> list[Symbol]:
    """What `text` declares as `word`, except in functions, each with the names around it."""
    every = definitions(TREES.tree_of(text, grammar), grammar) or []
    found = []
    for one in every:
        around = _around(one, every)
        if one.name == word and not any(outer.kind in FUNCTIONS for outer in around):
            place = Place(path, text.offsets_span(one.name_start, one.name_end), text)
            found.append(Symbol(separator.join([*(outer.name for outer in around), one.name]), one.kind, place))
    return found


def _around(one: Definition, every: Sequence[Definition]) -> list[Definition]:
    """The definitions around one, the outermost first."""
    found: list[Definition] = []
    while one.above >= 0:
        one = every[one.above]
        found.insert(0, one)
    return found
