"""The capabilities that this program offers in `initialize` (LSP 3.17, `ClientCapabilities`)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsp_mcp import __version__
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.uris import path_uri

_SYMBOL_KINDS = list(range(1, 27))
_ACTION_KINDS = [
    *("", "quickfix", "refactor", "refactor.extract", "refactor.inline", "refactor.move", "refactor.rewrite"),
    *("source", "source.organizeImports", "source.fixAll"),
]


def initialize_params(plugin: Plugin, root: Path) -> dict[str, Any]:
    """`InitializeParams` for the server of `plugin` on the workspace `root`."""
    adapter = plugin.adapter
    uri = path_uri(root)
    return {
        "processId": os.getpid(),
        "clientInfo": {"name": "lsp-mcp", "version": __version__},
        "rootPath": str(root),
        "rootUri": uri,
        "workspaceFolders": workspace_folders(root),
        "initializationOptions": adapter.initialization_options or adapter.settings.values,
        "capabilities": _merged(_capabilities(plugin), adapter.capabilities),
    }


def workspace_folders(root: Path) -> list[dict[str, Any]]:
    """`WorkspaceFolder[]`: the only one."""
    return [{"uri": path_uri(root), "name": root.name}]


def _merged(one: dict[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both merged by key; if both have a value that is not a table, the other's."""
    merged = dict(one)
    for key, value in other.items():
        before = one.get(key)
        merged[key] = _merged(before, value) if isinstance(before, dict) and isinstance(value, Mapping) else value
    return merged


def _capabilities(plugin: Plugin) -> dict[str, Any]:
    link = {"linkSupport": True}
    return {
        "general": {
            "positionEncodings": list(plugin.adapter.positions.offers),
            "staleRequestSupport": {"cancel": True, "retryOnContentModified": []},
        },
        "window": {"workDoneProgress": True, "showMessage": {}},
        "workspace": {
            "configuration": True,
            "workspaceFolders": True,
            "applyEdit": True,
            "didChangeConfiguration": {"dynamicRegistration": True},
            "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
            "symbol": {"symbolKind": {"valueSet": _SYMBOL_KINDS}},
            "fileOperations": {"willRename": True},
            "workspaceEdit": {
                "documentChanges": True,
                "resourceOperations": ["create", "rename", "delete"],
                "failureHandling": "transactional",
                "normalizesLineEndings": False,
                "changeAnnotationSupport": {"groupsOnLabel": False},
            },
        },
        "textDocument": {
            "synchronization": {"didSave": True},
            "documentSymbol": {
                "hierarchicalDocumentSymbolSupport": True,
                "symbolKind": {"valueSet": _SYMBOL_KINDS},
            },
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "definition": link,
            "declaration": link,
            "typeDefinition": link,
            "implementation": link,
            "references": {},
            "rename": {"prepareSupport": True, "prepareSupportDefaultBehavior": 1},
            "codeAction": {
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": _ACTION_KINDS}},
                "isPreferredSupport": True,
                "disabledSupport": True,
                "dataSupport": True,
                "resolveSupport": {"properties": ["edit", "command"]},
            },
            "formatting": {},
            "rangeFormatting": {},
            "callHierarchy": {},
            "typeHierarchy": {},
            **(
                {"diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": False}}
                if plugin.pulls_diagnostics
                else {}
            ),
            "publishDiagnostics": {
                "versionSupport": True,
                "relatedInformation": True,
                "dataSupport": True,
            },
        },
    }
