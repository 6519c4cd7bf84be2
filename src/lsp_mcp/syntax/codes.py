"""The `Code` of each text, kept until it was not asked for in a while: `code_of`. Trees are not kept for it."""

from __future__ import annotations

import asyncio
from threading import Lock

from lsp_mcp.remembered import Remembered
from lsp_mcp.syntax.code import Code, code
from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import Parsed, parsed
from lsp_mcp.text import Text

_MOST = 1_500_000  # comments and strings: 14 MB
_LARGE = 20_000  # characters: 5 ms
_KEPT: Remembered[tuple[str, int, int], None, Code] = Remembered(_MOST)
_LOCK = Lock()


def code_of(text: Text, language_id: str, tree: Parsed | None = None) -> Code | None:
    """What of `text`, whose `tree` may be known, is code; None for a language without a grammar.

    Takes about 250 ms for a megabyte: `code_in_thread` keeps the event loop free.
    """
    grammar = grammar_of(language_id)
    if grammar is None:
        return None
    key = grammar.name, hash(text.content), len(text.content)
    with _LOCK:
        found = _KEPT.get(key, None)
    if found is None:
        found = code(tree or parsed(text, grammar), grammar)
        with _LOCK:
            _KEPT.put(key, None, found, found.weight)
    return found


async def code_in_thread(text: Text, language_id: str) -> Code | None:
    """As `code_of`, in a thread if that takes a while."""
    if len(text.content) < _LARGE or is_kept(text, language_id):
        return code_of(text, language_id)
    return await asyncio.to_thread(code_of, text, language_id)


def is_kept(text: Text, language_id: str) -> bool:
    """Whether `code_of` answers at once."""
    grammar = grammar_of(language_id)
    if grammar is None:
        return True
    with _LOCK:
        return _KEPT.get((grammar.name, hash(text.content), len(text.content)), None) is not None
