"""The person's view, and the texts of buffers and files (docs/contracts/nvim.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from lsp_mcp.backend import Scope
from lsp_mcp.errors import CallerError, PathError, RefusedError, UnavailableError
from lsp_mcp.lsp.session import Session
from lsp_mcp.nvim.lua_module import waits
from lsp_mcp.nvim.paths import buffer_path
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.text import Point, PositionEncoding, Text, numbers_point, point_numbers
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.json_text import as_json, readable
from lsp_mcp.toolsets.nvim.base import (
    MOST_BUFFER,
    Character,
    ClientName,
    ConnectionId,
    Document,
    Line,
    NvimToolset,
    buffer_of,
)
from lsp_mcp.toolsets.nvim.diagnostics import NvimDiagnostics
from lsp_mcp.toolsets.passing import MOST_CHARACTERS
from lsp_mcp.toolsets.tool import Call, tool
from lsp_mcp.waiting import allow

_BYTES = PositionEncoding("utf-8", lone_cr_ends_line=False)  # how Neovim counts
_READY_MS = 5_000  # docs/contracts/nvim.md
_MOST_READY_MS = 600_000
_LUA_TIMEOUT = 30.0  # seconds


class EditorTools(NvimToolset):
    """Buffers, the cursor, diagnostics and Lua."""

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._diagnostics = NvimDiagnostics(self._neovims, self._base)

    def lists(self, name: str) -> bool:
        """Listed while there is a connection, unless switched off."""
        return super().lists(name) and (name != "exec_lua" or self._settings.allow_exec_lua)

    @tool(title="Go to a place in Neovim", read_only=False)
    async def navigate(
        self, call: Call, document: Document, line: Line, character: Character, connection_id: ConnectionId = None
    ) -> str:
        """Show the user a position: open the document in the current window and put the cursor there."""
        sessions = await self._sessions(connection_id)
        assert sessions.host
        connection = sessions.host.present()
        point = numbers_point({"line": line, "character": character}, self._base)
        if document.buffer_id is not None:
            buffer = await buffer_of(connection, document.buffer_id)
            number, name = buffer["number"], buffer["name"]
            text = Text((await connection.lua.call("text", number))["text"]) if buffer["loaded"] else None
        else:
            path = await self._path(sessions, document)
            number, name, text = None, str(path), None
        if text is None:
            text = await sessions.host.buffers.present_text(buffer_path(name))
        text.point_offset(point, self._base)
        at = text.point_position(point, _BYTES)
        shown = await connection.lua.change("navigate", number, name, at["line"], at["character"])
        if mode := shown.get("waiting"):
            raise UnavailableError(f"{connection.name} is waiting {waits(mode)}, then ask again.")
        return as_json({"success": True, "buffer_name": shown["name"], "line": shown["line"]})

    @tool(title="Where the cursor is", read_only=True)
    async def cursor_position(self, call: Call, connection_id: ConnectionId = None) -> str:
        """Get the buffer, line and character of the person's cursor, from 1."""
        cursor = await (await self._host(connection_id)).present().lua.call("cursor")
        line = str(cursor["line"])
        point = Text(readable(line)).position_point({"line": 0, "character": cursor["byte"]}, _BYTES)
        row = point_numbers(Point(cursor["row"], point.character), self._base)
        return as_json(
            {
                "buffer_id": cursor["number"],
                "buffer_name": readable(cursor["name"]),
                "window_id": cursor["window"],
                "row": row["line"],
                "col": row["character"],
            }
        )

    @tool(title="List buffers", read_only=True)
    async def list_buffers(self, call: Call, connection_id: ConnectionId = None) -> str:
        """List the open buffers with names, line counts, and which have unsaved changes."""
        return as_json(await (await self._host(connection_id)).present().lua.call("list"))

    @tool(title="Read a document", read_only=True)
    async def read(
        self,
        call: Call,
        document: Document,
        start: Annotated[int | None, Field(description="First line, from 1; default: the first")] = None,
        end: Annotated[int, Field(description="Line after the last one; -1: to the end")] = -1,
        connection_id: ConnectionId = None,
    ) -> str:
        """Read a document as it is in Neovim, with unsaved changes."""
        sessions = await self._sessions(connection_id)
        assert sessions.host
        host = sessions.host
        if document.buffer_id is not None:
            buffer = await buffer_of(host.present(), document.buffer_id)
            name, number = buffer["name"], buffer["number"]
            if not name or buffer["type"]:
                found = await host.present().lua.call("text", number)
                return self._lines(call, _text(found, f"buffer {number}"), start, end)
            path = buffer_path(name)
        else:
            path = await self._path(sessions, document)
        text = await host.buffers.present_text(path)
        if held := host.buffers.get(path):
            if held.conflict:
                call.remark(
                    f"status: conflict: {sessions.workspace.display_path(path)} was also changed on disk; this is the "
                    f"unsaved text of buffer {held.number}, and neither is touched"
                )
            elif held.modified:
                call.remark(f"status: unsaved text of buffer {held.number}; the file on disk differs")
        return self._lines(call, text, start, end)

    @tool(title="Diagnostics of a buffer", read_only=True)
    async def buffer_diagnostics(
        self,
        call: Call,
        id: Annotated[int, Field(ge=0, le=MOST_BUFFER, description="Buffer, 0: the current one")],  # noqa: A002 (published)
        connection_id: ConnectionId = None,
    ) -> str:
        """Get the diagnostics of a buffer for its current text; says so if they are not known yet."""
        return as_json(await self._diagnostics.of_buffer(call, await self._sessions(connection_id), id))

    @tool(title="Language clients", read_only=True)
    async def lsp_clients(self, call: Call, connection_id: ConnectionId = None) -> str:
        """List Neovim's language clients."""
        clients = await (await self._host(connection_id)).clients.all()
        return as_json(
            [
                {
                    "id": client.id,
                    "name": client.name,
                    "initialized": client.initialized,
                    "root_dir": str(client.root) if client.root else None,
                    "filetypes": client.filetypes,
                    "attached_buffers": client.buffers,
                    "offset_encoding": client.unit,
                }
                for client in clients
            ]
        )

    @tool(title="Wait for a language server", read_only=True)
    async def wait_for_lsp_ready(
        self,
        call: Call,
        client_name: ClientName = None,
        timeout_ms: Annotated[int, Field(ge=0, le=_MOST_READY_MS, description="Milliseconds")] = _READY_MS,
        connection_id: ConnectionId = None,
    ) -> str:
        """Wait until a language client is attached and its server knows the workspace."""
        allow(timeout_ms / 1000)
        sessions = await self._sessions(connection_id)
        session = await self._attached(sessions, client_name, timeout_ms)
        state = await session.wait(timeout_ms / 1000, call.report)
        if state != "running":
            gaps = await session.gaps(Scope()) if state == "indexing" else []
            work = [gap.text for gap in gaps if gap.kind == "indexing"]
            raise UnavailableError(
                f"{session.name} is not ready after {timeout_ms} ms: {work[0] if work else state}. Wait longer, or go "
                "on: answers say what they lack."
            )
        assert sessions.host
        message = f"{session.name} knows the workspace"
        return as_json({"client_name": session.name, "ready": True, "message": message})

    @tool(title="Run Lua in Neovim", read_only=False, destructive=True)
    async def exec_lua(
        self,
        call: Call,
        code: Annotated[str, Field(description="Lua code; its return value is the answer")],
        connection_id: ConnectionId = None,
    ) -> str:
        """Run Lua in Neovim."""
        if not self._settings.allow_exec_lua:
            raise CallerError(
                "exec_lua is off, because it can do anything that the person can. A person turns it on by starting "
                "lsp-mcp with --allow-exec-lua."
            )
        connection = (await self._host(connection_id)).present()
        try:
            return as_json(await connection.lua.change("run", code, timeout=_LUA_TIMEOUT))
        except RefusedError as error:
            raise RefusedError(f"Lua: {error}") from None

    async def _attached(self, sessions: Sessions, client: str | None, timeout_ms: int) -> Session:
        """The session of the client, after waiting for one if there is none."""
        assert sessions.host
        await sessions.host.ready()
        until = asyncio.get_running_loop().time() + timeout_ms / 1000
        while True:
            attached = sessions.host.clients.attached
            try:
                return await self._neovims.session(sessions, None, client, argument="client_name")
            except CallerError as error:
                if client is None and await sessions.host.clients.all():
                    raise  # several: waiting would not help
                missing = error
            try:
                async with asyncio.timeout_at(until):
                    await attached.wait()
            except TimeoutError:
                raise CallerError(f"after {timeout_ms} ms: {missing}") from None

    # --- inside ------------------------------------------------------------------------------------

    def _lines(self, call: Call, text: Text, start: int | None, end: int) -> str:
        """The lines from `start` to before `end`, in the caller's numbers, limited to a readable number."""
        lines = text.lines()
        if len(lines) > 1 and not lines[-1]:
            lines.pop()
        first = self._base if start is None else start
        last = self._base + len(lines) if end == -1 else end
        if first < self._base or end < -1 or (end != -1 and end < self._base):
            raise CallerError(f"start {start}, end {end}: lines count from {self._base}, and only end may be -1.")
        if first > self._base + len(lines):
            raise CallerError(f"start is {first}, and the last line is {self._base + len(lines) - 1}.")
        wanted = lines[first - self._base : max(last - self._base, 0)]
        given, cut = _within(wanted, MOST_CHARACTERS)
        if cut:
            after = first + len(given)
            count = f"capped at {MOST_CHARACTERS:,} characters; the document has {len(lines):,} lines"
            if given:
                call.remark(f"status: {count}. Go on with start={after}")
            else:
                call.remark(f"status: {count}, and line {first} is longer. The next one is start={first + 1}")
                given = [wanted[0][:MOST_CHARACTERS]]
        return "\n".join(given)


def _within(lines: Sequence[str], most: int) -> tuple[list[str], bool]:
    """The first of `lines` with at most that many characters, and whether others are left."""
    size = 0
    for number, line in enumerate(lines):
        size += len(line) + (number > 0)
        if size > most:
            return list(lines[:number]), True
    return list(lines), False


def _text(found: dict[str, Any], what: str) -> Text:
    if found.get("binary"):
        raise PathError(f"{what} is not text: it has a NUL")
    content = str(found["text"])
    if readable(content) != content:
        raise PathError(f"{what} is not UTF-8")
    return Text(content)
