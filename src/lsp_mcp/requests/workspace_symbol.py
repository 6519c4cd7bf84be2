"""workspace/symbol: definitions by name in the whole workspace (LSP 3.17)."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.errors import METHOD_NOT_FOUND, RefusedError
from lsp_mcp.gaps import Gap
from lsp_mcp.protocol.lsp import Location, WorkspaceSymbol
from lsp_mcp.requests.document_symbol import document_symbols, name_span
from lsp_mcp.requests.hover import hovers
from lsp_mcp.requests.outlined_symbols import imports_of, outlined_symbols
from lsp_mcp.requests.places import Locator, Place, last_word, location_key, plain_name
from lsp_mcp.requests.symbols import Symbol, flat, kind_name
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.syntax.grammars import ModuleNames
from lsp_mcp.uris import uri_path
from lsp_mcp.words.nested import replaced_inside_out

log = logging.getLogger(__name__)

_Parts = tuple[str, ...]
Keep = Callable[[str, Path], bool]
"""Called with the kind of a symbol and its file: whether it is wanted."""

_TYPE_ARGUMENTS = re.compile(r"(?<!operator)\[[^\[\]]*\]")
_POINTERS = re.compile(r"(?<=\.)\*(?:\w+\.)?|[*()]")  # an embedded `*pkg.T` is called `T`
_PRIVATE = re.compile(r"(?:^|(?<=\.))#")  # the mark before a private member's name
_TEMPLATE_ARGUMENTS = re.compile(r"(?<=\w)(?<!operator)<[^<>]*>")


class Found(Struct, frozen=True):
    """The result of a name search: the best `symbols`, the total, and the number dropped with files that are gone."""

    symbols: list[Symbol]
    total: int
    dropped: int
    capped: bool  # the server's limit was reached: there may be more
    alike_capped: bool = False  # there may be more, but none whose name ends with the query
    unsearched: frozenset[Path] = frozenset()  # see `backend.Coverage.load`
    gaps: tuple[Gap, ...] = ()


async def workspace_symbols(
    backend: Backend, query: str, limit: int, *, hover: bool = False, keep: Keep = lambda kind, file: True
) -> Found:
    """Definitions whose name matches `query` in the server's fuzzy way, the closest first.

    `query` may be qualified: `Method`, `Type.Method`, `ns::Type::Method`, `path/to/pkg.Function`. Symbols outside the
    workspace are left out, as are those that `keep` rejects.

    Raises:
        RefusedError, UnavailableError: see `Backend.request`.
    """
    folder, parts = _folder_and_parts(query)
    name = parts[-1] if folder else ".".join(parts)
    unsearched = await backend.coverage.load(None, parts[-1])
    separator = backend.plugin.symbols.scope_separator
    spelled = separator.join(parts_of(name)) if separator else name
    answered = await _answered(backend, spelled)
    result, capped, alike_capped = answered.result, answered.capped, answered.alike_capped
    if folder:
        result = [item for item in result if _is_in_package(item, folder, parts)]
        name = ".".join(parts[1:]) or name
    if separator:
        result = [_with_whole_name(item, separator) for item in result]
        if separator in spelled and not any(is_named(str(item["name"]), name) for item in result):
            # clangd 22 knows the members of `A<int>` only by that name.
            more = await backend.request("workspace/symbol", {"query": parts_of(name)[-1]}) or []
            named = [_with_whole_name(item, separator) for item in more]
            result += [item for item in named if is_named(str(item["name"]), name)]
    root = backend.root
    # By place: a file can be in several of a server's packages.
    by_place = {
        location_key(location, root): (item, location)
        for item in result
        if (location := _location(item))
        and is_about(str(item["name"]), name)
        and not _is_outside(file := uri_path(location["uri"]), backend.plugin, root)
        and keep(kind_name(item["kind"], backend.plugin), file)
    }
    found = sorted(by_place.items(), key=lambda one: (_order(one[1][0], name, backend.plugin), one[0]))
    symbols: list[Symbol] = []
    dropped = 0
    locator = Locator(backend)
    for _, (item, location) in found:
        if len(symbols) == limit:
            break
        place = await _where_it_is(backend, await locator.place(location, str(item["name"])), str(item["name"]))
        symbols += [_symbol(item, place, backend.plugin)] if place else []
        dropped += place is None
    only_imported = await imports_of([one for one in symbols if is_named(one.name, name)], backend)
    symbols = [one for one in symbols if one not in only_imported]
    total = len(found) - dropped - len(only_imported)
    if not (answered.searches and backend.plugin.finds_all_names) and (
        backend.plugin.symbols.omits_fields or not any(is_called(one, query) for one in symbols)
    ):
        word, called = last_word(parts[-1]), partial(_called, parts, separator)
        likely = await _likely(backend, word, parts)
        outlined, more = await outlined_symbols(backend, word, called, likely)
        if more and not outlined and (known := await _likely(backend, word, parts)) != likely:
            outlined, more = await outlined_symbols(backend, word, called, known)  # the server has loaded their project
        kept = [one for one in _not_among(symbols, outlined) if keep(one.kind, one.place.path)]
        symbols, total, capped = [*kept, *symbols][:limit], total + len(kept), capped or more
    if hover:
        texts = await hovers(backend, [symbol.place for symbol in symbols])
        symbols = [replace(symbol, hover=text) for symbol, text in zip(symbols, texts, strict=True)]
    return Found(symbols, total, dropped, capped, alike_capped, unsearched)


class _Answered(Struct, frozen=True):
    """What the server answers; `searches`: it does, though maybe with nothing. See `Found` for the others."""

    result: list[WorkspaceSymbol]
    searches: bool = True
    capped: bool = False
    alike_capped: bool = False


async def _answered(backend: Backend, spelled: str) -> _Answered:
    """The server's own symbols for a name, also those that only a narrower query has."""
    try:
        result: list[WorkspaceSymbol] = await backend.request("workspace/symbol", {"query": spelled}) or []
    except RefusedError as error:
        # typescript-language-server refuses until a document has made it load a project.
        if error.code != METHOD_NOT_FOUND and backend.plugin.finds_all_names:
            raise
        log.debug("workspace/symbol: %s", error)
        return _Answered([], searches=False, alike_capped=True)
    most, narrow = backend.plugin.symbols.workspace_symbol_cap, backend.plugin.symbols.narrow_query
    if len(result) != most or not narrow:
        return _Answered(result, capped=len(result) == most)
    ending = await backend.request("workspace/symbol", {"query": narrow.replace("{name}", spelled)}) or []
    return _Answered([*result, *ending], capped=len(ending) == most, alike_capped=True)


