"""Where daemons listen, and how one is started by whoever comes first: `connect`."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import stat
import sys
from collections.abc import Iterator
from typing import Any

from lsp_mcp.door.asked import Asked

_BACKLOG = 128
_LOCK_TIMEOUT = 10  # seconds for others to start a daemon, which takes them milliseconds
_TELL_TIMEOUT = 10.0  # seconds for a daemon to say what it is
_OTHERS = 0o077
LISTENER = 3  # the descriptor on which a daemon gets its listening socket


def folder() -> str | None:
    """The folder of this user's sockets, private; None if there can be none.

    Linux: `$XDG_RUNTIME_DIR/lsp-mcp`, elsewhere a folder of this user's own below the temporary folder.
    """
    user = os.geteuid()
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and _is_ours(runtime):
        place = os.path.join(runtime, "lsp-mcp")
    else:
        place = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"lsp-mcp-{user}")  # noqa: S108 (ours alone, or it is not used)
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(place, 0o700)
    except OSError:
        return None
    return place if _is_ours(place) else None


def _is_ours(place: str) -> bool:
    """Whether `place` is a real folder of this user's that nobody else may enter."""
    try:
        found = os.lstat(place)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & _OTHERS


def connect(asked: Asked) -> socket.socket | None:
    """A connection to the daemon that is asked for, which is started if none listens; None if there can be none."""
    home = folder()
    if home is None:
        return None
    path = os.path.join(home, f"{asked.name}.sock")
    try:
        return _connected(path) or _first(asked, home, path)
    except OSError:
        return None


def daemons(home: str, question: dict[str, str], name: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name of each daemon that listens, or of the one called `name`, and what it answers to `question`."""
    for file in sorted(os.listdir(home)):
        found, _, extension = file.rpartition(".")
        if extension != "sock" or name not in (None, found):
            continue
        path = os.path.join(home, file)
        connection = _connected(path)
        if connection is None:
            _remove_left(home, found, path)
            continue
        with connection, connection.makefile("rb") as answers:
            connection.settimeout(_TELL_TIMEOUT)
            try:
                connection.sendall(json.dumps(question).encode() + b"\n")
                about = json.loads(answers.readline() or b"{}")
            except (OSError, ValueError):
                about = {}
        yield found, about if isinstance(about, dict) else {}


def _remove_left(home: str, name: str, path: str) -> None:
    """Remove the socket of a daemon that was killed, unless a door is starting the next."""
    with locked(home, name):
        if there := _connected(path):
            there.close()
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def _connected(path: str) -> socket.socket | None:
    """A connection to who listens at `path`, if anybody does."""
    to_daemon = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        to_daemon.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        to_daemon.close()
        return None
    except BaseException:
        to_daemon.close()
        raise
    return to_daemon


def _first(asked: Asked, home: str, path: str) -> socket.socket | None:
    """The same, as the only one who looks: nobody listens, unless another door was quicker."""
    with locked(home, asked.name):
        if there := _connected(path):
            return there
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # of one that was killed
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(path)
            listening.listen(_BACKLOG)
            _spawn(asked, home, listening)
            return _connected(path)  # it waits in the queue until the daemon is up


def _spawn(asked: Asked, home: str, listening: socket.socket) -> None:
    """Start the daemon, in a session of its own; it gets the socket, and logs into a file beside it."""
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    log = os.open(os.path.join(home, f"{asked.name}.log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    # Above those that it gets, so that none is overwritten before it is copied.
    copies = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10) for number in (nothing, log, listening.fileno())]
    try:
        actions = [
            (os.POSIX_SPAWN_DUP2, copies[0], 0),
            (os.POSIX_SPAWN_DUP2, copies[1], 1),
            (os.POSIX_SPAWN_DUP2, copies[1], 2),
            (os.POSIX_SPAWN_DUP2, copies[2], LISTENER),
        ]
        # A root that nobody named may be refused as too wide.
        root = ["--workspace-root", asked.root] if asked.named else []
        command = [sys.executable, "-m", "lsp_mcp.daemon", asked.name, asked.root, *root, *asked.shape]
        os.posix_spawn(sys.executable, command, os.environ, file_actions=actions, setsid=True)
    finally:
        for number in (nothing, log, *copies):
            os.close(number)


@contextlib.contextmanager
def locked(home: str, name: str) -> Iterator[None]:
    """Nobody else starts or ends the daemon called `name`. For a main thread.

    Raises:
        TimeoutError: somebody else holds the lock for 10 s.
    """
    descriptor = os.open(os.path.join(home, f"{name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    before = signal.signal(signal.SIGALRM, _too_long)
    try:
        signal.alarm(_LOCK_TIMEOUT)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        signal.alarm(0)
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        os.close(descriptor)


def _too_long(*_: object) -> None:
    raise TimeoutError("somebody else starts a daemon, and does not come to an end")
