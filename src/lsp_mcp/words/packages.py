"""Which folders' files can refer to declarations of other folders, by their imports: `Packages`.

For languages in which the files of a folder share their names, and others import the folder by a path (Go). A name
declared at the top level of a package is used by files that import it; a member or an embedded type can be used by
all files that can have a value of it, which import the package directly or indirectly. The target of an import is
never guessed: one that cannot be resolved may lead anywhere.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile

from lsp_mcp.adapters import Lexing
from lsp_mcp.disk.entries import entries
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.servers.traits import Visibility

Imports = tuple[str, ...]
_EVERYWHERE = ""  # the folder that an import leads to if nobody knows which


class Importing:
    """Reads the imports of a file, by the patterns of an adapter. Comments and strings are not taken for imports."""

    def __init__(self, rules: Visibility, lexing: Lexing) -> None:
        comment, string = f"(?:{lexing.comment})", f"(?:{lexing.string})"
        imports = rules.import_pattern.replace("{comment}", comment).replace("{string}", string)
        tokens = f"{comment}|{string}|(?P<imports>{imports})|(?P<end>{rules.after_imports_pattern})"
        self._tokens = re.compile(tokens.encode(), re.MULTILINE)
        self._strings = re.compile(f"{comment}|(?P<string>{string})".encode(), re.MULTILINE)
        self._spelled: dict[bytes, str] = {}  # each once: a path is imported by many files

    @property
    def rules(self) -> str:
        """Identifies the rules, so that different readings are not confused."""
        return self._tokens.pattern.decode()

    def imports(self, content: bytes) -> Imports:
        """The imports of `content`, as spelled; each once, sorted."""
        tokens = takewhile(lambda match: match["end"] is None, self._tokens.finditer(content))
        sections = [match[0] for match in tokens if match["imports"]]
        found = {path for part in sections for match in self._strings.finditer(part) if (path := match["string"])}
        return tuple(sorted(map(self._path, found)))

    def _path(self, spelled: bytes) -> str:
        if spelled not in self._spelled:
            self._spelled[spelled] = spelled.strip(b'"`').decode("utf-8", "replace")
        return self._spelled[spelled]


class Packages:
    """The folders at one moment. Created and used in a thread: it reads the folders of libraries.

    `files` are the source files with their imports; `names` says which folders a path may begin at; `libraries` are
    folders that contain packages as `PATH@VERSION`; folders named in `copies` contain packages by their paths. `known`
    caches the imports of libraries between instances. Once `stopped`, it is useless, and soon ends.
    """

    def __init__(
        self,
        rules: Visibility,
        importing: Importing,
        files: Iterable[tuple[str, Imports]],
        names: Iterable[tuple[str, str]],
        libraries: Sequence[str],
        extensions: Sequence[str],
        copies: Iterable[str],
        known: dict[str, Imports],
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._extensions = tuple(extensions)
        self._version_mark, self._capital_mark = rules.version_mark, rules.capital_mark
        self._importing = importing
        self._is_library = re.compile(rules.library_pattern).match
        self._is_private = re.compile(rules.private_files).search if rules.private_files else lambda name: None
        self._libraries = libraries
        self._known = known
        self._stopped = stopped
        self._listed: dict[str, list[str]] = {}
        self._names: defaultdict[str, list[str]] = defaultdict(list)
        for name, folder in names:
            self._names[name].append(folder)
        self._shared: defaultdict[str, set[str]] = defaultdict(set)  # imports of files that other packages read too
        self._private: defaultdict[str, set[str]] = defaultdict(set)  # imports of tests
        self._files: defaultdict[str, list[str]] = defaultdict(list)
        for path, imports in files:
            folder, _, name = path.rpartition(os.sep)
            self._files[folder].append(path)
            (self._private if self._is_private(name) else self._shared)[folder].update(imports)
        self._copies: defaultdict[str, list[str]] = defaultdict(list)  # by import path
        for folder in (*self._shared, *self._private):
            for name in copies:
                _, found, path = folder.rpartition(f"{os.sep}{name}{os.sep}")
                if found:
                    self._copies[path].append(folder)
        self._resolved: dict[str, frozenset[str]] = {}
        self._importers, self._private_importers = self._graph()
        self._leading: dict[str, frozenset[str]] = {}

    def leading_to(self, folder: str) -> frozenset[str]:
        """The folders that import `folder`, directly or indirectly, including itself."""
        if folder not in self._leading:
            found = {folder, _EVERYWHERE}
            todo = list(found)
            while todo:
                new = self._importers.get(todo.pop(), set()) - found
                found |= new
                todo += new
            private = {one for there in found for one in self._private_importers.get(there, ())}
            self._leading[folder] = frozenset(found | private)
        return self._leading[folder]

    def files_below(self, folders: Iterable[str]) -> list[str] | None:
        """The files of the workspace in `folders` and in all that these import, through others too, sorted.

        None if one of them imports something that is neither there nor a certain version of a library.
        """
        found: set[str] = set()
        todo = set(folders)
        imports = [path for folder in todo for path in self._private.get(folder, ())]
        while todo:
            found |= todo
            imports += (path for folder in todo for path in self._shared.get(folder, ()))
            todo = {folder for path in set(imports) for folder in self._folders(path)} - found
            todo = {folder for folder in todo if self.has(folder) or not self._is_fixed(folder)}
            if not all(map(self.has, todo)):
                return None
            imports = []
        return sorted(path for folder in found for path in self._files[folder])

    def imports_any(self, imports: Imports, folders: Iterable[str]) -> bool:
        """Whether one of `imports` may be one of `folders`."""
        wanted = {*folders, _EVERYWHERE}
        return any(not wanted.isdisjoint(self._folders(path)) for path in imports)

    def is_library(self, path: str) -> bool:
        """Whether an import of `path` certainly leads to a library, and not to the workspace."""
        return not self._folders(path)

    def has(self, folder: str) -> bool:
        """Whether files of `folder` are known."""
        return folder in self._shared or folder in self._private

    def is_private(self, path: str) -> bool:
        """Whether no other file can import the declarations of the file `path`."""
        return bool(self._is_private(path.rpartition(os.sep)[2]))

    # --- inside ------------------------------------------------------------------------------------

    def _graph(self) -> tuple[Mapping[str, set[str]], Mapping[str, set[str]]]:
        """The importers of each folder: packages, and tests."""
        importers: defaultdict[str, set[str]] = defaultdict(set)
        private: defaultdict[str, set[str]] = defaultdict(set)
        for folder, imports in self._private.items():
            for path in imports:
                for there in self._folders(path):
                    private[there].add(folder)
        todo = [*self._shared, *private]
        seen = set(todo)
        for folder in todo:  # grows
            for path in self._imports(folder):
                for there in self._folders(path):
                    importers[there].add(folder)
                    if there not in seen:
                        seen.add(there)
                        todo.append(there)
        return importers, private

    def _is_fixed(self, folder: str) -> bool:
        """Whether `folder` belongs to an installed version of a library, whose files stay as they are."""
        inside = (folder[len(one) :] for one in self._libraries if folder.startswith(f"{one}{os.sep}"))
        return bool(self._version_mark) and any(self._version_mark in rest for rest in inside)

    def _imports(self, folder: str) -> Iterable[str]:
        if self.has(folder) or folder == _EVERYWHERE:
            return self._shared.get(folder, ())
        if folder not in self._known:
            if self._stopped():
                return ()
            found: set[str] = set()
            for entry in entries(folder, set()):
                if entry.name.endswith(self._extensions) and not self._is_private(entry.name):
                    found.update(self._importing.imports(content_or_nothing(entry.path)))
            self._known[folder] = tuple(sorted(found))
        return self._known[folder]

    def _folders(self, path: str) -> frozenset[str]:
        """The folders that an import of `path` may lead to; none if it leads outside the workspace."""
        if path not in self._resolved:
            found = {*self._here(path)}
            if not found and not self._is_library(path):
                found = {*self._elsewhere(path)} or {_EVERYWHERE}
            self._resolved[path] = frozenset(found)
        return self._resolved[path]

    def _here(self, path: str) -> Iterable[str]:
        """Folders of the workspace, and further ones that it names."""
        yield from self._copies.get(path, ())
        for name, rest in _divided(path):
            for start in self._names.get(name, ()):
                folder = os.path.normpath(os.path.join(start, rest))  # noqa: PTH118 (strings: there are many)
                if self.has(folder) or os.path.isdir(folder):  # noqa: PTH112
                    yield folder

    def _elsewhere(self, path: str) -> Iterable[str]:
        """Folders of libraries, in every installed version."""
        mark = self._version_mark
        for name, rest in _divided(path) if mark else ():
            parent, _, last = _escaped(name, self._capital_mark).rpartition("/")
            for library in self._libraries:
                above = os.path.join(library, parent)  # noqa: PTH118
                for entry in self._list(above):
                    if entry.startswith(f"{last}{mark}"):
                        folder = os.path.join(above, entry, rest).rstrip("/")  # noqa: PTH118
                        if os.path.isdir(folder):  # noqa: PTH112
                            yield folder

    def _list(self, folder: str) -> list[str]:
        if folder not in self._listed:
            self._listed[folder] = [entry.name for entry in entries(folder, set())]
        return self._listed[folder]


def _divided(path: str) -> Iterable[tuple[str, str]]:
    """`a/b/c` as (`a/b/c`, ``), (`a/b`, `c`), (`a`, `b/c`), and (``, `a/b/c`)."""
    yield path, ""
    name = path
    while name:
        name = name.rpartition("/")[0]
        yield name, path[len(name) :].lstrip("/")


def _escaped(path: str, mark: str) -> str:
    """`a/B` as `a/!b`, for file systems that ignore letter case."""
    return re.sub("[A-Z]", lambda match: mark + match[0].lower(), path) if mark else path
