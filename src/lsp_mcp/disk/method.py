"""`Method` is the interface of all ways of watching for `Watch`, which chooses one and replaces it when it fails."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from lsp_mcp.prose import first_few


class Method(Protocol):
    """A way to detect changes of files, which are written to the `Ledger` it was created with.

    Paths are strings here: they cost a tenth of a `Path`, and undecodable names keep their surrogates.
    """

    def add_root(self, root: str) -> None:
        """Record the files below `root`, without reporting existing ones.

        Raises:
            EventsLostError: this method cannot continue.
        """

    def collect(self) -> None:
        """Report all changes whose system calls have returned.

        Raises:
            EventsLostError: this method cannot continue, and changes may be unreported.
        """

    def files(self) -> Iterable[str]:
        """The existing files, as of the last `collect`."""

    def links(self) -> Iterable[str]:
        """The symbolic links, whatever they lead to."""

    def note(self) -> str | None:
        """The limits of its answers, or None if they are exact by events."""

    def close(self) -> None:
        """Release kernel resources. May be called twice."""


class EventsLostError(Exception):
    """Events are not, or no longer, available; its text is the reason, without a full stop."""


def lasting_note(
    reason: str | None, missing: Iterable[str], unreadable: Iterable[str], left_out: Iterable[str] = ()
) -> str | None:
    """Why the answers are not by events, which roots are missing, which folders are not read; or None."""
    absent = set(missing).difference(unreadable)
    notes = [
        reason,
        _some("no such folder", absent),
        _some("cannot be read", unreadable),
        _some("another file system, not watched", left_out),
    ]
    return "; ".join(filter(None, notes)) or None


def _some(what: str, paths: Iterable[str]) -> str | None:
    """The first of `paths` by name, and the number of others."""
    ordered = sorted(paths)
    if not ordered:
        return None
    return f"{what}: {first_few(ordered, 1)}"
