"""What the user chose of the tools: `ToolSettings`."""

from __future__ import annotations

from msgspec import Struct

from lsp_mcp.text import Base


class ToolSettings(Struct, frozen=True):
    """What the user chose of the tools."""

    base: Base = 1  # from which lines and characters count, but for anchors: those count from 1
    request_timeout: float | None = None  # seconds that one call may wait for servers; None: any time
    allowed_methods: tuple[str, ...] = ()  # allowed in addition to those of the adapters
    allow_exec_lua: bool = False
    toolsets: tuple[str, ...] = ()  # in addition to those that fit the backends
    without_toolsets: tuple[str, ...] = ()
