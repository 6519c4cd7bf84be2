"""The offered tools: those of the toolsets that fit the backends and the user's choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import cache

from msgspec.structs import replace

from lsp_mcp.adapters import Adapter
from lsp_mcp.errors import CallerError, ConfigError, LspMcpError, unknown
from lsp_mcp.sessions.running import Running
from lsp_mcp.toolsets.calls import CallTools
from lsp_mcp.toolsets.checking import CheckTools
from lsp_mcp.toolsets.clangd import ClangdMoreTools, ClangdTools
from lsp_mcp.toolsets.code import CodeTools
from lsp_mcp.toolsets.context import ToolContext, Toolset
from lsp_mcp.toolsets.editing import SymbolEditTools
from lsp_mcp.toolsets.hierarchy import HierarchyTools
from lsp_mcp.toolsets.impact import ImpactTools
from lsp_mcp.toolsets.implementations import ImplementationTools
from lsp_mcp.toolsets.indexed import indexed_tools, with_indexed_places
from lsp_mcp.toolsets.lsp import LspTools
from lsp_mcp.toolsets.lua import PREFIX, LuaTools
from lsp_mcp.toolsets.outlines import OutlineTools
from lsp_mcp.toolsets.reading import ReadingTools
from lsp_mcp.toolsets.refactoring import RefactorTools
from lsp_mcp.toolsets.renames import RenameTools
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.table import PARTS
from lsp_mcp.toolsets.tool import Call, Tool, declared_tools, tools_of
from lsp_mcp.visible import quoted

EVERYWHERE = ("code", "lsp")
"""The toolsets for every language server; the others are for adapters that name them."""

_NEEDS = {"clangd-more": "clangd", "lua": "nvim"}
_DEBUG = "debug"  # a toolset that needs another one to work, as those of the parts do


def _nvim_tools() -> tuple[type[Toolset], ...]:
    from lsp_mcp.toolsets.nvim.connection_tools import ConnectionTools
    from lsp_mcp.toolsets.nvim.edit_tools import EditTools
    from lsp_mcp.toolsets.nvim.editor_tools import EditorTools
    from lsp_mcp.toolsets.nvim.query_tools import QueryTools

    return ConnectionTools, EditorTools, QueryTools, EditTools


def _debug_tools() -> tuple[type[Toolset], ...]:
    from lsp_mcp.toolsets.debug import TOOLS

    return TOOLS


TOOLSETS: dict[str, Callable[[], tuple[type[Toolset], ...]]] = {
    "code": lambda: (
        OutlineTools,
        CodeTools,
        RenameTools,
        ReadingTools,
        CallTools,
        ImplementationTools,
        ImpactTools,
        HierarchyTools,
        CheckTools,
        SymbolEditTools,
        RefactorTools,
    ),
    "lsp": lambda: (LspTools,),
    "clangd": lambda: (ClangdTools,),
    "clangd-more": lambda: (ClangdMoreTools,),
    "nvim": _nvim_tools,
    "lua": lambda: (),  # for any Neovim
    **{name: part.tools for name, part in PARTS.items()},
    _DEBUG: _debug_tools,
}


def tool_context(running: Running, settings: ToolSettings) -> ToolContext:
    """What the toolsets are built from; the code tools are linked with the parts whose toolsets are chosen."""
    wanted = set(settings.toolsets) - set(settings.without_toolsets)
    links = [PARTS[name].links(part) for name, part in running.parts.items() if name in wanted]
    return ToolContext(running.code, settings, running.neovims, running.parts, running.debug, links, running.usage)


def offered_tools(context: ToolContext) -> list[Tool]:
    """The tools of the chosen toolsets.

    Raises:
        ConfigError: there is no such toolset, or no backend of it is running.
    """
    settings = context.settings
    chosen = [
        name
        for name in _chosen(context)
        if (name not in PARTS or name in context.parts) and (name != _DEBUG or context.debug)
    ]
    tools = [
        toolset.adapted(
            replace(
                tool,
                toolset=name,
                timeout=None if name in PARTS else settings.request_timeout,
                answer_within=settings.answer_within,
                use=_use(context, name),
                take_news=tuple if _is_apart(name) else context.sessions.take_news,
                later=context.sessions.word_checks.background.later,
                count=context.usage.add if context.usage else tool.count,
            )
        )
        for name in chosen
        for toolset in (kind(context) for kind in TOOLSETS[name]())
        for tool in tools_of(toolset, settings.base)
    ]
    tools = (indexed_tools if settings.from_index else with_indexed_places)(context, tools)
    # Methods added by a user may change anything.
    added = bool(settings.allowed_methods)
    tools = [replace(tool, read_only=tool.read_only and not (tool.passes and added)) for tool in tools]
    return [
        replace(tool, turn=lambda _: context.sessions.editing)
        if tool.toolset == "code" and not tool.read_only
        else tool
        for tool in tools
    ]


def _use(context: ToolContext, toolset: str) -> Callable[[], AbstractContextManager[None]]:
    """What the calls of a toolset enter: those that ask language servers stop what these do in the background."""
    return context.sessions.use.call if _is_apart(toolset) else context.sessions.asked


def _is_apart(toolset: str) -> bool:
    """Whether its tools ask no language server."""
    return toolset in PARTS or toolset == _DEBUG


def lua_tools(context: ToolContext) -> LuaTools | None:
    """The tools that a Neovim's plugin has, if the toolset `lua` is chosen. Raises the errors of `offered_tools`."""
    return LuaTools(context.neovims) if context.neovims and "lua" in _chosen(context) else None


