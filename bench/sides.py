"""The two sides of the comparison: `Sides` starts the language server alone, and lsp-mcp over it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from mcp_client import McpClient, started
from raw_client import RawClient

from lsp_mcp.adapters import Adapter


@dataclass(frozen=True)
class Sides:
    """Both sides on the same code, each with a folder of its own in `cache` for what a server keeps on disk.

    `waits`: the server alone has to be waited for until it has loaded, because it answers before.
    """

    adapter: Adapter
    command: Sequence[str]
    root: Path
    cache: Path
    waits: bool

    def raw(self) -> RawClient:
        """The server alone, just started; ends with its `with` block."""
        return RawClient(self.adapter, self.command, self.root, self.cache / "server")

    def ours(self) -> AbstractAsyncContextManager[McpClient]:
        """lsp-mcp, started on entering."""
        return started(self.adapter.name, self.root, self.cache / "lsp-mcp")

    def forget(self) -> None:
        """Remove the caches of both; neither may be running."""
        shutil.rmtree(self.cache, ignore_errors=True)
