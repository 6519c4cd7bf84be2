"""A board with who takes part in it in this process, and the project that it is about: `BoardHost`."""

from __future__ import annotations

from dataclasses import dataclass

from lsp_mcp.board.board import Board
from lsp_mcp.board.participants import Participants
from lsp_mcp.workspace import Workspace


@dataclass(frozen=True)
class BoardHost:
    """What tools and pages work with."""

    board: Board
    participants: Participants
    workspace: Workspace
