"""Where daemons listen, and starting one: `connect`."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from typing import Any

from lsp_mcp.door.environment import for_daemon
from lsp_mcp.door.lock import lock_file, locked
from lsp_mcp.door.request import DaemonRequest

_BACKLOG = 128
_FOLDERS = 3  # consecutive attempts: a folder may be removed while in use
_TELL_TIMEOUT = 10.0  # seconds for a daemon to identify itself, and to end
_LONGEST_LOG = 1024 * 1024  # bytes of an ended daemon's log, to which the next one appends
_LOGS = 10  # logs kept of ended daemons
_OTHERS = 0o077
# Bytes: the path of a socket is limited to 104 on macOS, 108 on Linux, including its end.
_LONGEST_PLACE = (103 if sys.platform == "darwin" else 107) - len("/0123456789abcdef.sock")
NO_FOLDER = "there is no private folder for sockets"
LISTENER = 3  # the descriptor on which a daemon gets its listening socket


def folder() -> str | None:
    """The private folder for this user's sockets; None if there can be none.

    Linux: `$XDG_RUNTIME_DIR/lsp-mcp`, elsewhere the user's own folder below the temporary folder; the first one short
    enough for the path of a socket.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    places = [os.path.join(runtime, "lsp-mcp")] if runtime and _is_ours(runtime) else []
    for shared in (os.environ.get("TMPDIR"), "/tmp"):  # noqa: S108 (a folder in it is ours alone, or it is not used)
        places += [os.path.join(shared, f"lsp-mcp-{os.geteuid()}")] if shared else []
    return own_folder(next((one for one in places if len(os.fsencode(one)) <= _LONGEST_PLACE), places[-1]))


def own_folder(place: str) -> str | None:
    """The private folder `place`, which is made if it is missing; None if there is another thing or another user's."""
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(place, 0o700)
    except OSError:
        return None
    return place if _is_ours(place) else None


def cache_folder() -> str:
    """The cache folder: `LSP_MCP_CACHE`, else this user's; it may not exist."""
    if named := os.environ.get("LSP_MCP_CACHE"):
        return named
    home = os.path.expanduser("~")
    caches = os.environ.get("XDG_CACHE_HOME", "").strip()
    if not os.path.isabs(caches):
        caches = os.path.join(home, *(("Library", "Caches") if sys.platform == "darwin" else (".cache",)))
    return os.path.join(caches, "lsp-mcp")


def _is_ours(place: str) -> bool:
    """Whether `place` is a real folder of this user's that nobody else may enter."""
    try:
        found = os.lstat(place)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & _OTHERS


def connect(request: DaemonRequest, *, starts: bool = True) -> socket.socket | None:
    """A connection to the requested daemon, which is started if none listens; None if there can be none.

    Not `starts`: only to a running one.
    """
    for _ in range(_FOLDERS):
        home = folder()
        if home is None:
            return None
        path = os.path.join(home, f"{request.name}.sock")
        try:
            return _connected(path) or (_first(request, home, path) if starts else None)
        except FileNotFoundError:
            continue  # the folder was removed just now
        except OSError:
            return None
    return None


def is_listening(request: DaemonRequest) -> bool:
    """Whether the requested daemon is running."""
    home = folder()
    return home is not None and _listens(os.path.join(home, f"{request.name}.sock"))


