"""Definitions that a search by name leaves out because the server gives one id to several symbols: `with_namesakes`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.evidence.definitions import Definitions, Site
from lsp_mcp.evidence.namesakes import of_namesakes, seems_defined_elsewhere
from lsp_mcp.gaps import Gap
from lsp_mcp.requests.places import last_word
from lsp_mcp.requests.references import references
from lsp_mcp.requests.symbols import MEMBERS, Symbol
from lsp_mcp.requests.workspace_symbol import is_called, parts_of

_MOST = 20  # symbols of that name


async def with_namesakes(
    backend: Backend, symbols: Sequence[Symbol], query: str
) -> tuple[list[Symbol], tuple[Gap, ...]]:
    """`symbols`, found for `query`, with others that have the ids of those that `query` names; why there may be more.

    The server is asked only if the text seems to define another one.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    named = [symbol for symbol in symbols if is_called(symbol, query)][:_MOST]
    if not backend.plugin.word_check.namesakes or not named:
        return list(symbols), ()
    gaps: list[Gap] = []
    sites = {(symbol.place.path, symbol.place.span.start) for symbol in symbols}
    result = list(symbols)
    for symbol in named:
        if not await _may_have_more(backend, symbol, {symbol.place.path for symbol in named}):
            continue
        path, start = await _spelled(backend, symbol)
        try:
            places = (await references(backend, path, start)).places
        except (RefusedError, PathError):
            continue
        others = await of_namesakes(backend, Definitions(backend), places, (path, start))
        gaps += others.gaps(backend, last_word(symbol.name), places)
        alike = [symbol]
        for place in places:
            if (site := (place.path, place.span.start)) in others.defined - sites:
                sites.add(site)
                alike.append(replace(symbol, place=place, detail="", hover="", extent=None))
        at = result.index(symbol)  # which of them the server finds differs from time to time
        result[at : at + 1] = sorted(alike, key=lambda one: (one.place.path, one.place.span))
    return result, tuple(gaps)


async def _spelled(backend: Backend, symbol: Symbol) -> Site:
    """Where `symbol` is declared, or used in the same file if a macro makes it: its place means the macro."""
    path, text, name = symbol.place.path, symbol.place.text, last_word(symbol.name)
    if not _is_made(symbol):
        return path, symbol.place.span.start
    return next(
        ((path, span.start) for span in await backend.words.occurrences(path, text, name)),
        (path, symbol.place.span.start),
    )


def _is_made(symbol: Symbol) -> bool:
    """Whether a macro makes it that does not spell its name."""
    return symbol.place.text.slice(symbol.place.span) != last_word(symbol.name)


async def _may_have_more(backend: Backend, symbol: Symbol, known: set[Path]) -> bool:
    """Whether a file other than the `known` ones seems to define a symbol of that name."""
    name, owner = last_word(symbol.name), ""
    if symbol.kind in MEMBERS and len(parts := parts_of(symbol.name)) > 1:
        owner = re.escape(parts[-2])
    if _is_made(symbol) and len((await backend.words.files_with(name)).files) > 1:
        return True
    return await seems_defined_elsewhere(backend, name, known, owner)
