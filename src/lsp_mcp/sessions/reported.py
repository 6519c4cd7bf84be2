"""Gaps already reported to each caller: `Reported`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence

from lsp_mcp.gaps import Gap

_MOST_CALLERS = 1_000
_MOST_GAPS = 1_000  # remembered for each caller

_Seen = OrderedDict[tuple[object, ...], None]


class Reported:
    """The gaps that each caller was given in full, so that the next answer can be short.

    Events before a caller's first question are not reported to it, but only to earlier callers.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[str, _Seen] = OrderedDict()
        self._events: _Seen = OrderedDict()  # already reported to a caller
        self._restarts: _Seen = OrderedDict()  # the same, to a caller of any client

    def for_client(self) -> Reported:
        """For the callers of another client. It shares restarts only: other events may be facts that last."""
        own = Reported()
        own._restarts = self._restarts
        return own

    def take(self, caller: str, gaps: Sequence[Gap]) -> tuple[list[Gap], Collection[Gap]]:
        """The gaps to report to `caller`, events only once; and those of them that were reported before."""
        seen = self._seen.pop(caller, None)
        if seen is None:
            seen = OrderedDict((*self._events.items(), *self._restarts.items()))
        self._seen[caller] = seen
        if len(self._seen) > _MOST_CALLERS:
            self._seen.popitem(last=False)
        known = [gap for gap in gaps if gap.identity in seen]
        for gap in gaps:
            _add(seen, gap)
            if gap.event:
                _add(self._restarts if gap.kind == "restarted" else self._events, gap)
        return [gap for gap in gaps if not (gap.event and gap in known)], known


def _add(seen: _Seen, gap: Gap) -> None:
    seen[gap.identity] = None
    seen.move_to_end(gap.identity)
    if len(seen) > _MOST_GAPS:
        seen.popitem(last=False)
