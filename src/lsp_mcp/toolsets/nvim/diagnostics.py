"""Language servers' diagnostics in the buffers of a Neovim: `NvimDiagnostics` (docs/contracts/nvim.md)."""

from __future__ import annotations

import asyncio
from typing import Any

from lsp_mcp.adapters import adapter_names
from lsp_mcp.errors import CallerError, PathError, UnavailableError
from lsp_mcp.nvim.host import NvimHost
from lsp_mcp.nvim.paths import buffer_path
from lsp_mcp.prose import first_few
from lsp_mcp.sessions.neovims import Neovims
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.text import Base, PositionEncoding, Text, point_numbers
from lsp_mcp.toolsets.nvim.base import buffer_of
from lsp_mcp.toolsets.tool import Call

_BYTES = PositionEncoding("utf-8", lone_cr_ends_line=False)  # how Neovim counts
Json = dict[str, Any]


class NvimDiagnostics:
    """Diagnostics as Neovim has them, of the present text of its buffers."""

    def __init__(self, neovims: Neovims, base: Base) -> None:
        self._neovims = neovims
        self._base = base

    async def of_buffer(self, call: Call, sessions: Sessions, number: int) -> list[Json]:
        """Those of buffer `number`, 0 for the current one.

        Raises:
            CallerError: there is no such buffer.
            UnavailableError: a language server has not reported on its present text in time.
        """
        host = _host(sessions)
        buffer = await buffer_of(host.present(), number)
        await host.buffers.sync()
        if missing := await self._unknown(call, sessions, buffer):
            shown = sessions.workspace.display_path(buffer_path(buffer["name"]))
            raise UnavailableError(
                f"not yet: {missing} has published nothing about the current text of {shown}. Ask again."
            )
        if not buffer["loaded"]:
            call.remark(f"status: buffer {buffer['number']} is not loaded, so no language server looks at it")
        found = await host.present().lua.call("diagnostics", buffer["number"])
        return [self._counted(one, text) for text in [await _text(host, buffer)] for one in found]

    async def of_workspace(self, call: Call, sessions: Sessions) -> list[Json]:
        """Those of all buffers, each with its `file`; a remark lists buffers without known diagnostics.

        Language servers also report files without a buffer, as far as they check those.
        """
        host = _host(sessions)
        await host.buffers.sync()
        connection = host.present()
        numbers: list[int] = await connection.lua.call("buffer_numbers")
        held = {number for client in await host.clients.all() for number in client.buffers}
        buffers = [await buffer_of(connection, number) for number in numbers if number in held]
        waited = await asyncio.gather(*(self._unknown(call, sessions, buffer) for buffer in buffers))
        late = [buffer["name"] for buffer, missing in zip(buffers, waited, strict=True) if missing]
        if late:
            shown = first_few([sessions.workspace.display_path(buffer_path(name)) for name in late])
            call.remark(f"status: not known yet for the present text of {shown}; ask again")
        answer = []
        texts: dict[int, tuple[str, Text]] = {}
        for one in await connection.lua.call("diagnostics", None):
            if one["bufnr"] not in texts:
                try:
                    buffer = await buffer_of(connection, one["bufnr"])
                    texts[one["bufnr"]] = buffer["name"], await _text(host, buffer)
                except (CallerError, PathError) as error:
                    call.remark(f"status: the diagnostics of buffer {one['bufnr']} are left out: {error}")
                    texts[one["bufnr"]] = "", Text("")
            name, text = texts[one["bufnr"]]
            if name:
                answer.append({"file": sessions.workspace.display_path(buffer_path(name)), **self._counted(one, text)})
        return answer

    async def _unknown(self, call: Call, sessions: Sessions, buffer: Json) -> str:
        """The client that does not report on the present text of `buffer` in time; empty if all do."""
        if not buffer["name"]:
            return ""
        path = buffer_path(buffer["name"])
        for client in await _host(sessions).clients.all():
            if buffer["number"] not in client.buffers:
                continue
            session = await self._neovims.session(sessions, path, client.name)
            await session.ready(call.report)
            await session.sync()
            if session.name not in adapter_names() and not session.problems.has_versions:
                call.remark(f"status: {client.name} doesn't say for which text its diagnostics are")
            elif not await session.problems.diagnosed(path):
                return str(client.name)
        return ""

    def _counted(self, one: Json, text: Text) -> Json:
        """A diagnostic with the caller's numbers."""
        out = {key: value for key, value in one.items() if value is not None}
        for line, column in (("lnum", "col"), ("end_lnum", "end_col")):
            if line in out:
                point = text.unclamped_position_point({"line": out[line], "character": out.get(column, 0)}, _BYTES)
                out[line], out[column] = point_numbers(point, self._base).values()
        return out


def _host(sessions: Sessions) -> NvimHost:
    assert sessions.host
    return sessions.host


async def _text(host: NvimHost, buffer: Json) -> Text:
    """The present text of `buffer`."""
    return await host.buffers.present_text(buffer_path(buffer["name"])) if buffer["name"] else Text("")
