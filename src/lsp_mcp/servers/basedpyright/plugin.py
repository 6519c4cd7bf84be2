"""What questions must know about basedpyright: `BasedpyrightPlugin`. Facts were seen with basedpyright 1.40."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.lsp.coverage import Coverage, SessionPlugin, Start
from lsp_mcp.servers.basedpyright.index_names import index_package, index_symbols
from lsp_mcp.servers.basedpyright.projects import PythonProjects
from lsp_mcp.servers.traits import Diagnostics, WordCheck


class BasedpyrightPlugin(SessionPlugin):
    """basedpyright says of an argument that it does not know what the called function is: `print` for `print(x.a)`."""

    diagnostics = Diagnostics(closed_on_request=True)
    word_check = WordCheck(named_by_text=True)

    def coverage(self, start: Start) -> Coverage:
        """See `SessionPlugin.coverage`."""
        return PythonProjects(self.adapter, start)

    def index_package(self, path: Path) -> str:
        """See `Plugin.index_package`."""
        return index_package(path)

    def index_symbols(self, path: Path, name: str, scopes: Sequence[str] = ()) -> Sequence[str]:
        """See `Plugin.index_symbols`."""
        return index_symbols(path, name, scopes)
