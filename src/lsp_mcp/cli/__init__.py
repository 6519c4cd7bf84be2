"""The command `lsp-mcp`: arguments → configuration → run."""
