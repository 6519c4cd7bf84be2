"""Whether a server has loaded its workspace: `Readiness`."""

from __future__ import annotations

import asyncio
import itertools
import logging

from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Report
from lsp_mcp.lsp.coverage import Coverage
from lsp_mcp.lsp.life.lifetime import Lifetime
from lsp_mcp.lsp.life.progress import Work
from lsp_mcp.waiting import phase, rest_unhurried

log = logging.getLogger(__name__)


class Readiness:
    """The work that a server still has to do until it has loaded the workspace, from its progress reports.

    `timeout`: the longest wait for that, in seconds.
    """

    def __init__(self, adapter: Adapter, lifetime: Lifetime, coverage: Coverage, timeout: float) -> None:
        self._adapter = adapter
        self._lifetime = lifetime
        self._coverage = coverage
        self._timeout = timeout

    def pending(self) -> Work | None:
        """The remaining work of the server; None once it has loaded the workspace."""
        title, connection = self._adapter.ready.work, self._lifetime.connection
        if not title or not connection or not self._coverage.loads_by_itself:
            return None
        return connection.notifications.progress.pending(title)

    @property
    def loads(self) -> int:
        """How often a server that says when it is at rest has begun to load its workspace again.

        Until it has done that, its answers lack what it has not loaded.
        """
        rules, connection = self._adapter.ready, self._lifetime.connection
        return connection.notifications.progress.begun[rules.work] if rules.status_notification and connection else 0

    async def wait(self, report: Report | None = None) -> None:
        """Wait until the server has loaded the workspace, for what the present call has left of the ready timeout.

        Raises:
            UnavailableError: the server is missing or dies while it starts.
        """
        try:
            async with asyncio.timeout(rest_unhurried(self._timeout)):
                for seen in itertools.count():
                    # Taken before the check: events during the report count.
                    connection = await self._lifetime.live()
                    changed = connection.notifications.progress.changed
                    work = self.pending()
                    if work is None:
                        return
                    if report:
                        await report(seen, None, f"{self._adapter.name}: {work}")
                    with phase(lambda: f"{self._adapter.name}: {self.pending()}"), connection.waited_for(owed=False):
                        await changed.wait()
        except TimeoutError:
            log.warning("%s is not ready after %g s", self._adapter.name, self._timeout)
