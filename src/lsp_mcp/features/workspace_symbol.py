"""workspace/symbol: definitions by name in the whole workspace (LSP 3.17)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Backend, Json
from lsp_mcp.features.document_symbol import name_span
from lsp_mcp.features.hover import hovers
from lsp_mcp.features.places import Locator, Place, location_key
from lsp_mcp.features.signatures import split_signature
from lsp_mcp.features.symbols import Symbol, kind_name
from lsp_mcp.uris import uri_path

_Parts = tuple[str, ...]
_TYPE_ARGUMENTS = re.compile(r"\[[^\[\]]+\]|[*()]")
_TEMPLATE_ARGUMENTS = re.compile(r"(?<=\w)(?<!operator)<[^<>]*>")


@dataclass(frozen=True)
class Found:
    """What a name search gave: the best `symbols`, how many there were, how many were dropped as gone."""

    symbols: list[Symbol]
    total: int
    dropped: int
    capped: bool  # the server gave the most that it ever gives: there may be more
    unsearched: frozenset[Path] = frozenset()  # see `Backend.load`


async def workspace_symbols(backend: Backend, query: str, limit: int, *, hover: bool = False) -> Found:
    """Definitions whose name matches `query` in the server's fuzzy way, the closest first.

    `query` may be qualified: `Method`, `Type.Method`, `ns::Type::Method`, `path/to/pkg.Function`.

    Raises:
        RefusedError, UnavailableError: as `Backend.request`.
    """
    folder, _, name = split_signature(query)[0].rpartition("/")
    name = _plain(name)
    unsearched = await backend.load(None, _parts(name)[-1])
    separator = backend.adapter.symbols.scope_separator
    asked = separator.join(_parts(name)) if separator else name
    result: list[Json] = await backend.request("workspace/symbol", {"query": asked}) or []
    capped = len(result) == backend.adapter.symbols.workspace_symbol_cap
    if folder:
        container = f"{folder}/{name.split('.')[0]}"
        result = [item for item in result if _ends_path(str(item.get("containerName") or ""), container)]
    if separator:
        result = [_with_whole_name(item, separator) for item in result]
    root = backend.root
    # By place: a file can be in several of a server's packages.
    by_place = {
        location_key(item["location"], root): item
        for item in result
        if "range" in item["location"]
        and is_about(str(item["name"]), name)
        and not _is_noise(uri_path(item["location"]["uri"]), backend.adapter, root)
    }
    found = sorted(by_place.items(), key=lambda one: (closeness(str(one[1]["name"]), name), one[0]))
    symbols: list[Symbol] = []
    dropped = 0
    locator = Locator(backend)
    for _, item in found:
        if len(symbols) == limit:
            break
        if place := await locator.place(item["location"], str(item["name"])):
            symbols.append(_symbol(item, place, backend.adapter))
        else:
            dropped += 1
    if hover:
        texts = await hovers(backend, [symbol.place for symbol in symbols])
        symbols = [replace(symbol, hover=text) for symbol, text in zip(symbols, texts, strict=True)]
    return Found(symbols, len(found) - dropped, dropped, capped, unsearched)


def closeness(name: str, query: str) -> tuple[int, int]:
    """Sorts names by how close they are to `query`: 0 and 1 are the very name or a suffix of its parts."""
    rules = _rules(_parts(name), _parts(query))
    return next(rank for rank, rule in enumerate(rules) if rule), len(name)


def is_about(name: str, query: str) -> bool:
    """Whether `query` is in `name` letter by letter, its package left aside unless `query` is qualified.

    A server that matches qualified names finds everything in package `store` for `Store`.
    """
    parts = _parts(name)
    own = ".".join(parts[1:] if len(parts) > 1 and len(_parts(query)) == 1 else parts).casefold()
    letters = iter(own)
    # Only its letters: a server may give meaning to other characters, such as gopls's ^prefix.
    return all(letter in letters for letter in query.casefold() if letter.isalnum())


def is_named(name: str, query: str) -> bool:
    """Whether `query` is `name`, or the last of its dotted parts: `T.M` names `pkg.T.M`."""
    return _ends(_parts(name), _parts(query))


def _rules(parts: _Parts, wanted: _Parts) -> Iterator[bool]:
    """From the closest to the farthest; most names need only the first few."""
    last, word = parts[-1], wanted[-1]
    yield parts == wanted
    yield _ends(parts, wanted)
    yield _ends(_folded(parts), _folded(wanted))
    yield last == word
    yield last.casefold() == word.casefold()
    yield last.startswith(word)
    yield last.casefold().startswith(word.casefold())
    yield word in last
    yield word.casefold() in last.casefold()
    yield True


def _ends(parts: _Parts, wanted: _Parts) -> bool:
    return parts[-len(wanted) :] == wanted


def _folded(parts: _Parts) -> _Parts:
    return tuple(part.casefold() for part in parts)


@lru_cache(1024)  # a search looks several times at each name that the server finds
def _parts(name: str) -> _Parts:
    return tuple(_plain(name).replace("::", ".").split("."))


def _plain(name: str) -> str:
    """`name` without pointers, parentheses and type arguments: `(*Box[T]).Get` and `Box<T>::Get` are `Box.Get`."""
    name = _TYPE_ARGUMENTS.sub("", name)
    while (shorter := _TEMPLATE_ARGUMENTS.sub("", name)) != name:
        name = shorter
    return name


def _is_noise(file: Path, adapter: Adapter, root: Path) -> bool:
    """Whether nobody asks for it: hundreds of a system's libraries fit any name, and so does what cgo generates."""
    is_generated = adapter.language_of(file) is None
    return (adapter.symbols.knows_libraries or is_generated) and not file.is_relative_to(root)


def _with_whole_name(item: Json, separator: str) -> Json:
    """`item` with the names of what it lies in before its own."""
    container = str(item.get("containerName") or "")
    return {**item, "name": f"{container}{separator}{item['name']}", "containerName": ""} if container else item


def _ends_path(path: str, end: str) -> bool:
    return path == end or path.endswith(f"/{end}")


def _symbol(item: Json, place: Place, adapter: Adapter) -> Symbol:
    name = str(item["name"])
    span = name_span(place.text, place.span, name)
    return Symbol(
        name,
        kind_name(item["kind"], adapter),
        place._replace(span=span, container=str(item.get("containerName") or "")),
    )
