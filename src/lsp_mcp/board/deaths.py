"""The end of other processes of this machine, reported by the kernel: `Deaths`."""

from __future__ import annotations

import asyncio
import logging
import os
import select
from collections.abc import Callable, Iterable
from contextlib import suppress

from lsp_mcp.board.processes import number_here

log = logging.getLogger(__name__)


class Deaths:
    """Calls `ended` as soon as a watched process ends.

    Only where the kernel has descriptors of processes (Linux 5.3), and only for processes of this machine; the
    heartbeat finds the others.
    """

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended
        self._descriptors: dict[str, int] = {}

    def watch(self, names: Iterable[str]) -> None:
        """Watch the processes of these names, and no others."""
        wanted = {name: number for name in names if (number := number_here(name))}
        for name in self._descriptors.keys() - wanted.keys():
            self._forget(name)
        for name in wanted.keys() - self._descriptors.keys():
            self._add(name, wanted[name])

    def look(self) -> None:
        """Report at once what the kernel knows and the event loop has not reported yet."""
        if not self._descriptors:
            return
        poll, names = select.poll(), {}
        for name, descriptor in self._descriptors.items():
            poll.register(descriptor, select.POLLIN)
            names[descriptor] = name
        for descriptor, _ in poll.poll(0):
            self._gone(names[descriptor])

    def close(self) -> None:
        """Watch nothing."""
        self.watch([])

    def _add(self, name: str, number: int) -> None:
        opened = getattr(os, "pidfd_open", None)
        if opened is None:
            return
        try:
            descriptor = opened(number)
        except ProcessLookupError:
            self._ended()
            return
        except OSError as error:
            log.debug("the end of process %d is not reported: %s", number, error)
            return
        self._descriptors[name] = descriptor
        asyncio.get_running_loop().add_reader(descriptor, self._gone, name)

    def _gone(self, name: str) -> None:
        self._forget(name)
        self._ended()

    def _forget(self, name: str) -> None:
        descriptor = self._descriptors.pop(name)
        asyncio.get_running_loop().remove_reader(descriptor)
        with suppress(OSError):
            os.close(descriptor)
