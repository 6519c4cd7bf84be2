"""Which toolsets are offered for the servers that run, and what a user adds and leaves out."""

from __future__ import annotations

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.toolsets.offered import chosen_toolsets
from lsp_mcp.toolsets.settings import ToolSettings

CLANGD = load_adapter("clangd")


def chosen(through_neovim: bool = False, *, add: str = "", without: str = "") -> list[str]:
    """What is offered beside clangd."""
    settings = ToolSettings(toolsets=tuple(add.split()), without_toolsets=tuple(without.split()))
    return chosen_toolsets([CLANGD], settings, through_neovim=through_neovim)


def test_a_servers_own_tools_come_with_it() -> None:
    assert chosen() == ["code", "lsp", "clangd"]
    assert chosen(without="code") == ["lsp", "clangd"]
    assert chosen(add="clangd-more", without="lsp") == ["code", "clangd", "clangd-more"]


@pytest.mark.parametrize("debugging", ["debug", "lua"])
def test_debug_tools_are_offered_alone_beside_any_server(debugging: str) -> None:
    assert chosen(True, add=debugging, without="code lsp nvim") == [debugging]
    assert chosen(True, add=debugging, without="code lsp") == ["nvim", debugging]


def test_a_servers_own_tools_are_offered_alone_by_their_name() -> None:
    assert chosen(add="clangd", without="code lsp") == ["clangd"]
