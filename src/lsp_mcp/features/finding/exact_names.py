"""What a search by name shows if symbols have exactly that name: `exact`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from lsp_mcp.prose import count
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.requests.workspace_symbol import is_called, parts_of

_NAMED = 3  # similar names that are told


class Exact(Struct, frozen=True):
    """The symbols with exactly a name, or else with names that contain it, and what to say of those with `similar`
    ones, empty if there are none.
    """

    symbols: list[Symbol]
    similar: str


def exact(symbols: Sequence[Symbol], names: Collection[str], total: int, *, least: bool) -> Exact | None:
    """Those of `symbols` that have one of `names`, if any have and all such are known; else those that contain one.

    `symbols` are the closest ones of `total`, and with `least` there are more that are only similar. Of these the
    names that contain the name are told: one of them may be what was meant.
    """
    named = [symbol for symbol in symbols if any(is_called(symbol, name) for name in names)]
    words = {parts_of(name)[-1].casefold() for name in names}
    holding = [one for one in symbols if any(word in parts_of(one.name)[-1].casefold() for word in words)]
    if not named and not least and all(len(parts_of(name)) == 1 for name in names):
        named = holding
    if not named or len(named) == len(symbols) < total:
        return None
    if not (more := total - len(named)):
        return Exact(named, "")
    others = [*dict.fromkeys(one.name for one in holding if one not in named)]
    some = f": {', '.join(others[:_NAMED])}{' …' if more > min(len(others), _NAMED) else ''}" if others else ""
    return Exact(named, f"{'at least ' if least else ''}{count(more, 'similar name')} (similar=true lists them){some}")
