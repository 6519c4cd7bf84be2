"""The files that a server watches: `WatchedFiles` keeps its registrations (LSP 3.17, `workspace/didChangeWatchedFiles`
and `client/registerCapability`).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from lsp_mcp.disk.changes import Changes
from lsp_mcp.errors import PathError
from lsp_mcp.uris import path_uri, uri_path

log = logging.getLogger(__name__)

CREATED, CHANGED, DELETED = 1, 2, 3  # LSP 3.17, `FileChangeType`
_ALL_KINDS = 7  # LSP 3.17, `WatchKind`: create | change | delete
METHOD = "workspace/didChangeWatchedFiles"
_SPECIAL = frozenset("*?{[")  # characters of a glob
_DEEP = "**"  # in a glob: any number of folders
_MOST_KEPT = 10_000  # changes kept for a server that has not registered yet


class Watcher(Struct, frozen=True):
    """One glob of one registration, matched against the path relative to `base`."""

    base: Path
    pattern: re.Pattern[str]
    kinds: int
    is_deep: bool  # the glob reaches into folders
    file: Path | None = None  # the only path that it matches

    def wants(self, path: Path, change: int) -> bool:
        """Whether the server asked for a change of this type to this file."""
        if not self.kinds & (1 << (change - 1)) or not path.is_relative_to(self.base):
            return False
        return bool(self.pattern.fullmatch(path.relative_to(self.base).as_posix()))


class WatchedFiles:
    """The watchers that a server has registered; `root` is the base of relative globs."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._registrations: dict[str, list[Watcher]] = {}
        self._unheard: dict[Path, int] = {}  # changes without a watcher, for later registrations
        self._outside: set[Path] | None = None

    def register(self, registration_id: str, options: Any) -> None:
        """Process one registration's `DidChangeWatchedFilesRegistrationOptions`."""
        watchers: list[Watcher] = []
        for watcher in (options or {}).get("watchers", []):
            try:
                watchers.append(_watcher(watcher, self._root))
            except (PathError, LookupError, TypeError, AttributeError, re.error) as error:
                # The others still count.
                log.error("a watcher that cannot be understood: %s (%r)", watcher, error)
        self._registrations[registration_id] = watchers
        self._outside = None

    def unregister(self, registration_id: str) -> None:
        """Forget one registration; unknown ids are ignored."""
        self._registrations.pop(registration_id, None)
        self._outside = None

    def outside_folders(self) -> set[Path]:
        """Folders outside the root that the server wants watched, but never a whole file system.

        Nor all of one that contains the root: TypeScript 7 names the folder above a project, which may be a home. Nor
        one because of a file that does not exist: rust-analyzer 1.95 names one in ~/.config.
        """
        if self._outside is None:
            watchers = [one for one in self._watchers() if not one.base.is_relative_to(self._root)]
            above = {one.base for one in watchers if one.is_deep and self._root.is_relative_to(one.base)}
            bases = {one.base for one in watchers if one.file is None or one.file.is_file()}
            self._outside = {base for base in bases - above if base.parent != base}
        return self._outside

    def events(self, changes: Changes) -> list[dict[str, Any]]:
        """`changes` for the server, as LSP `FileEvent`s.

        The rest is kept: a server may read a file before it registers for its changes.
        """
        events = []
        for kind, paths in ((CREATED, changes.created), (CHANGED, changes.changed), (DELETED, changes.deleted)):
            wanted = self.wanted(paths, kind)
            events += [_event(path, kind) for path in wanted]
            self._unheard.update(dict.fromkeys(paths.difference(wanted), kind))
        if len(self._unheard) > _MOST_KEPT:
            self._unheard.clear()
        return events

    def missed(self) -> list[dict[str, Any]]:
        """Events for the server after a registration: kept changes that match now, each once."""
        wanted = [(path, kind) for path, kind in sorted(self._unheard.items()) if self.wanted([path], kind)]
        for path, _ in wanted:
            del self._unheard[path]
        return [_event(path, kind) for path, kind in wanted]

    def wanted(self, paths: Iterable[Path], change: int) -> list[Path]:
        """Those of `paths` whose change of type `change` (`FileChangeType`) the server watches, sorted."""
        watchers = list(self._watchers())
        return sorted(path for path in paths if any(watcher.wants(path, change) for watcher in watchers))

    def _watchers(self) -> Iterator[Watcher]:
        for watchers in self._registrations.values():
            yield from watchers


def _event(path: Path, kind: int) -> dict[str, Any]:
    return {"uri": path_uri(path), "type": kind}


def _watcher(watcher: Any, root: Path) -> Watcher:
    glob, kinds = watcher["globPattern"], watcher.get("kind")
    if not isinstance(kinds, int) or not kinds & _ALL_KINDS:
        kinds = _ALL_KINDS
    if isinstance(glob, dict):  # RelativePattern: its base is a URI or a WorkspaceFolder
        base = glob["baseUri"]
        folder = uri_path(base["uri"] if isinstance(base, dict) else base)
        return Watcher(folder, _glob(glob["pattern"]), kinds, _DEEP in glob["pattern"])
    if glob.startswith("/"):
        base, rest = _plain_folder(glob)
        file = None if set(glob) & _SPECIAL else Path(glob)
        return Watcher(base, _glob(rest), kinds, _DEEP in rest, file)
    return Watcher(root, _glob(glob), kinds, _DEEP in glob)


def _plain_folder(glob: str) -> tuple[Path, str]:
    """An absolute glob cut where its first special character's path component begins."""
    parts = glob.split("/")
    plain = next((i for i, part in enumerate(parts) if set(part) & _SPECIAL), len(parts) - 1)
    return Path("/".join(parts[:plain]) or "/"), "/".join(parts[plain:])


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    # A heavy import that only a running server needs.
    from wcmatch import glob

    flags = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.FORCEUNIX | glob.CASE
    included, _ = glob.translate(pattern, flags=flags)
    return re.compile("|".join(f"(?:{expression})" for expression in included))
