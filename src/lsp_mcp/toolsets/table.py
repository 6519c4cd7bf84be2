"""The table of toolsets: their names, and the parts that serve some of them.

It is the only place in which the rest of the program meets such a part (tests/test_parts_are_joined_by_the_table.py).
"""

from __future__ import annotations

from lsp_mcp.toolsets.board.joined import BOARD
from lsp_mcp.toolsets.part import Joined

PARTS: dict[str, Joined] = {"board": BOARD}
TOOLSET_NAMES = ("code", "lsp", "clangd", "clangd-more", "nvim", "lua", *PARTS, "debug")
