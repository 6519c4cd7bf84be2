"""The project board: tasks, notes and questions that agents and people share : docs/contracts/board.md.

Knows nothing of MCP.
"""
