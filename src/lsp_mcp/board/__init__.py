"""The project board: tasks, notes and questions shared by agents and people: docs/contracts/board.md.

Independent of MCP.
"""
