"""Which class defines the attribute of each expression, by mypy: `Types`. Keys are the ends of expressions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from inspect import isgetsetdescriptor
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from mypy import build, nodes, types
from mypy.errors import CompileError
from mypy.modulefinder import BuildSource
from mypy.options import Options


class Member(NamedTuple):
    """An attribute of a class, by the line of its class; of a module if that is 0.

    Files outside the tree begin with `/`.
    """

    file: str
    line: int
    name: str


class Types:
    """What mypy knows about a tree; `attributes` and `keywords` have () for what it does not know."""

    def __init__(self) -> None:
        self.attributes: dict[tuple[str, int, int], set[Member] | None] = {}  # by file and end of the expression
        self.called: dict[
            tuple[str, int, int], tuple[str, int] | None
        ] = {}  # end of a callee → file, line of its definition
        self.bases: dict[tuple[str, int], list[tuple[str, int]]] = {}  # of a class, nearest first
        self.modules: dict[str, str] = {}  # name → file
        self.broken: list[str] = []


def read(folder: Path, files: list[str], paths: list[str], cache: Path) -> Types:
    """What mypy knows about `files` of `folder`; `paths` are the folders that imports start at."""
    options = Options()
    options.export_types = options.preserve_asts = options.check_untyped_defs = True
    options.ignore_missing_imports = True
    options.cache_dir = str(cache)
    options.mypy_path = [str(folder / path) for path in paths]
    options.namespace_packages = options.explicit_package_bases = True
    options.sqlite_cache = False
    options.show_traceback = True
    options.warn_unreachable = False
    sources, found = [], Types()
    for file in files:
        name = module_name(file, paths)
        found.modules[name] = file
        sources.append(BuildSource(str(folder / file), name, None))
        at = cache / f"{options.python_version[0]}.{options.python_version[1]}" / name.replace(".", "/")
        for kept in (*at.parent.glob(f"{at.name}.meta*"), *at.glob("__init__.meta*")):
            kept.unlink(missing_ok=True)
    try:
        result = build.build(sources, options)
    except CompileError as error:
        found.broken = [f"mypy: {line}" for line in error.messages]
        return found
    counts: dict[str, int] = defaultdict(int)
    for line in result.errors:
        file, _, rest = line.replace(f"{folder}/", "").partition(":")
        code = rest.rpartition("[")[2].rstrip("]") if rest.endswith("]") else "note"
        if code == "note":
            continue
        counts[f"{file} {code}"] += 1
        found.broken.append(f"{file} {code} {counts[f'{file} {code}']}")
    for name, state in result.graph.items():
        found.modules.setdefault(name, f"/{name}")
        if state.tree and name in found.modules and not found.modules[name].startswith("/"):
            _Reader(found, found.modules[name], result).read(state)
    return found


def module_name(file: str, paths: list[str]) -> str:
    """The name that `file` is imported by."""
    inner = next((file.removeprefix(f"{path}/") for path in paths if path != "." and file.startswith(f"{path}/")), file)
    return inner.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


class _Reader:
    def __init__(self, found: Types, file: str, result: build.BuildResult) -> None:
        self._found = found
        self._file = file
        self._result = result

    def read(self, state: build.State) -> None:
        """Add what the expressions of one module are."""
        assert state.tree
        self._classes(state.tree.names)
        for one in _below(state.tree):
            key = (self._file, one.end_line or 0, one.end_column or 0)
            if isinstance(one, nodes.MemberExpr):
                self._add(key, self._of_expression(one.expr, one.name))
            elif isinstance(one, nodes.SuperExpr):
                above = one.info.mro[1:] if one.info else []
                found = next((info for info in above if one.name in info.names), None)
                self._add(key, {Member(*self._class(found), one.name)} if found else None)
            elif isinstance(one, nodes.CallExpr) and any(one.arg_names):
                callee = (self._file, one.callee.end_line or 0, one.callee.end_column or 0)
                self._found.called[callee] = self._definition(one.callee)

    def _classes(self, names: nodes.SymbolTable) -> None:
        for symbol in list(names.values()):
            info = symbol.node
            if isinstance(info, nodes.TypeInfo) and self._path(info.module_name) == self._file:
                own = self._class(info)
                if own not in self._found.bases:
                    self._found.bases[own] = [self._class(above) for above in info.mro[1:]]
                    self._classes(info.names)

    def _definition(self, callee: nodes.Expression) -> tuple[str, int] | None:
        """The function that keywords of a call are parameters of; None if there are several, or none is known."""
        known = types.get_proper_type(self._result.types.get(callee))
        if not isinstance(known, types.CallableType) or not isinstance(known.definition, nodes.FuncDef):
            return None
        definition = known.definition
        if definition.info and definition.info.fullname:
            return self._class(definition.info)[0], definition.line
        if isinstance(callee, nodes.RefExpr) and callee.node is definition:
            module = next((m for m in _prefixes(callee.fullname) if m in self._result.graph), "")
            return self._path(module), definition.line
        module = next((m for m in _prefixes(definition.fullname) if m in self._result.graph), "")
        return (self._path(module), definition.line) if module else None

    def _add(self, key: tuple[str, int, int], members: set[Member] | None) -> None:
        known = self._found.attributes.get(key, set())
        self._found.attributes[key] = None if members is None or known is None else known | members

    def _of_expression(self, value: nodes.Expression, name: str) -> set[Member] | None:
        if isinstance(value, nodes.RefExpr) and isinstance(value.node, nodes.MypyFile):
            return {Member(self._path(value.node.fullname), 0, name)}
        known = self._result.types.get(value)
        if known is None and isinstance(value, nodes.NameExpr) and isinstance(value.node, nodes.Var):
            known = value.node.type
        return self._of_type(known, name) if known is not None else None

    def _of_type(self, known: types.Type | None, name: str) -> set[Member] | None:
        proper = types.get_proper_type(known)
        if isinstance(proper, types.UnionType):
            found: set[Member] = set()
            for item in proper.items:
                if isinstance(types.get_proper_type(item), types.NoneType):
                    continue
                one = self._of_type(item, name)
                if one is None:
                    return None
                found |= one
            return found
        if isinstance(proper, types.TypeType):
            return self._of_type(proper.item, name)
        if isinstance(proper, types.CallableType) and proper.is_type_obj():
            return self._of_class(proper.type_object(), name)
        if isinstance(proper, types.Overloaded) and proper.is_type_obj():
            return self._of_class(proper.type_object(), name)
        if isinstance(proper, types.FunctionLike):
            return self._of_type(proper.fallback, name)
        if isinstance(proper, types.TupleType):
            return self._of_class(proper.partial_fallback.type, name)
        if isinstance(proper, (types.TypedDictType, types.LiteralType)):
            return self._of_type(proper.fallback, name)
        if isinstance(proper, types.TypeVarType):
            if proper.values:
                return None
            return self._of_type(proper.upper_bound, name)
        if isinstance(proper, types.Instance):
            if proper.type.fullname == "types.ModuleType":
                return None
            return self._of_class(proper.type, name)
        return None

    def _of_class(self, info: nodes.TypeInfo, name: str) -> set[Member] | None:
        for one in info.mro:
            if name in one.names:
                return {Member(*self._class(one), name)}
        if info.fallback_to_any:
            return None
        meta = info.metaclass_type
        return self._of_class(meta.type, name) if meta and meta.type is not info else None

    def _class(self, info: nodes.TypeInfo) -> tuple[str, int]:
        path = self._path(info.module_name)
        # Of what mypy has from its cache it does not know the line.
        return path, crc32(info.fullname.encode()) if path.startswith("/") else info.defn.line

    def _path(self, module: str) -> str:
        return self._found.modules.get(module, f"/{module}")


_PARTS = (nodes.Statement, nodes.Expression, nodes.Argument, nodes.FuncBase)
_ELSEWHERE = {
    "node",
    "info",
    "definition",
    "def_var",
    "original_def",
    "unanalyzed_items",
    "type",
    "analyzed",
    "special_sig",
}


@cache
def _fields(classes: tuple[Any, ...]) -> tuple[str, ...]:
    names = {name for one in classes for name, value in vars(one).items() if isgetsetdescriptor(value)}
    return tuple(sorted(names - _ELSEWHERE))


def _below(tree: nodes.MypyFile) -> Iterator[nodes.Node]:
    """Everything in a tree: mypy's own visitors are compiled and can't have subclasses here."""
    todo: list[Any] = list(tree.defs)
    seen: set[int] = set()
    while todo:
        one = todo.pop()
        if isinstance(one, (list, tuple)):
            todo += one
        elif isinstance(one, _PARTS) and id(one) not in seen:
            seen.add(id(one))
            yield one
            for name in _fields(type(one).__mro__):
                with suppress(AttributeError, AssertionError):  # some have no value yet
                    todo.append(getattr(one, name))


def _prefixes(fullname: str) -> Iterator[str]:
    parts = fullname.split(".")
    for end in range(len(parts), 0, -1):
        yield ".".join(parts[:end])
