r"""Where a Neovim listens: `Address` is one such place, as written by a user.

Only the form and the file are examined here; `discovery` finds addresses, `Channel` connects.

Seen with Neovim 0.12.4: it takes an IPv6 address without brackets (`nvim --listen ::1:6666`) and reports it so, keeps a
relative `./x` as it is, and turns `--listen x` into a socket `x.PID.0` in its own folder.
"""

from __future__ import annotations

import os
import re
import socket
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from blake3 import blake3

from lsp_mcp.errors import CallerError, UnavailableError

HostAndPort = tuple[str, int]
"""A host, without the brackets of an IPv6 address, and a port from 1 to 65535."""

_LONGEST_PATH = (104 if sys.platform == "darwin" else 108) - 1  # bytes: sockaddr_un.sun_path, without its NUL
_FORMS = "A target is the path of a Neovim's socket (its v:servername), or HOST:PORT, as in localhost:6666."
_SHOWN = 200  # characters of a wrong target that its error repeats

_HOST_AND_PORT = re.compile(r"(?P<host>\[[^\[\]\s]+\]|[^\[\]\s/\\]+):(?P<port>[0-9]+)")
_HOST_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_.])?")
_URL = re.compile(r"(unix|file|tcp|https?|nvim):/+", re.IGNORECASE)


@dataclass(frozen=True)
class Address:
    """A place where a Neovim may listen. Two are equal when they are spelled the same.

    Exactly one of `path` and `tcp` is set.
    """

    text: str
    """The absolute path of a socket, else `host:port` or `[ipv6]:port`; always valid UTF-8."""
    path: Path | None = None
    """The socket, absolute."""
    tcp: HostAndPort | None = None
    """Host and port of TCP."""
    pid: int | None = field(default=None, compare=False)
    """The Neovim that listens there, if known. One Neovim may listen in several places."""
    enclosing: bool = field(default=False, compare=False)
    """Whether this process runs inside that Neovim: in its terminal, or as its child."""

    @property
    def connection_id(self) -> str:
        """The tools' id of a connection to it: 7 hex digits."""
        return connection_id(self.text)


def connection_id(address: str) -> str:
    """The first 7 hex digits of the BLAKE3 hash of an address's text, in UTF-8."""
    return blake3(address.encode("utf-8", "surrogateescape")).hexdigest()[:7]


def parse_address(text: str) -> Address:
    """The address that `text` names: a socket's path, `HOST:PORT`, `[IPV6]:PORT` or `IPV6:PORT`.

    Text that exists as a file, begins with `~` or contains a `/` is a path; a relative one counts from the working
    folder. Nothing need listen there.

    Raises:
        CallerError: it is none of these, is empty, contains a NUL, or its port is not in 1 to 65535.
    """
    if not text.strip():
        raise CallerError(f"The target is empty. {_FORMS}")
    shown = repr(text[:_SHOWN])
    if "\0" in text:
        raise CallerError(f"The target {shown} holds a NUL, which no path and no address has. {_FORMS}")
    if not _is_unicode(text):
        raise CallerError(f"The target {shown} is not valid Unicode text. {_FORMS}")
    if match := _URL.match(text):
        raise CallerError(f"The target {shown} is a URL. Leave out {match[0]!r}: {_FORMS}")
    if text.startswith("~") or "/" in text or Path(text).is_absolute() or os.path.lexists(text):
        return socket_address(_absolute(text))
    if match := _HOST_AND_PORT.fullmatch(text):
        host = _host(match["host"])
        digits = match["port"].lstrip("0")
        port = int(digits) if 0 < len(digits) <= 5 else 0
        if host and not 1 <= port <= 65535:
            raise CallerError(f"The target {shown} has a port that does not exist: ports are 1 to 65535.")
        if host:
            return tcp_address((host, port))
    raise CallerError(
        f"The target {shown} is neither a socket nor HOST:PORT: there is no such file in {Path.cwd()}. {_FORMS}"
    )


def socket_address(path: Path, pid: int | None = None) -> Address:
    """The address of the socket at `path`, which is absolute."""
    return Address(str(path), path=path, pid=pid)


def tcp_address(at: HostAndPort, pid: int | None = None) -> Address:
    """The address of a host and port."""
    host, port = at
    return Address(f"[{host}]:{port}" if ":" in host else f"{host}:{port}", tcp=at, pid=pid)


def check_socket(path: Path) -> None:
    """Check that `path` is a socket that this user may connect to; not whether a process listens there.

    Raises:
        UnavailableError: there is nothing at `path`.
        CallerError: it is something other than a socket, belongs to another user, may not be opened, or is too long.
    """
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


def is_ours(path: Path, kind: Callable[[int], bool] = stat.S_ISSOCK, *, links: bool = True) -> bool:
    """Whether there is a socket (or another `kind`) of this user, with a name that can be shown to others."""
    try:
        status = path.stat(follow_symlinks=links)
    except (OSError, ValueError):
        return False
    return kind(status.st_mode) and status.st_uid == os.getuid() and _is_unicode(str(path))


# --- inside -----------------------------------------------------------------------------------------


def _absolute(text: str) -> Path:
    try:
        path = Path(text).expanduser().absolute()
    except RuntimeError:  # ~nobody
        raise CallerError(
            f"The target {text[:_SHOWN]!r} begins with the home of an unknown user. Give an absolute path."
        ) from None
    return Path(os.path.realpath(path)) if ".." in path.parts else path  # x/.. is not always where x is


def _host(text: str) -> str | None:
    """A host in its canonical spelling; None if it is not a host."""
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
