"""The plug-in of each language server: `plugin_of`."""

from __future__ import annotations

from collections.abc import Callable

from lsp_mcp.adapters import Adapter
from lsp_mcp.lsp.coverage import SessionPlugin


def plugin_of(adapter: Adapter) -> SessionPlugin:
    """The plug-in that this program has for the server of that name, else the defaults of `Plugin`.

    An adapter file cannot name code. A user's file with a shipped adapter's name gets that server's plug-in, so that it
    can change the command or the limits of the server without losing the rest.
    """
    make = _PLUGINS.get(adapter.name, _plain)
    return make()(adapter)


def _plain() -> type[SessionPlugin]:
    return SessionPlugin


def _gopls() -> type[SessionPlugin]:
    from lsp_mcp.servers.gopls.plugin import GoplsPlugin

    return GoplsPlugin


def _clangd() -> type[SessionPlugin]:
    from lsp_mcp.servers.clangd.plugin import ClangdPlugin

    return ClangdPlugin


def _basedpyright() -> type[SessionPlugin]:
    from lsp_mcp.servers.basedpyright.plugin import BasedpyrightPlugin

    return BasedpyrightPlugin


def _intelephense() -> type[SessionPlugin]:
    from lsp_mcp.servers.intelephense.plugin import IntelephensePlugin

    return IntelephensePlugin


def _typescript() -> type[SessionPlugin]:
    from lsp_mcp.servers.typescript.plugin import TypeScriptPlugin

    return TypeScriptPlugin


def _rust_analyzer() -> type[SessionPlugin]:
    from lsp_mcp.servers.rust_analyzer.plugin import RustAnalyzerPlugin

    return RustAnalyzerPlugin


def _syntax() -> type[SessionPlugin]:
    from lsp_mcp.servers.syntax.plugin import SyntaxPlugin

    return SyntaxPlugin


# Imported when a server is used: a workspace of one language needs no more.
_PLUGINS: dict[str, Callable[[], type[SessionPlugin]]] = {
    "gopls": _gopls,
    "clangd": _clangd,
    "basedpyright": _basedpyright,
    "intelephense": _intelephense,
    "typescript": _typescript,
    "rust-analyzer": _rust_analyzer,
    "syntax": _syntax,
}
