"""The newest indexes of all repositories at one moment, and what a caller means in them: `Shelf`. Blocking.

A caller writes a file as `REPOSITORY@COMMIT/PATH`, without the commit for the newest index. Lines count from 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote

from msgspec import Struct
from sqlalchemy.engine import Connection

from lsp_mcp.errors import AnchorError, PathError
from lsp_mcp.index import queries
from lsp_mcp.index.monikers import described, key
from lsp_mcp.index.packing import Defined, Use
from lsp_mcp.index.queries import Found, Stored
from lsp_mcp.index.store import Pushed, listed
from lsp_mcp.prose import first_few
from lsp_mcp.text import Point, numbers_point, point_numbers
from lsp_mcp.visible import quoted

_MOST_NAMED = 5_000  # symbols looked at for one name
_LISTED = 10  # candidates in an error
_PLACE = re.compile(r"(?:[A-Za-z][\w+.-]*://)?(?P<file>[^#]+?)[#:]L?(?P<line>\d{1,9})(?::(?P<character>\d{1,9}))?")
_GENERIC = re.compile(r"\[.*?\]|<.*?>")
_WORD = re.compile(r"[\w$-]+")


class Spot(NamedTuple):
    """A place: `length` is 0 if unknown; `around` are the lines of the definition called `container` around it."""

    file: str
    line: int
    start: int
    length: int
    text: str | None
    container: str = ""
    around: tuple[int, int] | None = None


class Named(Struct, frozen=True):
    """A definition; `extent` are the first and last line of all of it, if the indexer says so."""

    name: str
    kind: str
    spot: Spot
    extent: tuple[int, int] | None = None
    children: tuple[Named, ...] = ()


class Chosen(Struct, frozen=True):
    """The symbol that a caller meant, as each repository has it."""

    name: str
    kind: str
    found: list[Found]

    @property
    def identities(self) -> list[str]:
        """Its names in all repositories; several only if one place stands for several symbols."""
        return list(dict.fromkeys(one.moniker.identity for one in self.found))


class Shelf:
    """See the module."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._documents: dict[tuple[tuple[int, int], int], Stored] = {}

    @cached_property
    def indexes(self) -> list[Pushed]:
        """The newest index of each repository."""
        return listed(self.connection, only_newest=True)

    @property
    def known(self) -> str:
        """The indexed repositories, for an error."""
        names = [one.repository for one in self.indexes]
        return f"indexed: {first_few(names, _LISTED)}" if names else "the store has no index yet: lsp-mcp index push"

    # --- what a caller names -------------------------------------------------------------------------

    def symbol(self, spelled: str) -> Chosen:
        """The symbol that `spelled` means: a name, which may be qualified, or an anchor or FILE:LINE[:CHAR].

        Raises:
            AnchorError: there is none, or several; the message lists them.
            PathError: no index has the file, or several have it.
        """
        if place := _PLACE.fullmatch(spelled.strip()):
            return self._at(spelled, self.file(spelled), int(place["line"]), int(place["character"] or 0))
        found, is_capped = self.called(spelled)
        names = list(dict.fromkeys(one.moniker.identity for one in found))
        if not names:
            raise AnchorError(f"no index defines {quoted(spelled)} ({self.known}).")
        if names[1:] or is_capped:
            shown = "".join(f"\n{_line(one)}" for one in self.definitions(found[:_LISTED])[:_LISTED])
            number = f"at least {len(names):,}" if is_capped else f"{len(names):,}"
            raise AnchorError(f"{quoted(spelled)} names {number} symbols; pass one of these places:{shown}")
        return self._whole(names)

    def around(self, spelled: str) -> Named:
        """The innermost definition around an anchor or FILE:LINE; the line alone outside all definitions.

        Raises:
            AnchorError: it is not a place.
            PathError: see `symbol`.
        """
        place = _PLACE.fullmatch(spelled.strip())
        if not place:
            raise AnchorError(f"{quoted(spelled)} is not a place; pass an anchor or FILE:LINE.")
        stored = self.file(spelled)
        numbers = point_numbers(Point(int(place["line"]), int(place["character"] or 1)), 0)
        use = Use(stored.number, numbers["line"], numbers["character"], 0, 0)
        (spot,) = self.spots([(stored.index, use)])
        return Named(spot.container or "outside declarations", "place", spot, spot.around)

    def called(self, spelled: str) -> tuple[list[Found], bool]:
        """The symbols defined as `spelled`, which may be qualified; and whether there are more than were looked at.

        Raises:
            AnchorError: it is not a name.
        """
        names = parts(spelled)
        if not names:
            raise AnchorError(f"{quoted(spelled)} is not a name.")
        found = queries.by_name(self.connection, names[-1], _MOST_NAMED, exactly=True, within=names[:-1])
        return [one for one in found if ends_with(one, names)], len(found) >= _MOST_NAMED

    def beginning(self, prefix: str) -> tuple[list[Found], bool]:
        """The symbols whose last name begins with `prefix`, in any case; and whether there are more."""
        found = queries.by_name(self.connection, prefix, _MOST_NAMED)
        return found, len(found) >= _MOST_NAMED

    def file(self, spelled: str) -> Stored:
        """The document at REPOSITORY[@COMMIT]/PATH, or at a PATH that only one repository has, or of an anchor.

        Raises:
            PathError: there is none, or several; the message lists the indexes or files.
        """
        place = _PLACE.fullmatch(spelled.strip())
        named = unquote(place["file"]) if place else spelled.strip().removeprefix("./")
        for index, path in self.split(named):
            if found := queries.document_of(self.connection, index, path):
                return found
        everywhere = [one for index in self.indexes if (one := queries.document_of(self.connection, index, named))]
        if len(everywhere) > 1:
            files = first_few([file_of(one.index, named) for one in everywhere], _LISTED)
            raise PathError(f"{quoted(named)} is in {len(everywhere):,} repositories; pass one of: {files}.")
        if not everywhere:
            raise PathError(f"no index has the file {quoted(named)} ({self.known}).")
        return everywhere[0]

    def split(self, named: str) -> Iterator[tuple[Pushed, str]]:
        """The indexes whose name `named` begins with, the longest first, each with the rest: a path, empty for all."""
        every = listed(self.connection) if "@" in named else self.indexes
        for index in sorted(every, key=lambda one: -len(one.repository)):
            found = re.fullmatch(rf"{re.escape(index.repository)}(?:@(?P<commit>[^/]+))?(?:/(?P<path>.*))?", named)
            if found and index.commit.startswith(found["commit"] or ""):
                yield index, (found["path"] or "").rstrip("/")

    def below(self, spelled: str) -> Callable[[Pushed, Use], bool]:
        """Whether a place is in that repository, folder or file; anywhere if it is empty. Raises PathError."""
        if not spelled.strip(" ./"):
            return lambda index, use: True
        kept: dict[tuple[int, int], set[int]] = {}
        for index, path in self.split(spelled.strip().rstrip("/")):
            inside = {*queries.paths_below(self.connection, index, path)}
            one = queries.document_of(self.connection, index, path) if path else None
            kept[index.key] = inside | ({one.number} if one else set())
        if not any(kept.values()):
            raise PathError(f"path {quoted(spelled)} is nothing in an index ({self.known}); pass REPOSITORY/FOLDER.")
        return lambda index, use: use.document in kept.get(index.key, ())

    # --- what is shown -------------------------------------------------------------------------------

    def spots(self, shown: Sequence[tuple[Pushed, Use]]) -> list[Spot]:
        """These places, each with the innermost definition of several lines around it."""
        self._read(shown)
        inner = [_innermost(self.document(index, use), use) for index, use in shown]
        keys: dict[tuple[int, int], tuple[Pushed, set[int]]] = {}
        for (index, _), around in zip(shown, inner, strict=True):
            if around:
                keys.setdefault(index.key, (index, set()))[1].add(around.key)
        names = {
            (index.key, key): name
            for index, wanted in keys.values()
            for key, name in self._names(index, wanted).items()
        }
        spots = []
        for (index, use), around in zip(shown, inner, strict=True):
            spot = self._spot(index, use)
            if around and (name := names.get((index.key, around.key))):
                spot = spot._replace(container=name, around=(around.first, around.last))
            spots.append(spot)
        return spots

    def definitions(self, found: Sequence[Found]) -> list[Named]:
        """Where these are defined; one may be several times, for instance in files for several systems."""
        places = [(one, use) for one in found for use in one.definitions]
        self._read([(one.index, use) for one, use in places])
        named = []
        for one, use in places:
            at = (use.line, use.start)
            whole = [(d.first, d.last) for d in self.document(one.index, use).defined if (d.line, d.start) == at]
            extent = next((lines for lines in whole if lines[0] < lines[1]), None)
            named.append(Named(name_of(one), kind_of(one), self._spot(one.index, use), extent))
        return named

    def tree(self, stored: Stored) -> tuple[Named, ...]:
        """What a document defines, members inside their types."""
        self._documents[stored.index.key, stored.number] = stored
        found = queries.by_keys(self.connection, stored.index, sorted({one.key for one in stored.defined}))
        symbols = {key(one.moniker.identity): one for one in found}
        children: dict[tuple[str, ...], list[tuple[tuple[str, ...], Named]]] = {}
        known: set[tuple[str, ...]] = set()
        for one in stored.defined:
            symbol = symbols.get(one.key)
            names = described(symbol.moniker.descriptors) if symbol else None
            if symbol and names and names.names:
                whole = (names.path, *names.names)
                owner = whole[:-1] if whole[:-1] in known else ()
                known.add(whole)
                use = Use(stored.number, one.line, one.start, len(names.names[-1]), 1)
                extent = (one.first, one.last) if one.first < one.last else None
                named = Named(names.names[-1], kind_of(symbol), self._spot(stored.index, use), extent)
                children.setdefault(owner, []).append((whole, named))

        def grown(owner: tuple[str, ...]) -> tuple[Named, ...]:
            return tuple(
                Named(one.name, one.kind, one.spot, one.extent, grown(whole)) for whole, one in children.pop(owner, ())
            )

        return grown(())

    def document(self, index: Pushed, use: Use) -> Stored:
        """The document that `use` is in."""
        self._read([(index, use)])
        return self._documents[index.key, use.document]

    # --- inside --------------------------------------------------------------------------------------

    def _at(self, spelled: str, stored: Stored, line: int, character: int) -> Chosen:
        numbers = point_numbers(Point(line, character or 1), 0)
        at, start = numbers["line"], numbers["character"] if character else None

        def covers(one: Found) -> bool:
            return any(
                use.document == stored.number
                and use.line == at
                and (start is None or use.start <= start < use.start + max(use.length, 1))
                for use in one.uses
            )

        keys = sorted({one.key for one in stored.defined if one.line == at})
        found = [one for one in queries.by_keys(self.connection, stored.index, keys) if covers(one)]
        found = found or [one for one in queries.used_in(self.connection, stored, at) if covers(one)]
        parts_of = {one.moniker.identity: described(one.moniker.descriptors) for one in found}
        found = [one for one in found if parts_of[one.moniker.identity]]
        own = [one for one in found if (parts := parts_of[one.moniker.identity]) and parts.names]
        found = own or found  # else only packages and modules
        names = list(dict.fromkeys(one.moniker.identity for one in found))
        if not names:
            raise AnchorError(f"the index has no symbol at {quoted(spelled)}; list_symbols_in_file shows what it has.")
        if names[1:] and start is None:
            several = first_few([name_of(one) for one in found], _LISTED)
            raise AnchorError(f"{quoted(spelled)} has several symbols: {several}; pass the character, too.")
        return self._whole(names)

    def _whole(self, identities: Collection[str]) -> Chosen:
        found = queries.find(self.connection, identities)
        if not found:
            raise AnchorError("the newest index of that repository no longer has this symbol; find it by name.")
        first = next((one for one in found if one.definitions), found[0])
        return Chosen(name_of(first), kind_of(first), found)

    def _names(self, index: Pushed, keys: Iterable[int]) -> dict[int, str]:
        found = queries.by_keys(self.connection, index, sorted(keys))
        return {key(one.moniker.identity): name_of(one) for one in found}

    def _read(self, places: Sequence[tuple[Pushed, Use]]) -> None:
        """Read the documents of `places` that are not known yet."""
        lacking: dict[tuple[int, int], tuple[Pushed, set[int]]] = {}
        for index, use in places:
            if (index.key, use.document) not in self._documents:
                lacking.setdefault(index.key, (index, set()))[1].add(use.document)
        for index, numbers in lacking.values():
            for one in queries.documents_of(self.connection, index, numbers):
                self._documents[index.key, one.number] = one

    def _spot(self, index: Pushed, use: Use) -> Spot:
        stored = self._documents[index.key, use.document]
        return Spot(file_of(index, stored.file.path), use.line, use.start, use.length, stored.text)


