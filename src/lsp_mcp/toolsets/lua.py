"""The toolset `lua`: the tools of a Neovim's plugin registry (docs/contracts/lua.md), read again for each list.

Nothing here knows any of those tools: their names, arguments and checks are Lua's.
"""

from __future__ import annotations

import json
import logging
import re

from msgspec import Struct

from lsp_mcp.anchors import Anchor, looks_like_anchor, parse_anchor
from lsp_mcp.backend import Json
from lsp_mcp.errors import CallerError, LspMcpError, PathError, RefusedError, SilentError, UnavailableError, unknown
from lsp_mcp.sessions.neovims import Neovims
from lsp_mcp.toolsets.json_text import as_json, readable
from lsp_mcp.toolsets.questions import Questions
from lsp_mcp.toolsets.symbols import SymbolTarget, Targets
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.visible import quoted

log = logging.getLogger(__name__)

PREFIX = "nvim_"
_HOW_TO_GET = (
    "the Neovim plugin mcp-tools is not loaded there: put the folder that `lsp-mcp plugin` prints on its 'runtimepath' "
    "and call require('mcp-tools').setup{...}; see :help mcp-tools"
)
_TYPES = {"string", "number", "integer", "boolean", "object", "array"}


class LuaTool(Struct, frozen=True):
    """One tool of a registry."""

    name: str  # as listed for clients
    title: str
    read_only: bool
    destructive: bool
    description: str
    input_schema: Json
    anchors: tuple[str, ...]  # the arguments that are anchors


class LuaTools:
    """The tools of one of `neovims`: the one that the code tools use, else the only one."""

    prefix = PREFIX

    def __init__(self, neovims: Neovims) -> None:
        self._neovims = neovims
        self._last: list[LuaTool] = []
        self._targets: Targets | None = None

    async def tools(self) -> list[LuaTool]:
        """All present tools, by name; none without Neovim or its plugin.

        If a Neovim is too busy to answer, its previous tools: calling one will report that.
        """
        try:
            listed = await (await self._neovims.connection()).tools.all()
        except SilentError as error:
            log.info("the tools of Neovim may have changed: %s", error)
            return self._last
        except LspMcpError as error:
            log.info("no tools of Neovim: %s", error)
            listed = None
        self._last = [_tool(json.loads(readable(text))) for _, text in sorted((listed or {}).items())]
        return self._last

    async def call(self, call: Call, name: str, arguments: Json) -> str:
        """The answer's text of the tool that clients call `name`: JSON, unless the tool returned text.

        Raises:
            CallerError: there is no such tool, or its own error, for instance about arguments.
            UnavailableError: there is no Neovim, it is busy, or has no such plugin.
        """
        with self._neovims.code.use.call():
            return await self._call(call, name, arguments)

    async def _call(self, call: Call, name: str, arguments: Json) -> str:
        connection = await self._neovims.connection()
        if not name.startswith(PREFIX):
            raise await self._unknown(name)
        arguments = await self._placed(call, name, arguments)
        try:
            answer = await connection.tools.run(name.removeprefix(PREFIX), json.dumps(arguments), call.report)
        except RefusedError as error:
            raise CallerError(str(error)) from None
        if answer is None:
            raise UnavailableError(f"{connection.name}: {_HOW_TO_GET}")
        if answer is False:
            raise await self._unknown(name)
        for remark in answer.get("remarks") or ():
            call.remark(str(remark))
        result = json.loads(readable(str(answer["text"])))
        # Lua's tables have no key order; sorted, equal answers are equal texts.
        return str(result) if answer["plain"] else as_json(result, sort_keys=True)

    async def _unknown(self, name: str) -> CallerError:
        return CallerError(unknown("tool", name, [tool.name for tool in await self.tools()]))

    async def _placed(self, call: Call, name: str, arguments: Json) -> Json:
        """The arguments, with anchors moved to their present places and names of symbols resolved to anchors."""
        if all(tool.name != name for tool in self._last):
            await self.tools()
        anchors = next((tool.anchors for tool in self._last if tool.name == name), ())
        placed = {key: await self._place(call, str(arguments[key])) for key in anchors if arguments.get(key)}
        return {**arguments, **placed}

    async def _place(self, call: Call, spelled: str) -> str:
        """The anchor for `spelled`, an anchor or a name, its file absolute; unchanged if no language server can resolve
        it.
        """
        try:
            sessions = await self._neovims.sessions(None)
            if self._targets is None or self._targets.sessions is not sessions:
                self._targets = Targets(sessions)
            # The rest of the workspace does not affect the place of one symbol.
            answered = await Questions(self._targets, None).about_symbol(call, spelled, _itself, reach="text")
        except (PathError, UnavailableError) as error:
            if not looks_like_anchor(spelled):
                message = (
                    f"{quoted(spelled)} is the name of a symbol, and no language server of this Neovim can find it: "
                    f"pass the place itself, as the tool's other arguments or as an anchor. {error}"
                )
                raise UnavailableError(message) from error
            log.info("the anchor %s is taken as it is: %s", spelled, error)
            return spelled
        target = answered.target
        for gap in target.resolved:
            call.remark(gap.text)
        scheme = parse_anchor(self._targets.anchor(target.path, target.identifier.start)).scheme
        return str(Anchor(scheme, target.path.as_posix(), target.identifier.start))


async def _itself(target: SymbolTarget) -> None:
    """Only the symbol's place is needed."""


def _tool(entry: Json) -> LuaTool:
    args = entry.get("args") or {}
    return LuaTool(
        name=PREFIX + entry["name"],
        title=str(entry.get("title") or _title(entry["name"])),
        read_only=entry.get("read_only") is True,
        destructive=entry.get("destructive") is True,
        description=str(entry["description"]),
        input_schema=input_schema(args, extra=entry.get("extra")),
        anchors=tuple(name for name, declared in args.items() if declared.get("format") == "anchor"),
    )


def _title(name: str) -> str:
    return re.sub(r"[_.-]+", " ", name).strip().capitalize() or name


def input_schema(args: Json, *, extra: bool | None = None) -> Json:
    """JSON Schema of declared arguments: by name `type`, `description`, `required`, `default`, `enum`, `items`, …

    `extra`: whether others are accepted; None if undeclared.
    """
    schema = _object(args)
    return schema if extra is None else {**schema, "additionalProperties": extra}


def _object(declared: Json) -> Json:
    names = sorted(declared, key=lambda name: (not declared[name].get("required"), name))
    schema: Json = {"type": "object", "properties": {name: _schema(declared[name]) for name in names}}
    required = [name for name in names if declared[name].get("required")]
    return {**schema, "required": required} if required else schema


def _schema(declared: Json) -> Json:
    kind = declared.get("type")
    schema: Json = {"type": kind} if kind in _TYPES else {}
    schema |= {key: declared[key] for key in ("description", "default", "enum") if declared.get(key) is not None}
    if schema.get("default") in ([], {}):
        schema["default"] = [] if kind == "array" else {}  # Lua has only one empty table
    if kind == "array":
        # Some models refuse an array that does not say what is in it.
        schema["items"] = _schema(declared["items"]) if declared.get("items") else {}
    if kind == "object" and declared.get("properties"):
        schema |= _object(declared["properties"])
    return schema
