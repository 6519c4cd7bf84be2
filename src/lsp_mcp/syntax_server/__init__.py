"""A language server that knows syntax only, for languages without another one: `lsp-mcp syntax-server`."""
