"""What Linux tells of processes and sockets, in `/proc`: which Neovims of this user listen where."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from lsp_mcp.nvim.address import Address, HostAndPort, is_ours, socket_address, tcp_address
from lsp_mcp.tcp_table import LISTENING, has_table, rows

PROC = Path("/proc")
LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (where one that listens everywhere is reached)
_GENERATIONS = 64  # parents, their parents … that are looked at
_ACCEPTS_CONNECTIONS = 0x10000  # __SO_ACCEPTCON, a flag in /proc/net/unix
_SOCKET_LINK = re.compile(r"socket:\[([0-9]+)\]")


class Owners(dict[int, int]):
    """The process id by the inode of its sockets. `known` is false where nothing can be learned of processes."""

    known = False


def socket_owners(proc: Path) -> Owners:
    """The Neovims of this user, by the inodes of their sockets."""
    owners = Owners()
    with suppress(OSError), os.scandir(proc) as entries:
        uid = os.getuid()
        for entry in entries:
            if not entry.name.isdecimal():
                continue
            owners.known = True
            with suppress(OSError):  # it has ended
                if entry.stat().st_uid == uid and _is_neovim(entry.path):
                    for inode in _socket_inodes(entry.path):
                        owners.setdefault(inode, int(entry.name))
    return owners


def unix_listening(proc: Path, neovims: Mapping[int, int]) -> Iterator[Address]:
    """The sockets on which Neovims of this user listen."""
    for line in _lines(proc / "net" / "unix") if neovims else []:
        fields = line.split(maxsplit=7)  # address, references, protocol, flags, type, state, inode, path
        with suppress(ValueError, IndexError):  # the rest of a path with a line break; a socket without a path
            pid = neovims.get(int(fields[6]))
            if pid is None or not int(fields[3], 16) & _ACCEPTS_CONNECTIONS or fields[7].startswith(b"@"):
                continue
            name = os.fsdecode(fields[7])
            # A relative one counts from where the process was then: the folder where it started, or is now.
            for folder in ("/",) if name.startswith("/") else _working_folders(proc, pid):
                path = Path(folder, name)
                if is_ours(path):
                    yield socket_address(path, pid)
                    break


def tcp_listeners(proc: Path) -> dict[HostAndPort, int] | None:
    """Where processes of this user listen, and the inode of each socket; None if that cannot be known."""
    if not has_table(proc):
        return None
    uid = os.getuid()
    listeners: dict[HostAndPort, int] = {}
    for row in rows(proc):
        if row.state == LISTENING and row.uid == uid:
            host, port = row.local
            listeners.setdefault((LOOPBACK.get(host, host), port), row.inode)
    return listeners


def tcp_listening(tcp: Mapping[HostAndPort, int] | None, neovims: Mapping[int, int]) -> Iterator[Address]:
    """The addresses on which Neovims of this user listen."""
    for address, inode in (tcp or {}).items():
        if (pid := neovims.get(inode)) is not None:
            yield tcp_address(address, pid)


def ancestors(proc: Path, pid: int) -> Iterator[int]:
    """The ids of the parent of process `pid`, its parent and so on, nearest first."""
    for _ in range(_GENERATIONS):
        try:
            # "123 (any name) S PARENT …"
            pid = int((proc / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return
        if pid <= 0:
            return
        yield pid


def environment(proc: Path, pid: int) -> dict[str, str]:
    """What a process had in its environment when it started; nothing if it is not ours to see."""
    with suppress(OSError):
        pairs = (proc / str(pid) / "environ").read_bytes().split(b"\0")
        return {os.fsdecode(name): os.fsdecode(value) for name, _, value in (pair.partition(b"=") for pair in pairs)}
    return {}


# --- inside -----------------------------------------------------------------------------------------


def _is_neovim(process: str) -> bool:
    # Run by another name, as /usr/bin/vim of Debian's alternatives, it is known by its file.
    return (
        Path(process, "comm").read_bytes().rstrip(b"\n") == b"nvim"
        or Path(os.readlink(f"{process}/exe")).name == "nvim"  # noqa: PTH115 (readlink alone is quicker)
    )


def _socket_inodes(process: str) -> Iterator[int]:
    for descriptor in os.listdir(f"{process}/fd"):  # noqa: PTH208
        with suppress(OSError):  # it was closed
            if match := _SOCKET_LINK.fullmatch(os.readlink(f"{process}/fd/{descriptor}")):  # noqa: PTH115
                yield int(match[1])


def _working_folders(proc: Path, pid: int) -> list[str]:
    folders = [environment(proc, pid).get("PWD", "")]
    with suppress(OSError):
        folders.insert(0, os.readlink(proc / str(pid) / "cwd"))  # noqa: PTH115
    return [folder for folder in folders if folder.startswith("/")]


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().split(b"\n")
    except OSError:
        return []
