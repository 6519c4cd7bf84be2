"""A board with its participants in this process, and its project: `BoardHost`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from lsp_mcp.board.answers import Answers
from lsp_mcp.board.board import Board
from lsp_mcp.board.participants import Participants, Tell
from lsp_mcp.workspace import Workspace


class BoardHost:
    """The board for tools and pages."""

    def __init__(self, board: Board, workspace: Workspace) -> None:
        self.board = board
        self.participants = Participants(board)
        self.workspace = workspace
        # Makes anchors of names and addresses of code; replaced by the tools, which know the language servers.
        self.as_anchors: Callable[[Sequence[str]], Awaitable[list[str]]] = _unchanged
        self._answers = Answers(board, self.participants)

    def called(self, key: str, tell: Tell) -> None:
        """The connection of that key calls a tool, and gets answers through `tell`."""
        self._answers.called(key, tell)

    async def caught_up(self) -> None:
        """Connections that have called a tool have been told of all that others have changed."""
        await self._answers.caught_up()

    async def left(self, key: str) -> None:
        """The connection of that key has ended. Harmless if it is unknown."""
        await self.participants.leave(key)

    async def close(self) -> None:
        """Leave the board; idempotent."""
        await self._answers.close()
        await self.board.close()


async def _unchanged(spelled: Sequence[str]) -> list[str]:
    return list(spelled)
