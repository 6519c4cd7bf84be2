"""Code that the build leaves out, where a server's definitions are guesses: `is_inactive`, `build_of`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.errors import PathError, PointError, RefusedError
from lsp_mcp.protocol.lsp import Range
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.refusals import note
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.text import Point, Span
from lsp_mcp.uris import path_uri

_MOST_KEPT = 5_000  # files
_MOST_ASKED = 3  # declarations of a file, of which some may be left out
_KNOWN: RememberedOf[Backend, Path, int, tuple[Span, ...]] = RememberedOf(_MOST_KEPT)


async def is_inactive(backend: Backend, place: Place) -> bool:
    """Whether the server says, in its diagnostics, that the build leaves out the code around `place`.

    Always False for a server whose traits name no such diagnostic. Asks once for each file that has conditions.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    rules = backend.plugin.word_check
    if not rules.inactive_code:
        return False
    kept, generation = _KNOWN.for_owner(backend), backend.generation
    if (spans := kept.get(place.path, generation)) is None:
        ranges: list[Range] = []
        if re.search(rules.condition_pattern, place.text.content):
            try:
                asked = {"textDocument": {"uri": path_uri(place.path)}}
                report = await backend.request("textDocument/diagnostic", asked) or {}
            except RefusedError as error:
                note(place.path, error)
                return True  # nobody says that it is compiled
            ranges = [one["range"] for one in report.get("items", ()) if one.get("code") == rules.inactive_code]
        spans = tuple(place.text.range_span(one, backend.encoding) for one in ranges)
        if generation == backend.generation:
            kept.put(place.path, generation, spans, 1 + len(spans))
    return any(span.start <= place.span.start and place.span.end <= span.end for span in spans)


async def build_of(backend: Backend, path: Path, point: Point) -> Mapping[str, str]:
    """The variables of a build that has the code at `point` of `path`, if the server's own build leaves it out.

    Empty if it does not, or none is known.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    if not backend.plugin.word_check.inactive_code:
        return {}
    try:
        at = path, await backend.documents.text(path), point
        variables = (await asyncio.to_thread(backend.plugin.builds_at, [at]))[0]
        if not variables:
            return {}
        await backend.sync()
        text = await backend.documents.open(path)
        span = text.identifier_at(point)
        if span is None:
            return {}
        is_left_out = await is_inactive(backend, Place(path, span, text))
        return variables if is_left_out or await _is_in_no_module(backend, path, point) else {}
    except (PathError, PointError, RefusedError):
        return {}


async def _is_in_no_module(backend: Backend, path: Path, point: Point) -> bool:
    """Whether the server knows nothing of `path`, neither what is at `point` nor its own declarations.

    Raises:
        PathError, PointError, RefusedError, UnavailableError: see `Backend.request`.
    """
    declared = [one.place.span.start for one in await document_symbols(backend, path)]
    return not any([await definition_places(backend, path, one) for one in (point, *declared[:_MOST_ASKED])])
