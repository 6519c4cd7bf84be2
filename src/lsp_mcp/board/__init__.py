"""The project board: tasks, notes and questions that agents and people share (seeds/002); knows nothing of MCP."""
