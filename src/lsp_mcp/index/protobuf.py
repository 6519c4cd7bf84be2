"""The wire format of Protocol Buffers, as far as SCIP needs it: the fields of a message. Pure."""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_MOST_SHIFT = 63  # bits before the last byte of a number
Value = int | bytes


class BrokenError(ValueError):
    """These bytes are not a message."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at `at`, and where the next value begins. Raises BrokenError."""
    result = shift = 0
    try:
        while True:
            byte = data[at]
            at += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result, at
            shift += 7
            if shift > _MOST_SHIFT:
                raise BrokenError("a number has more than 64 bits")
    except IndexError:
        raise BrokenError("it ends within a number") from None


def fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """The number and the value of each field of a message, in their order. Raises BrokenError."""
    at, end = 0, len(data)
    while at < end:
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise BrokenError("a field has the number 0")
        if kind == VARINT:
            value, at = varint(data, at)
            yield number, value
            continue
        if kind == BYTES:
            size, at = varint(data, at)
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
        else:
            raise BrokenError(f"a field has the unknown type {kind}")
        if at + size > end:
            raise BrokenError("it ends within a field")
        yield number, data[at : at + size]
        at += size


def numbers(value: Value) -> list[int]:
    """A repeated number, packed or a single one. Raises BrokenError."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


def text(value: Value) -> str:
    """A string. Raises BrokenError: it is none, or not UTF-8."""
    if isinstance(value, int):
        raise BrokenError("a number is where a text belongs")
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise BrokenError("a text is not UTF-8") from None


def number(value: Value) -> int:
    """A number. Raises BrokenError: it is none."""
    if isinstance(value, bytes):
        raise BrokenError("a message is where a number belongs")
    return value


def message(value: Value) -> bytes:
    """The bytes of a message within another one. Raises BrokenError: it is none."""
    if isinstance(value, int):
        raise BrokenError("a number is where a message belongs")
    return value


def write_varint(out: bytearray, value: int) -> None:
    """Append `value`, from 0, in the form that `varint` reads."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
