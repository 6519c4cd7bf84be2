"""What questions must know about clangd: `ClangdPlugin`. Facts were seen with clangd 22.1."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from lsp_mcp.servers.plugin import Plugin


class ClangdPlugin(Plugin):
    """clangd compiles each file of the compilation database."""

    @property
    def compiles_files(self) -> bool:
        """See `Plugin.compiles_files`."""
        return True

    @property
    def finds_all_names(self) -> bool:
        """See `Plugin.finds_all_names`."""
        return True

    @property
    def request_reach(self) -> Mapping[str, Literal["text", "file"]]:
        """See `Plugin.request_reach`."""
        return {"textDocument/ast": "text", "textDocument/symbolInfo": "file"}

    def is_header(self, path: Path) -> bool:
        """See `Plugin.is_header`."""
        rules = self.adapter.compilation
        return rules is not None and not rules.compiles(path)

    def is_exported(self, name: str, path: Path) -> bool:
        """See `Plugin.is_exported`: what a header declares."""
        return self.is_header(path)
