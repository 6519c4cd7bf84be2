"""An oracle's knowledge of a tree, in one form for all languages: `Graph`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace  # noqa: TID251 (these are dataclasses)
from functools import cached_property
from typing import NamedTuple


class Place(NamedTuple):
    """Where an identifier begins; line and character from 1, in code points. `file` is relative to the tree."""

    file: str
    line: int
    character: int

    @property
    def shown(self) -> str:
        """`file#line:character`."""
        return f"{self.file}#{self.line}:{self.character}"


@dataclass(frozen=True)
class Symbol:
    """One object of the language, and all its places.

    `uses` are these places, including declarations; `calls` are the calls among them. `where` are its definitions, or
    declarations if there is none. `family` names the symbols that a language server may treat as this one by design: a
    method and those it implements; their places are neither wrong in an answer, nor missing. `kin` are those of them
    whose relation does not come from their names, if that is not all. `subtypes` are the ids of
    all types below this one, `found` where running code asks for an interface by which it finds this method, `passed`
    those of the symbols that pass this one on by its own name (`module.exports = {a}`), which others use instead.
    """

    id: str
    name: str
    kind: str
    uses: frozenset[Place]
    where: frozenset[Place]
    package: str = ""
    owner: str = ""
    family: str = ""
    kin: str = ""
    generic: bool = False
    outside: bool = False
    calls: frozenset[Place] = frozenset()
    subtypes: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    allowed: frozenset[Place] = frozenset()  # places that are neither required nor wrong
    elsewhere: frozenset[Place] = frozenset()  # its places in other configurations only
    forms: Mapping[Place, str] = field(
        default_factory=dict, compare=False
    )  # what a rename writes there, by {old} and {new}
    exported: bool = False  # by its own name
    has_unnamed: bool = True  # code may use it without its name


@dataclass
class Graph:
    """All symbols of a tree, `broken` the errors that the oracle found, `unread` words that it could not read.

    `total`: it knows every identifier of all other files. If not (libclang hides parts of templates and macros), an
    unknown place in an answer is never wrong. `elsewhere` are places known only in other configurations.
    """

    symbols: dict[str, Symbol]
    broken: list[str] = field(default_factory=list)
    unread: dict[str, dict[str, set[Place]]] = field(default_factory=dict)
    total: bool = True
    elsewhere: frozenset[Place] = frozenset()

    @cached_property
    def at(self) -> dict[Place, list[Symbol]]:
        """The symbols named at a place: usually one."""
        at: dict[Place, list[Symbol]] = defaultdict(list)
        for symbol in self.symbols.values():
            for place in symbol.uses:
                at[place].append(symbol)
        return dict(at)

    def required(self, symbol: Symbol, *, calls: bool = False) -> frozenset[Place]:
        """The places in the tree, or the `calls` among them, that an answer about `symbol` must have."""
        every = {symbol.id: symbol}
        todo = [symbol]
        while todo:
            more = [self.symbols[id_] for id_ in todo.pop().passed if id_ in self.symbols and id_ not in every]
            every |= {one.id: one for one in more}
            todo += more
        places = (one.calls if calls else one.uses for one in every.values())
        return frozenset(at for some in places for at in some if not at.file.startswith("/"))

    def foreign_locals(self, symbol: Symbol, places: Iterable[Place]) -> set[Place]:
        """Those of `places` that are of variables in functions, and of none that has to do with `symbol`."""
        if not self.total:
            return set()
        others = set(places) - self.family(symbol)
        return {at for at in others if at in self.at and all(one.kind == "local" for one in self.at[at])}

    @cached_property
    def words(self) -> frozenset[str]:
        """Every identifier."""
        return frozenset(symbol.name for symbol in self.symbols.values()).union(*self.unread.values())

    @cached_property
    def _families(self) -> dict[str, list[Symbol]]:
        families: dict[str, list[Symbol]] = defaultdict(list)
        for symbol in self.symbols.values():
            if symbol.family:
                families[symbol.family].append(symbol)
        return families

    def family(self, symbol: Symbol) -> frozenset[Place]:
        """The places allowed in an answer about `symbol`: its own and those of its family.

        Declarations of several systems in separate files, used by code of all systems, are one thing to a reader.
        """
        related = list(self._families[symbol.family]) if symbol.family else []
        spelled = (symbol.name, symbol.kind, symbol.package)
        related += {
            one.id: one for at in symbol.uses for one in self.at[at] if (one.name, one.kind, one.package) == spelled
        }.values()
        return symbol.uses.union(symbol.allowed, *(one.uses | one.allowed for one in related))

    def unknown(self, places: Iterable[Place]) -> set[Place]:
        """Those of `places` that the oracle may not know."""
        return set() if self.total else {place for place in places if place not in self.at} - self.elsewhere

    def unread_places(self, symbol: Symbol) -> set[Place]:
        """The places of the name of `symbol` in code that the oracle could not read; for a local, in its own files."""
        found = {place for words in self.unread.values() for place in words.get(symbol.name, ())} | symbol.elsewhere
        if symbol.kind in ("local", "label", "typeparam"):
            files = {place.file for place in symbol.uses}
            return {place for place in found if place.file in files}
        return found

    def moved(self, places: Mapping[Place, Place]) -> Graph:
        """The same with other places; symbols are called by theirs."""
        if not places:
            return self
        ids = {now.shown: before.shown for now, before in places.items()}
        symbols = {
            ids.get(one.id, one.id): replace(
                one,
                id=ids.get(one.id, one.id),
                uses=frozenset(places.get(place, place) for place in one.uses),
                subtypes=tuple(ids.get(id_, id_) for id_ in one.subtypes),
            )
            for one in self.symbols.values()
        }
        return replace(self, symbols=symbols)

    def same(self, other: Graph) -> str:
        """The difference of the use graph of `other`, of what its types are below, of what overrides what, and of what
        running code finds.

        Names are ignored; "" if there is none.
        """
        here, there = ({s.id: s.uses for s in graph.symbols.values()} for graph in (self, other))
        for lost in here.keys() ^ there.keys():
            side = "lost" if lost in here else "new"
            return f"{side}: the symbol {lost}, used at {_some(here.get(lost) or there[lost])}"
        for id_, uses in here.items():
            if uses != there[id_]:
                return f"{id_}: lost {_some(uses - there[id_])}, new {_some(there[id_] - uses)}"
        for symbol in self.symbols.values():
            if set(symbol.subtypes) != set(other.symbols[symbol.id].subtypes):
                return (
                    f"{symbol.id}: {len(symbol.subtypes)} types below it, then {len(other.symbols[symbol.id].subtypes)}"
                )
            if set(symbol.found) != set(other.symbols[symbol.id].found):
                was, is_now = (", ".join(one.found) or "nothing" for one in (symbol, other.symbols[symbol.id]))
                return f"{symbol.id}: found by running code through {was}, then through {is_now}"
        families = [{id_: frozenset(family) for family in graph.related for id_ in family} for graph in (self, other)]
        for id_ in sorted(families[0].keys() | families[1].keys()):
            before, after = (sorted(family.get(id_, frozenset()) - {id_}) for family in families)
            if before != after:
                return f"{id_}: related with {', '.join(before)}, then with {', '.join(after)}"
        return ""

    @property
    def related(self) -> list[set[str]]:
        """The ids of the symbols of each family that has several."""
        families: dict[str, set[str]] = defaultdict(set)
        for symbol in self.symbols.values():
            if name := symbol.kin or symbol.family:
                families[name].add(symbol.id)
        return [family for family in families.values() if len(family) > 1]


def _some(places: Iterable[Place]) -> str:
    some = sorted(places)
    return ", ".join(place.shown for place in some[:8]) + (f" and {len(some) - 8} more" if len(some) > 8 else "")


def triples(numbers: list[int], files: list[str]) -> Iterator[Place]:
    """Places out of flat triples of file number, line and character."""
    for start in range(0, len(numbers), 3):
        file, line, character = numbers[start : start + 3]
        yield Place(files[file], line, character)
