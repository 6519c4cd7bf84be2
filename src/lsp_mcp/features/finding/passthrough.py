"""Any LSP request from a caller: positions in the caller's numbers, documents opened first."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from lsp_mcp.backend import Backend, Json
from lsp_mcp.errors import PathError
from lsp_mcp.features.types.outdated_relations import mistrust_outdated
from lsp_mcp.features.types.subtypes import Subtypes
from lsp_mcp.gaps import Gap
from lsp_mcp.objects.walker import Walker, documents
from lsp_mcp.protocol.lsp import Range
from lsp_mcp.requests.places import plain_name, text_or_none
from lsp_mcp.requests.scope import locations
from lsp_mcp.text import Base, Point, Text, numbers_point
from lsp_mcp.uris import uri_path

_IMPLEMENTATION = "textDocument/implementation"
_LEADS_TO_NAME = {"textDocument/definition", "textDocument/declaration"}


class Sent(Struct, frozen=True):
    """The result in the caller's numbers; `files` are the documents in it."""

    result: Any
    files: tuple[Path, ...] = ()
    dropped: int = 0  # results in files that are gone
    gaps: tuple[Gap, ...] = ()  # other gaps
    unread: tuple[str, ...] = ()  # documents whose positions could not be converted to characters
    leads_nowhere: bool = False  # the result is empty, or the place that was asked about


async def send(
    backend: Backend, method: str, params: Json | None, *, base: Base, word: str = "", timeout: float | None = None
) -> Sent:
    """The answer to `method`; `params` are valid, with the caller's numbers.

    `word` is the subject of the request, if known; `timeout` in seconds. List results in files that are gone are left
    out.

    Raises:
        PointError, CallerError: a position is not in its document, or is malformed.
        PathError: a document of the params cannot be read, or is in no language of this server.
        RefusedError, UnavailableError: see `Backend.request`.
    """
    home = home_document(params)
    if home and not backend.plugin.language_of(uri_path(home)):
        known = ", ".join(backend.plugin.adapter.by_kind)
        raise PathError(f"{uri_path(home).name} is not a file that {backend.plugin.name} answers for ({known})")
    named = documents(params, home) | ({home} if home else set())
    if home:
        await backend.documents.open(uri_path(home))
    texts = await read_texts(backend, named)
    converted = Walker(texts, backend.encoding, base).inward(params, home)
    subtypes = Subtypes(backend)
    await subtypes.before(method, converted or {})
    result = await backend.request(method, converted, timeout=timeout)
    result = subtypes.without_refuted(result, (converted or {}).get("item"))
    there = documents(result, home)
    texts |= await read_texts(backend, there - texts.keys())
    for wrong, name in _wrong(result, word if method in _LEADS_TO_NAME else "", texts, backend):
        backend.coverage.mistrust(wrong, name)
    if method == _IMPLEMENTATION and home and converted:
        asked_path = uri_path(home)
        point = (await backend.documents.text(asked_path)).position_point(converted["position"], backend.encoding)
        await mistrust_outdated(backend, asked_path, point, locations(result))
    gone = {uri for uri in there if texts[uri] is None and not _exists(uri)}
    kept = _without(result, gone)
    return Sent(
        Walker(texts, backend.encoding, base).outward(kept, home),
        tuple(path for uri in there - gone if (path := _path(uri))),
        len(result) - len(kept) if isinstance(result, list) else 0,
        tuple(subtypes.gaps()),
        tuple(sorted(uri for uri in there - gone if texts[uri] is None)),
        all(_is_at(one, home, converted) for one in result) if isinstance(result, list) else not result,
    )


def home_document(params: Any) -> str | None:
    """The URI of the document in a request's params."""
    for holder in (params.get("textDocument"), params.get("item"), params) if isinstance(params, dict) else ():
        if isinstance(holder, dict) and isinstance(uri := holder.get("uri"), str):
            return uri
    return None


def asked_point(params: Json | None, base: Base) -> Point | None:
    """The place in a request's params, if there is one."""
    position = (params or {}).get("position")
    return numbers_point(position, base) if position else None


def _wrong(result: Any, word: str, texts: dict[str, Text | None], backend: Backend) -> list[tuple[Path, str]]:
    """The files whose results (symbols, items, definitions of `word`) are not at their stated places."""
    wrong = []
    for item in result if isinstance(result, list) else ():
        name = plain_name(str(item.get("name", word))) if isinstance(item, dict) else ""
        location = item.get("location", item) if name else None
        if not isinstance(location, dict):
            continue
        range_ = location.get("selectionRange") or location.get("range")
        uri = location.get("uri")
        if not isinstance(range_, dict) or not isinstance(uri, str) or not (text := texts.get(uri)):
            continue
        whole = Range(start=range_["start"], end=range_["end"])
        found = text.slice(text.range_span(whole, backend.encoding))
        if found and name not in found:
            wrong.append((uri_path(uri), name))
    return wrong


def _is_at(location: Any, home: str | None, params: Json | None) -> bool:
    """Whether `location` begins on the line of the document `home` that `params` names."""
    position = (params or {}).get("position")
    if not position or not isinstance(location, dict) or location.get("uri") != home:
        return False
    return bool(location["range"]["start"]["line"] == position["line"])


def _without(result: Any, gone: set[str]) -> Any:
    """`result` without the elements that are in a document of `gone`."""
    if not gone or not isinstance(result, list):
        return result
    return [one for one in result if not documents(one, None) & gone]


async def read_texts(backend: Backend, uris: Iterable[str]) -> dict[str, Text | None]:
    """The text of each document as the server has it; None for a document that is gone or not text."""
    uris = list(uris)
    return dict(zip(uris, await asyncio.gather(*(_text(backend, uri) for uri in uris)), strict=True))


async def _text(backend: Backend, uri: str) -> Text | None:
    path = _path(uri)
    return await text_or_none(backend, path) if path else None


def _path(uri: str) -> Path | None:
    try:
        return uri_path(uri)
    except PathError:
        return None


def _exists(uri: str) -> bool:
    path = _path(uri)
    return path is None or path.exists()
