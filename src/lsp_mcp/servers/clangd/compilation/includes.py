"""Which files include which, according to their text: `Includes`.

An include counts for every file whose path ends with its spelling, whatever the search path and the conditions around
it; if there is none, for every file of that name: possibly more than the preprocessor includes, never fewer. An include
spelled by a macro counts for every file.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path
from typing import NamedTuple

from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.servers.clangd.compilation.conditionals import has_conditions, leading_includes

_ANY = ""  # spelled by a macro


class Scan(NamedTuple):
    """The includes in the text of a file."""

    includes: frozenset[str]  # the path endings of its includes
    conditional: bool  # whether the preprocessor may exclude parts of it
    leading: tuple[str, ...] = ()  # its includes at the top, if it has an include guard


class Links(NamedTuple):
    """The links in a workspace to `files` and `folders` there. Each to a file counts as a file that includes that."""

    files: Mapping[Path, Path] = {}
    folders: Mapping[Path, Path] = {}


class Includes:
    """The includes of all files that were read; `update` reads more."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern.encode(), re.MULTILINE)
        self.forced: Mapping[Path, Iterable[str]] = {}  # further includes from a file's command
        self.links = Links()
        self.known: dict[Path, Scan] = {}
        self._unfound: set[str] = set()  # no known file ends so: a link may lead to one
        self._includers: dict[str, set[Path]] | None = None  # by the last part of their spelling

    @property
    def spelled(self) -> set[str]:
        """The path endings of all includes."""
        return {one for scan in self.known.values() for one in scan.includes if one != _ANY}

    def endings(self, is_named: Callable[[str], bool]) -> dict[str, dict[str, Path]]:
        """The path endings of all includes of files without `is_named`, by the file's name; with a file that has each.

        An ending that no known file has, because a link may lead to one, is the file's name alone.
        """
        found: dict[str, dict[str, Path]] = {}
        for path in sorted(self.known):
            for spelled in self.known[path].includes:
                if spelled != _ANY and not is_named(name := _name(spelled)):
                    found.setdefault(name, {}).setdefault(name if spelled in self._unfound else spelled, path)
        return found

    def forget(self, paths: Iterable[Path]) -> None:
        """Note that these were created, changed or deleted: they are read again."""
        for path in paths:
            if self.known.pop(path, None) is not None:
                self._includers = None

    def update(self, files: Iterable[Path], sources: Iterable[Path]) -> None:
        """Read unknown files: `sources`, and those of `files` that they include, also indirectly."""
        todo, seen = list(sources), set(self.known)
        seen.update(todo)
        by_name: defaultdict[str, list[Path]] = defaultdict(list)
        for path in files:
            if path not in seen:
                by_name[path.name].append(path)
        todo += self.known.keys() - set(todo)
        for path in todo:  # grows
            for spelled in self._read(path):
                todo.extend(by_name.pop(_name(spelled), ()))
        self._includers = None
        self._unfound = self._find_unfound()

    def affected(self, changed: Iterable[Path]) -> set[Path]:
        """Those of `changed` and every file that includes one of them, also indirectly."""
        found = set(changed)
        todo = list(found)
        while todo:
            path = todo.pop()
            new = self.includers(path, found)
            found |= new
            todo += new
        return found

    def includers(self, path: Path, known: Set[Path] = frozenset()) -> set[Path]:
        """The files that may include `path` themselves, without those of `known`."""
        if self._includers is None:
            self._includers = defaultdict(set)
            for one, scan in self.known.items():
                for spelled in scan.includes:
                    self._includers[_name(spelled)].add(one)
        named = self._includers.get(path.name, set()) | self._includers.get(_ANY, set())
        return {one for one in named - known if any(self._names(spelled, path) for spelled in self.known[one].includes)}

    def includers_by_any_name(self, path: Path) -> set[Path]:
        """As `includers`, with those that include a link to `path` in place of the link."""
        found = self.includers(path)
        links = found & self.links.files.keys()
        return found.difference(links).union(*map(self.includers, links))

    def places(self, path: Path, by: Path, content: bytes) -> list[int]:
        """The offsets, in bytes, of the includes in the file `by` with `content` that mean `path`, not by a macro."""
        names = [path, *(link for link, to in self.links.files.items() if to == path)]
        return [
            one.start()
            for one in self._pattern.finditer(content)
            if one[1] and any(self._means(one, by, name) for name in names)
        ]

    def _means(self, include: re.Match[bytes], by: Path, path: Path) -> bool:
        """Whether `include`, in the file `by`, may mean `path`."""
        is_beside = b'"' in include[0] and self._has_beside(include[1], by, path)
        return self._names(_plain(include[1]), path) and not is_beside

    def _has_beside(self, spelled: bytes, by: Path, other: Path) -> bool:
        """Whether an include of `by` means the file next to it, which is not `other`."""
        beside = Path(os.path.normpath(by.parent / os.fsdecode(spelled)))
        return beside != other and beside in self.known

    def reached(self, sources: Iterable[Path]) -> set[Path]:
        """`sources` and every known file that one of them includes, also indirectly."""
        by_name: defaultdict[str, list[Path]] = defaultdict(list)
        for path in self.known:
            by_name[path.name].append(path)
        found = set(sources)
        todo = list(found)
        while todo:
            path = todo.pop()
            for spelled in self.known[path].includes if path in self.known else ():
                for included in by_name.get(_name(spelled), ()):
                    if included not in found and self._names(spelled, included):
                        found.add(included)
                        todo.append(included)
        return found

    def included(self, spelled: str, by: Path, is_library: Callable[[str], bool]) -> Path | None:
        """The known file that `spelled` certainly means in `by`; None if that is uncertain or not known."""
        beside = Path(os.path.normpath(by.parent / spelled))
        if beside in self.known:
            return beside
        if is_library(spelled):
            return None
        plain = _plain(os.fsencode(spelled))
        found = [path for path in self.known if path.name == _name(plain) and f"{path}".endswith(f"/{plain}")]
        return found[0] if len(found) == 1 else None

    def led_by(self, header: Path, is_library: Callable[[str], bool], seen: set[Path]) -> list[Path]:
        """The includes at the top of `header`, and theirs, in the order in which they are read.

        Without those of `seen`, which is extended; an uncertain include ends the list of its file.
        """
        order: list[Path] = []
        for spelled in self.known[header].leading if header in self.known else ():
            path = self.included(spelled, header, is_library)
            if path and path not in seen:
                seen.add(path)
                order += [*self.led_by(path, is_library, seen), path]
        return order

    def leading_out(
        self, is_library: Callable[[str], bool], is_nowhere: Callable[[Path, str], bool] = lambda _path, _name: False
    ) -> set[Path]:
        """The files with an include that may lead to unknown files, and from there back to any.

        `is_library` says whether an include's spelling certainly leads to no file of the workspace, `is_nowhere`
        whether the one of a file of that name is in no code that is compiled.
        """
        names = {path.name for path in self.known}
        spelled = {one for scan in self.known.values() for one in scan.includes if one != _ANY}
        out = {one for one in spelled if one in self._unfound or _name(one) not in names}
        out -= {one for one in out if is_library(one)}
        return {
            path
            for path, scan in self.known.items()
            if not all(is_nowhere(path, _name(one)) for one in out & scan.includes)
        }

    def _find_unfound(self) -> set[str]:
        by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in self.known:
            by_name[path.name].append(str(path))
        spelled = {one for scan in self.known.values() for one in scan.includes if "/" in one}
        return {one for one in spelled if not any(path.endswith(f"/{one}") for path in by_name[_name(one)])}

    def _names(self, spelled: str, path: Path) -> bool:
        """Whether `spelled` may mean `path`."""
        unfound = spelled in self._unfound and _name(spelled) == path.name
        return spelled == _ANY or unfound or f"{path}".endswith(f"/{spelled}")

    def _read(self, path: Path) -> frozenset[str]:
        if path not in self.known and path in self.links.files:
            self.known[path] = Scan(frozenset([f"{self.links.files[path]}".removeprefix("/")]), conditional=False)
        elif path not in self.known:
            content = content_or_nothing(path)
            spelled = {_plain(match[1]) for match in self._pattern.finditer(content)}
            spelled.update(_plain(os.fsencode(forced)) for forced in self.forced.get(path, ()))
            leading = tuple(map(os.fsdecode, leading_includes(content, self._pattern)))
            self.known[path] = Scan(frozenset(spelled), has_conditions(content), leading)
        return self.known[path].includes


def _plain(spelled: bytes | None) -> str:
    """`../lib/./a.h` is `lib/a.h`: the end of the file's path."""
    if spelled is None:
        return _ANY
    parts = os.path.normpath(os.fsdecode(spelled)).split("/")
    return "/".join(part for part in parts if part not in ("..", ""))


def _name(spelled: str) -> str:
    return spelled.rpartition("/")[2]
