"""Folders with sources are listed once, however many questions want them at the same time."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lsp_mcp.adapters import load_adapter
from lsp_mcp.disk.feed import FeedHub
from lsp_mcp.lsp.coverage import Start
from lsp_mcp.servers.gopls.rules import MODULES
from lsp_mcp.servers.gopls.workspace_projects import WorkspaceProjects
from lsp_mcp.servers.registry import plugin_of
from lsp_mcp.workspace import Workspace


def test_folders_are_listed_once_for_all_who_ask_at_once_and_again_after_a_change(tmp_path: Path) -> None:
    async def play() -> None:
        (tmp_path / "go.mod").write_text("module example.com/a\n")
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "a.go").write_text("package a\n")
        hub = FeedHub(tmp_path, set(), None)
        feed = hub.feed()
        await feed.start()
        projects = WorkspaceProjects(plugin_of(load_adapter("gopls")), MODULES, Start(Workspace(tmp_path), feed))
        one, other = await asyncio.gather(projects._source_folders(), projects._source_folders())
        assert one is other and one == {tmp_path: [tmp_path / "a"]}
        projects.changed([tmp_path / "go.mod"])
        assert await projects._source_folders() is not one
        await projects.close()
        hub.close()

    asyncio.run(play())
