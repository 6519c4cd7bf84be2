"""Imports the MCP SDK, which takes longest, only when it is needed: `Sdk`."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

_SWITCH_INTERVAL = 0.0002  # seconds that an import may compute while the event loop wants to; Python's own is 0.005


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """A context for imports in a thread next to the event loop that talks to the servers.

    Imports create hundreds of thousands of permanent objects, so garbage collection is a waste of time. And the loop,
    which wakes up only briefly, would otherwise wait for a full thread switch interval each time.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    gc.disable()
    try:
        yield
    finally:
        sys.setswitchinterval(before)
        gc.freeze()
        gc.enable()


class Sdk:
    """The SDK and the modules that use it: imported once, in a thread, on demand."""

    def __init__(self) -> None:
        self._importing: asyncio.Task[ModuleType] | None = None

    def begin(self) -> None:
        """Import it in the background; idempotent."""
        if self._importing is None:
            self._importing = asyncio.create_task(self._import())

    async def load(self) -> ModuleType:
        """The module `lsp_mcp.server.serving`."""
        self.begin()
        assert self._importing
        return await asyncio.shield(self._importing)

    async def _import(self) -> ModuleType:
        with importing():
            return await asyncio.to_thread(importlib.import_module, "lsp_mcp.server.serving")


SDK = Sdk()  # of this process
