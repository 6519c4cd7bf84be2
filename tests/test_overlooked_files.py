"""A file that a language server has read before it was told of it is found all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.uris import path_uri
from lsp_mcp.wire.peer import Peer

skip_without("gopls")

LIBRARY = "package m\n\nfunc Target() int { return 1 }\n"
USER = "package m\n\nfunc use() int { return Target() }\n"
OF_ANOTHER_SYSTEM = "//go:build windows\n\n" + USER


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> list[Peer]:
    """The connections to servers, in the order of their first request."""
    peers: list[Peer] = []
    request = Peer.request

    async def asked(peer: Peer, method: str, params: Any, **named: Any) -> Any:
        if peer not in peers:
            peers.append(peer)
        return await request(peer, method, params, **named)

    monkeypatch.setattr(Peer, "request", asked)
    return peers


def _written(root: Path) -> None:
    for name, text in {"go.mod": "module example.com/m\n\ngo 1.22\n", "lib.go": LIBRARY, "use.go": USER}.items():
        (root / name).write_text(text)


async def _uses(ask: Ask) -> tuple[list[str], str]:
    answer = await ask("find_symbol_references_by_anchor", symbol_anchor="go://lib.go#3:6")
    return sorted(one["location"]["file"] for one in answer["references"]), answer["status"]


async def _read_early(peer: Peer, path: Path, text: str) -> None:
    """Write the file, and let the server read it before anything is said of it."""
    path.write_text(text)
    await peer.request("textDocument/documentSymbol", {"textDocument": {"uri": path_uri(path)}}, timeout=60)


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
def test_a_file_that_comes_back_and_is_read_before_it_is_announced_is_searched(
    is_open: bool, tmp_path: Path, peers: list[Peer]
) -> None:
    _written(tmp_path)

    async def question(ask: Ask) -> None:
        if is_open:
            await ask("find_calls", symbol="go://use.go#3:6")
        assert await _uses(ask) == (["lib.go", "use.go"], "complete")
        for _ in range(2):
            (tmp_path / "use.go").unlink()
            assert await _uses(ask) == (["lib.go"], "complete")
            await _read_early(peers[0], tmp_path / "use.go", USER)
            assert await _uses(ask) == (["lib.go", "use.go"], "complete")

    asking("gopls", tmp_path, question)


def test_a_file_that_is_in_no_package_is_shown_once_and_one_of_another_system_never(
    tmp_path: Path, peers: list[Peer], monkeypatch: pytest.MonkeyPatch
) -> None:
    _written(tmp_path)
    opened: list[str] = []
    notify = Peer.notify

    def told(peer: Peer, method: str, params: Any) -> None:
        if method == "textDocument/didOpen" and not params["textDocument"]["text"]:
            opened.append(params["textDocument"]["uri"])
        notify(peer, method, params)

    monkeypatch.setattr(Peer, "notify", told)

    async def question(ask: Ask) -> None:
        await _uses(ask)
        (tmp_path / "other.go").write_text(OF_ANOTHER_SYSTEM)
        found, _ = await _uses(ask)
        assert "use.go" in found
        assert not opened
        # One that stays without a package is shown once.
        for text in ("package m\n", "package m // again\n"):
            (tmp_path / "_ignored.go").write_text(text)
            await _uses(ask)
        assert opened == [path_uri(tmp_path / "_ignored.go")]

    asking("gopls", tmp_path, question)
