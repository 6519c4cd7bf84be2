"""`Ledger` combines events about files into `Changes`: the net effect since the last question. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

_NO_PATHS: frozenset[Path] = frozenset()


class Changes(Struct, frozen=True):
    """Files created, changed and deleted between two questions; true if there are any."""

    created: frozenset[Path] = _NO_PATHS
    """Files that did not exist at the last question and do now; absolute, below the root as it was given."""
    changed: frozenset[Path] = _NO_PATHS
    """Files that existed then and now and were written, replaced or moved over in between."""
    deleted: frozenset[Path] = _NO_PATHS
    """Files that existed then and no longer do."""
    note: str | None = None
    """None when the answer is exact by events, else a short text for the `status` of an answer."""

    def __bool__(self) -> bool:
        return bool(self.created or self.changed or self.deleted)

    def then(self, later: Changes) -> Changes:
        """The net effect of these changes and `later` ones: created and deleted is nothing, deleted and created is a
        change.
        """
        if not self:
            return later
        created = (self.created - later.deleted) | (later.created - self.deleted)
        deleted = (self.deleted - later.created) | (later.deleted - self.created)
        changed = self.changed | later.changed | (self.deleted & later.created)
        return Changes(created, changed - created - deleted - later.deleted, deleted, later.note)


_NOTHING = Changes()


class Ledger:
    """Collects events about files, by path, until they are taken. A path is in at most one of its sets."""

    def __init__(self) -> None:
        self._created: set[str] = set()
        self._changed: set[str] = set()
        self._deleted: set[str] = set()
        self._notes: list[str] = []

    def appeared(self, path: str) -> None:
        """A file was created. If it was deleted since the last question, that is a change."""
        if path in self._deleted:
            self._deleted.remove(path)
            self._changed.add(path)
        else:
            self._created.add(path)

    def changed(self, path: str) -> None:
        """An existing file has, or may have, new content."""
        if path not in self._created:
            self._changed.add(path)

    def vanished(self, path: str) -> None:
        """Note a deleted file. One that was also created since the last question is forgotten."""
        if path in self._created:
            self._created.remove(path)
        else:
            self._changed.discard(path)
            self._deleted.add(path)

    def replaced(self, before: Iterable[str], now: Iterable[str]) -> None:
        """The files `before` became the files `now` by unknown events: those in both count as changed."""
        for path in before:
            self.vanished(path)
        for path in now:
            self.appeared(path)

    def note(self, text: str) -> None:
        """Add the note `text` to the next answer, once."""
        if text not in self._notes:
            self._notes.append(text)

    def take(self, lasting_note: str | None) -> Changes:
        """The net effect since the last call, with `lasting_note` before the notes taken since then."""
        if not (self._created or self._changed or self._deleted or self._notes or lasting_note):
            return _NOTHING
        notes = [lasting_note, *self._notes] if lasting_note else self._notes
        changes = Changes(
            frozenset(map(Path, self._created)),
            frozenset(map(Path, self._changed)),
            frozenset(map(Path, self._deleted)),
            "; ".join(notes) or None,
        )
        self.clear()
        return changes

    def clear(self) -> None:
        """Forget all events until now."""
        self._created.clear()
        self._changed.clear()
        self._deleted.clear()
        self._notes.clear()
