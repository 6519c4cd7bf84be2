"""What questions must know about TypeScript's own language server: `TypeScriptPlugin`. Facts were seen with 7.0.2."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.lsp.coverage import Coverage, SessionPlugin, Start
from lsp_mcp.servers.traits import Diagnostics, Symbols, WordCheck
from lsp_mcp.servers.typescript.index_names import index_package, index_symbols
from lsp_mcp.servers.typescript.names import IMPLIED, MENTIONS, RENAMING, TWINS
from lsp_mcp.servers.typescript.projects import Projects


class TypeScriptPlugin(SessionPlugin):
    """It loads the project of a closed file to give its diagnostics."""

    # Overloads with what implements them, accessors, and declarations that it merges.
    symbols = Symbols(
        merged_kinds=frozenset({"function", "method", "property", "interface", "namespace", "module"}),
        merged_apart=r"\bstatic\b",
    )
    diagnostics = Diagnostics(closed_on_request=True)
    word_check = WordCheck(leads_back=True, constructors="constructor", twins=TWINS, implied=IMPLIED)
    renaming = RENAMING
    mentions = MENTIONS

    def coverage(self, start: Start) -> Coverage:
        """See `SessionPlugin.coverage`."""
        return Projects(self.adapter, start)

    def index_package(self, path: Path) -> str:
        """See `Plugin.index_package`."""
        return index_package(path)

    def index_symbols(self, path: Path, name: str, scopes: Sequence[str] = ()) -> Sequence[str]:
        """See `Plugin.index_symbols`."""
        return index_symbols(path, name, scopes)
