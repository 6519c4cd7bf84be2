"""Writes SCIP files for tests, byte by byte: fields of the public schema, without a library."""

from __future__ import annotations

from pathlib import Path

DEFINITION, READ = 1, 8


def varint(value: int) -> bytes:
    """A number."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: int | str | bytes) -> bytes:
    """A field of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def occurrence(symbol: str, line: int, start: int, end: int, roles: int = READ) -> bytes:
    """A place on one line, from 0, in the old form."""
    packed = b"".join(map(varint, (line, start, end)))
    return field(2, field(1, packed) + field(2, symbol) + field(3, roles))


def implements(symbol: str, target: str) -> bytes:
    """`symbol` implements `target`, said in a document."""
    return field(3, field(1, symbol) + field(4, field(1, target) + field(3, 1)))


def document(path: str, *parts: bytes, language: str = "go", text: str = "", unit: int = 1) -> bytes:
    """A document of these occurrences and descriptions."""
    source = field(5, text) if text else b""
    return field(2, field(1, path) + field(4, language) + field(6, unit) + source + b"".join(parts))


def metadata(tool: str = "made-up") -> bytes:
    """The beginning of a file."""
    return field(1, field(2, field(1, tool) + field(2, "1.0")))


def write(path: Path, *documents: bytes) -> Path:
    """A SCIP file."""
    path.write_bytes(metadata() + b"".join(documents))
    return path


def go_symbol(package: str, descriptors: str, *, module: str = "example.com/a", version: str = "v1") -> str:
    """As scip-go spells it."""
    return f"scip-go gomod {module} {version} `{package}`/{descriptors}"
