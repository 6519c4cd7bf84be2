"""The daemon: language servers that several sessions share, each behind a door (`lsp_mcp.door`)."""
