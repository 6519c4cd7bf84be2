"""`Method` is what every way of watching offers to `Watch`, which picks one and replaces it when it fails."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from lsp_mcp.prose import first_few


class Method(Protocol):
    """A way to learn what happens to files. It writes what it learns to the `Ledger` it was made with.

    Paths are strings here: they cost a tenth of a `Path`, and undecodable names keep their surrogates.
    """

    def add_root(self, root: str) -> None:
        """Know what is below `root` from now on, and report nothing about what is there already.

        Raises:
            EventsLostError: this method cannot go on.
        """

    def collect(self) -> None:
        """Report everything whose system call has returned.

        Raises:
            EventsLostError: this method cannot go on, and something may be unreported.
        """

    def files(self) -> Iterable[str]:
        """The files known to exist, as of the last `collect`."""

    def note(self) -> str | None:
        """What its answers lack, or None when they are exact by events."""

    def close(self) -> None:
        """Give back what the kernel lent. May be called twice."""


class EventsLostError(Exception):
    """Events are not available, or no longer; its text is the reason, without a full stop."""


def lasting_note(
    reason: str | None, missing: Iterable[str], unreadable: Iterable[str], left_out: Iterable[str] = ()
) -> str | None:
    """Why the answers are not by events, which roots are not there, which folders are not looked at; or None."""
    absent = set(missing).difference(unreadable)
    notes = [
        reason,
        _some("no such folder", absent),
        _some("cannot be read", unreadable),
        _some("another file system, not watched", left_out),
    ]
    return "; ".join(filter(None, notes)) or None


def _some(what: str, paths: Iterable[str]) -> str | None:
    """The first of `paths` by name, and how many more."""
    ordered = sorted(paths)
    if not ordered:
        return None
    return f"{what}: {first_few(ordered, 1)}"
