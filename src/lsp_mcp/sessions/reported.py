"""What each caller was told already: `Reported`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence

from lsp_mcp.gaps import Gap

_MOST_CALLERS = 1_000
_MOST_GAPS = 1_000  # remembered of each caller

_Seen = OrderedDict[tuple[object, ...], None]


class Reported:
    """Which gaps each caller was given in full, so that the next answer can be short.

    Events from before a caller's first question are news for nobody: they were told to those who were there.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[str, _Seen] = OrderedDict()
        self._events: _Seen = OrderedDict()  # that somebody was told

    def take(self, caller: str, gaps: Sequence[Gap]) -> tuple[list[Gap], Collection[Gap]]:
        """The gaps that an answer for `caller` has, events only once; and those of them that it was given before."""
        seen = self._seen.pop(caller, None)
        if seen is None:
            seen = self._events.copy()
        self._seen[caller] = seen
        if len(self._seen) > _MOST_CALLERS:
            self._seen.popitem(last=False)
        known = [gap for gap in gaps if gap.identity in seen]
        for gap in gaps:
            _add(seen, gap)
            if gap.event:
                _add(self._events, gap)
        return [gap for gap in gaps if not (gap.event and gap in known)], known


def _add(seen: _Seen, gap: Gap) -> None:
    seen[gap.identity] = None
    seen.move_to_end(gap.identity)
    if len(seen) > _MOST_GAPS:
        seen.popitem(last=False)
