"""Questions that the store answers alone, without a server or a checkout. Blocking; see `toolsets.indexed`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from lsp_mcp.errors import AnchorError, PathError
from lsp_mcp.index import queries
from lsp_mcp.index.packing import Use
from lsp_mcp.index.queries import Found
from lsp_mcp.index.shelf import Chosen, Named, Shelf, Spot, file_of, kind_of, name_of, parts
from lsp_mcp.index.store import Pushed

_MOST_RELATED = 2_000  # symbols of one hierarchy


class Basis(Struct, frozen=True):
    """What an answer is based on: an index, the version of the symbol that it names, and whether columns are exact."""

    index: Pushed
    version: str = ""
    is_exact: bool = True


class Uses(Struct, frozen=True):
    """Some of the `total` places of a symbol, definitions first, then by repository and file."""

    chosen: Chosen
    spots: list[Spot]
    total: int
    is_defined: bool  # in an index
    bases: list[Basis]
    asked: int  # indexes


class Definitions(Struct, frozen=True):
    """Some of the `total` definitions; `is_capped`: there are more than were looked at."""

    symbols: list[Named]
    total: int
    is_capped: bool
    bases: list[Basis]
    asked: int


class Related(Struct, frozen=True):
    """A symbol with those below and above it, the nearest first, each with the one that it was found through."""

    chosen: Chosen
    below: list[tuple[Named, str]]
    above: list[tuple[Named, str]]
    undefined: list[str]  # those of them that no index defines, such as one of the language's library
    is_capped: bool
    bases: list[Basis]
    asked: int


class Outlined(Struct, frozen=True):
    """A file with the tree of what it defines, and the number of its lines if its text is stored."""

    file: str
    symbols: tuple[Named, ...]
    lines: int


class Outline(Struct, frozen=True):
    """A file, or some of the `total` files of a folder."""

    files: list[Outlined]
    total: int
    is_folder: bool
    bases: list[Basis]
    asked: int


def uses(shelf: Shelf, spelled: str, below: str, offset: int, limit: int) -> Uses:
    """The places of one symbol. Raises the errors of `Shelf.symbol` and `Shelf.below`."""
    chosen, keep = shelf.symbol(spelled), shelf.below(below)
    every: dict[tuple[tuple[int, int], Use], tuple[Pushed, Use]] = {}
    bases: list[Basis] = []
    for one in sorted(chosen.found, key=lambda found: (not found.definitions, found.index.repository)):
        there = [use for use in one.uses if keep(one.index, use)]
        every |= {(one.index.key, use): (one.index, use) for use in there}
        bases += [Basis(one.index, one.moniker.version)] if there else []
    shown = list(every.values())[offset : offset + limit]
    spots = shelf.spots(shown)
    inexact = {index.key for index, use in shown if not shelf.document(index, use).file.is_exact}
    bases = [Basis(one.index, one.version, one.index.key not in inexact) for one in bases]
    is_defined = any(one.definitions for one in chosen.found)
    return Uses(chosen, spots, len(every), is_defined, bases, len(shelf.indexes))


def definitions(shelf: Shelf, spelled: str, kinds: Sequence[str], below: str, limit: int) -> Definitions:
    """What is called `spelled`, then what begins with it; of `kinds`, if there are any.

    Raises the errors of `Shelf.called` and `Shelf.below`.
    """
    exact, is_capped = shelf.called(spelled)
    alike: list[Found] = []
    names = parts(spelled)
    if not names[1:]:
        alike, more = shelf.beginning(names[-1])
        is_capped = is_capped or more
    keep = shelf.below(below)
    found = {(one.index.key, one.moniker.identity): one for one in exact}
    found |= {
        key: one
        for one in sorted(alike, key=lambda one: (len(name_of(one)), name_of(one)))
        if (key := (one.index.key, one.moniker.identity)) not in found
    }
    wanted = [
        one
        for one in found.values()
        if (not kinds or kind_of(one) in kinds) and any(keep(one.index, use) for use in one.definitions)
    ]
    bases = [Basis(one.index) for one in wanted[:limit]]
    return Definitions(shelf.definitions(wanted[:limit]), len(wanted), is_capped, bases, len(shelf.indexes))


def related(shelf: Shelf, spelled: str, *, below: bool, above: bool) -> Related:
    """What implements, extends or overrides a symbol, and what it implements, extends or overrides, on all levels.

    An indexer writes this down in the index of what implements. Raises the errors of `Shelf.symbol`.
    """
    chosen = shelf.symbol(spelled)

    def under(one: Found) -> list[Found]:
        return queries.by_keys(shelf.connection, one.index, one.implemented_by)

    def over(one: Found) -> list[Found]:
        return queries.implemented_by(shelf.connection, one) if one.definitions else []

    lower, is_capped = _walk(shelf, chosen, under) if below else ([], False)
    upper, more = _walk(shelf, chosen, over) if above else ([], False)
    every = [*chosen.found, *(one for one, _ in (*lower, *upper))]
    bases = [Basis(one.index, one.moniker.version) for one in every]
    defined = {one.moniker.identity for one in every if one.definitions}
    undefined = sorted({name_of(one) for one in every if one.moniker.identity not in defined})
    return Related(
        chosen, _shown(shelf, lower), _shown(shelf, upper), undefined, is_capped or more, bases, len(shelf.indexes)
    )


def outline(shelf: Shelf, spelled: str, offset: int, limit: int) -> Outline:
    """The definitions of a file, or of `limit` files of a repository or folder. Raises the errors of `Shelf.file`."""
    try:
        stored = shelf.file(spelled)
    except PathError:
        for index, folder in shelf.split(spelled.strip().removeprefix("./").rstrip("/")):
            if numbers := [*queries.paths_below(shelf.connection, index, folder)]:
                some = queries.documents_of(shelf.connection, index, numbers[offset : offset + limit])
                some.sort(key=lambda one: one.file.path)
                files = [_outlined(shelf, one) for one in some]
                return Outline(files, len(numbers), True, [Basis(index)], len(shelf.indexes))
        raise
    bases = [Basis(stored.index, is_exact=stored.file.is_exact)]
    return Outline([_outlined(shelf, stored)], 1, False, bases, len(shelf.indexes))


def reading(shelf: Shelf, spelled: str, what: str) -> list[Named]:
    """The definitions of a symbol, or with `surroundings` the one around a place.

    Raises the errors of `Shelf.symbol` and `Shelf.around`; AnchorError: no index has the definition.
    """
    if what == "surroundings":
        return [shelf.around(spelled)]
    chosen = shelf.symbol(spelled)
    found = shelf.definitions([one for one in chosen.found if one.definitions])
    if not found:
        raise AnchorError(
            f"no index has the definition of {chosen.name}; pass what=surroundings to read the lines around a use."
        )
    return found


def repositories(shelf: Shelf) -> list[Pushed]:
    """The newest index of each repository."""
    return shelf.indexes


def _outlined(shelf: Shelf, stored: queries.Stored) -> Outlined:
    file = file_of(stored.index, stored.file.path)
    return Outlined(file, shelf.tree(stored), stored.text.count("\n") if stored.text else 0)


def _walk(shelf: Shelf, chosen: Chosen, step: Callable[[Found], list[Found]]) -> tuple[list[tuple[Found, str]], bool]:
    """What `step` leads to from a symbol, all the way, the nearest first; and whether that was too much."""
    seen = {*chosen.identities}
    reached: list[tuple[Found, str]] = []
    front = [chosen.found]
    while front:
        level = front.pop(0)
        for name in dict.fromkeys(one.moniker.identity for base in level for one in step(base)):
            if name in seen:
                continue
            if len(seen) >= _MOST_RELATED:
                return reached, True
            seen.add(name)
            everywhere = queries.find(shelf.connection, [name])
            reached += [(one, "" if level is chosen.found else name_of(level[0])) for one in everywhere]
            front.append(everywhere)
    return reached, False


def _shown(shelf: Shelf, reached: Sequence[tuple[Found, str]]) -> list[tuple[Named, str]]:
    """The definitions of what was reached."""
    return [(named, of) for one, of in reached for named in shelf.definitions([one])]
