"""One Neovim for all tests that only ask: with real gopls and clangd, and a person in the middle of their work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from asking import skip_without
from nvim.neovims import Neovim, skip_without_nvim
from nvim.nvim_tools import MORE, UNSAVED, Base, Tools, person, set_up

BOUND = 60  # seconds for whatever is waited for: a hang, not a measurement


class Shared:
    """The Neovim, and the tools on it by the base of numbers, for tests that are not coroutines."""

    def __init__(self, portal: BlockingPortal, nv: Neovim, one: Tools, zero: Tools) -> None:
        self._portal = portal
        self.nv = nv
        self._tools: dict[Base, Tools] = {1: one, 0: zero}
        self.root = one.root

    def tools(self, base: Base = 1) -> Tools:
        return self._tools[base]

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """What a coroutine returns, in the loop of the connection."""

        async def bounded() -> Any:
            async with asyncio.timeout(BOUND):
                return await coroutine

        return self._portal.call(bounded)


@asynccontextmanager
async def _shared(root: Path) -> AsyncIterator[tuple[Neovim, Tools, Tools]]:
    async with person(root) as (nv, tools):
        await set_up(nv)
        zero = Tools(tools.neovims, 0)
        tools.unsaved = zero.unsaved = {MORE: UNSAVED}
        yield nv, tools, zero


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """Nobody edits in it, and no window, cursor or list of buffers of it is changed."""
    skip_without_nvim()
    skip_without("gopls")
    skip_without("clangd")
    root = tmp_path_factory.mktemp("both")
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_shared(root)) as (nv, one, zero):
        yield Shared(portal, nv, one, zero)
