"""How the board joins the rest of the program: `BOARD`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsp_mcp.errors import ConfigError
from lsp_mcp.installed import install_command
from lsp_mcp.toolsets.part import Joined

if TYPE_CHECKING:
    from lsp_mcp.board.host import BoardHost
    from lsp_mcp.toolsets.context import Links, Toolset
    from lsp_mcp.workspace import Workspace


def _open(workspace: Workspace, store: str | None) -> BoardHost:
    try:
        from lsp_mcp.board.board import Board
        from lsp_mcp.board.host import BoardHost
        from lsp_mcp.board.place import store_url
        from lsp_mcp.board.store import Store
    except ModuleNotFoundError as error:
        raise ConfigError(f"the board needs {error.name}; install it with: {install_command('board')}") from None
    return BoardHost(Board(Store(store_url(workspace.root, store))), workspace)


def _tools() -> tuple[type[Toolset], ...]:
    try:
        from lsp_mcp.toolsets.board.keeping import KeepingTools
        from lsp_mcp.toolsets.board.library import LibraryTools
        from lsp_mcp.toolsets.board.stages import StageTools
        from lsp_mcp.toolsets.board.tasks import TaskTools
        from lsp_mcp.toolsets.board.workspace import WorkspaceTools
    except ImportError:  # the optional packages that a board needs are not installed
        return ()
    return (TaskTools, StageTools, LibraryTools, KeepingTools, WorkspaceTools)


def _links(host: BoardHost) -> Links:
    from lsp_mcp.toolsets.board.code_links import CodeLinks

    return CodeLinks(host)


BOARD = Joined(
    open=_open,
    tools=_tools,
    links=_links,
    instructions=(
        "- The project board is shared with other agents and with people who see it live. register_agent names you; "
        "take work with claim_task, keep what you find with add_to_task, end with complete_task. get_project_info "
        "lists the standards. ask_user returns at once: go on, or get_response with wait_seconds. A call with "
        "idempotency=KEY may be repeated."
    ),
    alone="The project board of {root}.",
    store="The project board's database, for --toolset board: postgresql://… Default: a file for the checkout.",
)
