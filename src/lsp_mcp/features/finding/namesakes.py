"""Definitions that a search by name leaves out because the server gives one id to several symbols: `with_namesakes`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.evidence.definitions import Definitions
from lsp_mcp.evidence.namesakes import is_definition, of_namesakes
from lsp_mcp.requests.places import Place, last_word, text_or_none
from lsp_mcp.requests.references import references
from lsp_mcp.requests.symbols import MEMBERS, Symbol
from lsp_mcp.requests.workspace_symbol import is_called, parts_of

_MOST = 20  # symbols of that name
_MOST_FILES = 200  # that have the name


async def with_namesakes(backend: Backend, symbols: Sequence[Symbol], query: str) -> list[Symbol]:
    """`symbols`, found for `query`, and others that have the ids of those that `query` names.

    The server is asked only if the text seems to define another one.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    named = [symbol for symbol in symbols if is_called(symbol, query)][:_MOST]
    if not backend.plugin.word_check.namesakes or not named:
        return list(symbols)
    sites = {(symbol.place.path, symbol.place.span.start) for symbol in symbols}
    result = list(symbols)
    for symbol in named:
        path, start = symbol.place.path, symbol.place.span.start
        if not await _may_have_more(backend, symbol, {symbol.place.path for symbol in named}):
            continue
        try:
            places = (await references(backend, path, start)).places
        except (RefusedError, PathError):
            continue
        others = await of_namesakes(backend, Definitions(backend), places, (path, start))
        alike = [symbol]
        for place in places:
            if (site := (place.path, place.span.start)) in others.defined - sites:
                sites.add(site)
                alike.append(replace(symbol, place=place, detail="", hover="", extent=None))
        at = result.index(symbol)  # which of them the server finds differs from time to time
        result[at : at + 1] = sorted(alike, key=lambda one: (one.place.path, one.place.span))
    return result


async def _may_have_more(backend: Backend, symbol: Symbol, known: set[Path]) -> bool:
    """Whether a file other than the `known` ones seems to define a symbol of that name."""
    name, owner = last_word(symbol.name), ""
    if symbol.kind in MEMBERS and len(parts := parts_of(symbol.name)) > 1:
        owner = re.escape(parts[-2])
    files = (await backend.words.files_with(name)).files
    for path in files[:_MOST_FILES]:
        if path in known or not (text := await text_or_none(backend, path)):
            continue
        for rule in backend.plugin.word_check.namesakes:
            if owner and rule.owner_pattern and re.search(rule.owner_pattern.replace("{owner}", owner), text.content):
                return True
            if not rule.owner_pattern:
                for span in await backend.words.occurrences(path, text, name):
                    if is_definition(rule, Place(path, span, text)):
                        return True
    return False