async def _likely(backend: Backend, word: str, parts: Sequence[str]) -> list[set[Path]]:
    """The files that may declare `word` inside what `parts` name, the likeliest first; empty for a plain name."""
    if len(parts) == 1:
        return []
    declaring, owner = await _declaring(backend, word), last_word(parts[-2])
    having = (await backend.words.files_with(word, seconds=budget.left())).files
    mentioning = set((await backend.words.files_with(owner, seconds=budget.left())).files)
    near = {path for path in having if path in mentioning or owner in (path.stem, path.parent.name)}
    return [declaring & near, near, declaring]


async def _declaring(backend: Backend, word: str) -> set[Path]:
    """The files that declare `word`, as far as the server finds it without what it is qualified by."""
    try:
        found: list[WorkspaceSymbol] = await backend.request("workspace/symbol", {"query": word}) or []
    except RefusedError as error:
        log.debug("workspace/symbol: %s", error)
        return set()
    return {uri_path(one["location"]["uri"]) for one in found if last_word(str(one["name"])) == word}


def _not_among(known: Sequence[Symbol], found: Sequence[Symbol]) -> list[Symbol]:
    there = {(one.place.path, one.place.span.start) for one in known}
    return [one for one in found if (one.place.path, one.place.span.start) not in there]


async def _where_it_is(backend: Backend, place: Place | None, name: str) -> Place | None:
    """`place`, or that in the outline of its file if the name is not there: some servers search old texts."""
    plain = plain_name(name)
    if not place or not plain or plain in place.text.slice(place.span):
        return place
    try:
        outline = flat(await document_symbols(backend, place.path))
    except RefusedError as error:
        log.debug("textDocument/documentSymbol: %s", error)
        return place
    named = [one.place for one in outline if last_word(one.name) == plain]
    return named[0] if len(named) == 1 else place


def closeness(name: str, query: str, kind: str) -> tuple[int, bool, int, int]:
    """Sorts names by similarity to `query`: first the exact name, or a suffix of its parts.

    Among those a namespace comes last: clangd 22 calls a using-declaration one, and the class is wanted.
    """
    rules = _rules(parts_of(name), parts_of(query))
    rank = next(rank for rank, rule in enumerate(rules) if rule)
    return max(rank, 1), rank <= 1 and kind == "namespace", rank, len(name)


def _order(item: WorkspaceSymbol, query: str, plugin: Plugin) -> tuple[int, bool, int, int]:
    return closeness(str(item["name"]), query, kind_name(item["kind"], plugin))


def is_about(name: str, query: str) -> bool:
    """Whether `query` is in `name` letter by letter, without its package unless `query` is qualified.

    A server that matches qualified names finds everything in package `store` for `Store`.
    """
    parts = parts_of(name)
    own = ".".join(parts[1:] if len(parts) > 1 and len(parts_of(query)) == 1 else parts).casefold()
    letters = iter(own)
    # Only its letters: a server may interpret other characters, such as gopls's ^prefix.
    return all(letter in letters for letter in query.casefold() if letter.isalnum())


