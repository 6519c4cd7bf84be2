"""textDocument/definition and documentSymbol: the scope in which a symbol can be used (LSP 3.17)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.backend import Backend, Use
from lsp_mcp.errors import LspMcpError, RefusedError
from lsp_mcp.protocol.lsp import Location
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.places import position_params
from lsp_mcp.requests.symbols import flat
from lsp_mcp.text import Point
from lsp_mcp.uris import uri_path

_MOST_KEPT = 1_000  # places
_Question = tuple[str, Path, Point]
_PLACES: RememberedOf[Backend, _Question, int, tuple[tuple[Path, Point], ...]] = RememberedOf(_MOST_KEPT)


async def outside_use(backend: Backend, path: Path, point: Point, identifier: str) -> Use | None:
    """The form of a use of the symbol at `point` in another file; None if there can be none.

    Local variables and parameters are in no outline. A symbol at the top of an outline is used elsewhere by importing
    its folder; a member may be used by any code that has a value. If in doubt, any use counts.
    """
    anywhere = Use(identifier)
    try:
        definitions = await definition_places(backend, path, point)
        if len(definitions) != 1:
            return anywhere
        file, defined = definitions[0]
        outline = await document_symbols(backend, file)
    except LspMcpError:
        return anywhere
    if any(symbol.place.span.start == defined for symbol in outline):
        return Use(identifier, file.parent)
    if any(symbol.place.span.start == defined for symbol in flat(outline)):
        return anywhere
    return None if file == path else anywhere


async def definition_places(backend: Backend, path: Path, point: Point) -> list[tuple[Path, Point]]:
    """The definitions of the symbol at `point`. Raises the errors of `Backend.request`."""
    return await _places(backend, "textDocument/definition", path, point)


def refuse_foreign(backend: Backend, places: Sequence[tuple[Path, Point]]) -> None:
    """Refuse to change what is defined at `places`, if that is in a file that the server does not answer for.

    Raises:
        RefusedError: it is; with the place.
    """
    for file, point in places:
        if file.is_relative_to(backend.root) and backend.plugin.language_of(file) is None:
            at = f"{file.relative_to(backend.root)}:{point.line}"
            raise RefusedError(f"its body is in another language, which is not changed, at {at}")


async def declaration_places(backend: Backend, path: Path, point: Point) -> list[tuple[Path, Point]]:
    """The declarations of the symbol at `point`, if they differ from its definition. Raises: see `Backend.request`."""
    return await _places(backend, "textDocument/declaration", path, point)


async def type_definition_places(backend: Backend, path: Path, point: Point) -> list[tuple[Path, Point]]:
    """The definitions of the type of the symbol at `point`. Raises the errors of `Backend.request`."""
    return await _places(backend, "textDocument/typeDefinition", path, point)


async def implementation_places(backend: Backend, path: Path, point: Point) -> list[tuple[Path, Point]]:
    """What implements the symbol at `point`, as far as the server says. Raises the errors of `Backend.request`."""
    return await _places(backend, "textDocument/implementation", path, point)


async def _places(backend: Backend, method: str, path: Path, point: Point) -> list[tuple[Path, Point]]:
    text = await backend.documents.open(path)
    kept, key, generation = _PLACES.for_owner(backend), (method, path, point), backend.generation
    if (known := kept.get(key, generation)) is not None:
        return list(known)
    params = position_params(path, text, point, backend.encoding)
    places = []
    for location in locations(await backend.request(method, params)):
        file = uri_path(location["uri"])
        start = (await backend.documents.text(file)).position_point(location["range"]["start"], backend.encoding)
        places.append((file, start))
    if generation == backend.generation and backend.state() == "running":  # a growing index has further results
        kept.put(key, generation, tuple(places), 1 + len(places))
    return places


def locations(result: Any) -> list[Location]:
    """A `Location`, `Location[]` or `LocationLink[]` as the locations of the names."""
    found = result if isinstance(result, list) else [result] if result else []
    return [
        {"uri": one["targetUri"], "range": one["targetSelectionRange"]} if "targetUri" in one else one for one in found
    ]
