"""A real PostgreSQL server for tests, and a database of its own for each.

    with PostgresServer(folder) as server:
        url = server.database()

Its programs are those on PATH, else the newest below /usr/lib/postgresql or .tools/postgresql. Nothing of it outlives
the tests, however they end: it gets a signal when this process is gone.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psycopg
import pytest

ROOTS = (Path("/usr/lib/postgresql"), Path(__file__).parents[2] / ".tools" / "postgresql" / "usr/lib/postgresql")
BOUND = 60  # seconds for whatever is waited for: a hang, not a measurement
USER = "board"
PREFIX = "lsp-mcp-pg-"
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)
_READY = "database system is ready to accept connections"


def programs() -> Path:
    """The folder of `postgres` and `initdb`. Skips if there is none."""
    if (found := shutil.which("postgres")) and shutil.which("initdb"):
        return Path(found).resolve().parent
    folders = [folder for root in ROOTS if root.is_dir() for folder in root.iterdir() if folder.name.isdigit()]
    for folder in sorted(folders, key=lambda one: int(one.name), reverse=True):
        if (folder / "bin" / "postgres").exists() and (folder / "bin" / "initdb").exists():
            return folder / "bin"
    pytest.skip("postgresql: there is no `postgres`; scripts/tools.sh postgresql gets it")


class PostgresServer:
    """A running server; its data is gone at the end."""

    def __init__(self) -> None:
        self._programs = programs()
        # Not below pytest's own folder: another user must come in, and the name of a socket must be short.
        _sweep()
        self._folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self._number = 0
        self.port = 0
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def database(self) -> str:
        """The URL of a new, empty database."""
        self._number += 1
        name = f"board_{self._number}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def url(self, database: str) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    def limit_files(self, size: int | None) -> None:
        """Have the system refuse connections that are made from now on to make a file larger, as a full disk does."""
        assert self._process
        pid = self._process.pid
        limits = (resource.RLIM_INFINITY if size is None else size, resource.RLIM_INFINITY)

        def limit() -> None:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)

        subprocess.run(  # by the server's own user: root itself may not everywhere
            ["true"],
            **self._as(self._owner()),
            preexec_fn=limit,
            timeout=BOUND,
            check=True,
        )

    def close(self) -> None:
        if self._process:
            self._process.send_signal(signal.SIGQUIT)  # at once: nobody wants the data
            self._process.wait(BOUND)
            if self._process.stderr:
                self._process.stderr.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self) -> None:
        data = self._folder / "data"
        data.mkdir(0o700)
        if owner := self._owner():
            for folder in (self._folder, data):
                os.chown(folder, owner.pw_uid, owner.pw_gid)
        made = subprocess.run(
            [
                *(str(self._programs / "initdb"), "-D", str(data), "-U", USER, "--auth=trust", "--no-sync"),
                *("--encoding=UTF8", "--locale=C.UTF-8", "--wal-segsize=1"),
            ],
            **self._as(owner),
            capture_output=True,
            text=True,
            timeout=BOUND,
            check=False,
        )
        assert made.returncode == 0, made.stdout + made.stderr
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        settings: dict[str, object] = {
            "port": self.port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": self._folder,
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "max_connections": 100,
            "shared_buffers": "32MB",
            "log_min_messages": "log",
            "lc_messages": "C",
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        self._process = subprocess.Popen(
            [str(self._programs / "postgres"), "-D", str(data), *options],
            **self._as(owner, dies=True),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self._wait()

    def _wait(self) -> None:
        """Until it says that it is ready; what it says later goes nowhere, but does not block it."""
        assert self._process
        assert self._process.stderr
        said = []
        for line in self._process.stderr:
            said.append(line)
            if _READY in line:
                break
        else:
            raise AssertionError(f"PostgreSQL did not start: {''.join(said)}")
        threading.Thread(target=lambda stream: [None for _ in stream], args=[self._process.stderr], daemon=True).start()

    @staticmethod
    def _owner() -> pwd.struct_passwd | None:
        """Whom it runs as: it refuses to run as root."""
        if os.geteuid() != 0:
            return None
        for name in ("postgres", "nobody"):
            try:
                return pwd.getpwnam(name)
            except KeyError:
                continue
        pytest.skip("postgresql: it does not run as root, and there is no user `postgres` or `nobody`")

    @staticmethod
    def _as(owner: pwd.struct_passwd | None, *, dies: bool = False) -> dict[str, Any]:
        """Options of a process: whose it is, and that it does not outlive us."""
        parent = os.getpid()

        def follow() -> None:
            _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)  # after the change of user, which takes it back
            if os.getppid() != parent:
                os._exit(1)

        user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if owner else {}
        follows = {"preexec_fn": follow} if dies and sys.platform == "linux" else {}
        return {**user, **follows, "cwd": "/", "env": {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}}


def _sweep() -> None:
    """Remove the folders of tests that were killed; their servers have ended with them."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists() and Path("/proc/self").exists():
            shutil.rmtree(folder, ignore_errors=True)
