"""What the answer to an LSP request depends on: `reach_of` (LSP 3.17)."""

from __future__ import annotations

from lsp_mcp.backend import Reach
from lsp_mcp.servers.plugin import Plugin

# The answer depends on the text of one document only; gaps in other files cannot affect it.
_TEXT = {
    *("textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/selectionRange"),
    *("textDocument/formatting", "textDocument/rangeFormatting", "textDocument/onTypeFormatting"),
    *("textDocument/documentLink", "textDocument/linkedEditingRange"),
}
# The answer is about one place, and depends on its document and that document's imports or includes.
_FILE = {
    *("textDocument/hover", "textDocument/signatureHelp", "textDocument/documentHighlight", "textDocument/completion"),
    *("textDocument/definition", "textDocument/declaration", "textDocument/typeDefinition"),
    *("textDocument/inlayHint", "inlayHint/resolve", "completionItem/resolve", "textDocument/inlineValue"),
    *(f"textDocument/semanticTokens/{what}" for what in ("full", "full/delta", "range")),
    *("textDocument/prepareRename", "textDocument/prepareCallHierarchy", "textDocument/prepareTypeHierarchy"),
    *("textDocument/codeAction", "codeAction/resolve", "textDocument/diagnostic"),
    *("callHierarchy/outgoingCalls", "textDocument/moniker", "textDocument/documentColor"),
}


_ELSEWHERE = {"textDocument/definition", "textDocument/declaration"}


def leads_elsewhere(method: str) -> bool:
    """Whether the answer about one place may be in a file unrelated to its document."""
    return method in _ELSEWHERE


def reach_of(method: str, plugin: Plugin) -> Reach:
    """The reach of the answer to `method`; for an unknown method, everything."""
    return "text" if method in _TEXT else "file" if method in _FILE else plugin.request_reach.get(method, "workspace")
