"""Declarations moved to another package, where folders are packages: `Relocation`, with the new texts of all files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.errors import CallerError, ElsewhereError, PathError, RefusedError
from lsp_mcp.features.editing.source_files import source_files
from lsp_mcp.prose import first_few
from lsp_mcp.requests.declaration import declaration
from lsp_mcp.requests.package_clause import package_clause
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.servers.traits import Packages
from lsp_mcp.syntax.declarations import Declarations, Declared, declarations_of
from lsp_mcp.text import Point, Text

_Stretch = tuple[int, int]
_LISTED = 5  # names in an error


class Package(Struct, frozen=True):
    """A package: its folder, the name in its clause, and its import path."""

    folder: Path
    name: str
    path: str


class _Unit(Struct, frozen=True):
    """A declaration that moves; `whole` includes its comment."""

    file: Path
    read: Declarations
    declared: Declared
    whole: _Stretch


class Relocation:
    """Moves declarations of one package to the file `to` of another, which need not exist."""

    def __init__(
        self, backend: Backend, source: Package, target: Package, to: Path, files: Mapping[Path, Declarations]
    ):
        self._backend = backend
        self._source, self._target, self._to = source, target, to
        self._files = dict(files)  # those of the source package, then others that use it
        self._own = frozenset(files)
        self._units: list[_Unit] = []
        self._renamed: dict[str, str] = {}
        self._edits: dict[Path, dict[_Stretch, str]] = {}
        self._importing: set[Path] = set()

    @classmethod
    async def planned(cls, backend: Backend, path: Path, to: Path) -> Relocation:
        """The move of something declared in `path`. Raises `RefusedError`: the languages or places don't allow it."""
        packages = backend.plugin.renaming.packages
        if packages is None or not packages.qualified:
            raise RefusedError(f"declarations of {path.name} are not moved to another folder: folders are not packages")
        files: dict[Path, Declarations] = {}
        for file in source_files(path.parent, backend):
            if file.parent == path.parent and (read := await declared_in(backend, file)):
                files[file] = read
        source = await package_at(backend, packages, path.parent, path)
        target = await package_at(backend, packages, to.parent, to)
        return cls(backend, source, target, to, files)

    # --- what moves --------------------------------------------------------------------------------

    def add(self, path: Path, point: Point) -> list[tuple[Path, Point]]:
        """Let the declaration named at `point` move; returns the places of its names. Raises `CallerError`."""
        read = self._files.get(path)
        offset = read.text.point_offset(point) if read else 0
        declared = (
            next((one for one in read.declared if any(n[0] == offset for n in one.names)), None) if read else None
        )
        if read is None or declared is None:
            raise ElsewhereError(
                "only what is declared outside of functions and types can be moved to another package.", "move"
            )
        if declared.receiver:
            raise CallerError(f"a method moves with its type: pass {declared.receiver}.")
        if declared.is_ordered:
            raise RefusedError("a constant whose value depends on its place in a group is not moved out of that")
        self._move(path, read, declared)
        names = {read.slice(name) for name in declared.names}
        for file, other in self._files.items():
            for one in other.declared if file in self._own else ():
                if one.receiver in names:
                    self._move(file, other, one)
        return [(path, read.text.offset_point(name[0])) for name in declared.names]

    def named(self, name: str) -> tuple[Path, Point]:
        """Where the package declares `name`. Raises `CallerError`: it doesn't."""
        for path, read in self._files.items():
            for one in read.declared if path in self._own else ():
                for stretch in one.names if not one.receiver else ():
                    if read.slice(stretch) == name:
                        return path, read.text.offset_point(stretch[0])
        raise CallerError(f"package {self._source.name} does not declare {name}.")

    def _move(self, path: Path, read: Declarations, declared: Declared) -> None:
        if any(unit.file == path and unit.declared == declared for unit in self._units):
            return
        language = self._backend.plugin.language_of(path)
        found = declaration(read.text, read.text.offsets_span(*declared.span), language)
        whole = read.text.point_offset(found.span.start), read.text.point_offset(found.span.end)
        self._units.append(_Unit(path, read, declared, whole))

    # --- what changes ------------------------------------------------------------------------------

    async def inside(self) -> None:
        """Qualify what moved code uses of its old package. Raises `RefusedError`: that keeps it to itself."""
        tops = self._tops()
        kept: list[str] = []
        for unit in self._units:
            for use, qualifier in unit.read.uses.items():
                if not _within(use, unit.whole):
                    continue
                name = unit.read.slice(use)
                if qualifier:
                    if unit.read.slice(qualifier) == self._target.name and self._target.path in unit.read.imports:
                        self._edit(unit.file, (qualifier[0], use[0]), "")
                    continue
                if name not in tops or any(use == one for one in unit.declared.names):
                    continue
                point = unit.read.text.offset_point(use[0])
                if tops[name] not in await definition_places(self._backend, unit.file, point):
                    continue
                if self._moves(tops[name]):
                    continue
                if not self._backend.plugin.is_exported(name, unit.file):
                    kept.append(name)
                self._edit(unit.file, use, self._qualified(self._source, name))
                self._importing.add(unit.file)
        if kept:
            listed = first_few(list(dict.fromkeys(kept)), _LISTED)
            raise RefusedError(
                f"it was not moved, because it uses {listed}, which package {self._source.name} keeps to itself: move "
                f'that too, with "with": [names] in options, or rename it to a name that other packages can use'
            )

    async def outside(self, name: str, places: Sequence[Place]) -> list[Place]:
        """Let the uses of a moved declaration name its new package; returns those that cannot."""
        others = [one for one in places if not self._is_moved(one.path, one.text.point_offset(one.span.start))]
        new = name
        if others and not self._backend.plugin.is_exported(name, self._to):
            new = self._backend.plugin.exported_name(name)
            self._renamed[name] = new
        wrong: list[Place] = []
        for place in places:
            start, end = (place.text.point_offset(point) for point in place.span)
            if place not in others:
                if new != name:
                    self._edit(place.path, (start, end), new)
                continue
            if place.path not in self._files and (read := await declared_in(self._backend, place.path)):
                self._files[place.path] = read
            read = self._files.get(place.path)
            if read is None or read.text != place.text or (start, end) not in read.uses:
                wrong.append(place)
                continue
            qualifier = read.uses[start, end]
            if qualifier is None and place.path not in self._own:
                wrong.append(place)
                continue
            is_inside = place.path.parent == self._target.folder and self._clause(place.path) == self._target.name
            text = new if is_inside else self._qualified(self._target, new)
            self._edit(place.path, (qualifier[0] if qualifier else start, end), text)
            if not is_inside:
                self._importing.add(place.path)
        return wrong

    async def texts(self) -> dict[Path, tuple[Text, str]]:
        """The old and the new text of each file; the old one of a new file is empty."""
        moved = "\n\n".join(self._text_of(unit) for unit in self._sorted())
        specs: dict[str, str] = {}
        for unit in self._units:
            used = {unit.read.slice(one) for one in unit.read.uses.values() if one and _within(one, unit.whole)}
            for imported, spec in unit.read.imports.items():
                is_named = spec.strip()[:1] not in "_."
                if is_named and ("/" in imported or imported in used) and imported != self._target.path:
                    specs[imported] = spec
            if unit.file in self._importing:
                specs[self._source.path] = f'"{self._source.path}"'
        found: dict[Path, tuple[Text, str]] = {}
        for path in {*self._edits, *(unit.file for unit in self._units)} - {self._to}:
            read = self._files[path]
            outside = [unit.whole for unit in self._units if unit.file == path]
            edits = {
                span: new
                for span, new in self._edits.get(path, {}).items()
                if not any(_within(span, o) for o in outside)
            }
            edits |= {_with_line(read.text.content, whole): "" for whole in outside}
            wanted = {self._target.path: f'"{self._target.path}"'} if self._uses_target(path) else {}
            found[path] = read.text, self._with_imports(read, edits, wanted)
        before = self._files.get(self._to) or await declared_in(self._backend, self._to)
        if before:
            edits = {**self._edits.get(self._to, {})}
            body = self._with_imports(before, edits, specs)
            found[self._to] = before.text, f"{body.rstrip()}\n\n{moved}\n"
        else:
            packages = _packages(self._backend)
            lines = [packages.import_clause.format(spec=spec) for spec in specs.values()]
            head = [packages.clause.format(name=self._target.name), "\n".join(lines)]
            found[self._to] = Text(""), "\n\n".join([*filter(None, head), moved]) + "\n"
        return found

    @property
    def names(self) -> dict[str, str]:
        """The names that change, because other packages use them."""
        return dict(self._renamed)

    @property
    def count(self) -> int:
        """How many declarations move."""
        return len(self._units)

    # --- inside ------------------------------------------------------------------------------------

    def _uses_target(self, path: Path) -> bool:
        return path in self._importing and any(not self._is_moved(path, span[0]) for span in self._edits.get(path, {}))

    def _sorted(self) -> list[_Unit]:
        return sorted(self._units, key=lambda unit: (unit.file != self._units[0].file, str(unit.file), unit.whole))

    def _text_of(self, unit: _Unit) -> str:
        edits = {span: new for span, new in self._edits.get(unit.file, {}).items() if _within(span, unit.whole)}
        doc = unit.read.text.content[unit.whole[0] : unit.declared.span[0]]
        text = _edited(unit.read.text.content, edits, unit.declared.span[0], unit.whole[1])
        return f"{doc}{unit.declared.keyword} {text}" if unit.declared.keyword else doc + text

    def _with_imports(self, read: Declarations, edits: Mapping[_Stretch, str], specs: Mapping[str, str]) -> str:
        lines = read.import_lines(specs, _packages(self._backend).import_clause)
        added = {(read.import_at, read.import_at): lines} if lines else {}
        return _edited(read.text.content, {**edits, **added}, 0, len(read.text.content))

    def _edit(self, path: Path, span: _Stretch, new: str) -> None:
        self._edits.setdefault(path, {})[span] = new

    def _tops(self) -> dict[str, tuple[Path, Point]]:
        return {
            read.slice(name): (path, read.text.offset_point(name[0]))
            for path, read in self._files.items()
            if path in self._own
            for one in read.declared
            if not one.receiver
            for name in one.names
        }

    def _moves(self, site: tuple[Path, Point]) -> bool:
        return self._is_moved(site[0], self._files[site[0]].text.point_offset(site[1]))

    def _is_moved(self, path: Path, offset: int) -> bool:
        return any(unit.file == path and unit.whole[0] <= offset < unit.whole[1] for unit in self._units)

    def _qualified(self, package: Package, name: str) -> str:
        return _packages(self._backend).qualified.format(package=package.name, name=name)

    def _clause(self, path: Path) -> str:
        clause = package_clause(self._backend.plugin, path, self._files[path].text.content)
        return clause["name"] if clause else ""


