r"""Where Neovims listen: `Target` is one place, as a user spells it; `discover` finds those of this user.

Nothing here speaks to a Neovim: `discover` only looks, `alive` connects and hangs up.

Seen with Neovim 0.12.4: it takes an IPv6 address without brackets (`nvim --listen ::1:6666`) and reports it so, keeps
a relative `./x` as it is, and makes of `--listen x` a socket `x.PID.0` in its own folder. A child that was started by
`system()` has no `$NVIM`; one in a terminal or by `jobstart()` has.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from blake3 import blake3

from lsp_mcp.errors import CallerError, UnavailableError

Address = tuple[str, int]
"""A host, without the brackets of an IPv6 address, and a port from 1 to 65535."""

_PROC = Path("/proc")
_LONGEST_PATH = (104 if sys.platform == "darwin" else 108) - 1  # bytes: sockaddr_un.sun_path, without its NUL
_FORMS = "A target is the path of a Neovim's socket (its v:servername), or HOST:PORT, as in localhost:6666."
_SHOWN = 200  # characters of a wrong target that its error repeats
_GENERATIONS = 64  # parents, their parents … that are looked at
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (where one that listens everywhere is reached)
_LOCALHOST = ("127.0.0.1", "::1")

_HOST_AND_PORT = re.compile(r"(?P<host>\[[^\[\]\s]+\]|[^\[\]\s/\\]+):(?P<port>[0-9]+)")
_HOST_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_.])?")
_URL = re.compile(r"(unix|file|tcp|https?|nvim):/+", re.IGNORECASE)
_PIPE = re.compile(r"[\\/]{2}[.?][\\/]pipe[\\/].")

_IN_SHARED_FOLDERS = re.compile(r"nvim\..+\..+|nvim-mcp\..*\.sock|lsp-mcp.*\.sock", re.DOTALL)
_NEOVIMS_OWN = re.compile(r"nvim\..+", re.DOTALL)  # nvim.USER, a folder
_IN_NEOVIMS_OWN = re.compile(r".+\.[0-9]+\.[0-9]+", re.DOTALL)
_ANY = re.compile(".*", re.DOTALL)
_PID_IN_NAME = re.compile(r"nvim\.([0-9]+)\.[0-9]+|nvim-mcp\..*\.([0-9]+)\.sock", re.DOTALL)

_ACCEPTS_CONNECTIONS = 0x10000  # __SO_ACCEPTCON, a flag in /proc/net/unix
_TCP_LISTEN = b"0A"  # a state in /proc/net/tcp
_SOCKET_LINK = re.compile(r"socket:\[([0-9]+)\]")


@dataclass(frozen=True)
class Target:
    """A place where a Neovim may listen. Two are equal when they are spelled the same.

    Exactly one of `path` and `address` is set.
    """

    text: str
    """The absolute path of a socket, else `host:port` or `[ipv6]:port`; always valid UTF-8."""
    path: Path | None = None
    """The socket, absolute; on Windows a named pipe."""
    address: Address | None = None
    """Host and port of TCP."""
    pid: int | None = field(default=None, compare=False)
    """The Neovim that listens there, where that is known. One Neovim may listen in several places."""
    enclosing: bool = field(default=False, compare=False)
    """Whether this process runs inside that Neovim: in its terminal, or as its child."""

    @property
    def connection_id(self) -> str:
        """What tools call a connection to it: 7 hex digits."""
        return connection_id(self.text)


def connection_id(target: str) -> str:
    """The first 7 hex digits of the BLAKE3 hash of a target's text, in UTF-8."""
    return blake3(target.encode("utf-8", "surrogateescape")).hexdigest()[:7]


