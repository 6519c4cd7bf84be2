"""What questions must know about intelephense: `IntelephensePlugin`. Facts were seen with intelephense 1.18."""

from __future__ import annotations

from lsp_mcp.lsp.coverage import SessionPlugin
from lsp_mcp.servers.traits import Symbols


class IntelephensePlugin(SessionPlugin):
    """intelephense includes the namespace in the place of a use: that of `\\greet` begins at its backslash."""

    symbols = Symbols(qualifier_mark="\\")
