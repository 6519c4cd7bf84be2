"""Sixteen daily tasks of a coding agent, done with lsp-mcp and with a script of grep: see `tasks.toml`."""
