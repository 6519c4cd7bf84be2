"""Files of the build outside the watched folders, which cause no events: `FilesElsewhere`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from lsp_mcp.disk.files import Signature

_MOST = 500  # checked before each question


class FilesElsewhere:
    """Remembers the state of some files, and finds those that changed."""

    def __init__(self) -> None:
        self._seen: dict[Path, Signature | None] = {}

    def watch(self, files: Iterable[Path]) -> None:
        """Replace the set of files; their present state counts as known."""
        self._seen = {path: Signature.read(path) for path in islice(files, _MOST)}

    def changed(self) -> list[Path]:
        """Those that have changed since the last call."""
        before, self._seen = self._seen, {path: Signature.read(path) for path in self._seen}
        return [path for path, signature in self._seen.items() if signature != before[path]]

    @property
    def example(self) -> Path | None:
        """One of the files, or None."""
        return next(iter(self._seen), None)
