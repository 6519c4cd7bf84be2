"""Locks between processes: `locked`. The holder of a lock may remove its file."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
from collections.abc import Iterator

_TIMEOUT = 10.0  # seconds for others: they hold a lock for milliseconds, as to start a daemon


@contextlib.contextmanager
def locked(path: str, timeout: float = _TIMEOUT) -> Iterator[None]:
    """Hold the lock `path`.

    Raises:
        TimeoutError: another process holds the lock for `timeout` seconds.
        OSError: there are no locks at that place.
    """
    try:
        descriptor = lock_file(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        descriptor = None
    if descriptor is None:
        descriptor = _Waiting(path).result(timeout)
    try:
        yield
    finally:
        os.close(descriptor)


class _Waiting:
    """Waits for a lock in a thread, because the system has no such call with a time limit."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._changing = threading.Condition()
        self._found: int | OSError | None = None
        self._is_wanted = True

    def result(self, timeout: float) -> int:
        """A descriptor that holds it. Raises the errors of `locked`, and those of the wait."""
        threading.Thread(target=self._wait, daemon=True).start()
        with self._changing:
            self._changing.wait_for(lambda: self._found is not None, timeout)
            found, self._is_wanted = self._found, False
        if found is None:
            raise TimeoutError(errno.ETIMEDOUT, "another process holds this lock for too long", self._path)
        if isinstance(found, OSError):
            raise found
        return found

    def _wait(self) -> None:
        found: int | OSError | None = None
        try:
            while found is None:
                found = lock_file(self._path, fcntl.LOCK_EX)
        except OSError as error:
            found = error
        with self._changing:
            if self._is_wanted:
                self._found = found
                self._changing.notify_all()
            elif isinstance(found, int):
                os.close(found)


def lock_file(path: str, how: int) -> int | None:
    """A descriptor that holds the lock `path`, opened as `how` says; None if the file was removed first.

    Raises:
        OSError: it is not available.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, how)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None
