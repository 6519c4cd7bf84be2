"""The languages of a workspace beyond those of its first servers: `OtherLanguages`, and `shares` of all of them."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from lsp_mcp.adapters import Adapter
from lsp_mcp.disk.feed import Feed
from lsp_mcp.file_kinds import kind_of
from lsp_mcp.gaps import Gap, news
from lsp_mcp.prose import count
from lsp_mcp.sessions.choosing import is_installed


class Share(Struct, frozen=True):
    """How much of a workspace's code is in one language, for which there are `adapters`."""

    language: str
    files: int
    part: float  # of all files in a language that an adapter supports
    adapters: tuple[Adapter, ...]


def shares(paths: Iterable[str], adapters: Sequence[Adapter]) -> list[Share]:
    """The languages of the files `paths`, the one with the most files first."""
    counts = Counter(_kinds(paths, adapters).values())
    files: Counter[str] = Counter()
    able: dict[str, list[Adapter]] = {}
    for kind, number in counts.items():
        those = {adapter.name: adapter for adapter in adapters if kind in adapter.by_kind}
        for name in {those[adapter].by_kind[kind].name for adapter in those}:
            files[name] += number
            named = able.setdefault(name, [])
            named += [adapter for adapter in those.values() if adapter not in named]
    total = sum(files.values())
    ordered = sorted(files.items(), key=lambda item: (-item[1], item[0]))
    return [Share(name, number, number / total, tuple(able[name])) for name, number in ordered]


class OtherLanguages:
    """The servers of the languages that no chosen server supports: each starts when a file of its language matters.

    `feed` tells of the files of the workspace.
    """

    def __init__(self, adapters: Sequence[Adapter], feed: Feed) -> None:
        self._adapters = list(adapters)
        self._feed = feed
        self._kinds: dict[str, str] | None = None  # of the files in these languages, once they are known
        self._pending: dict[str, bool] = {}  # files to look at, with whether they exist
        self._looking = asyncio.Lock()

    @property
    def are_served(self) -> bool:
        """Whether there is any language."""
        return bool(self._adapters)

    def supporting(self, path: Path) -> Adapter | None:
        """The adapter for the file `path`, which a question names."""
        return next((adapter for adapter in self._adapters if adapter.language_of(path)), None)

    async def present(self) -> tuple[list[Adapter], list[Gap]]:
        """The adapters whose files are in the workspace, for a question about all of it; and a remark on each one that
        is not installed.
        """
        if not self._adapters:
            return [], []
        counts = await self._counted()
        there = [adapter for adapter in self._adapters if adapter.searched_by_name]
        there = [adapter for adapter in there if any(counts[kind] for kind in adapter.by_kind)]
        installed = [adapter for adapter in there if is_installed(adapter)]
        return installed, [_remark(adapter, counts) for adapter in there if adapter not in installed]

    async def _counted(self) -> Counter[str]:
        """How many files there are of each kind."""
        await self._feed.start()
        async with self._looking:
            changes = self._feed.changes()
            self._pending |= dict.fromkeys(map(str, changes.deleted), False)
            self._pending |= dict.fromkeys(map(str, changes.created | changes.changed), True)
            pending, known = self._pending, self._kinds or {}
            there = self._feed.paths() if self._kinds is None else self._feed.own(p for p in pending if pending[p])
            found = await asyncio.to_thread(_kinds, list(there), self._adapters)
            if found or pending:
                known = {path: kind for path, kind in known.items() if path not in pending} | found
            self._kinds, self._pending = known, {}  # not earlier: the next one must look again if this one gives up
        return Counter(known.values())


def _kinds(paths: Iterable[str], adapters: Sequence[Adapter]) -> dict[str, str]:
    """The kind of each of `paths` that an adapter supports and that no build tool has generated for its own use."""
    having: dict[str, list[Adapter]] = defaultdict(list)
    for adapter in adapters:
        for supported in adapter.by_kind:
            having[supported].append(adapter)
    kinds = {path: kind for path in paths if (kind := kind_of(path, having))}
    return {path: kind for path, kind in kinds.items() if not all(one.is_generated(path) for one in having[kind])}


def _remark(adapter: Adapter, counts: Counter[str]) -> Gap:
    names = " and ".join(adapter.language_names)
    files = count(sum(counts[kind] for kind in adapter.by_kind), "file")
    how = f"lsp-mcp install {adapter.name}" if adapter.install else f"install {adapter.title}"
    text = f"not searched: {files} of {names}, for which no server is installed ({how})"
    return news("not_searched", text, brief=f"not searched: {names}")