def daemons(home: str, question: dict[str, str], name: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name of each listening daemon, or of the one called `name`, with its answer to `question`.

    After `{"tell": "stop"}` it has ended; `"ends": True` in the answer if that takes more than 10 s.
    """
    for file in sorted(os.listdir(home)):
        found, _, extension = file.rpartition(".")
        if extension != "sock" or name not in (None, found):
            continue
        path = os.path.join(home, file)
        connection = _connected(path)
        if connection is None:
            _remove_left(home, found)
            continue
        about: dict[str, Any] = {}
        with connection, connection.makefile("rb") as answers, contextlib.suppress(OSError, ValueError):
            connection.settimeout(_TELL_TIMEOUT)
            connection.sendall(json.dumps(question).encode() + b"\n")
            about = dict(json.loads(answers.readline() or b"{}"))
            if question["tell"] == "stop":
                about["ends"] = True
                answers.read()
                about["ends"] = False
        yield found, about


def _listens(path: str) -> bool:
    """Whether a process listens at `path`, even if its queue is full."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.setblocking(False)
        return connection.connect_ex(path) not in (errno.ENOENT, errno.ECONNREFUSED)


def _connected(path: str) -> socket.socket | None:
    """A connection to the process that listens at `path`, if there is one."""
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


def _first(request: DaemonRequest, home: str, path: str) -> socket.socket | None:
    """A connection to the daemon that is started here, under a lock, or to one that another door has just started."""
    with locked(os.path.join(home, f"{request.name}.lock")):
        if there := _connected(path):
            return there
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # of one that was killed
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(path)
            listening.listen(_BACKLOG)
            _spawn(request, home, listening)
            return _connected(path)  # it waits in the queue until the daemon is up


def _spawn(request: DaemonRequest, home: str, listening: socket.socket) -> None:
    """Start the daemon in a session of its own; it gets the socket, and logs into a file next to it."""
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    path = os.path.join(home, f"{request.name}.log")
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    if os.fstat(log).st_size > _LONGEST_LOG:
        os.truncate(log, 0)
    # Numbers above its own, so that none is overwritten before it is copied.
    copies = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10) for number in (nothing, log, listening.fileno())]
    try:
        actions = [
            (os.POSIX_SPAWN_DUP2, copies[0], 0),
            (os.POSIX_SPAWN_DUP2, copies[1], 1),
            (os.POSIX_SPAWN_DUP2, copies[1], 2),
            (os.POSIX_SPAWN_DUP2, copies[2], LISTENER),
        ]
        # A root that the user did not name may be refused as too wide.
        root = ["--workspace-root", request.root] if request.named else []
        command = [sys.executable, "-m", "lsp_mcp.daemon", request.name, request.root, *root, *request.shape]
        pid = os.posix_spawn(sys.executable, command, for_daemon(os.environ), file_actions=actions, setsid=True)
        threading.Thread(target=os.waitpid, args=(pid, 0), daemon=True).start()  # it may end before us
    finally:
        for number in (nothing, log, *copies):
            os.close(number)


def withdraw(home: str, name: str, ours: os.stat_result | None, *, waits: bool = False) -> bool:
    """Make sure that nobody can find the daemon called `name`, whose socket is `ours`, any more.

    False while a door is starting one and may be coming, unless this `waits` for it. Its log stays, with those of the
    last daemons that ended.
    """
    try:
        descriptor = None
        while descriptor is None:
            descriptor = lock_file(os.path.join(home, f"{name}.lock"), fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return True  # the folder is gone, or full: nothing can be starting there
    try:
        with contextlib.suppress(FileNotFoundError):
            path = os.path.join(home, f"{name}.sock")
            if ours and is_same(os.stat(path), ours):  # else it is another's: the folder was removed
                os.unlink(path)
                os.unlink(os.path.join(home, f"{name}.lock"))
    finally:
        os.close(descriptor)
    return True


def is_same(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether both are the same socket: inode numbers alone may be reused."""
    return os.path.samestat(one, other) and one.st_mtime_ns == other.st_mtime_ns


def remove_old(home: str) -> None:
    """Remove files of killed daemons, and old logs."""
    for file in os.listdir(home):
        name, _, extension = file.rpartition(".")
        if extension in ("sock", "lock"):
            _remove_left(home, name)
    logs = [os.path.join(home, file) for file in os.listdir(home) if file.endswith(".log")]
    ended = [log for log in logs if not os.path.exists(f"{log[:-4]}.sock")]
    keep_newest(ended, _LOGS)


def keep_newest(files: list[str], most: int) -> None:
    """Remove all but the `most` recently changed of `files`; another door may do so at the same time."""
    for old in sorted(files, key=_changed)[:-most]:
        with contextlib.suppress(OSError):
            os.unlink(old)


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _remove_left(home: str, name: str) -> None:
    """Remove the socket and the lock of a killed daemon, unless a door is starting the next."""
    path = os.path.join(home, f"{name}.sock")
    try:
        if _listens(path):
            return
        lock = os.path.join(home, f"{name}.lock")
        descriptor = lock_file(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    if descriptor is None:
        return
    try:
        if _listens(path):
            return
        for left in (path, lock):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(left)
    finally:
        os.close(descriptor)
