"""Choose between overloads by parameter types, from the outline of the file: `with_signature`."""

from __future__ import annotations

from collections.abc import Sequence

from lsp_mcp.backend import Backend
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.signatures import fits
from lsp_mcp.requests.symbols import Symbol, flat


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
