"""What may need a symbol although nothing in the code names it: `still_needed`, before it is deleted."""

from __future__ import annotations

import re
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.features.renaming.by_name import found_by_name
from lsp_mcp.features.renaming.mentions import mentioned
from lsp_mcp.features.renaming.named_after import known_by_name, renamed_symbol
from lsp_mcp.features.types.implementations import interfaces_of
from lsp_mcp.prose import first_few
from lsp_mcp.requests.places import Place
from lsp_mcp.text import Point

_BEFORE, _FOLLOWING = 5_000, 2_000  # characters around a constant


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
    elif symbol.symbol.kind == "constant" and _is_counted(backend, symbol.symbol.place):
        found.append(f"constants after {symbol.name} would get other values")
    found += await found_by_name(backend, symbol, "", (), strings=False)
    if where := await mentioned(backend, path, point):
        found.append(f"{symbol.name} is named in {where}")
    return tuple(found)


def _is_counted(backend: Backend, place: Place) -> bool:
    """Whether the values of the constants after `place` depend on it."""
    rules, content = backend.plugin.symbols, place.text.content
    start, end = place.text.point_offset(place.span.start), place.text.point_offset(place.span.end)
    if not rules.counted_pattern or not re.match(rules.next_pattern, content[end : end + _FOLLOWING]):
        return False
    return re.search(rules.counted_pattern, content[max(0, start - _BEFORE) : end]) is not None