def parse_target(text: str) -> Target:
    r"""The target that `text` names: a socket's path, `HOST:PORT`, `[IPV6]:PORT` or `IPV6:PORT`.

    What exists as a file, begins with `~` or contains a `/` is a path; a relative one counts from the working folder.
    `\\.\pipe\NAME` is a named pipe of Windows. Only the spelling is looked at: nothing need listen there.

    Raises:
        CallerError: it is none of these, is empty, holds a NUL, or its port is not in 1 to 65535.
    """
    if not text.strip():
        raise CallerError(f"The target is empty. {_FORMS}")
    shown = repr(text[:_SHOWN])
    if "\0" in text:
        raise CallerError(f"The target {shown} holds a NUL, which no path and no address has. {_FORMS}")
    if not _is_unicode(text):
        raise CallerError(f"The target {shown} is not valid Unicode text. {_FORMS}")
    if _PIPE.match(text):
        return Target(text, path=Path(text))
    if match := _URL.match(text):
        raise CallerError(f"The target {shown} is a URL. Leave out {match[0]!r}: {_FORMS}")
    if text.startswith("~") or "/" in text or Path(text).is_absolute() or os.path.lexists(text):
        return _socket(_absolute(text))
    if match := _HOST_AND_PORT.fullmatch(text):
        host = _host(match["host"])
        digits = match["port"].lstrip("0")
        port = int(digits) if 0 < len(digits) <= 5 else 0
        if host and not 1 <= port <= 65535:
            raise CallerError(f"The target {shown} has a port that does not exist: ports are 1 to 65535.")
        if host:
            return _tcp((host, port))
    raise CallerError(
        f"The target {shown} is neither a socket nor HOST:PORT: there is no such file in {Path.cwd()}. {_FORMS}"
    )


