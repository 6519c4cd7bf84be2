"""Overloads, from the outlines of their files: `with_signature` chooses between them, `merged` takes them for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.signatures import fits
from lsp_mcp.requests.symbols import Symbol, flat
from lsp_mcp.text import Point


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
    kinds = backend.plugin.symbols.merged_kinds
    again: set[tuple[Path, Point]] = set()  # another declaration of the symbol follows
    for path, number in Counter(one.place.path for one in symbols if one.kind in kinds).items():
        if number > 1:
            outline = await document_symbols(backend, path)
            for scope in (outline, *(one.children for one in flat(outline))):
                last = {(one.name, one.kind): one for one in scope}
                again |= {(path, one.place.span.start) for one in scope if last[one.name, one.kind] is not one}
    return [one for one in symbols if one.kind not in kinds or (one.place.path, one.place.span.start) not in again]
