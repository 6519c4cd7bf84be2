"""pynvim's sessions that end their connections: `session`."""

from __future__ import annotations

import contextlib
import socket

from pynvim.msgpack_rpc import MsgpackStream, Session
from pynvim.msgpack_rpc.async_session import AsyncSession
from pynvim.msgpack_rpc.event_loop import TTransportType
from pynvim.msgpack_rpc.event_loop.asyncio import AsyncioEventLoop


class _EndingLoop(AsyncioEventLoop):  # type: ignore[misc]  # pynvim is not checked
    """Ends the connection when it is closed.

    pynvim 0.6 closes the event loop before that has closed the socket: it stays open, and a channel of Neovim, until
    Python collects garbage.
    """

    def _close(self) -> None:
        if self._transport and (connection := self._transport.get_extra_info("socket")):
            with contextlib.suppress(OSError):  # the other side has ended it
                connection.shutdown(socket.SHUT_RDWR)
        super()._close()


def session(transport: TTransportType, *address: str | int) -> Session:
    """A session that is connected to `address`: a path for "socket", host and port for "tcp".

    Raises:
        OSError: nobody listens there.
    """
    made = Session(AsyncSession(MsgpackStream(_EndingLoop(transport, *address))))
    made.request("nvim_set_client_info", "lsp-mcp", {}, "remote", {}, {}, async_=True)
    return made
