"""The user's choices for the tools: `ToolSettings`."""

from __future__ import annotations

from msgspec import Struct

from lsp_mcp.text import Base


class ToolSettings(Struct, frozen=True):
    """The user's choices for the tools."""

    base: Base = 1  # base of lines and characters, except in anchors, which count from 1
    request_timeout: float | None = None  # seconds that one call may wait for servers; None: no limit
    answer_within: float | None = None  # seconds for the proof of an answer that only reads; None: see `budget`
    allowed_methods: tuple[str, ...] = ()  # allowed in addition to those of the adapters
    allow_exec_lua: bool = False
    toolsets: tuple[str, ...] = ()  # in addition to those that fit the backends
    without_toolsets: tuple[str, ...] = ()
    index_store: str | None = None  # URL of the index store; None: the default one, if it exists
    from_index: bool = False  # whether the index store answers alone, without a server and a checkout
