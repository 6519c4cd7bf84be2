"""What the user chose of the tools: `ToolSettings`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from lsp_mcp.text import Base, Point

TasksOn = Callable[[Path, Point, str], Awaitable[str | None]]
"""Called with a symbol's file, place and name; a line for whoever asks about it."""


@dataclass(frozen=True)
class ToolSettings:
    """What the user chose of the tools."""

    base: Base = 1  # from which lines and characters count, but for anchors: those count from 1
    allowed_methods: tuple[str, ...] = ()  # that may be passed through, besides those of the adapters
    allow_exec_lua: bool = False
    toolsets: tuple[str, ...] = ()  # besides those that fit the backends
    without_toolsets: tuple[str, ...] = ()
    tasks_on: TasksOn | None = None  # what tells of tasks about a symbol
