"""The command `lsp-mcp`: parse arguments, configure, run."""

import sys

if sys.platform == "win32":
    sys.exit("lsp-mcp runs on Linux and macOS; on Windows, run it in WSL.")
