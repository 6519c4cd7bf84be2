"""What one file of a server's index on disk has about a source: `read`. The server is not asked.

The form is RIFF with the type `CdIx`, of the version that the adapter names: other versions are not read.
"""

from __future__ import annotations

import zlib
from pathlib import Path

from lsp_mcp.backend import Indexed
from lsp_mcp.errors import PathError
from lsp_mcp.uris import uri_path

_TYPES = frozenset({6, 7, 8, 11, 12})  # enum, struct, class, union and alias, among the kinds of symbols
_DECLARES = 1 | 2  # a declaration or a definition, among the kinds of a use
_SPELLED = 8  # the name of the symbol is there; otherwise a macro or an implicit call
_UNIT = 1  # the flags of a source that was compiled by itself, without errors
_ID = 8  # bytes
_DIGEST = 8
_FARTHEST = (1 << 12) - 1  # the last character that the form can hold; those after it are the same
_LARGEST = 1 << 24  # bytes of all its texts


def read(file: Path, version: int) -> Indexed | None:
    """The content of `file`; None if it cannot be read, or has another version of the form."""
    try:
        chunks = _chunks(file.read_bytes())
        if int.from_bytes(chunks[b"meta"][:4], "little") != version:
            return None
        texts = _texts(chunks[b"stri"])
        own = _source(_Bytes(chunks[b"srcs"]), texts)
        if own is None:
            return None
        flags, uri = own
        uses = _uses(_Bytes(chunks[b"refs"]), texts, uri)
        return Indexed(uri_path(uri), flags == _UNIT, _types(_Bytes(chunks[b"symb"]), texts), uses)
    except (OSError, ValueError, KeyError, IndexError, PathError, zlib.error):
        return None


# --- inside ------------------------------------------------------------------------------------


class _Bytes:
    """Numbers and texts, one after another."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._content)

    def byte(self) -> int:
        self._at += 1
        return self._content[self._at - 1]

    def number(self) -> int:
        """Seven bits in each byte, the lowest first."""
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7

    def take(self, size: int) -> bytes:
        if self._at + size > len(self._content):
            raise ValueError("cut short")
        self._at += size
        return self._content[self._at - size : self._at]

    def location(self) -> tuple[int, int, int]:
        """The number of its file, and its start."""
        file, line, character = self.number(), self.number(), self.number()
        self.number(), self.number()
        return file, line, character


def _chunks(content: bytes) -> dict[bytes, bytes]:
    if content[:4] != b"RIFF" or content[8:12] != b"CdIx" or int.from_bytes(content[4:8], "little") + 8 > len(content):
        raise ValueError("not an index")
    chunks, at = {}, 12
    while at + 8 <= len(content):
        size = int.from_bytes(content[at + 4 : at + 8], "little")
        chunks[content[at : at + 4]] = content[at + 8 : at + 8 + size]
        at += 8 + size + size % 2
    return chunks


def _texts(chunk: bytes) -> list[str]:
    size = int.from_bytes(chunk[:4], "little")
    if size > _LARGEST:
        raise ValueError("too large")
    content = zlib.decompressobj().decompress(chunk[4:], size) if size else chunk[4:]
    return content.decode(errors="surrogateescape").split("\0")


def _source(content: _Bytes, texts: list[str]) -> tuple[int, str] | None:
    """The flags and the address of the file that it is about: the only one with a digest."""
    own = []
    while content:
        flags, uri, digest = content.byte(), texts[content.number()], content.take(_DIGEST)
        for _ in range(content.number()):
            content.number()
        if any(digest):
            own.append((flags, uri))
    return own[0] if len(own) == 1 else None


def _types(content: _Bytes, texts: list[str]) -> dict[str, tuple[str, str] | None]:
    types: dict[str, tuple[str, str] | None] = {}
    while content:
        identifier = content.take(_ID).hex().upper()
        kind, _language = content.byte(), content.byte()
        name, scope, arguments = (texts[content.number()] for _ in range(3))
        content.location()
        content.location()
        content.number()
        content.byte()
        for _ in range(5):
            content.number()
        for _ in range(content.number()):
            content.number(), content.number()
        if kind in _TYPES:
            types[identifier] = None if arguments else (name, scope)
    return types


def _uses(content: _Bytes, texts: list[str], uri: str) -> dict[tuple[int, int], tuple[frozenset[str], bool]]:
    found: dict[tuple[int, int], tuple[set[str], bool]] = {}
    there: set[tuple[int, int]] = set()  # where something is not spelled
    while content:
        identifier = content.take(_ID).hex().upper()
        for _ in range(content.number()):
            kind = content.byte()
            file, line, character = content.location()
            content.take(_ID)
            if texts[file] != uri or character >= _FARTHEST:
                continue
            site = line, character
            if not kind & _SPELLED:
                there.add(site)
                continue
            ids, declared = found.get(site, (set(), True))
            ids.add(identifier)
            found[site] = ids, declared and bool(kind & _DECLARES)
    return {site: (frozenset(ids), declared) for site, (ids, declared) in found.items() if site not in there}
