"""The oracle for Python: names by `ast` and the rules of scopes, attributes by the types of mypy: `PythonOracle`."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path

import python_types
from graph import Graph, Place, Symbol
from python_scopes import At, Attribute, Import, Module, Scope
from python_types import Member, Types

_Key = tuple[str, int, str]  # file, line of the scope (0: the module), name; lambdas and comprehensions by their number


class PythonOracle:
    """Reads a tree in another process, which mypy may leave large."""

    def __init__(self, executor: Executor, paths: Sequence[str], cache: Path) -> None:
        self._executor = executor
        self._paths = list(paths)
        self._cache = cache

    def graph(self, folder: Path) -> Graph:
        """What is known about the present tree in `folder`."""
        return self._executor.submit(_graph, folder.resolve(), self._paths, self._cache).result()

    def errors(self, folder: Path) -> list[str]:
        """What mypy says about the tree."""
        return self._executor.submit(_errors, folder.resolve(), self._paths, self._cache).result()


def _files(folder: Path, paths: Sequence[str]) -> list[str]:
    every = {path.relative_to(folder).as_posix() for top in paths for path in (folder / top).rglob("*.py")}
    return sorted(file for file in every if not file.startswith("."))


def _errors(folder: Path, paths: list[str], cache: Path) -> list[str]:
    return python_types.read(folder, _files(folder, paths), paths, cache).broken


def _graph(folder: Path, paths: list[str], cache: Path) -> Graph:
    files = _files(folder, paths)
    types = python_types.read(folder, files, paths, cache)
    texts = {file: (folder / file).read_bytes().decode("utf-8-sig").replace("\r\n", "\n") for file in files}
    try:
        modules = {file: Module(text) for file, text in texts.items()}
    except SyntaxError as error:
        return Graph({}, [f"syntax: {error.msg}"])
    return _Linker(modules, texts, types, paths).graph()


@dataclass
class _Linked:
    """One symbol."""

    name: str
    kind: str
    owner: str = ""
    module: str = ""
    uses: set[Place] = field(default_factory=set)
    where: set[Place] = field(default_factory=set)
    calls: set[Place] = field(default_factory=set)
    allowed: set[Place] = field(default_factory=set)
    family: str = ""
    subtypes: tuple[str, ...] = ()
    mixed: bool = False  # bound by an import and otherwise


class _Linker:
    """Joins what modules, imports and types say."""

    def __init__(self, modules: dict[str, Module], texts: dict[str, str], types: Types, paths: list[str]) -> None:
        self._modules = modules
        self._lines = {file: text.split("\n") for file, text in texts.items()}
        self._types = types
        self._paths = paths
        self._by_name = {python_types.module_name(file, paths): file for file in modules}
        self._packages = {name.partition(".")[0] for name in self._by_name}
        self._fixtures = set().union(*(module.fixtures for module in modules.values()))
        self._file_of = {id(scope): file for file, module in modules.items() for scope in module.scopes}
        self._symbols: dict[_Key, _Linked] = {}
        self._unread: dict[str, dict[str, set[Place]]] = defaultdict(lambda: defaultdict(set))

    def graph(self) -> Graph:
        """The symbols of all modules."""
        for file, module in self._modules.items():
            self._declared(file, module)
        for file, module in self._modules.items():
            self._members(file, module)
        for file, module in self._modules.items():
            self._used(file, module)
        self._related()
        symbols = {}
        for key, one in self._symbols.items():
            uses = one.uses | one.where
            if not uses:
                continue
            id_ = min(one.where or uses).shown if not key[0].startswith("/") else f"{key[0]}:{key[1]}:{key[2]}"
            symbols[id_] = Symbol(
                id_, one.name, one.kind, frozenset(uses), frozenset(one.where), one.module, one.owner, one.family,
                outside=key[0].startswith("/"), calls=frozenset(one.calls), allowed=frozenset(one.allowed),
                exported=one.kind in ("function", "class", "var") and not one.owner,
            )  # fmt: skip
        unread = {file: dict(words) for file, words in self._unread.items()}
        return Graph(symbols, self._types.broken, unread)

    # --- inside

    def _declared(self, file: str, module: Module) -> None:
        for scope in module.scopes:
            for name, bound in scope.bound.items():
                kinds = [kind for _, kind in bound]
                own = [at for at, kind in bound if kind not in ("import", "passed")]
                if scope.passed_on.get(name) or not bound or all(kind == "passed" for kind in kinds):
                    continue
                if any(not one.name and self._is_of_others(file, one) for one in scope.imports[name]):
                    continue  # a module of others, or something in its place
                if "import" in kinds and not own and len(set(map(repr, scope.imports[name]))) == 1:
                    target = self._target(file, scope.imports[name][0])
                    if target or not scope.imports[name][0].name:
                        if target and target[2] == name:
                            continue
                        if not target:
                            continue  # a module
                    elif self._module(file, scope.imports[name][0], scope.imports[name][0].name):
                        continue
                one = self._symbol(self._key(scope, name))
                one.mixed = "import" in kinds
                one.kind = _kind(scope, kinds)
                one.owner = scope.name if scope.kind == "class" else ""
                one.module = file
                one.where |= {self._place(file, at) for at in own}

    def _is_of_others(self, file: str, what: Import) -> bool:
        found = self._module(file, what)
        return not found or found.startswith("/")

    def _members(self, file: str, module: Module) -> None:
        """Attributes that methods store on `self`."""
        for one in module.attributes:
            if not one.stored or not one.self_of:
                continue
            found = self._types.attributes.get((file, *one.end)) or {Member(file, one.self_of.line, one.name)}
            for member in found:
                if member.file != file or member.line != one.self_of.line:
                    continue
                symbol = self._symbol((member.file, member.line, member.name))
                symbol.kind = symbol.kind or "field"
                symbol.owner, symbol.module = one.self_of.name, file
                symbol.where.add(self._place(file, one.at))

    def _used(self, file: str, module: Module) -> None:
        for use in module.uses:
            place = self._place(file, use.at)
            if not self._spells(place, use.name):
                continue
            targets = self._meant(file, use.scope, use.name)
            if targets is None:
                self._unknown(file, use.name, place)
                continue
            for key in targets:
                self._add(key, place, is_call=use.is_call)
        for at, what in module.imported:
            place = self._place(file, at)
            target = self._target(file, what)
            if target:
                self._add(target, place)
            elif not self._module(file, what, what.name):
                self._unknown(file, what.name, place)
        for one in module.attributes:
            place = self._place(file, one.at)
            if not self._spells(place, one.name):
                continue
            members = self._types.attributes.get((file, *one.end), None)
            if members is None:
                members = self._of_module(file, one)
            if members is None and one.self_of:
                members = self._own(file, one.self_of, one.name)
            if not members:
                self._unknown(file, one.name, place)
                continue
            for member in members:
                if meant := self._member(member):
                    self._add(meant, place, is_call=one.is_call)
                else:
                    self._unknown(file, one.name, place)
        for keyword in module.keywords:
            place = self._place(file, keyword.at)
            if not self._spells(place, keyword.name):
                continue
            called = self._types.called.get((file, *keyword.callee))
            function = (
                self._modules[called[0]].functions.get(called[1]) if called and called[0] in self._modules else None
            )
            if called and called[0].startswith("/"):
                continue
            if function is None or keyword.name not in function.parameters:
                self._unknown(file, keyword.name, place)
            else:
                self._add(self._key(function, keyword.name), place)
        for at, name in module.unknown:
            self._unknown(file, name, self._place(file, at))
        for at, name in module.filled:
            if name in self._fixtures:
                self._unknown(file, name, self._place(file, at))

    def _own(self, file: str, scope: Scope, name: str) -> set[Member] | None:
        return {Member(file, scope.line, name)} if (file, scope.line, name) in self._symbols else None

    def _of_module(self, file: str, one: Attribute) -> set[Member] | None:
        """The attribute of a module, in an annotation for example, which mypy does not have as an expression."""
        value = one.whole.value
        owner = one.scope.owner(value.id) if isinstance(value, ast.Name) else None
        if owner is None or not isinstance(value, ast.Name):
            return None
        bound = {(what.module, what.name) for what in owner.imports.get(value.id, ())}
        if len(bound) != 1 or any(kind != "import" for _, kind in owner.bound[value.id]):
            return None
        module, inner = bound.pop()
        if module_file := self._module(file, Import(module, ""), inner):
            return {Member(module_file, 0, one.name)}
        return None

    def _member(self, member: Member) -> _Key | None:
        if member.file.startswith("/"):
            return member
        if member.line:
            return member if member in self._symbols else None
        if member.file not in self._modules:
            return None
        found = self._meant(member.file, self._modules[member.file].scope, member.name)
        if found is None or len(found) != 1:
            return None
        return found[0]

    def _meant(self, file: str, scope: Scope, name: str) -> list[_Key] | None:
        """The symbols that a name of a scope stands for; [] if it is a module; None if that is not known."""
        key = self._key(scope, name)
        if key in self._symbols:
            found = [key]
            for what in scope.imports.get(name, ()):
                target = self._target(file, what)
                if target and not self._symbols[key].mixed:
                    found.append(target)
                elif target and target[2] == name:
                    return None  # what it means depends on the way
                elif target:
                    found.append(target)
            return found
        for what in scope.imports.get(name, ()):
            if not what.name:
                return []
            target = self._target(file, what)
            if target:
                return [target]
            if self._module(file, what, what.name):
                return []
            return None
        for what in scope.imports.get("*", ()):
            if scope.kind == "module" and (target := self._target(file, Import(what.module, name))):
                return [target]
        return None

    def _target(self, file: str, what: Import, depth: int = 0) -> _Key | None:
        """The symbol that an import is of."""
        source = self._module(file, what)
        if not source or not what.name or depth > 10:
            return None
        if source.startswith("/"):
            return (source, 0, what.name)
        scope = self._modules[source].scope
        key = self._key(scope, what.name)
        imports = scope.imports.get(what.name, [])
        own = [kind for _, kind in scope.bound.get(what.name, ()) if kind not in ("import", "passed")]
        if own or key in self._symbols:
            return key
        for one in imports:
            if one.name and (target := self._target(source, one, depth + 1)):
                return target if target[2] == what.name else key
        for one in scope.imports.get("*", ()):
            if target := self._target(source, Import(one.module, what.name), depth + 1):
                return target
        return None

    def _module(self, file: str, what: Import, inner: str = "") -> str:
        """The file of a module, or of the module `inner` in it; "" if it is not known."""
        name = python_types.module_name(file, self._paths)
        if dots := len(what.module) - len(what.module.lstrip(".")):
            parts = name.split(".") + ([""] if file.endswith("__init__.py") else [])
            base = parts[: len(parts) - dots]
            name = ".".join([*base, *filter(None, [what.module.lstrip(".")])])
        else:
            name = what.module
        name = f"{name}.{inner}" if inner else name
        known = self._by_name.get(name) or self._types.modules.get(name, "")
        # One that mypy does not find is not of this tree either.
        is_strange = not dots and not inner and name.partition(".")[0] not in self._packages
        return known or (f"/{name}" if is_strange else "")

    def _related(self) -> None:
        """Members of the same name of a class and of those above it are one family; and the classes below each."""
        above: dict[_Key, _Key] = {}

        def root(key: _Key) -> _Key:
            while key in above:
                key = above[key]
            return key

        for key in self._symbols:
            for base in self._types.bases.get(key[:2], ()):
                other: _Key = (*base, key[2])
                if other in self._symbols and (one := root(key)) != (another := root(other)):
                    above[one] = another
        for key, symbol in self._symbols.items():
            symbol.family = "|".join(map(str, root(key)))

    def _add(self, key: _Key, place: Place, *, is_call: bool = False) -> None:
        one = self._symbol(key)
        one.uses.add(place)
        if is_call:
            one.calls.add(place)

    def _symbol(self, key: _Key) -> _Linked:
        return self._symbols.setdefault(key, _Linked(key[2], ""))

    def _key(self, scope: Scope, name: str) -> _Key:
        file = self._file_of[id(scope)]
        if scope.kind in ("module", "class"):
            return (file, scope.line, name)
        return (file, -1 - self._modules[file].scopes.index(scope), name)

    def _spells(self, place: Place, name: str) -> bool:
        """Not for some places in format strings, which Python 3.11 counts wrongly."""
        return self._lines[place.file][place.line - 1].startswith(name, place.character - 1)

    def _unknown(self, file: str, name: str, place: Place) -> None:
        self._unread[file][name].add(place)

    def _place(self, file: str, at: At) -> Place:
        line = self._lines[file][at[0] - 1]
        return Place(file, at[0], len(line.encode()[: at[1]].decode()) + 1)


def _kind(scope: Scope, kinds: list[str]) -> str:
    common = Counter(kinds).most_common(1)[0][0]
    first = next((kind for kind in kinds if kind in ("class", "function", "method")), common)
    if scope.kind == "class":
        return {"function": "method", "var": "field", "import": "alias"}.get(first, first)
    if scope.kind == "types":
        return "typeparam"
    if scope.kind == "function":
        return "local"
    return {"import": "alias"}.get(first, first)
