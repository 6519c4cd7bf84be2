"""Content-Length framing without I/O: `frame` makes a message, `Framer` cuts a byte stream into bodies.

LSP 3.17, "Base Protocol", and the Debug Adapter Protocol use the same frames.
"""

from __future__ import annotations

import re

MAX_BODY = 512 * 1024 * 1024  # bytes; a larger length is a broken stream, not a message
_MAX_HEADER = 64 * 1024  # bytes without a complete header: not this protocol
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,100})[ \t]*\r?\n", re.IGNORECASE)
_HEADER_END = re.compile(rb"\r?\n\r?\n")


class BrokenStreamError(Exception):
    """The other side sends something other than framed messages."""


def frame(body: bytes) -> bytes:
    """`body` with its header, ready to be written."""
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class Framer:
    """Cuts the data given to `feed`, in any pieces, into message bodies.

    Header names match in any case. Lines that are not headers (of a server that prints to its stdout) are skipped up to
    the next header.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._missing: int | None = None  # bytes of the body announced by the current header

    def feed(self, data: bytes) -> list[bytes]:
        """The bodies that `data` completes, in order.

        Raises:
            BrokenStreamError: 64 KiB without a header, or a length over `MAX_BODY`.
        """
        self._buffer += data
        bodies = []
        while (body := self._next()) is not None:
            bodies.append(body)
        return bodies

    def _next(self) -> bytes | None:
        if self._missing is None:
            self._missing = self._header()
        if self._missing is None or len(self._buffer) < self._missing:
            return None
        body = bytes(self._buffer[: self._missing])
        del self._buffer[: self._missing]
        self._missing = None
        return body

    def _header(self) -> int | None:
        length = _LENGTH.search(self._buffer)
        end = _HEADER_END.search(self._buffer, length.end() - 2) if length else None
        if not length or not end:
            if len(self._buffer) > _MAX_HEADER:
                raise BrokenStreamError(f"no message header in {len(self._buffer):,} bytes of output")
            return None
        size = int(length[1])
        if size > MAX_BODY:
            raise BrokenStreamError(f"a message of {size:,} bytes was announced; at most {MAX_BODY:,} are read")
        del self._buffer[: end.end()]
        return size
