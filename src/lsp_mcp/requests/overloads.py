"""Overloads, from the outlines of their files: `with_signature` chooses between them, `merged` takes them for one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.signatures import fits
from lsp_mcp.requests.symbols import Symbol, flat
from lsp_mcp.servers.traits import Symbols
from lsp_mcp.text import Point, Span


async def with_signature(backend: Backend, symbols: Sequence[Symbol], signature: str) -> list[Symbol]:
    """Those of `symbols` with this `signature`, as `signatures.fits` compares them.

    Raises:
        PathError, RefusedError, UnavailableError: see `document_symbols`.
    """
    found = []
    for symbol in symbols:
        outline = flat(await document_symbols(backend, symbol.place.path))
        details = [one.detail for one in outline if one.place.span.start == symbol.place.span.start]
        if any(fits(signature, detail) for detail in details):
            found.append(symbol)
    return found


async def merged(backend: Backend, symbols: Sequence[Symbol]) -> list[Symbol]:
    """`symbols` with the last one of those that are one symbol with several declarations.

    Raises:
        PathError, RefusedError, UnavailableError: see `document_symbols`.
    """
    rules = backend.plugin.symbols
    kinds = rules.merged_kinds
    again: set[tuple[Path, Point]] = set()  # another declaration of the symbol follows
    for path, number in Counter(one.place.path for one in symbols if one.kind in kinds).items():
        if number > 1:
            outline = await document_symbols(backend, path)
            for scope in (outline, *(one.children for one in flat(outline))):
                last = {_key(one, rules): one for one in scope}
                again |= {one.place.site for one in scope if last[_key(one, rules)] is not one}
    return [one for one in symbols if one.kind not in kinds or one.place.site not in again]


def _key(symbol: Symbol, rules: Symbols) -> tuple[str, str, bool]:
    """What several declarations of one symbol in a scope have in common."""
    text, start = symbol.place.text, symbol.place.span.start
    before = text.slice(Span(symbol.extent.start, start)) if symbol.extent and symbol.extent.start < start else ""
    return symbol.name, symbol.kind, bool(rules.merged_apart and re.search(rules.merged_apart, before))
