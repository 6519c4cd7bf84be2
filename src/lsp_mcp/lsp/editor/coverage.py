"""Gaps of answers because of an editor's buffers and clients: `editor_gaps`."""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Scope
from lsp_mcp.gaps import Gap, news
from lsp_mcp.lsp.editor.connection import HostedConnection
from lsp_mcp.lsp.editor.host import Host
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.prose import count, first_few
from lsp_mcp.workspace import Workspace


def editor_gaps(
    scope: Scope, adapter: Adapter, workspace: Workspace, host: Host, connection: Connection | None
) -> list[Gap]:
    """The editor's reasons why answers of `scope` differ from the files or are incomplete."""

    def matters(path: Path) -> bool:
        return adapter.language_of(path) is not None and (scope.reach == "workspace" or path == scope.path)

    gaps = [
        Gap(
            "conflict",
            f"conflict: {workspace.display_path(path)} was changed on disk and has unsaved changes in Neovim; answers "
            "are for the unsaved text, and neither is touched: save or reload it there",
            (path,),
        )
        for path in host.buffers.conflicts()
        if matters(path)
    ]
    client = connection.client if isinstance(connection, HostedConnection) else None
    if scope.reach != "text" and client and client.root and not workspace.root.is_relative_to(client.root):
        where = workspace.display_path(client.root)
        gaps.append(Gap("not_searched", f"{adapter.name} in {host.name} works in {where} only", (client.root,)))
    if unsaved := [path for path in host.buffers.unsaved() if matters(path)]:
        text = f"for unsaved text in Neovim: {first_few([workspace.display_path(path) for path in unsaved])}"
        brief = f"unsaved text of {count(len(unsaved), 'file')}"
        gaps.append(news("unsaved", text, files=unsaved, brief=brief))
    return gaps
