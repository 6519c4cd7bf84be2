"""`python -m lsp_mcp`: the same as `lsp-mcp`."""

from lsp_mcp.cli.main import main

if __name__ == "__main__":
    main(prog_name="lsp-mcp")
