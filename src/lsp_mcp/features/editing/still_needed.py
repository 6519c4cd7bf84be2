"""What may need a symbol although nothing in the code names it: `still_needed`, before it is deleted."""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.features.renaming.by_name import found_by_name
from lsp_mcp.features.renaming.mentions import mentioned
from lsp_mcp.features.renaming.named_after import known_by_name, renamed_symbol
from lsp_mcp.features.types.implementations import interfaces_of
from lsp_mcp.prose import first_few
from lsp_mcp.text import Point


async def still_needed(backend: Backend, path: Path, point: Point) -> tuple[str, ...]:
    """What calls, reads or looks up the symbol at `point` without using it, for people.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    symbol = await renamed_symbol(backend, path, point)
    if symbol is None:
        return ()
    found: list[str] = []
    at = symbol.symbol.place
    if symbol.symbol.kind == "method":
        known = known_by_name(backend.plugin.renaming, [symbol], "")
        through = await interfaces_of(backend, at.path, at.span.start)
        if known or through:
            found.append(known or f"{symbol.name} may be called through {first_few(through)}")
    found += await found_by_name(backend, symbol, "", (), strings=False)
    if where := await mentioned(backend, path, point):
        found.append(f"{symbol.name} is named in {where}")
    return tuple(found)