def is_named(name: str, query: str) -> bool:
    """Whether `query` is `name`, or the last of its dotted parts: `T.M` names `pkg.T.M`."""
    return _ends(parts_of(name), parts_of(query))


def _called(wanted: _Parts, separator: str, name: str, scopes: Sequence[str], modules: ModuleNames) -> str:
    """What of the `wanted` name calls a declaration with this `name` inside `scopes`: all of it, or nothing.

    `crate::a::f` and `package.a.f` call `f` of module `a`, and `T::m` what is in `impl T`. With a `separator`, names
    have all of their scopes, and a file is not a module.
    """
    if _ends(parts_of(name), wanted):
        return name
    if separator:
        return ""
    own, around = (tuple(last_word(part) for one in names for part in parts_of(one)) for names in ([name], scopes))
    whole = (*around, *own)
    first, *rest = wanted
    is_meant = _ends(whole, wanted) or (
        len(own) <= len(rest) and (whole == tuple(rest) or (first in modules.relative and _ends(whole, tuple(rest))))
    )
    return ".".join(wanted) if is_meant and parts_of(name)[-1] == own[-1] else ""


def _rules(parts: _Parts, wanted: _Parts) -> Iterator[bool]:
    """From the closest to the most distant; most names need only the first few."""
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
def parts_of(name: str) -> _Parts:
    """`(*Box[T]).Get` and `Box<T>::Get` as `Box`, `Get`; so is `Box.#Get`."""
    return tuple(_PRIVATE.sub("", _plain(name).replace("::", ".")).split("."))


def _plain(name: str) -> str:
    """`name` without pointers, parentheses and type arguments: `(*Box[T]).Get` and `Box<T>::Get` are `Box.Get`."""
    plain = _POINTERS.sub("", replaced_inside_out(_TYPE_ARGUMENTS, "", name))
    return replaced_inside_out(_TEMPLATE_ARGUMENTS, "", plain)


def _is_outside(file: Path, plugin: Plugin, root: Path) -> bool:
    """Whether it is outside the workspace: in a library, or generated by cgo.

    If the workspace is part of a project, the rest of the project counts as inside.
    """
    if file.is_relative_to(root):
        return False
    if plugin.symbols.knows_libraries or plugin.adapter.language_of(file) is None:
        return True
    return not file.is_relative_to(project_top(root, plugin.adapter.workspace.root_markers))


@lru_cache(256)
def project_top(root: Path, markers: tuple[str, ...]) -> Path:
    """The topmost folder above `root` that a file of `markers` makes a project, or `root`."""
    return next((one for one in list(root.parents)[::-1] if any((one / name).is_file() for name in markers)), root)


def _with_whole_name(item: WorkspaceSymbol, separator: str) -> WorkspaceSymbol:
    """`item` with its name prefixed by its containers."""
    container = str(item.get("containerName") or "")
    return {**item, "name": f"{container}{separator}{item['name']}", "containerName": ""} if container else item


def is_called(symbol: Symbol, query: str) -> bool:
    """Whether `query` names `symbol`: by the end of its name, or by the path of its package and its name in it."""
    folder, parts = _folder_and_parts(query)
    if not folder:
        return _ends(parts_of(symbol.name), parts)
    own = parts_of(symbol.name)
    inside = own[1:] or own
    return _ends_path(".".join([symbol.place.container, *inside]), f"{folder}/{'.'.join(parts)}")


def _folder_and_parts(query: str) -> tuple[str, _Parts]:
    folder, _, last = query.rpartition("/")
    return folder, parts_of(last)


def _is_in_package(item: WorkspaceSymbol, folder: str, parts: _Parts) -> bool:
    """Whether the path of its package is the first of `parts` in `folder`; `v3` of `yaml.v3` may belong to that."""
    container, own = str(item.get("containerName") or ""), parts_of(str(item["name"]))
    return any(
        _ends_path(container, f"{folder}/{'.'.join(parts[:number])}")
        and is_about(".".join(own), ".".join(parts[number:]))
        for number in range(1, len(parts) + 1)
    )


def _ends_path(path: str, end: str) -> bool:
    return path == end or path.endswith(f"/{end}")


def _location(item: WorkspaceSymbol) -> Location | None:
    """Where it is declared; None if the server gives the file alone."""
    location = item["location"]
    return location if "range" in location else None


def _symbol(item: WorkspaceSymbol, place: Place, plugin: Plugin) -> Symbol:
    name = str(item["name"])
    span = name_span(place.text, place.span, name)
    return Symbol(
        name,
        kind_name(item["kind"], plugin),
        place._replace(span=span, container=str(item.get("containerName") or "")),
    )
