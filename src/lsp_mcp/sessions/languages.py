"""The languages of a workspace beyond those of its first servers: `OtherLanguages`, and `shares` of all of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from lsp_mcp.adapters import Adapter
from lsp_mcp.disk.feed import Feed
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
    counts = Counter(extension_of(path) for path in paths)
    files: Counter[str] = Counter()
    able: dict[str, list[Adapter]] = {}
    for extension, number in counts.items():
        those = {adapter.name: adapter for adapter in adapters if adapter.supports(extension)}
        for name in {those[adapter].language_name(extension) for adapter in those}:
            files[name] += number
            known = able.setdefault(name, [])
            known += [adapter for adapter in those.values() if adapter not in known]
    total = sum(files.values())
    ordered = sorted(files.items(), key=lambda item: (-item[1], item[0]))
    return [Share(name, number, number / total, tuple(able[name])) for name, number in ordered]


def extension_of(path: str) -> str:
    """The extension of a file's name, with the dot."""
    return os.path.splitext(path)[1]  # noqa: PTH122 (a Path for each of 50,000 files takes a second)


class OtherLanguages:
    """The servers of the languages that no chosen server supports: each starts when a file of its language matters.

    `feed` tells of the files of the workspace.
    """

    def __init__(self, adapters: Sequence[Adapter], feed: Feed) -> None:
        self._adapters = list(adapters)
        self._feed = feed
        self._counts: Counter[str] | None = None  # files by extension, once they are known

    @property
    def are_served(self) -> bool:
        """Whether there is any language."""
        return bool(self._adapters)

    def supporting(self, extension: str) -> Adapter | None:
        """The adapter for files with `extension`, which a question names."""
        return next((adapter for adapter in self._adapters if adapter.supports(extension)), None)

    async def present(self) -> tuple[list[Adapter], list[Gap]]:
        """The adapters whose files are in the workspace, for a question about all of it; and a remark on each one that
        is not installed.
        """
        if not self._adapters:
            return [], []
        counts = await self._counted()
        there = [adapter for adapter in self._adapters if adapter.searched_by_name]
        there = [adapter for adapter in there if any(counts[extension] for extension in adapter.extensions)]
        installed = [adapter for adapter in there if is_installed(adapter)]
        return installed, [_remark(adapter, counts) for adapter in there if adapter not in installed]

    async def _counted(self) -> Counter[str]:
        await self._feed.start()
        changes = self._feed.changes()
        if self._counts is None:
            self._counts = Counter(map(extension_of, self._feed.paths()))
        else:
            self._counts.update(map(extension_of, self._feed.own(map(str, changes.created))))
            self._counts.subtract(map(extension_of, self._feed.own(map(str, changes.deleted))))
        return self._counts


def _remark(adapter: Adapter, counts: Counter[str]) -> Gap:
    names = " and ".join(adapter.language_names)
    files = count(sum(counts[extension] for extension in adapter.extensions), "file")
    how = f"lsp-mcp install {adapter.name}" if adapter.install else f"install {adapter.title}"
    text = f"not searched: {files} of {names}, for which no server is installed ({how})"
    return news("not_searched", text, brief=f"not searched: {names}")
