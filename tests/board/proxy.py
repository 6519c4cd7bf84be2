"""A network between a board and PostgreSQL: `Proxy` counts what is said, is slow if asked, and can lose an answer."""

from __future__ import annotations

import socket
import struct
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit, urlunsplit

_CHUNK = 65_536


class Proxy:
    """Leads to the server of `url`; `delay` is in seconds, added to each message that a client sends."""

    def __init__(self, url: str, delay: float = 0.0) -> None:
        parts = urlsplit(url)
        assert parts.hostname
        assert parts.port
        self._server = (parts.hostname, parts.port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        host = f"{parts.username}@127.0.0.1:{self._listening.getsockname()[1]}"
        self.url = urlunsplit(parts._replace(netloc=host, query="sslmode=disable&gssencmode=disable"))
        self.delay = delay
        self.statements = 0  # that were carried out
        self.waits = 0  # for an answer
        self.loses_commit = False  # the answer to the next one, and the connection
        self.is_cut = False  # no connection is let through any more
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(self._listening, *self._sockets)

    def counted(self) -> tuple[int, int]:
        """How many statements and waits there were since this was last asked."""
        found = self.statements, self.waits
        self.statements = self.waits = 0
        return found

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self.is_cut:
                    client.close()
                    continue
                server = socket.create_connection(self._server)
                for one in (client, server):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets += [client, server]
                answers = _Answers()
                threading.Thread(target=self._ask, args=(client, server, answers), daemon=True).start()
                threading.Thread(target=self._answer, args=(client, server, answers), daemon=True).start()

    def _ask(self, client: socket.socket, server: socket.socket, answers: _Answers) -> None:
        data, is_begun = b"", False
        with suppress(OSError):
            while chunk := client.recv(_CHUNK):
                if self.delay:
                    time.sleep(self.delay)
                data += chunk
                while (size := _size(data, is_begun)) is not None:
                    kind, is_begun = data[:1] if is_begun else b"", True
                    self.statements += kind in (b"E", b"Q")
                    self.waits += kind in (b"S", b"Q")
                    if self.loses_commit and kind == b"P" and b"\0COMMIT\0" in data[:size]:
                        self.loses_commit, answers.are_lost = False, True
                    data = data[size:]
                server.sendall(chunk)
        self._end(client, server)

    def _answer(self, client: socket.socket, server: socket.socket, answers: _Answers) -> None:
        held = b""
        with suppress(OSError):
            while chunk := server.recv(_CHUNK):
                if not answers.are_lost:
                    client.sendall(chunk)
                    continue
                held += chunk
                if b"COMMIT\0" in held:
                    break
        self._end(client, server)

    @staticmethod
    def _end(*sockets: socket.socket) -> None:
        for one in sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


class _Answers:
    """Of one connection."""

    are_lost = False


def _size(data: bytes, is_begun: bool) -> int | None:
    """Of the first message in `data`; None if it is not whole."""
    kind = 1 if is_begun else 0
    if len(data) < kind + 4:
        return None
    size = int(struct.unpack("!i", data[kind : kind + 4])[0]) + kind
    return size if len(data) >= size else None
