"""Errors that a language's own build reports and the server does not, found in the text: `MissedErrors`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from lsp_mcp.adapters import Adapter
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.lsp.coverage import Miss
from lsp_mcp.text import Text
from lsp_mcp.words.lexing import blanked


class Missed(Struct, frozen=True):
    """An error that the language's own build reports and the server does not."""

    files: str  # pattern of the paths of files that can have it
    pattern: str  # in the text without comments and strings; the group `at` is the place
    message: str  # with the groups of that pattern: {at}


MISSED = (
    # `go vet` and `go test` refuse a package with such a test, and gopls 0.24 says nothing. The go command wants one
    # parameter without a package's name: only its last word counts.
    Missed(
        files=r"_test\.go$",
        pattern=r"^func[ \t]+(?P<at>Test(?!Main\b)(?![a-z])\w*+)(?!\s*\(\s*(?:\w+\s*)?\*\s*(?:\w+\s*\.\s*)?T\b\s*,?"
        r"\s*\)\s*\{)",
        message="wrong signature for {at}, must be: func {at}(t *testing.T)",
    ),
    Missed(
        files=r"_test\.go$",
        pattern=r"^func[ \t]+(?P<at>TestMain)\b(?!\s*\(\s*(?:\w+\s*)?\*\s*(?:\w+\s*\.\s*)?[MT]\b\s*,?\s*\)\s*\{)",
        message="wrong signature for {at}, must be: func {at}(m *testing.M)",
    ),
    Missed(
        files=r"_test\.go$",
        pattern=r"^func[ \t]+(?P<at>Benchmark(?![a-z])\w*+)(?!\s*\(\s*(?:\w+\s*)?\*\s*(?:\w+\s*\.\s*)?B\b\s*,?\s*"
        r"\)\s*\{)",
        message="wrong signature for {at}, must be: func {at}(b *testing.B)",
    ),
    Missed(
        files=r"_test\.go$",
        pattern=r"^func[ \t]+(?P<at>Fuzz(?![a-z])\w*+)(?!\s*\(\s*(?:\w+\s*)?\*\s*(?:\w+\s*\.\s*)?F\b\s*,?\s*\)\s*\{)",
        message="wrong signature for {at}, must be: func {at}(f *testing.F)",
    ),
)


class MissedErrors:
    """Reads each file that can have such errors once, and again after a change.

    `sources` lists the files whose paths match a pattern; `excludes` tells which of them the build leaves out.
    """

    def __init__(
        self,
        adapter: Adapter,
        sources: Callable[[re.Pattern[str]], Awaitable[Iterable[str]]],
        excludes: Callable[[Path], Awaitable[bool]],
    ) -> None:
        self._adapter = adapter
        # One pattern: of 50,000 files, one search for each rule would take 0.15 s.
        self._files = re.compile("|".join(dict.fromkeys(f"(?:{rule.files})" for rule in MISSED)))
        self._sources = sources
        self._excludes = excludes
        self._known: dict[str, tuple[Miss, ...]] = {}  # by path, of the text on disk
        self._changes = 0  # the number of changes heard of

    def changed(self, paths: Iterable[Path]) -> None:
        """Note that these files were created, changed or deleted."""
        self._changes += 1
        for path in paths:
            self._known.pop(str(path), None)

    async def found(self, shown: Mapping[Path, Text]) -> dict[Path, tuple[Miss, ...]]:
        """The errors of each file that has any; `shown` are the texts of open documents."""
        able = await self._sources(self._files)
        known = self._known
        if unread := [path for path in able if path not in known]:
            before = self._changes
            read = await asyncio.to_thread(lambda: {path: self._read(path) for path in unread})
            known = {**known, **read}
            if self._changes == before:  # otherwise they may be older than what is known of the change
                self._known = known
        found: dict[Path, tuple[Miss, ...]] = {}
        open_texts = {str(path): text for path, text in shown.items()}
        for name in able:
            misses = self._in(name, open_texts[name]) if name in open_texts else known.get(name, ())
            if misses and not await self._excludes(path := Path(name)):
                found[path] = misses
        return found

    def _read(self, path: str) -> tuple[Miss, ...]:
        return self._in(path, Text(content_or_nothing(path).decode("utf-8", "replace")))

    def _in(self, path: str, text: Text) -> tuple[Miss, ...]:
        rules = [rule for rule in MISSED if re.search(rule.files, path)]
        if not any(re.search(rule.pattern, text.content, re.MULTILINE) for rule in rules):
            return ()
        code = blanked(text, self._adapter.language_of(Path(path)))
        return tuple(miss for rule in rules for miss in _misses(rule, code, text))


def _misses(rule: Missed, code: str, text: Text) -> Iterator[Miss]:
    for match in re.finditer(rule.pattern, code, re.MULTILINE):
        yield Miss(text.offsets_span(*match.span("at")), rule.message.format(**match.groupdict()))
