"""Servers that give diagnostics on request: `pulling`, `requested` (LSP 3.17, "Pull Diagnostics")."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsp_mcp.errors import RefusedError, SilentError
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.lsp.life.diagnostics import PULL
from lsp_mcp.uris import path_uri
from lsp_mcp.waiting import within


def pulling(connection: Connection, timeout: float) -> Callable[[Path], Awaitable[list[Any] | None]]:
    """A function that requests the diagnostics of an open document; it returns None if unsupported."""
    if (options := connection.capabilities.get("diagnosticProvider")) is not None:
        connection.notifications.diagnostics.offer(options)

    async def pull(path: Path) -> list[Any] | None:
        try:
            report = await requested(connection, path, within(timeout))
        except (RefusedError, SilentError):
            return None
        return report.get("items")

    return pull


async def requested(connection: Connection, path: Path, timeout: float) -> dict[str, Any]:
    """The server's report about `path`, empty if it gives none on request.

    Raises:
        RefusedError, SilentError, UnavailableError: see `Connection.request`.
    """
    options = connection.notifications.diagnostics.pull_options
    if options is None:
        return {}
    known = {"identifier": options["identifier"]} if "identifier" in options else {}
    report = await connection.request(PULL, {"textDocument": {"uri": path_uri(path)}, **known}, timeout=timeout)
    return report if isinstance(report, dict) else {}