async def package_at(backend: Backend, packages: Packages, folder: Path, file: Path) -> Package:
    """The package of the `folder` that `file` is in; the one that it will be, if it has no file yet.

    Raises:
        RefusedError: it is in no module, or its folder's name is not a name for a package.
    """
    name = ""
    tests = backend.plugin.adapter.tests
    present = [one for one in source_files(folder, backend) if one.parent == folder] if folder.is_dir() else []
    for path in sorted(present, key=lambda one: (one != file, tests.has(one, backend.root))):
        if found := package_clause(backend.plugin, path, (await backend.documents.text(path)).content):
            name = found["name"]
            break
    name = name or folder.name
    if not name.isidentifier():
        raise RefusedError(f"{name} is not a name for a package; choose another folder")
    return Package(folder, name, import_path(packages, folder))


def import_path(packages: Packages, folder: Path) -> str:
    """The path by which code imports the package in `folder`. Raises `RefusedError`: it is in no module."""
    for above in (folder, *folder.parents):
        content = content_or_nothing(above / packages.module_file).decode("utf-8", "replace")
        if found := re.search(packages.module_pattern, content, re.M):
            path = f"{found['path']}/{folder.relative_to(above).as_posix()}".removesuffix("/.")
            return path.removeprefix(f"{packages.standard_module}/") if packages.standard_module else path
    raise RefusedError(f"{folder} is in no module: there is no {packages.module_file} above it")