def file_of(index: Pushed, path: str) -> str:
    """`REPOSITORY@COMMIT/PATH`."""
    return f"{index.repository}@{index.short_commit}/{path}"


def parts(spelled: str) -> tuple[str, ...]:
    """The words of a name that may be qualified, whatever separates them: `x.com/a/pkg.Type.method`, `mod::f`."""
    return tuple(_WORD.findall(_GENERIC.sub("", spelled)))


def ends_with(one: Found, names: Sequence[str]) -> bool:
    """Whether the whole name of a symbol ends with these words."""
    found = described(one.moniker.descriptors)
    return bool(found and (*_WORD.findall(found.path), *found.names)[-len(names) :] == tuple(names))


def name_of(one: Found) -> str:
    """The name of a symbol with those of its types: `Type.method`; of a package, its path."""
    found = described(one.moniker.descriptors)
    return (".".join(found.names) or found.path) if found else one.moniker.descriptors


def kind_of(one: Found) -> str:
    """`type`, `function`, `method`, `field`, `variable`, `macro` or `namespace`, as far as its SCIP name says."""
    found = described(one.moniker.descriptors)
    if not found:
        return "symbol"
    return "field" if found.kind == "variable" and found.names[1:] else found.kind


def _line(one: Named) -> str:
    at = numbers_point({"line": one.spot.line, "character": one.spot.start}, 0)
    return f"{one.spot.file}:{at.line}:{at.character} {one.kind} {one.name}"


def _innermost(stored: Stored, use: Use) -> Defined | None:
    """The innermost definition of several lines around a place that is not its own name."""
    around = [
        one
        for one in stored.defined
        if one.first < one.last and one.first <= use.line <= one.last and (one.line, one.start) != (use.line, use.start)
    ]
    return min(around, key=lambda one: (one.last - one.first, -one.line), default=None)