def check_socket(path: Path) -> None:
    """Make sure that `path` is a socket that this user may connect to; whether anyone listens is not looked at.

    Raises:
        UnavailableError: there is nothing at `path`.
        CallerError: it is something else than a socket, belongs to another user, may not be opened, or is too long.
    """
    if os.name == "nt":
        return  # the system itself says it of named pipes
    if (length := len(os.fsencode(path))) > _LONGEST_PATH:
        raise CallerError(
            f"The path {str(path)[:_SHOWN]!r} has {length} bytes, and a socket's may have {_LONGEST_PATH}. "
            "Name it by a shorter link (`ln -s`), or let Neovim listen elsewhere: `:call serverstart('/short/path')`."
        )
    try:
        status = path.stat()
    except PermissionError:
        raise CallerError(
            f"This user may not look into {path.parent}, so {path} cannot be used. Take a Neovim of this user."
        ) from None
    except OSError as error:
        raise UnavailableError(
            f"There is no socket {path} ({error.strerror}): its Neovim has ended, or never listened there. Start one "
            f"with `nvim --listen {path}`, or take the v:servername of one that runs."
        ) from None
    if not stat.S_ISSOCK(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a file and no socket"
        raise CallerError(f"{path} is {kind}. Give the path of a Neovim's socket: `:echo v:servername` shows it there.")
    if status.st_uid != os.getuid():
        raise CallerError(
            f"The socket {path} belongs to {_user(status.st_uid)}, not to {_user(os.getuid())}. "
            "Only a Neovim of the same user is connected to: take one, or run lsp-mcp as that user."
        )
    if not os.access(path, os.W_OK):
        raise CallerError(f"The socket {path} may not be opened by its own user: `chmod u+w {path}` allows it.")


async def alive(target: Target, timeout: float = 0.5) -> bool:
    """Whether anything takes a connection at `target` within `timeout` (seconds). Hangs up at once."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(timeout):
            if target.address:
                transport, _ = await loop.create_connection(asyncio.Protocol, *target.address)
            elif os.name == "nt":
                return target.path is not None and target.path.exists()
            else:
                transport, _ = await loop.create_unix_connection(asyncio.Protocol, str(target.path))
    except (OSError, ValueError):  # TimeoutError is the one; UnicodeError of an impossible host name the other
        return False
    transport.abort()
    return True


def discover(environ: Mapping[str, str] = os.environ, *, proc: Path = _PROC) -> list[Target]:
    """Where Neovims of this user may listen on this machine, each place once; nothing is connected to.

    First the Neovims that this process runs inside, nearest first, then `$NVIM_LISTEN_ADDRESS`, then the rest: sockets
    by path, then TCP. Sockets that only their name gives away may be stale, see `alive`.

    `environ` says where runtime folders are, beside the usual ones. Without `proc` (where Linux tells of processes)
    only the environment and the usual folders are looked at, and `pid` comes from the name of a socket. Takes some
    milliseconds with hundreds of processes: call it in a thread. What vanishes meanwhile is left out.
    """
    neovims = _socket_owners(proc)
    tcp = _tcp_listeners(proc)
    listening = [*_unix_listening(proc, neovims), *_tcp_listening(tcp, neovims)]

    inside, wanted = _texts(environ)
    enclosing = _named(inside, tcp)
    hinted = _named(wanted, tcp)
    for pid in _ancestors(proc):
        enclosing += [target for target in listening if target.pid == pid]
        inside, wanted = _texts(_environment(proc, pid))
        enclosing += _named(inside, tcp)
        hinted += _named(wanted, tcp)

    found: dict[object, Target] = {}
    # A place that is known by several paths gets the one that Neovim itself says, wherever we run.
    for target in [*listening, *enclosing, *hinted, *_in_usual_folders(environ, pids=not neovims.known)]:
        found.setdefault(_key(target), target)

    around = dict.fromkeys(map(_key, enclosing))
    pids = {found[key].pid for key in around} - {None}
    rest = sorted(found, key=lambda key: (found[key].address is not None, found[key].text))
    around |= dict.fromkeys(key for key in rest if found[key].pid in pids)
    order = around | dict.fromkeys(map(_key, hinted)) | dict.fromkeys(rest)
    return [replace(found[key], enclosing=key in around) for key in order]


# --- spelling ----------------------------------------------------------------------------------------


def _socket(path: Path, pid: int | None = None) -> Target:
    return Target(str(path), path=path, pid=pid)


def _tcp(address: Address, pid: int | None = None) -> Target:
    host, port = address
    return Target(f"[{host}]:{port}" if ":" in host else f"{host}:{port}", address=address, pid=pid)


def _absolute(text: str) -> Path:
    try:
        path = Path(text).expanduser().absolute()
    except RuntimeError:  # ~nobody
        raise CallerError(
            f"The target {text[:_SHOWN]!r} begins with the home of an unknown user. Give an absolute path."
        ) from None
    return Path(os.path.realpath(path)) if ".." in path.parts else path  # x/.. is not always where x is


def _host(text: str) -> str | None:
    """A host in the one spelling that is shown; None if it is none."""
    if text.startswith("[") or ":" in text:
        address, percent, zone = text.strip("[]").partition("%")
        try:
            packed = socket.inet_pton(socket.AF_INET6, address)
        except OSError:
            return None
        if percent and not _HOST_NAME.fullmatch(zone):
            return None
        return socket.inet_ntop(socket.AF_INET6, packed) + percent + zone
    return text if _HOST_NAME.fullmatch(text) else None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _user(uid: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"the user {uid}"


# --- what is usable ----------------------------------------------------------------------------------


def _key(target: Target) -> object:
    return os.path.realpath(target.path) if target.path else target.address


def _is_ours(path: Path, kind: Callable[[int], bool] = stat.S_ISSOCK, *, links: bool = True) -> bool:
    """Whether there is a socket (or another `kind`) of this user, of a name that can be told to others."""
    if os.name == "nt":
        return bool(_PIPE.match(str(path)))
    try:
        status = path.stat(follow_symlinks=links)
    except (OSError, ValueError):
        return False
    return kind(status.st_mode) and status.st_uid == os.getuid() and _is_unicode(str(path))


def _named(texts: Iterable[str], tcp: Mapping[Address, int] | None) -> list[Target]:
    """The targets of an environment that are this user's, as far as that can be known."""
    found = []
    for text in texts:
        with suppress(CallerError, OSError):  # OSError: our working folder is gone
            target = parse_target(text)
            if (usable := _ours_at(target, tcp)) and (usable.path is None or _is_ours(usable.path)):
                found.append(usable)
    return found


def _ours_at(target: Target, tcp: Mapping[Address, int] | None) -> Target | None:
    """`target`, an address as the kernel spells it; None if nothing of this user's listens at that."""
    if tcp is None or not target.address:
        return target
    host, port = target.address
    hosts = _LOCALHOST if host == "localhost" else (_LOOPBACK.get(host, host),)
    return next((_tcp((host, port)) for host in hosts if (host, port) in tcp), None)


def _texts(environ: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Whom we run inside, and where a Neovim is said to listen: none or one each."""
    nvim, listen = environ.get("NVIM"), environ.get("NVIM_LISTEN_ADDRESS")
    return [nvim] if nvim else [], [listen] if listen else []


# --- the usual folders -------------------------------------------------------------------------------


def _in_usual_folders(environ: Mapping[str, str], *, pids: bool) -> Iterator[Target]:
    """Sockets of this user with the names that Neovim and its plugins give them; with the `pids` in these names."""
    runtime, temporary = _folders(environ)
    paths = [path for folder in [*runtime, *temporary] for path in _entries(folder, _IN_SHARED_FOLDERS)]
    for own in (path for folder in temporary for path in _entries(folder, _NEOVIMS_OWN)):
        if _is_ours(own, stat.S_ISDIR, links=False):
            paths += [path for session in _entries(own) for path in _entries(session, _IN_NEOVIMS_OWN)]
    for path in paths:
        # No links: in a folder of everybody, another user could turn one elsewhere after we looked.
        if _is_ours(path, links=False):
            match = _PID_IN_NAME.fullmatch(path.name) if pids else None
            yield _socket(path, int(match[1] or match[2]) if match else None)


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


# --- what Linux tells of processes -------------------------------------------------------------------


class _Owners(dict[int, int]):
    """The process id by the inode of its sockets. `known` is false where nothing can be learned of processes."""

    known = False


def _socket_owners(proc: Path) -> _Owners:
    """The Neovims of this user, by the inodes of their sockets."""
    owners = _Owners()
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


def _unix_listening(proc: Path, neovims: Mapping[int, int]) -> Iterator[Target]:
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
                if _is_ours(path):
                    yield _socket(path, pid)
                    break


def _working_folders(proc: Path, pid: int) -> list[str]:
    folders = [_environment(proc, pid).get("PWD", "")]
    with suppress(OSError):
        folders.insert(0, os.readlink(proc / str(pid) / "cwd"))  # noqa: PTH115
    return [folder for folder in folders if folder.startswith("/")]


def _tcp_listeners(proc: Path) -> dict[Address, int] | None:
    """Where processes of this user listen, and the inode of each socket; None if that cannot be known."""
    tables = [_lines(proc / "net" / name) for name in ("tcp", "tcp6")]
    if not any(tables):
        return None
    uid = os.getuid()
    listeners: dict[Address, int] = {}
    for line in tables[0][1:] + tables[1][1:]:
        fields = line.split()
        # number, local address, remote address, state, queues, timer, retransmits, uid, timeout, inode, …
        with suppress(ValueError, IndexError):
            if fields[3] == _TCP_LISTEN and int(fields[7]) == uid:
                listeners.setdefault(_kernel_address(fields[1].decode()), int(fields[9]))
    return listeners


def _tcp_listening(tcp: Mapping[Address, int] | None, neovims: Mapping[int, int]) -> Iterator[Target]:
    """The addresses on which Neovims of this user listen."""
    for address, inode in (tcp or {}).items():
        if (pid := neovims.get(inode)) is not None:
            yield _tcp(address, pid)


def _kernel_address(text: str) -> Address:
    """The address that `/proc/net/tcp` spells `0100007F:1F90`: words in the machine's byte order, in hex."""
    words, port = text.split(":")
    packed = b"".join(int(words[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(words), 8))
    if packed.startswith(b"\0" * 10 + b"\xff\xff"):  # IPv4 on an IPv6 socket
        packed = packed[12:]
    host = socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)
    return _LOOPBACK.get(host, host), int(port, 16)


def _ancestors(proc: Path) -> Iterator[int]:
    """The ids of our parent, its parent and so on, nearest first."""
    pid = os.getpid()
    for _ in range(_GENERATIONS):
        try:
            # "123 (any name) S PARENT …"
            pid = int((proc / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return
        if pid <= 0:
            return
        yield pid


def _environment(proc: Path, pid: int) -> dict[str, str]:
    """What a process had in its environment when it started; nothing if it is not ours to see."""
    with suppress(OSError):
        pairs = (proc / str(pid) / "environ").read_bytes().split(b"\0")
        return {os.fsdecode(name): os.fsdecode(value) for name, _, value in (pair.partition(b"=") for pair in pairs)}
    return {}


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().split(b"\n")
    except OSError:
        return []
