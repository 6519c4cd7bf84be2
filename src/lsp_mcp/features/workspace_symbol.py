"""workspace/symbol: definitions by name in the whole workspace (LSP 3.17)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lsp_mcp.backend import Backend, Json
from lsp_mcp.features.document_symbol import name_span
from lsp_mcp.features.hover import hovers
from lsp_mcp.features.places import Place, location_key, place_of
from lsp_mcp.features.symbols import Symbol, kind_name


@dataclass(frozen=True)
class Found:
    """What a name search gave: the best `symbols`, how many there were, how many were dropped as gone."""

    symbols: list[Symbol]
    total: int
    dropped: int
    capped: bool  # the server gave the most that it ever gives: there may be more


async def workspace_symbols(backend: Backend, query: str, limit: int, *, hover: bool = False) -> Found:
    """Definitions whose name matches `query` in the server's fuzzy way, the closest first.

    `query` may be qualified: `Method`, `Type.Method`, `pkg.Type.Method`, `path/to/pkg.Function`.

    Raises:
        RefusedError, UnavailableError: as `Backend.request`.
    """
    await backend.load_projects()
    folder, _, name = query.rpartition("/")
    name = name.replace("*", "").replace("(", "").replace(")", "")
    result: list[Json] = await backend.request("workspace/symbol", {"query": name}) or []
    capped = len(result) == backend.adapter.symbols.workspace_symbol_cap
    if folder:
        container = f"{folder}/{name.split('.')[0]}"
        result = [item for item in result if _ends_path(str(item.get("containerName") or ""), container)]
    root = backend.root
    result = [item for item in result if "range" in item["location"]]
    result.sort(key=lambda item: (closeness(str(item["name"]), name), location_key(item["location"], root)))
    symbols: list[Symbol] = []
    dropped = 0
    for item in result:
        if len(symbols) == limit:
            break
        if place := await place_of(backend, item["location"]):
            symbols.append(_symbol(item, place))
        else:
            dropped += 1
    if hover:
        texts = await hovers(backend, [symbol.place for symbol in symbols])
        symbols = [replace(symbol, hover=text) for symbol, text in zip(symbols, texts, strict=True)]
    return Found(symbols, len(result) - dropped, dropped, capped)


def closeness(name: str, query: str) -> tuple[int, int]:
    """Sorts names by how close they are to `query`: 0 and 1 are the very name or a suffix of its parts."""
    parts, wanted = _parts(name), _parts(query)
    last, word = parts[-1], wanted[-1]
    rules = (
        parts == wanted,
        is_named(name, query),
        is_named(name.casefold(), query.casefold()),
        last == word,
        last.casefold() == word.casefold(),
        last.startswith(word),
        last.casefold().startswith(word.casefold()),
        word in last,
        word.casefold() in last.casefold(),
    )
    return next((rank for rank, rule in enumerate(rules) if rule), len(rules)), len(name)


def is_named(name: str, query: str) -> bool:
    """Whether `query` is `name`, or the last of its dotted parts: `T.M` names `pkg.T.M`."""
    parts, wanted = _parts(name), _parts(query)
    return parts[-len(wanted) :] == wanted


def _parts(name: str) -> list[str]:
    return name.replace("::", ".").replace("*", "").replace("(", "").replace(")", "").split(".")


def _ends_path(path: str, end: str) -> bool:
    return path == end or path.endswith(f"/{end}")


def _symbol(item: Json, place: Place) -> Symbol:
    name = str(item["name"])
    span = name_span(place.text, place.span, name)
    return Symbol(
        name,
        kind_name(item["kind"]),
        replace(place, span=span, container=str(item.get("containerName") or "")),
    )
