"""A name is called unknown only if nothing has changed until that was said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil
import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.errors import LspMcpError
from lsp_mcp.wire.peer import Peer
from mcp_process import BOUND

skip_without("gopls")


def written(root: Path) -> None:
    (root / "go.mod").write_text("module example.com/a\n\ngo 1.23\n")
    (root / "a.go").write_text("package a\n\nfunc Greet() {}\n\nvar _ = Greet\n")


@pytest.mark.parametrize("deaths", [1, 99])
def test_a_server_that_dies_after_it_knew_no_such_name_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deaths: int
) -> None:
    """As gopls 0.24 does on a full disk."""
    written(tmp_path)
    request, left = Peer.request, deaths

    async def dying(self: Peer, method: str, params: Any, **named: Any) -> Any:
        nonlocal left
        if method != "workspace/symbol" or not left:
            return await request(self, method, params, **named)
        if params["query"] != "Greet":  # something similar, for the error
            left -= 1
            servers = [one for one in psutil.Process().children() if one.name() == "gopls"]
            for server in servers:
                server.kill()
            psutil.wait_procs(servers, BOUND)
        return []

    async def question(ask: Ask) -> None:
        await ask("list_symbols_in_file", file_path="a.go")
        monkeypatch.setattr(Peer, "request", dying)
        if deaths == 1:
            found = await ask("find_symbol_references_by_anchor", symbol_anchor="Greet")
            assert len(found["references"]) == 2
        else:
            with pytest.raises(LspMcpError, match="kept changing while this was asked; ask again"):
                await ask("find_symbol_references_by_anchor", symbol_anchor="Greet")

    asking("gopls", tmp_path, question)
