"""lsp-mcp's own server, which knows syntax only."""
