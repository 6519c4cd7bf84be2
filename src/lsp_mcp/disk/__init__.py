"""Changes on disk since the last question: `Watch` returns `Changes`, exactly, without polling."""

from lsp_mcp.disk.changes import Changes
from lsp_mcp.disk.watch import Watch

__all__ = ["Changes", "Watch"]
