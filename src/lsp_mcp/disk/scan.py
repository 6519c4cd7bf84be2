"""`ScanMethod` walks and stats all files at every question: correct everywhere, and the slowest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lsp_mcp.disk.changes import Ledger
from lsp_mcp.disk.extent import Extent
from lsp_mcp.disk.method import lasting_note
from lsp_mcp.disk.snapshot import Snapshot


class ScanMethod:
    """Watches by comparing signatures. See `Method`."""

    def __init__(self, ledger: Ledger, extent: Extent, reason: str | None = None) -> None:
        self._snapshot = Snapshot(ledger, extent)
        self._extent = extent
        self._roots: list[str] = []
        self._missing: list[str] = []
        self._reason = f"watching by scan: {reason}" if reason else "watching by scan"

    def add_root(self, root: str) -> None:
        """See `Method`."""
        if root not in self._roots:
            self._roots.append(root)
            self._snapshot.learn(root)

    def collect(self) -> None:
        """See `Method`. A deleted root has no files; when it is back it is walked again."""
        self._snapshot.scan(self._roots)
        self._missing = [root for root in self._roots if not Path(root).is_dir()]

    def files(self) -> Iterable[str]:
        """See `Method`."""
        return list(self._snapshot.files)

    def links(self) -> Iterable[str]:
        """See `Method`."""
        return self._snapshot.links()

    def note(self) -> str | None:
        """See `Method`."""
        return lasting_note(self._reason, self._missing, self._snapshot.unreadable, self._extent.left_out())

    def close(self) -> None:
        """See `Method`."""
