"""What questions must know about basedpyright: `BasedpyrightPlugin`. Facts were seen with basedpyright 1.40."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.lsp.coverage import Coverage, SessionPlugin, Start
from lsp_mcp.objects.cells import without_cells
from lsp_mcp.servers.basedpyright.index_names import index_package, index_symbols
from lsp_mcp.servers.basedpyright.names import IMPLIED, MENTIONS, RENAMING
from lsp_mcp.servers.basedpyright.projects import PythonProjects
from lsp_mcp.servers.traits import Diagnostics, WordCheck


class BasedpyrightPlugin(SessionPlugin):
    """basedpyright says of an argument that it does not know what the called function is: `print` for `print(x.a)`.

    One of these requests that is cancelled while it waits for a progress token makes it refuse all later ones
    (`this._token.cancel is not a function`).
    """

    uncancelled = frozenset({"textDocument/references", "textDocument/implementation", "workspace/executeCommand"})
    diagnostics = Diagnostics(closed_on_request=True)
    word_check = WordCheck(named_by_text=True, listed_keywords=frozenset("_"), implied=IMPLIED)
    renaming = RENAMING
    mentions = MENTIONS

    def coverage(self, start: Start) -> Coverage:
        """See `SessionPlugin.coverage`."""
        return PythonProjects(self.adapter, start)

    def in_files(self, answer: Any) -> Any:
        """See `Plugin.in_files`."""
        return without_cells(answer)

    def index_package(self, path: Path) -> str:
        """See `Plugin.index_package`."""
        return index_package(path)

    def index_symbols(self, path: Path, name: str, scopes: Sequence[str] = ()) -> Sequence[str]:
        """See `Plugin.index_symbols`."""
        return index_symbols(path, name, scopes)
