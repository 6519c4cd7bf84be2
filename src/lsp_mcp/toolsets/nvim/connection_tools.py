"""Finding Neovims, connecting and disconnecting (docs/contracts/nvim.md)."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field

from lsp_mcp.errors import CallerError, UnavailableError
from lsp_mcp.nvim.address import parse_address
from lsp_mcp.nvim.connections import HOW_TO_START, none_runs
from lsp_mcp.toolsets.json_text import as_json
from lsp_mcp.toolsets.nvim.base import NvimToolset
from lsp_mcp.toolsets.tool import Call, tool


class ConnectionTools(NvimToolset):
    """Listed without a connection."""

    def lists(self, name: str) -> bool:
        """Always."""
        return True

    @tool(title="Find running Neovims", read_only=True)
    async def get_targets(self, call: Call) -> str:
        """List the running Neovims of this user that can be connected to, by their sockets and TCP addresses."""
        found, unusable = await self._neovims.connections.find()
        if not found:
            raise UnavailableError(f"{none_runs(unusable)}; {HOW_TO_START}.")
        connected = {editor.pid: editor.id for editor in self._neovims.connections.connected}
        for one in found:
            state = f"connected as {connected[one.pid]}" if one.pid in connected else "not connected"
            call.remark(f"{one.address.text}: Neovim {one.version} in {one.cwd}, {state}")
        for reason in unusable:
            call.remark(reason)
        return as_json([one.address.text for one in found])

    @tool(title="Connect to a Neovim", read_only=False)
    async def connect(
        self, call: Call, target: Annotated[str, Field(description="Socket from get_targets, or of nvim --listen")]
    ) -> str:
        """Connect to a Neovim by its socket. Returns its connection_id, always the same for the same target."""
        return await self._connect(target)

    @tool(title="Connect to a Neovim by TCP", read_only=False)
    async def connect_tcp(
        self, call: Call, target: Annotated[str, Field(description="HOST:PORT, e.g. 127.0.0.1:6666")]
    ) -> str:
        """Connect to a Neovim that listens on TCP. Returns its connection_id, always the same for the same target."""
        if not re.fullmatch(r".+:\d+", target.strip()):
            raise CallerError(f"target: {target[:80]!r} is not HOST:PORT, for example 127.0.0.1:6666.")
        return await self._connect(target)

    @tool(title="Disconnect from a Neovim", read_only=False)
    async def disconnect(self, call: Call, connection_id: Annotated[str, Field(description="From connect")]) -> str:
        """End a connection; Neovim keeps running."""
        connection = self._neovims.disconnect(connection_id)
        return as_json({"connection_id": connection_id, "target": connection.address.text, "disconnected": True})

    async def _connect(self, target: str) -> str:
        named = parse_address(target.strip())
        editor = await self._neovims.connect(named)
        return as_json({"connection_id": named.connection_id, "target": named.text, "cwd": str(editor.cwd)})
