"""The problems last reported to each caller: `Checks`."""

from __future__ import annotations

from collections import OrderedDict

from lsp_mcp.backend import Backend
from lsp_mcp.features.checking.checking import baseline
from lsp_mcp.features.checking.problems import Known

_MOST = 1_000  # callers and backends


class Checks:
    """The reference for each caller's next check: its last one, else the state before anything changed."""

    def __init__(self) -> None:
        self._first: dict[str, Known] = {}  # by backend, for later callers
        self._last: OrderedDict[tuple[str, str], Known] = OrderedDict()

    def for_client(self) -> Checks:
        """A separate record for one client of several."""
        own = Checks()
        own._first = self._first
        return own

    def start(self, backend: Backend) -> Known | None:
        """The problems before anything changed; None if there is no baseline."""
        return baseline(backend) or self._first.get(backend.plugin.name)

    def before(self, caller: str, backend: Backend) -> Known | None:
        """The reference for `caller`; None if there is none."""
        return self._last.get((caller, backend.plugin.name)) or self.start(backend)

    def reported(self, caller: str, backend: Backend, known: Known) -> None:
        """Record what was reported to the caller."""
        self._first.setdefault(backend.plugin.name, known)
        self._last[caller, backend.plugin.name] = known
        self._last.move_to_end((caller, backend.plugin.name))
        if len(self._last) > _MOST:
            self._last.popitem(last=False)