async def cycle(backend: Backend, texts: Mapping[Path, Text], start: Path) -> list[str]:
    """The import paths of packages that import each other with the new `texts`, from that in `start` back to it."""
    packages = _packages(backend)
    root_path = import_path(packages, start)
    module = next(one for one in (start, *start.parents) if (one / packages.module_file).is_file())
    module_path = import_path(packages, module)
    tests = backend.plugin.adapter.tests
    came_from: dict[str, str] = {}
    left = [root_path]
    while left:
        here = left.pop()
        folder = module / here.removeprefix(module_path).lstrip("/")
        files = {*(path for path in texts if path.parent == folder), *(_in(folder, backend))}
        for path in sorted(files):
            if tests.has(path, backend.root):
                continue
            read = await declared_in(backend, path, texts.get(path))
            for other in read.imports if read else ():
                if other == root_path:
                    return [*_way(came_from, here), root_path]
                if f"{other}/".startswith(f"{module_path}/") and other not in came_from:
                    came_from[other] = here
                    left.append(other)
    return []


def _way(came_from: Mapping[str, str], here: str) -> list[str]:
    way = [here]
    while way[0] in came_from:
        way.insert(0, came_from[way[0]])
    return way


def _in(folder: Path, backend: Backend) -> Iterable[Path]:
    return [one for one in source_files(folder, backend) if one.parent == folder] if folder.is_dir() else []


async def declared_in(backend: Backend, path: Path, text: Text | None = None) -> Declarations | None:
    """What the file declares, as `text` or as it is; None if it is gone, or for a language without such a query."""
    language = backend.plugin.language_of(path)
    try:
        text = text or await backend.documents.text(path)
    except PathError:
        return None
    return await declarations_of(text, language.id) if language else None


def _packages(backend: Backend) -> Packages:
    packages = backend.plugin.renaming.packages
    assert packages
    return packages


def _within(inner: _Stretch, outer: _Stretch) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _with_line(content: str, span: _Stretch) -> _Stretch:
    """`span` with the end of its line."""
    found = re.compile(r"[ \t]*(?:\r\n|\n|\r)?").match(content, span[1])
    return span[0], found.end() if found else span[1]


def _edited(content: str, edits: Mapping[_Stretch, str], start: int, end: int) -> str:
    """The text from `start` to `end` with these edits."""
    pieces, at = [], start
    for (first, last), new in sorted(edits.items()):
        if at <= first and last <= end:
            pieces += [content[at:first], new]
            at = last
    return "".join([*pieces, content[at:end]])
