"""An index of words between two sessions: `save` and `load`. What is damaged or of another form is not there."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from array import array
from pathlib import Path

import msgspec

from lsp_mcp.private_files import write_private
from lsp_mcp.words.index import Table

log = logging.getLogger(__name__)

_FORM = b"lsp-mcp words 1\n"
_DIGEST = 16  # bytes


class _Saved(msgspec.Struct, array_like=True):
    rules: str  # how files were read
    byte_order: str
    paths: bytes  # each ends with NUL: names need not be text
    stamps: bytes
    sizes: bytes
    spelled: list[str]  # what files import, each once
    imports: list[list[int]]  # by file: places in `spelled`
    lengths: list[int]  # of the buckets
    entries: bytes  # of all buckets, one after the other


def save(file: Path, table: Table, rules: str) -> None:
    """Write `table`, in which no file is as it was. Raises OSError."""
    spelled: dict[str, int] = {}
    imports = [[spelled.setdefault(path, len(spelled)) for path in of_one] for of_one in table.imports]
    saved = _Saved(
        rules,
        sys.byteorder,
        b"".join(os.fsencode(path) + b"\0" for path in table.numbers),
        table.stamps.tobytes(),
        table.sizes.tobytes(),
        list(spelled),
        imports,
        list(map(len, table.buckets)),
        b"".join(bucket.tobytes() for bucket in table.buckets),
    )
    content = msgspec.msgpack.encode(saved)
    write_private(file, _FORM + _digest(content) + content)


def load(file: Path, rules: str) -> Table | None:
    """What `save` has written to `file` by the same `rules`; None if there is nothing, or it cannot be used."""
    try:
        content = memoryview(file.read_bytes())
    except OSError:
        return None
    start = len(_FORM) + _DIGEST
    if content[: len(_FORM)] != _FORM or _digest(content[start:]) != content[len(_FORM) : start]:
        log.warning("%s is damaged, or of another version: files are read again", file)
        return None
    saved = msgspec.msgpack.decode(content[start:], type=_Saved)
    if saved.rules != rules or saved.byte_order != sys.byteorder:
        return None
    paths = [os.fsdecode(path) for path in saved.paths.split(b"\0")[:-1]]
    entries, buckets, at = memoryview(saved.entries), [], 0
    for length in saved.lengths:
        bucket = array("Q")
        bucket.frombytes(entries[at : (at := at + length * bucket.itemsize)])
        buckets.append(bucket)
    return Table(
        list(paths),
        _array("I", saved.sizes),
        _array("Q", saved.stamps),
        [tuple(saved.spelled[number] for number in of_one) for of_one in saved.imports],
        buckets,
        {path: number for number, path in enumerate(paths)},
    )


def _array(code: str, content: bytes) -> array[int]:
    values = array(code)
    values.frombytes(content)
    return values


def _digest(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()
