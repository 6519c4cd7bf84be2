"""One Neovim with all debuggers for the tests that debug one program after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from debugging.nvim_dap_desk import Debugger, debugging, programs
from nvim.lua_tools import Shared, bridge, on_http, on_stdio, shared


@asynccontextmanager
async def _desks(root: Path) -> AsyncIterator[tuple[Debugger, Debugger]]:
    programs(root)
    (root / "open.txt").write_text("what the user is at\n" * 40)
    async with (
        debugging(root, "open.txt") as nv,
        bridge(nv, root) as one,
        on_http(nv, one.port, "auto") as http,
        on_stdio(nv, root, "auto") as stdio,
    ):
        yield Debugger(nv, http, root), Debugger(nv, stdio, root)


@pytest.fixture(scope="session")
def desks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """A client over HTTP and one over stdio; tests call `reset` first."""
    with shared(_desks(tmp_path_factory.mktemp("desks"))) as both:
        yield both
