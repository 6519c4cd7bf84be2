"""An index of words between two sessions: `save` and `load`. What is damaged or of another form is not there."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from array import array
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import msgspec

from lsp_mcp.private_files import replacing_private
from lsp_mcp.words.index import Table

log = logging.getLogger(__name__)

_FORM = b"lsp-mcp words 3\n"  # another number for another form, or other words of the same files
_DIGEST = 16  # bytes


class _Head(msgspec.Struct, array_like=True):
    rules: str  # how files were read
    byte_order: str
    paths: bytes  # each ends with NUL: names need not be text
    stamps: bytes
    contents: bytes
    sizes: bytes
    spelled: list[str]  # what files import, each once
    imports: list[list[int]]  # by file: places in `spelled`
    lengths: list[int]  # of the buckets, which follow


def save(file: Path, table: Table, rules: str) -> None:
    """Write `table`, in which no file is as it was. Raises OSError."""
    spelled: dict[str, int] = {}
    imports = [[spelled.setdefault(path, len(spelled)) for path in of_one] for of_one in table.imports]
    head = msgspec.msgpack.encode(
        _Head(
            rules,
            sys.byteorder,
            b"".join(os.fsencode(path) + b"\0" for path in table.numbers),
            table.stamps.tobytes(),
            table.contents.tobytes(),
            table.sizes.tobytes(),
            list(spelled),
            imports,
            list(map(len, table.buckets)),
        )
    )
    digest = _digest()
    with replacing_private(file) as out:
        # Piece by piece: nothing may keep the event loop waiting, and there are many megabytes.
        start = (_FORM, len(head).to_bytes(8, "little"), head)
        for piece in chain(start, (bucket.tobytes() for bucket in table.buckets)):
            digest.update(piece)
            out.write(piece)
        out.write(digest.digest())


def load(file: Path, rules: str) -> Table | None:
    """What `save` has written to `file` by the same `rules`; None if there is nothing, or it cannot be used."""
    try:
        with file.open("rb") as content:
            return _read(content, rules)
    except FileNotFoundError:
        return None
    except (OSError, EOFError, ValueError, msgspec.MsgspecError) as error:
        log.warning("%s cannot be used, files are read again: %s", file, error)
        return None


def _read(file: BinaryIO, rules: str) -> Table | None:
    """Raises EOFError or ValueError if it is damaged."""
    digest = _digest()

    def next_bytes(count: int) -> bytes:
        piece = file.read(count)
        if len(piece) != count:
            raise EOFError("it ends too soon")
        digest.update(piece)
        return piece

    if next_bytes(len(_FORM)) != _FORM:
        raise ValueError("it is of another version")
    length = int.from_bytes(next_bytes(8), "little")
    if length > os.fstat(file.fileno()).st_size:
        raise EOFError("it ends too soon")
    head = msgspec.msgpack.decode(next_bytes(length), type=_Head)
    if head.rules != rules or head.byte_order != sys.byteorder:
        return None
    buckets = [_array("Q", next_bytes(8 * count)) for count in head.lengths]
    if file.read() != digest.digest():
        raise ValueError("its checksum is wrong")
    paths = [os.fsdecode(path) for path in head.paths.split(b"\0")[:-1]]
    return Table(
        list(paths),
        _array("I", head.sizes),
        _array("Q", head.stamps),
        _array("Q", head.contents),
        [tuple(head.spelled[number] for number in of_one) for of_one in head.imports],
        buckets,
        {path: number for number, path in enumerate(paths)},
    )


def _array(code: str, content: bytes) -> array[int]:
    values = array(code)
    values.frombytes(content)
    return values


def _digest() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=_DIGEST)
