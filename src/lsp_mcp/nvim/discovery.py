"""The Neovims of this user on this machine: `discover` only looks, `alive` connects and disconnects.

Seen with Neovim 0.12.4: a child that was started by `system()` has no `$NVIM`; one in a terminal or by `jobstart()`
has.
"""

from __future__ import annotations

import asyncio
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_mcp.errors import CallerError
from lsp_mcp.nvim import processes
from lsp_mcp.nvim.address import Address, HostAndPort, is_ours, parse_address, socket_address, tcp_address
from lsp_mcp.nvim.processes import LOOPBACK, PROC

_LOCALHOST = ("127.0.0.1", "::1")

_IN_SHARED_FOLDERS = re.compile(r"nvim\..+\..+|nvim-mcp\..*\.sock|lsp-mcp.*\.sock", re.DOTALL)
_NEOVIMS_OWN = re.compile(r"nvim\..+", re.DOTALL)  # nvim.USER, a folder
_IN_NEOVIMS_OWN = re.compile(r".+\.[0-9]+\.[0-9]+", re.DOTALL)
_ANY = re.compile(".*", re.DOTALL)
_PID_IN_NAME = re.compile(r"nvim\.([0-9]+)\.[0-9]+|nvim-mcp\..*\.([0-9]+)\.sock", re.DOTALL)


@dataclass(frozen=True)
class Seeker:
    """The process for which Neovims are searched: some of them may contain it."""

    pid: int
    environ: Mapping[str, str]


seeker: ContextVar[Seeker | None] = ContextVar("seeker", default=None)
"""The process that `discover` searches for if it is not this one, as in a daemon that serves others."""


async def alive(address: Address, timeout: float = 0.5) -> bool:
    """Whether `address` accepts a connection within `timeout` (seconds). Disconnects at once."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(timeout):
            if address.tcp:
                transport, _ = await loop.create_connection(asyncio.Protocol, *address.tcp)
            else:
                transport, _ = await loop.create_unix_connection(asyncio.Protocol, str(address.path))
    except (OSError, ValueError):  # TimeoutError is the one; UnicodeError of an impossible host name the other
        return False
    transport.abort()
    return True


def discover(environ: Mapping[str, str] | None = None, *, proc: Path = PROC) -> list[Address]:
    """Where Neovims of this user may listen on this machine, each place once; nothing is connected to.

    First the Neovims that this process (or the `seeker`) runs inside, nearest first, then `$NVIM_LISTEN_ADDRESS`, then
    the rest: sockets by path, then TCP. Sockets that only their name gives away may be stale, see `alive`.

    `environ` says where runtime folders are, beside the usual ones. Without `proc` (where Linux tells of processes)
    only the environment and the usual folders are looked at, and `pid` comes from the name of a socket. Takes some
    milliseconds with hundreds of processes: call it in a thread. Processes that end during the call are left out.
    """
    inner = seeker.get() or Seeker(os.getpid(), os.environ)
    environ = inner.environ if environ is None else environ
    neovims = processes.socket_owners(proc)
    tcp = processes.tcp_listeners(proc)
    listening = [*processes.unix_listening(proc, neovims), *processes.tcp_listening(tcp, neovims)]

    inside, wanted = _texts(environ)
    enclosing = _named(inside, tcp)
    hinted = _named(wanted, tcp)
    for pid in processes.ancestors(proc, inner.pid):
        enclosing += [address for address in listening if address.pid == pid]
        inside, wanted = _texts(processes.environment(proc, pid))
        enclosing += _named(inside, tcp)
        hinted += _named(wanted, tcp)

    found: dict[object, Address] = {}
    # For a place with several paths, the path that Neovim itself reports.
    for address in [*listening, *enclosing, *hinted, *_in_usual_folders(environ, pids=not neovims.known)]:
        found.setdefault(_key(address), address)

    around = dict.fromkeys(map(_key, enclosing))
    pids = {found[key].pid for key in around} - {None}
    rest = sorted(found, key=lambda key: (found[key].tcp is not None, found[key].text))
    around |= dict.fromkeys(key for key in rest if found[key].pid in pids)
    order = around | dict.fromkeys(map(_key, hinted)) | dict.fromkeys(rest)
    return [replace(found[key], enclosing=key in around) for key in order]


# --- inside -----------------------------------------------------------------------------------------


def _key(address: Address) -> object:
    return os.path.realpath(address.path) if address.path else address.tcp


def _named(texts: Iterable[str], tcp: Mapping[HostAndPort, int] | None) -> list[Address]:
    """The addresses of an environment that are this user's, as far as that can be known."""
    found = []
    for text in texts:
        with suppress(CallerError, OSError):  # OSError: our working folder is gone
            address = parse_address(text)
            if (usable := _ours_at(address, tcp)) and (usable.path is None or is_ours(usable.path)):
                found.append(usable)
    return found


def _ours_at(address: Address, tcp: Mapping[HostAndPort, int] | None) -> Address | None:
    """`address`, an address as the kernel spells it; None if nothing of this user's listens at that."""
    if tcp is None or not address.tcp:
        return address
    host, port = address.tcp
    hosts = _LOCALHOST if host == "localhost" else (LOOPBACK.get(host, host),)
    return next((tcp_address((host, port)) for host in hosts if (host, port) in tcp), None)


def _texts(environ: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The Neovims around this process, and an address where one is said to listen: none or one each."""
    nvim, listen = environ.get("NVIM"), environ.get("NVIM_LISTEN_ADDRESS")
    return [nvim] if nvim else [], [listen] if listen else []


# --- the usual folders -------------------------------------------------------------------------------


def _in_usual_folders(environ: Mapping[str, str], *, pids: bool) -> Iterator[Address]:
    """Sockets of this user with the names that Neovim and its plugins give them; with the `pids` in these names."""
    runtime, temporary = _folders(environ)
    paths = [path for folder in [*runtime, *temporary] for path in _entries(folder, _IN_SHARED_FOLDERS)]
    for own in (path for folder in temporary for path in _entries(folder, _NEOVIMS_OWN)):
        if is_ours(own, stat.S_ISDIR, links=False):
            paths += [path for session in _entries(own) for path in _entries(session, _IN_NEOVIMS_OWN)]
    for path in paths:
        # No links: in a shared folder, another user could redirect one after we looked.
        if is_ours(path, links=False):
            match = _PID_IN_NAME.fullmatch(path.name) if pids else None
            yield socket_address(path, int(match[1] or match[2]) if match else None)


def _folders(environ: Mapping[str, str]) -> tuple[list[Path], list[Path]]:
    """The runtime folders and those for temporary files; the system's as well, as MCP clients pass on few variables."""
    runtime, temporary = [environ.get("XDG_RUNTIME_DIR")], [environ.get("TMPDIR"), "/tmp"]  # noqa: S108
    if sys.platform == "linux":
        runtime.append(f"/run/user/{os.getuid()}")
    if sys.platform == "darwin":
        with suppress(OSError, ValueError):
            temporary.append(os.confstr(65537))  # _CS_DARWIN_USER_TEMP_DIR: /var/folders/…/T
    return (
        [Path(folder) for folder in dict.fromkeys(runtime) if folder],
        [Path(folder) for folder in dict.fromkeys(temporary) if folder],
    )


def _entries(folder: Path, pattern: re.Pattern[str] = _ANY) -> list[Path]:
    """What is in `folder` under names that match, absolute; nothing if it cannot be read."""
    try:
        return [folder.absolute() / name for name in os.listdir(folder) if pattern.fullmatch(name)]  # noqa: PTH208
    except (OSError, ValueError):
        return []
