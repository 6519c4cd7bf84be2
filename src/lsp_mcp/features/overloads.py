"""Choose between overloads by parameter types, from the outline of the file: `with_parameters`."""

from __future__ import annotations

from collections.abc import Sequence

from lsp_mcp.backend import Backend
from lsp_mcp.features.document_symbol import document_symbols
from lsp_mcp.features.signatures import fits
from lsp_mcp.features.symbols import Symbol, flat


async def with_parameters(backend: Backend, symbols: Sequence[Symbol], parameters: str) -> list[Symbol]:
    """Those of `symbols` that take `parameters`, as `signatures.fits` compares them.

    Raises:
        PathError, RefusedError, UnavailableError: see `document_symbols`.
    """
    found = []
    for symbol in symbols:
        outline = flat(await document_symbols(backend, symbol.place.path))
        details = [one.detail for one in outline if one.place.span.start == symbol.place.span.start]
        if any(fits(parameters, detail) for detail in details):
            found.append(symbol)
    return found
