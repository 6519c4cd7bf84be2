"""The tools of the project board (docs/contracts/board.md)."""
