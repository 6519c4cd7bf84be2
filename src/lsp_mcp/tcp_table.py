"""The user at the other end of a local TCP connection, from Linux's socket table.

`/proc/net/tcp` and `tcp6` (proc(5)) have a line for each socket of this network namespace, with its owner. macOS has
no such table, so there the user is unknown.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

Address = tuple[str, int]
"""A host, without the brackets of an IPv6 address, and a port."""

LISTENING = b"0A"
_ESTABLISHED = b"01"
_PROC = Path("/proc")
_ATTEMPTS = 3  # the table may change while it is read, and a line be skipped
_ALL_USERS = (0, 0, 2**32 - 1)  # the map of a user namespace that leaves all as they are


class Row(Struct, frozen=True):
    """One socket. A socket that no process holds any longer has the inode 0, and its `uid` is meaningless."""

    local: Address
    remote: Address
    state: bytes
    uid: int
    inode: int


class Connection(Struct, frozen=True):
    """This process's end of one connection."""

    local: Address
    remote: Address
    inode: int

    @classmethod
    def from_socket(cls, sock: socket.socket) -> Connection | None:
        """The end of a connected socket; None if the socket is closed by now, or not TCP."""
        if sock.family not in (socket.AF_INET, socket.AF_INET6):
            return None
        try:
            local, remote = sock.getsockname(), sock.getpeername()
            return cls(_plain(*local[:2]), _plain(*remote[:2]), os.fstat(sock.fileno()).st_ino)
        except OSError:
            return None

    def peer_uid(self, proc: Path = _PROC) -> int | None:
        """The user id that owns the other end; None if that cannot be determined. Reads files, briefly.

        Our own end must be in the table before and after the other one is read, so that it belongs to this very
        connection, not to a later one between the same ports. Ends that no process holds (closed, but not yet
        forgotten) are listed as root's, so only established ones count.
        """
        for _ in range(_ATTEMPTS):
            before, theirs, after = self._ours(proc), self._theirs(proc), self._ours(proc)
            if before and theirs and after:
                return None if _is_ambiguous(theirs.uid, proc) else theirs.uid
        return None

    def _ours(self, proc: Path) -> bool:
        found = _find(proc, self.local, self.remote)
        return found is not None and found.inode == self.inode

    def _theirs(self, proc: Path) -> Row | None:
        found = _find(proc, self.remote, self.local)
        return found if found and found.inode else None


def rows(proc: Path = _PROC) -> Iterator[Row]:
    """All sockets of TCP; none where there is no table."""
    for name in ("tcp", "tcp6"):
        for line in _lines(proc / "net" / name):
            if row := _row(line):
                yield row


def has_table(proc: Path = _PROC) -> bool:
    """Whether this system has the table and lets us read it."""
    return any(os.access(proc / "net" / name, os.R_OK) for name in ("tcp", "tcp6"))


def _find(proc: Path, local: Address, remote: Address) -> Row | None:
    ports = b":%04X " % local[1], b":%04X " % remote[1]
    for name in ("tcp", "tcp6"):
        for line in _lines(proc / "net" / name):
            if ports[0] in line and ports[1] in line:
                row = _row(line)
                if row and (row.local, row.remote, row.state) == (local, remote, _ESTABLISHED):
                    return row
    return None


def _row(line: bytes) -> Row | None:
    fields = line.split()
    # number, local address, remote address, state, queues, timer, retransmits, uid, timeout, inode, …
    try:
        return Row(_address(fields[1]), _address(fields[2]), fields[3], int(fields[7]), int(fields[9]))
    except (ValueError, IndexError):
        return None  # the heading


def _address(text: bytes) -> Address:
    """The address written as `0100007F:1F90`: words in the machine's byte order, in hex."""
    words, port = text.decode("ascii").split(":")
    packed = b"".join(int(words[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(words), 8))
    return _plain(str(ipaddress.ip_address(packed)), int(port, 16))


def _plain(host: str, port: int) -> Address:
    """The canonical form of an address: IPv4 on an IPv6 socket becomes IPv4."""
    address = ipaddress.ip_address(host.partition("%")[0])
    return str(getattr(address, "ipv4_mapped", None) or address), port


def _is_ambiguous(uid: int, proc: Path) -> bool:
    """Whether this id may represent any user without an id in our user namespace (user_namespaces(7))."""
    try:
        if uid != int((proc / "sys/kernel/overflowuid").read_bytes()):
            return False
        return tuple(map(int, (proc / "self/uid_map").read_bytes().split())) != _ALL_USERS
    except (OSError, ValueError):
        return True


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().split(b"\n")
    except OSError:
        return []
