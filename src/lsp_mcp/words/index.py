"""The words of files: `WordIndex`. Pure.

8 bytes for each word of each file: the word's hash (32 bits), and the file's number. So for one in ten thousand words,
a file with another word of the same hash is returned: callers read the files anyway.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterator
from zlib import crc32

from msgspec import Struct, field

_BUCKETS = 4096  # by the lowest bits of the hash; a bucket is searched linearly
_LOWEST = _BUCKETS - 1
_NUMBERS = 24  # bits of a file's number
_NUMBER = (1 << _NUMBERS) - 1
_MANY = 10_000  # entries
_LEAST_WASTE = 10_000  # stale entries that are kept

_LETTERS = bytes(byte if byte >= 0x80 or chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(256))
_PART = re.compile(r"\w+")


def words_in(content: bytes) -> set[bytes]:
    """The words of `content`, in code and elsewhere, spelled as by `parts`."""
    # Twice as fast as a pattern. Of the characters that may begin a word only digits come before `:`.
    words = {word for word in set(content.translate(_LETTERS).split()) if word > b":"}
    if content.isascii():
        return words
    return {part for word in words for part in ([word] if word.isascii() else parts(word.decode("utf-8", "replace")))}


def parts(word: str) -> list[bytes]:
    """The parts of `word` that an index contains: a file with the word has all of them."""
    return [part.encode("utf-8", "surrogatepass") for part in _PART.findall(word) if not part[0].isdigit()]


class Table(Struct):
    """The data of an index. Entries of deleted files stay in the buckets until there are many."""

    paths: list[str | None] = field(default_factory=list)  # by number; None: stale
    sizes: array[int] = field(default_factory=lambda: array("I"))  # number of words, by number
    stamps: array[int] = field(default_factory=lambda: array("Q"))  # by number: see `put`
    contents: array[int] = field(default_factory=lambda: array("Q"))  # by number: see `put`
    imports: list[tuple[str, ...]] = field(default_factory=list)  # by number
    buckets: list[array[int]] = field(default_factory=lambda: [array("Q") for _ in range(_BUCKETS)])
    numbers: dict[str, int] = field(default_factory=dict)  # by path

    def compacted(self) -> Table:
        """The table without stale entries."""
        new = {number: index for index, number in enumerate(self.numbers.values())}
        return Table(
            list(self.numbers),
            array("I", [self.sizes[number] for number in new]),
            array("Q", [self.stamps[number] for number in new]),
            array("Q", [self.contents[number] for number in new]),
            [self.imports[number] for number in new],
            [
                array("Q", [e & ~_NUMBER | new[e & _NUMBER] for e in bucket if e & _NUMBER in new])
                for bucket in self.buckets
            ],
            {path: new[number] for path, number in self.numbers.items()},
        )


class WordIndex:
    """Words by file and files by word, and the imports of each file. One thread may write while others read."""

    def __init__(self, table: Table | None = None) -> None:
        self._table = table or Table()
        self._waste = 0  # stale entries
        self.imports_changed = 0  # number of files added, removed, or with changed imports

    def __len__(self) -> int:
        return len(self._table.numbers)

    def __contains__(self, path: str) -> bool:
        return path in self._table.numbers

    @property
    def pairs(self) -> int:
        """The number of entries, one for each word of a file."""
        return sum(map(len, self._table.buckets))

    def put(
        self, path: str, words: Collection[bytes], imports: tuple[str, ...] = (), stamp: int = 0, content: int = 0
    ) -> None:
        """Replace the words of `path`. `stamp` identifies the state of the file, 0: unknown; `content` its text."""
        table = self._table
        buckets, number = table.buckets, len(table.paths)
        for hashed in map(crc32, words):
            buckets[hashed & _LOWEST].append(hashed << _NUMBERS | number)
        before = table.numbers.get(path)
        if before is None or table.imports[before] != imports:
            self.imports_changed += 1
        table.sizes.append(len(words))
        table.stamps.append(stamp)
        table.contents.append(content)
        table.imports.append(imports)
        table.paths.append(path)
        table.numbers[path] = number
        if before is not None:
            self._bury(before)

    def drop(self, path: str) -> None:
        """Remove `path`."""
        if (number := self._table.numbers.pop(path, None)) is not None:
            self._bury(number)
            self.imports_changed += 1

    def paths(self) -> list[str]:
        """Every file."""
        return list(self._table.numbers)

    def imports(self, path: str) -> tuple[str, ...]:
        """The value stored with `path`; empty if there is none."""
        table = self._table
        number = table.numbers.get(path)
        return () if number is None else table.imports[number]

    def stamp(self, path: str) -> int:
        """The stamp stored with `path`; 0 if there is none."""
        table = self._table
        number = table.numbers.get(path)
        return 0 if number is None else table.stamps[number]

    def content(self, path: str) -> int:
        """What identifies the text of `path`; 0 if there is none."""
        table = self._table
        number = table.numbers.get(path)
        return 0 if number is None else table.contents[number]

    def files_with(self, word: str) -> set[str]:
        """The files that have all `parts` of `word`: every file, if it has none."""
        table, found = self._table, None
        for part in parts(word):
            having = set(_having(table, crc32(part)))
            found = having if found is None else found & having
        return set(table.numbers) if found is None else found

    def is_common(self, word: str) -> bool:
        """Whether searching for `word` scans so many entries that it takes a while."""
        return any(len(self._table.buckets[crc32(part) & _LOWEST]) > _MANY for part in parts(word))

    def compact(self) -> Table:
        """Remove the data of outdated files; returns the data to save."""
        if len(self._table.paths) != len(self._table.numbers):
            # A new object: readers continue with theirs.
            self._table, self._waste = self._table.compacted(), 0
        return self._table

    def _bury(self, number: int) -> None:
        self._table.paths[number] = None
        self._waste += self._table.sizes[number]
        if self._waste > _LEAST_WASTE and self._waste > self.pairs // 2:
            self.compact()


def _having(table: Table, hashed: int) -> Iterator[str]:
    for entry in table.buckets[hashed & _LOWEST]:
        if entry >> _NUMBERS == hashed and (path := table.paths[entry & _NUMBER]) is not None:
            yield path
