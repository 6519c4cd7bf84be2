"""The folder and file of a workspace that an import leads to, by the spelling of both: `Folders`. Pure.

Two folders may end alike, so it can be wrong: good for an overview only.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

_LONGEST = 6  # parts of a path by which it is found
_ROOTS = frozenset({"", "src", "lib", "source"})  # folders in which a single name may be meant
_HERE = frozenset({"crate", "self", "super"})


class Folders:
    """The folders that have source files, found by what imports say.

    `files` are relative to the workspace root. `beginnings` are the known beginnings of imports, each with the folder
    that it means; if there are any, other imports lead out of the workspace.
    """

    def __init__(self, files: Iterable[PurePosixPath], beginnings: Sequence[tuple[str, str]] = ()) -> None:
        self._beginnings = sorted(beginnings, key=lambda one: -len(one[0]))
        self._of: dict[str, str] = {}  # by path, with and without its ending
        self._files: dict[str, str] = {}  # by path, with and without its ending
        self._ends: dict[tuple[str, ...], set[str]] = {}  # by the last parts of a path
        for file in files:
            folder = "" if str(file.parent) == "." else str(file.parent)
            for path in (str(file), str(file.with_suffix(""))):
                self._files.setdefault(path, str(file))
            for path in {str(file), str(file.with_suffix("")), folder}:
                if path:
                    self._of.setdefault(path, folder)
                    parts = path.split("/")
                    for number in range(1, min(_LONGEST, len(parts)) + 1):
                        self._ends.setdefault(tuple(parts[-number:]), set()).add(path)

    def meant(self, spelled: str, importer: PurePosixPath) -> tuple[str, str] | None:
        """The folder that `spelled` leads to from the file `importer`, "" is the root, and the file, if it names one;
        None: a place outside.
        """
        path = self._path(spelled, importer)
        if path is None:
            return None
        return (self._of[path] if path else "", self._files.get(path, "") if path else "")

    def _path(self, spelled: str, importer: PurePosixPath) -> str | None:
        here = "" if str(importer.parent) == "." else str(importer.parent)
        if self._beginnings:
            return self._by_beginning(spelled)
        if spelled.startswith((".", "/")) and "/" in spelled:
            return self._known(posixpath.normpath(posixpath.join(here, spelled)))
        if relative := re.match(r"\.+", spelled):
            above = PurePosixPath(here, *[".."] * (len(relative[0]) - 1), *spelled[relative.end() :].split("."))
            return self._known(posixpath.normpath(str(above)))
        if "/" in spelled or PurePosixPath(spelled).suffix.startswith(".h"):
            found = self._known(posixpath.normpath(posixpath.join(here, spelled)))
            return found if found is not None else self._by_end(tuple(spelled.split("/")), here)
        parts = tuple(part for part in re.split(r"::|\.", spelled) if part)
        own = parts and parts[0] in _HERE
        parts = tuple(part for part in parts if part not in _HERE)
        for number in range(len(parts), 1 if not own else 0, -1):
            if (found := self._by_end(parts[:number], here)) is not None:
                return found
        single = [path for path in self._ends.get(parts[:1], ()) if posixpath.dirname(path) in _ROOTS] if parts else []
        return single[0] if len(single) == 1 else None

    def _by_beginning(self, spelled: str) -> str | None:
        for beginning, folder in self._beginnings:
            if spelled == beginning or spelled.startswith(f"{beginning}/"):
                return self._known(posixpath.normpath(posixpath.join(folder, spelled[len(beginning) :].lstrip("/"))))
        return None

    def _known(self, path: str) -> str | None:
        if path in (".", ""):
            return ""
        return next((one for one in (path, posixpath.splitext(path)[0]) if one in self._of), None)

    def _by_end(self, parts: tuple[str, ...], here: str) -> str | None:
        """The path that ends with `parts`, of several the one that has most in common with `here`."""
        found = self._ends.get(parts[-_LONGEST:], set())
        own = here.split("/")

        def in_common(path: str) -> int:
            return sum(1 for _ in _common(path.split("/"), own))

        best = sorted(found, key=lambda path: (-in_common(path), path))
        return best[0] if best else None


def _common(one: Sequence[str], other: Sequence[str]) -> Iterable[str]:
    for a, b in zip(one, other, strict=False):
        if a != b:
            return
        yield a
