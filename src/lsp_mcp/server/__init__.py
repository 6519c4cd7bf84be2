"""MCP: the only package that imports `mcp`."""
