"""A subscribable event: `Event`."""

from __future__ import annotations

from collections.abc import Callable


class Event:
    """Can occur any number of times; each subscriber is called for every occurrence after its subscription."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []

    def subscribe(self, callback: Callable[[], None]) -> None:
        """Call `callback` on each occurrence."""
        self._callbacks.append(callback)

    def happened(self) -> None:
        """Call all subscribers."""
        for callback in self._callbacks:
            callback()
