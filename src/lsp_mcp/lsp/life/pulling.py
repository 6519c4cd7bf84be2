"""Servers that give diagnostics on request: `pulling` (LSP 3.17, "Pull Diagnostics")."""

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

    async def pull(path: Path) -> list[Any] | None:
        provider = (
            connection.capabilities.get("diagnosticProvider") or connection.notifications.diagnostics.pull_options
        )
        if provider is None:
            return None
        known = {"identifier": provider["identifier"]} if "identifier" in provider else {}
        try:
            report = await connection.request(
                PULL, {"textDocument": {"uri": path_uri(path)}, **known}, timeout=within(timeout)
            )
        except (RefusedError, SilentError):
            return None
        return report.get("items") if isinstance(report, dict) else None

    return pull
