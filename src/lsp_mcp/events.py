"""Something that happens, and who is told of it: `Event`."""

from __future__ import annotations

from collections.abc import Callable


class Event:
    """Happens any number of times; whoever subscribed is told of each time from then on."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []

    def subscribe(self, callback: Callable[[], None]) -> None:
        """Have `callback` called each time."""
        self._callbacks.append(callback)

    def happened(self) -> None:
        """Tell all subscribers."""
        for callback in self._callbacks:
            callback()
