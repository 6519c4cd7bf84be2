"""What Prometheus learns of a team's server: `TeamMetrics`. Nothing in it names a person, a repository or code."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from lsp_mcp.errors import UnavailableError
from lsp_mcp.index.store import Pushed
from lsp_mcp.server.json_log import told
from lsp_mcp.server.team_door import person
from lsp_mcp.usage import Answered, Usage

log = logging.getLogger(__name__)

_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_OUTCOMES = "complete, incomplete, answered (it has no status) or failed"


class TeamMetrics(Usage):
    """Counts calls for Prometheus and writes a line about each, instead of adding to this user's statistics."""

    def __init__(self, indexes: Callable[[], Awaitable[Sequence[Pushed]]]) -> None:
        super().__init__()
        self._indexes = indexes
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._answered = Counter(
            "lsp_mcp_calls", f"Calls of tools; outcome: {_OUTCOMES}", ["tool", "outcome"], registry=registry
        )
        self._seconds = Histogram(
            "lsp_mcp_call_seconds", "Duration of calls", ["tool"], buckets=_SECONDS, registry=registry
        )
        self._bytes = Counter("lsp_mcp_answer_bytes", "Size of answers", ["tool"], registry=registry)
        self._requests = Counter("lsp_mcp_http_responses", "Responses by status", ["status"], registry=registry)
        self._up = Gauge("lsp_mcp_index_store_up", "Whether the index store answers", registry=registry)
        self._repositories = Gauge("lsp_mcp_index_repositories", "Indexed repositories", registry=registry)
        self._oldest = Gauge(
            "lsp_mcp_index_oldest_push_timestamp_seconds",
            "When the repository with the oldest newest index was pushed",
            registry=registry,
        )

    def add(self, answered: Answered) -> None:
        """See `Usage`."""
        self._answered.labels(answered.tool, answered.outcome).inc()
        self._seconds.labels(answered.tool).observe(answered.seconds)
        self._bytes.labels(answered.tool).inc(answered.answer_bytes)
        fields = told(
            person=person(answered.reader),
            tool=answered.tool,
            outcome=answered.outcome,
            seconds=round(answered.seconds, 4),
            bytes=answered.answer_bytes,
        )
        log.info("call", extra=fields)

    async def close(self) -> None:
        """See `Usage`; nothing is left to write."""

    def responded(self, status: int) -> None:
        """Count a response."""
        self._requests.labels(str(status)).inc()

    async def text(self) -> bytes:
        """All of it, in Prometheus's text format."""
        try:
            indexes = await self._indexes()
        except (UnavailableError, TimeoutError):
            self._up.set(0)
        else:
            self._up.set(1)
            self._repositories.set(len(indexes))
            pushed = [datetime.fromisoformat(one.pushed_at).timestamp() for one in indexes]
            self._oldest.set(min(pushed, default=0))
        return generate_latest(self._registry)
