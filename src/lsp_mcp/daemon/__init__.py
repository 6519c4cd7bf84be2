"""The daemon: language servers shared by several sessions, each behind a door (`lsp_mcp.door`)."""
