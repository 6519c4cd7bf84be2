"""What the answer to an LSP request depends on: `reach_of` (LSP 3.17)."""

from __future__ import annotations

from lsp_mcp.backend import Reach

# The answer is made of the text of one document; whatever a server does not know of others cannot be missing in it.
_TEXT = {
    *("textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/selectionRange", "textDocument/ast"),
    *("textDocument/formatting", "textDocument/rangeFormatting", "textDocument/onTypeFormatting"),
    *("textDocument/documentLink", "textDocument/linkedEditingRange"),
}
# It is about one place of one document, and depends on that document and on what it imports or includes.
_FILE = {
    *("textDocument/hover", "textDocument/signatureHelp", "textDocument/documentHighlight", "textDocument/completion"),
    *("textDocument/definition", "textDocument/declaration", "textDocument/typeDefinition"),
    *("textDocument/inlayHint", "inlayHint/resolve", "completionItem/resolve", "textDocument/inlineValue"),
    *(f"textDocument/semanticTokens/{what}" for what in ("full", "full/delta", "range")),
    *("textDocument/prepareRename", "textDocument/prepareCallHierarchy", "textDocument/prepareTypeHierarchy"),
    *("textDocument/codeAction", "codeAction/resolve", "textDocument/diagnostic"),
    *("callHierarchy/outgoingCalls", "textDocument/symbolInfo", "textDocument/moniker", "textDocument/documentColor"),
}


_ELSEWHERE = {"textDocument/definition", "textDocument/declaration"}


def leads_elsewhere(method: str) -> bool:
    """Whether the answer, though about one place, may be in a file unrelated to its document."""
    return method in _ELSEWHERE


def reach_of(method: str) -> Reach:
    """What the answer to `method` depends on; for an unknown method, anything."""
    return "text" if method in _TEXT else "file" if method in _FILE else "workspace"
