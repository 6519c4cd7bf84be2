"""What questions must know about clangd: `ClangdPlugin`. Facts were seen with clangd 22.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from lsp_mcp.lsp.coverage import Coverage, Parts, SessionPlugin, Start
from lsp_mcp.lsp.reloading.reloading import Reloading
from lsp_mcp.servers.clangd.compilation.build import Build
from lsp_mcp.servers.clangd.reopening import Reopening


class ClangdPlugin(SessionPlugin):
    """clangd compiles each file of the compilation database."""

    def coverage(self, start: Start) -> Coverage:
        """See `SessionPlugin.coverage`."""
        assert self.adapter.compilation
        return Build(self.adapter, self.adapter.compilation, start)

    def reloading(self, coverage: Coverage, parts: Parts) -> Reloading:
        """See `SessionPlugin.reloading`."""
        assert isinstance(coverage, Build)
        return Reopening(self.adapter, coverage, parts)

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

    @property
    def trial_arguments(self) -> Sequence[str]:
        """See `Plugin.trial_arguments`. Without its index it answers from the files of the trial alone."""
        return ("--background-index=false", "--use-dirty-headers", "--log=error")

    def is_header(self, path: Path) -> bool:
        """See `Plugin.is_header`."""
        rules = self.adapter.compilation
        return rules is not None and not rules.compiles(path)

    def is_exported(self, name: str, path: Path) -> bool:
        """See `Plugin.is_exported`: what a header declares."""
        return self.is_header(path)
