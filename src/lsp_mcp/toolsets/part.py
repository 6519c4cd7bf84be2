"""How a part of the program other than a language server joins it: `Joined`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from lsp_mcp.sessions.running import Part
    from lsp_mcp.toolsets.context import Links, Toolset
    from lsp_mcp.workspace import Workspace


class Joined(Struct, frozen=True):
    """A part as known to the program; importing this loads nothing of the part.

    `open` gets the workspace and the URL of its database, None if the user named none; it raises ConfigError if the
    database cannot be used. `tools` is empty if optional packages are not installed. `instructions` is its line
    of the server's, `alone` the first line if nothing else is served, with `{root}`. `store` is the help of --store.
    """

    open: Callable[[Workspace, str | None], Part]
    tools: Callable[[], tuple[type[Toolset], ...]]
    links: Callable[[Any], Links]
    instructions: str
    alone: str
    store: str
