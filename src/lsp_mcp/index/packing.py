"""Uses and definitions as bytes: a few bytes for each use. Pure. Lines and columns count from 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from lsp_mcp.index.protobuf import varint, write_varint


class Use(NamedTuple):
    """One place of a symbol, by the number of its document."""

    document: int
    line: int
    start: int
    length: int
    roles: int


def pack_use(out: bytearray, before: Use | None, use: Use) -> None:
    """Append `use`, which is after `before` in the order of documents and lines."""
    new = before is None or before.document != use.document
    write_varint(out, use.document - (before.document if before else 0))
    write_varint(out, use.line - (0 if new or before is None else before.line))
    write_varint(out, use.start)
    write_varint(out, use.length << 4 | use.roles)


def unpack_uses(data: bytes) -> list[Use]:
    """The inverse of `pack_use`, for all that were appended."""
    found: list[Use] = []
    at = document = line = 0
    while at < len(data):
        step, at = varint(data, at)
        down, at = varint(data, at)
        start, at = varint(data, at)
        rest, at = varint(data, at)
        document += step
        line = down if step or not found else line + down
        found.append(Use(document, line, start, rest >> 4, rest & 15))
    return found


class Defined(NamedTuple):
    """A definition in a document: its symbol's key, its place, and the first and last line of all of it."""

    key: int
    line: int
    start: int
    first: int
    last: int


def pack_defined(defined: Sequence[Defined]) -> bytes:
    """Definitions as bytes."""
    return msgspec.msgpack.encode(list(defined))


def unpack_defined(data: bytes) -> list[Defined]:
    """The inverse of `pack_defined`."""
    return [Defined(*one) for one in msgspec.msgpack.decode(data, type=list[tuple[int, int, int, int, int]])]


def pack_keys(keys: Sequence[int]) -> bytes:
    """Keys of symbols as bytes."""
    return b"".join(key.to_bytes(8, "big") for key in sorted(keys))


def unpack_keys(data: bytes) -> list[int]:
    """The inverse of `pack_keys`."""
    return [int.from_bytes(data[at : at + 8], "big") for at in range(0, len(data), 8)]
