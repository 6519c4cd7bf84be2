"""Which tools are offered: those of the toolsets that fit the backends and the user's wishes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lsp_mcp.errors import CallerError, ConfigError, LspMcpError, unknown
from lsp_mcp.sessions.neovims import Neovims
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.clangd import ClangdMoreTools, ClangdTools
from lsp_mcp.toolsets.code import CodeTools
from lsp_mcp.toolsets.hierarchy import HierarchyTools
from lsp_mcp.toolsets.lsp import LspTools
from lsp_mcp.toolsets.lua import PREFIX, LuaTools
from lsp_mcp.toolsets.nvim.base import NvimToolset
from lsp_mcp.toolsets.nvim.connection_tools import ConnectionTools
from lsp_mcp.toolsets.nvim.edit_tools import EditTools
from lsp_mcp.toolsets.nvim.editor_tools import EditorTools
from lsp_mcp.toolsets.nvim.query_tools import QueryTools
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.tool import Call, Tool, declared_tools, tools_of

if TYPE_CHECKING:
    from lsp_mcp.board.host import BoardHost

TOOLSETS: dict[str, tuple[type[Any], ...]] = {
    "code": (CodeTools, HierarchyTools),
    "lsp": (LspTools,),
    "clangd": (ClangdTools,),
    "clangd-more": (ClangdMoreTools,),
    "nvim": (ConnectionTools, EditorTools, QueryTools, EditTools),
    "lua": (),  # whatever a Neovim has
    "board": (),  # see `_board_tools`
}
_NVIM: tuple[type[NvimToolset], ...] = (ConnectionTools, EditorTools, QueryTools, EditTools)
_EVERYWHERE = ("code", "lsp")  # for every language server; the others are for those whose adapter names them
_NEEDS = {"clangd-more": "clangd", "lua": "nvim"}
_BOARD = "board"  # a toolset that works where another does


def offered_tools(
    sessions: Sessions,
    settings: ToolSettings = ToolSettings(),  # noqa: B008 (frozen)
    neovims: Neovims | None = None,
    board: BoardHost | None = None,
) -> list[Tool]:
    """The tools of the chosen toolsets, answering from `sessions`.

    Raises:
        ConfigError: there is no such toolset, or no backend of it is running.
    """
    chosen = _chosen(sessions, settings, neovims)
    if board and _BOARD in chosen:
        settings = _linked(sessions, settings, board)
    kinds = [kind for name in chosen for kind in TOOLSETS[name] if not issubclass(kind, NvimToolset)]
    tools = [tool for kind in kinds for tool in tools_of(kind(sessions, settings), settings.base)]
    if neovims and "nvim" in chosen:
        tools += _nvim_tools(sessions, settings, neovims)
    if board and _BOARD in chosen:
        tools += [tool for kind in _board_tools() for tool in tools_of(kind(board), settings.base)]
    # What a user adds to the read-only methods may change anything.
    added = bool(settings.allowed_methods)
    return [replace(tool, read_only=tool.read_only and not (tool.passes and added)) for tool in tools]


def _board_tools() -> tuple[type[Any], ...]:
    """Its toolsets; ImportError without the optional packages that a board needs."""
    from lsp_mcp.toolsets.board.library import LibraryTools
    from lsp_mcp.toolsets.board.tasks import TaskTools
    from lsp_mcp.toolsets.board.workspace import WorkspaceTools

    return (TaskTools, LibraryTools, WorkspaceTools)


def _linked(sessions: Sessions, settings: ToolSettings, board: BoardHost) -> ToolSettings:
    """The settings with which the code tools know of the board, which follows what they edit."""
    from lsp_mcp.toolsets.board.code_links import CodeLinks

    links = CodeLinks(board)
    sessions.edit_followers.append(links.edited)
    return replace(settings, tasks_on=links.tasks_on)


def _declared(name: str) -> tuple[type[Any], ...]:
    if name != _BOARD:
        return TOOLSETS[name]
    try:
        return _board_tools()
    except ImportError:
        return ()


def lua_tools(sessions: Sessions, settings: ToolSettings, neovims: Neovims | None) -> LuaTools | None:
    """The tools that a Neovim's plugin has, if the toolset `lua` is chosen. Raises as `offered_tools`."""
    return LuaTools(neovims) if neovims and "lua" in _chosen(sessions, settings, neovims) else None


def _nvim_tools(sessions: Sessions, settings: ToolSettings, neovims: Neovims) -> list[Tool]:
    """The tools for Neovim; those that need a connection are listed while there is one."""

    def connected() -> bool:
        return bool(neovims.connections.connected)

    tools = []
    for kind in _NVIM:
        for tool in tools_of(kind(sessions, settings, neovims), settings.base):
            allowed = tool.name != "exec_lua" or settings.allow_exec_lua
            listed = tool.listed if kind is ConnectionTools else connected if allowed else _never
            tools.append(replace(tool, listed=listed))
    return tools


def _never() -> bool:
    return False


def tools_without_sessions(reason: LspMcpError, toolsets: Iterable[str] = tuple(TOOLSETS)) -> list[Tool]:
    """Every tool of `toolsets`, to be looked at; a call of one raises `reason`."""

    async def refuse(_: Call, **arguments: object) -> str:
        raise reason

    kinds = [kind for name in toolsets for kind in _declared(name)]
    return [replace(tool, method=refuse) for kind in kinds for tool in declared_tools(kind)]


def toolset_of(tool: str) -> str:
    """The name of the toolset that has `tool`.

    Raises:
        CallerError: none has it.
    """
    if tool.startswith(PREFIX):
        return "lua"
    for name in TOOLSETS:
        if any(tool == one.name for kind in _declared(name) for one in declared_tools(kind)):
            return name
    raise CallerError(f"unknown tool {tool!r}")


def _chosen(sessions: Sessions, settings: ToolSettings, neovims: Neovims | None) -> list[str]:
    of_backends = {name for backend in sessions.backends for name in backend.adapter.toolsets}
    if neovims:
        of_backends.add("nvim")
    for name in (*settings.toolsets, *settings.without_toolsets):
        if name not in TOOLSETS:
            raise ConfigError(unknown("toolset", name, TOOLSETS))
    for name in settings.toolsets:
        if (needed := _NEEDS.get(name, name)) not in (*_EVERYWHERE, _BOARD, *of_backends):
            running = ", ".join(backend.name for backend in sessions.backends)
            raise ConfigError(f"the toolset {name} needs the backend {needed}, and what runs here is: {running}")
    wanted = {*_EVERYWHERE, *of_backends, *settings.toolsets} - set(settings.without_toolsets)
    return [name for name in TOOLSETS if name in wanted]
