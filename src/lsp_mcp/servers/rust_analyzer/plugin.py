"""What questions must know about rust-analyzer: `RustAnalyzerPlugin`. Facts were seen with the one of Rust 1.95."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.lsp.coverage import Coverage, SessionPlugin, Start
from lsp_mcp.servers.rust_analyzer.cargo import CargoCoverage
from lsp_mcp.servers.rust_analyzer.index_names import index_package, index_symbols
from lsp_mcp.servers.rust_analyzer.names import IMPLIED, MENTIONS, RENAMING
from lsp_mcp.servers.traits import Documents, Symbols, WordCheck


class RustAnalyzerPlugin(SessionPlugin):
    """It knows few errors by itself, and does not say when those of its `cargo check` are all published."""

    documents = Documents(reads_closed_later=True)
    symbols = Symbols(omits_fields=True)
    # A path in code that is left out leads to what has that name in the module, of whatever kind.
    word_check = WordCheck(implied=IMPLIED, inactive_code="inactive-code", condition_pattern=r"\bcfg(?:_attr)?\b")
    renaming = RENAMING
    mentions = MENTIONS

    def coverage(self, start: Start) -> Coverage:
        """See `SessionPlugin.coverage`."""
        return CargoCoverage(start)

    def index_package(self, path: Path) -> str:
        """See `Plugin.index_package`."""
        return index_package(path)

    def index_symbols(self, path: Path, name: str, scopes: Sequence[str] = ()) -> Sequence[str]:
        """See `Plugin.index_symbols`."""
        return index_symbols(path, name, scopes)
