"""Errors that a language's own build reports and the server does not, found in the text: `MissedErrors`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from lsp_mcp.adapters import Adapter, Missed
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.text import Span, Text
from lsp_mcp.words.scopes import blanked


class Miss(Struct, frozen=True):
    """One error."""

    span: Span
    message: str


class MissedErrors:
    """Reads each file that can have such errors once, and again after a change.

    `sources` are the paths of all files; `excludes` tells which of them the build leaves out.
    """

    def __init__(
        self,
        adapter: Adapter,
        sources: Callable[[], Awaitable[Iterable[str]]],
        excludes: Callable[[Path], Awaitable[bool]],
    ) -> None:
        self._adapter = adapter
        self._rules = adapter.diagnostics.missed
        self._sources = sources
        self._excludes = excludes
        self._known: dict[str, tuple[Miss, ...]] = {}  # by path, of the text on disk

    def changed(self, paths: Iterable[Path]) -> None:
        """Note that these files were created, changed or deleted."""
        for path in paths:
            self._known.pop(str(path), None)

    async def found(self, shown: Mapping[Path, Text]) -> dict[Path, tuple[Miss, ...]]:
        """The errors of each file that has any; `shown` are the texts of open documents."""
        if not self._rules:
            return {}
        able = [path for path in await self._sources() if any(re.search(rule.files, path) for rule in self._rules)]
        if unread := [path for path in able if path not in self._known]:
            self._known.update(await asyncio.to_thread(lambda: {path: self._read(path) for path in unread}))
        found: dict[Path, tuple[Miss, ...]] = {}
        open_texts = {str(path): text for path, text in shown.items()}
        for name in able:
            misses = self._in(name, open_texts[name]) if name in open_texts else self._known.get(name, ())
            if misses and not await self._excludes(path := Path(name)):
                found[path] = misses
        return found

    def _read(self, path: str) -> tuple[Miss, ...]:
        return self._in(path, Text(content_or_nothing(path).decode("utf-8", "replace")))

    def _in(self, path: str, text: Text) -> tuple[Miss, ...]:
        rules = [rule for rule in self._rules if re.search(rule.files, path)]
        if not any(re.search(rule.pattern, text.content, re.MULTILINE) for rule in rules):
            return ()
        code = blanked(text.content, self._adapter.language_of(Path(path)))
        return tuple(miss for rule in rules for miss in _misses(rule, code, text))


def _misses(rule: Missed, code: str, text: Text) -> Iterator[Miss]:
    for match in re.finditer(rule.pattern, code, re.MULTILINE):
        yield Miss(text.offsets_span(*match.span("at")), rule.message.format(**match.groupdict()))
