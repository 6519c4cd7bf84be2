"""What changed on disk since the last question: `Watch` answers with `Changes`, exactly, without polling."""

from lsp_mcp.disk.changes import Changes
from lsp_mcp.disk.watch import Watch

__all__ = ["Changes", "Watch"]
