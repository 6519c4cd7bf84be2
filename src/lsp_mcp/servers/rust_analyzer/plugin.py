"""What questions must know about rust-analyzer: `RustAnalyzerPlugin`. Facts were seen with the one of Rust 1.95."""

from __future__ import annotations

from lsp_mcp.lsp.coverage import Coverage, SessionPlugin, Start
from lsp_mcp.servers.rust_analyzer.cargo import CargoCoverage


class RustAnalyzerPlugin(SessionPlugin):
    """It knows few errors by itself, and does not say when those of its `cargo check` are all published."""

    def coverage(self, start: Start) -> Coverage:
        """See `SessionPlugin.coverage`."""
        return CargoCoverage(start)
