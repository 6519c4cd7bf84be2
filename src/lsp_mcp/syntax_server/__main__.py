"""`python -m lsp_mcp.syntax_server`: the server on stdin and stdout."""

from lsp_mcp.syntax_server.server import run

if __name__ == "__main__":
    run()
