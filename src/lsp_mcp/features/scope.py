"""textDocument/definition and documentSymbol: whether a symbol can be used outside its own file (LSP 3.17)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsp_mcp.backend import Backend, Json
from lsp_mcp.errors import LspMcpError
from lsp_mcp.features.document_symbol import document_symbols
from lsp_mcp.features.symbols import flat
from lsp_mcp.text import Point
from lsp_mcp.uris import path_uri, uri_path


async def is_local(backend: Backend, path: Path, point: Point) -> bool:
    """Whether the symbol at `point` is defined in its file but in nobody's outline: a variable, a parameter, a label.

    False whenever that is not known for certain.
    """
    try:
        text = await backend.open(path)
        position = text.point_position(point, backend.encoding)
        params = {"textDocument": {"uri": path_uri(path)}, "position": position}
        definitions = _locations(await backend.request("textDocument/definition", params))
        if len(definitions) != 1 or uri_path(definitions[0]["uri"]) != path:
            return False
        defined = text.range_span(definitions[0]["range"], backend.encoding).start
        return all(symbol.place.span.start != defined for symbol in flat(await document_symbols(backend, path)))
    except LspMcpError:
        return False


def _locations(result: Any) -> list[Json]:
    """`Location`, `Location[]` or `LocationLink[]` as locations of the names."""
    found = result if isinstance(result, list) else [result] if result else []
    return [
        {"uri": one["targetUri"], "range": one["targetSelectionRange"]} if "targetUri" in one else one for one in found
    ]
