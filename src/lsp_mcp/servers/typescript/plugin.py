"""What questions must know about TypeScript's own language server: `TypeScriptPlugin`. Facts were seen with 7.0.2."""

from __future__ import annotations

from lsp_mcp.lsp.coverage import SessionPlugin
from lsp_mcp.servers.traits import Diagnostics


class TypeScriptPlugin(SessionPlugin):
    """It loads the project of a closed file to give its diagnostics."""

    diagnostics = Diagnostics(closed_on_request=True)
