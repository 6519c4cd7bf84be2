"""Which files a server wants to hear of: `WatchedFiles` keeps its registrations (LSP 3.17,
`workspace/didChangeWatchedFiles` and `client/registerCapability`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lsp_mcp.uris import uri_path

CREATED, CHANGED, DELETED = 1, 2, 3  # LSP 3.17, `FileChangeType`
_ALL_KINDS = 7  # LSP 3.17, `WatchKind`: create | change | delete
METHOD = "workspace/didChangeWatchedFiles"


@dataclass(frozen=True)
class Watcher:
    """One glob of one registration, matched against the path relative to `base`."""

    base: Path
    pattern: re.Pattern[str]
    kinds: int

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

    def register(self, registration_id: str, options: Any) -> None:
        """Take in one registration's `DidChangeWatchedFilesRegistrationOptions`."""
        self._registrations[registration_id] = [
            _watcher(watcher, self._root) for watcher in (options or {}).get("watchers", [])
        ]

    def unregister(self, registration_id: str) -> None:
        """Forget one registration; unknown ids are passed over."""
        self._registrations.pop(registration_id, None)

    def outside_folders(self) -> set[Path]:
        """Folders outside the root that the server wants watched."""
        return {w.base for w in self._watchers() if not w.base.is_relative_to(self._root)}

    def wanted(self, paths: Iterable[Path], change: int) -> list[Path]:
        """Those of `paths` whose change of type `change` (`FileChangeType`) the server asked for, sorted."""
        watchers = list(self._watchers())
        return sorted(path for path in paths if any(watcher.wants(path, change) for watcher in watchers))

    def _watchers(self) -> Iterator[Watcher]:
        for watchers in self._registrations.values():
            yield from watchers


def _watcher(watcher: Any, root: Path) -> Watcher:
    glob, kinds = watcher["globPattern"], watcher.get("kind") or _ALL_KINDS
    if isinstance(glob, dict):  # RelativePattern: its base is a URI or a WorkspaceFolder
        base = glob["baseUri"]
        return Watcher(uri_path(base["uri"] if isinstance(base, dict) else base), _glob(glob["pattern"]), kinds)
    if glob.startswith("/"):
        base, rest = _plain_folder(glob)
        return Watcher(base, _glob(rest), kinds)
    return Watcher(root, _glob(glob), kinds)


def _plain_folder(glob: str) -> tuple[Path, str]:
    """An absolute glob cut where its first special character's path component begins."""
    parts = glob.split("/")
    plain = next((i for i, part in enumerate(parts) if set(part) & set("*?{[")), len(parts) - 1)
    return Path("/".join(parts[:plain]) or "/"), "/".join(parts[plain:])


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    # A heavy import for something that only a running server needs.
    from wcmatch import glob

    flags = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.FORCEUNIX | glob.CASE
    included, _ = glob.translate(pattern, flags=flags)
    return re.compile("|".join(f"(?:{expression})" for expression in included))
