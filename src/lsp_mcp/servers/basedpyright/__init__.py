"""basedpyright, a Python language server."""