def tools_without_sessions(reason: LspMcpError, toolsets: Iterable[str] = tuple(TOOLSETS)) -> list[Tool]:
    """Every tool of `toolsets`, for listing; a call of one raises `reason`."""

    async def refuse(_: Call, **arguments: object) -> str:
        raise reason

    kinds = [kind for name in toolsets for kind in TOOLSETS[name]()]
    return [replace(tool, method=refuse) for kind in kinds for tool in declared_tools(kind)]


def toolset_of(tool: str) -> str:
    """The name of the toolset that has `tool`.

    Raises:
        CallerError: none has it.
    """
    if tool.startswith(PREFIX):
        return "lua"
    if name := _homes().get(tool):
        return name
    raise CallerError(f"unknown tool {quoted(tool)}")


@cache
def _homes() -> dict[str, str]:
    """The toolset of each tool, by its name."""
    return {one.name: name for name, kinds in TOOLSETS.items() for kind in kinds() for one in declared_tools(kind)}


def _chosen(context: ToolContext) -> list[str]:
    adapters = [backend.plugin.adapter for backend in context.sessions.backends]
    return chosen_toolsets(adapters, context.settings, through_neovim=context.neovims is not None)


def chosen_toolsets(adapters: Sequence[Adapter], settings: ToolSettings, *, through_neovim: bool) -> list[str]:
    """The names of the toolsets offered for servers with these `adapters`. Raises: see `offered_tools`."""
    of_backends = {name for adapter in adapters for name in adapter.toolsets}
    if through_neovim:
        of_backends.add("nvim")
    for name in (*settings.toolsets, *settings.without_toolsets):
        if name not in TOOLSETS:
            raise ConfigError(unknown("toolset", name, TOOLSETS))
    for name in settings.toolsets:
        if (needed := _NEEDS.get(name, name)) not in (*EVERYWHERE, *PARTS, _DEBUG, *of_backends):
            running = ", ".join(adapter.name for adapter in adapters)
            raise ConfigError(f"the toolset {name} needs the backend {needed}; running: {running}")
    # If only parts or debuggers run, tools that need a language server are left out.
    everywhere = EVERYWHERE[:1] if settings.from_index else EVERYWHERE
    has_servers = adapters or through_neovim or not {*PARTS, _DEBUG} & set(settings.toolsets)
    without = set(settings.without_toolsets)
    if without.issuperset(EVERYWHERE):  # no tools for language servers in general: none for a single one either
        of_backends &= {"nvim"}
    wanted = {*(everywhere if has_servers else ()), *of_backends, *settings.toolsets} - without
    return [name for name in TOOLSETS if name in wanted]
