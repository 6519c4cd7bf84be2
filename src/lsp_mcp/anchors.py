"""Anchors: `SCHEME://FILE#LINE:CHAR`, the address of one symbol in one file (docs/contracts/code.md).

FILE is relative to the workspace root and `/`-separated, or absolute for a file outside it (a dependency's
source). LINE and CHAR count from 1 in Unicode code points, whatever `--position-base` says.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from msgspec import Struct

from lsp_mcp.errors import AnchorError
from lsp_mcp.text import Point
from lsp_mcp.visible import quoted

_ANCHOR = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<file>.+)#(?P<line>\d{1,9}):(?P<char>\d{1,9})", re.S)
_FORM = "an anchor is SCHEME://FILE#LINE:CHAR with LINE and CHAR from 1, for example go://calculator.go#6:6"
_MAYBE_ESCAPED = re.compile(r"[^A-Za-z0-9/\-._~!$&'()*+,;=:@\[\]{}]")


class Anchor(Struct, frozen=True):
    """One place that a caller can refer to: `file` is a decoded, `/`-separated path."""

    scheme: str
    file: str
    point: Point

    def __str__(self) -> str:
        return f"{self.scheme}://{encode_file(self.file)}#{self.point.line}:{self.point.character}"


def parse_anchor(anchor: str) -> Anchor:
    """Parse `anchor`; the inverse of `str(anchor)`.

    Raises:
        AnchorError: it does not have the form of an anchor, or a number is 0.
    """
    match = _ANCHOR.fullmatch(anchor.strip())
    if not match:
        raise AnchorError(f"{quoted(anchor)} is not an anchor: {_FORM}.")
    point = Point(int(match["line"]), int(match["char"]))
    if 0 in point:
        raise AnchorError(f"{quoted(anchor)} counts from 0: {_FORM}.")
    try:
        file = unquote(match["file"], errors="strict")
    except UnicodeDecodeError:
        raise AnchorError(f"the file of {quoted(anchor)} is not percent-encoded UTF-8: {_FORM}.") from None
    if "\0" in file:
        raise AnchorError(f"the file of {quoted(anchor)} contains a NUL character, which file names cannot have.")
    return Anchor(match["scheme"].lower(), file, point)


def is_anchor(text: str) -> bool:
    """Whether `text` has the form of an anchor, whatever its numbers."""
    return _ANCHOR.fullmatch(text.strip()) is not None


def looks_like_anchor(text: str) -> bool:
    """Whether a caller meant an anchor rather than a symbol's name."""
    return "://" in text or "#" in text


def encode_file(file: str) -> str:
    """`file` as written in an anchor: characters that URIs reserve, spaces and invisible characters are escaped.

    Letters of any script stay readable (RFC 3987); `parse_anchor` takes both forms.
    """
    return _MAYBE_ESCAPED.sub(lambda match: _escaped(match[0]), file)


def _escaped(character: str) -> str:
    plain = ord(character) > 127 and character.isprintable() and not character.isspace()
    return character if plain else quote(character, safe="")
