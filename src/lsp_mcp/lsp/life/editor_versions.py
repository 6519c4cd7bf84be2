"""One order for the versions of documents that an editor has open: `EditorVersions`.

An editor's versions are unreliable: Neovim's are changedticks, reused after a reload, and 0 after `:edit!`. So each
gets one of our serials when we first see it, by which a server's reports are ordered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from msgspec import Struct, field

from lsp_mcp.text import Text

_OURS = 1 << 30  # our own versions of an editor's document begin here; the editor's are lower


class _History(Struct):
    """The state of one document since the editor last opened it."""

    serials: dict[int, int] = field(default_factory=dict)  # by version as known to the server
    before: Collection[int] = ()  # the editor's versions of its previous opening, as long as reports on them may arrive
    text: Text | None = None  # as last recorded
    reread: tuple[int, int] | None = None  # the editor's version when we last sent ours, and ours


class EditorVersions:
    """Serials of the versions of an editor's documents: a later text has a higher one, an equal text none.

    `next_serial` returns a number higher than all before.
    """

    def __init__(self, next_serial: Callable[[], int]) -> None:
        self._next = next_serial
        self._histories: dict[Path, _History] = {}

    def note(self, path: Path, version: int, text: Text) -> int:
        """The serial of the editor's `version` with this `text`."""
        history = self._history(path)
        wire_version, same = self.wire_version(path, version), text == history.text
        if same and wire_version not in history.serials:
            history.reread = None  # there was another text in between, as with undo and redo: the server may have that
        serial = self._serial(history, wire_version, same=same)
        history.text = text
        return serial

    def wire_version(self, path: Path, version: int) -> int:
        """The version on the server for the editor's `version`: ours, if we have sent one since."""
        before, ours = self._history(path).reread or (-1, -1)
        return ours if before == version else version

    def reread(self, path: Path, version: int) -> tuple[int, int]:
        """A version of ours to send for the editor's `version`, and its serial."""
        history, serial = self._history(path), self._next()
        wire_version = _OURS + serial
        history.reread = version, wire_version
        history.serials[wire_version] = serial
        return wire_version, serial

    def reread_after(self, path: Path, wire_version: int, version: int) -> None:
        """The editor sent our `wire_version` after its own `version`: reading one implies reading the other."""
        history = self._history(path)
        if history.reread is None or history.reread[1] != wire_version:
            return  # from an earlier opening, or we have sent another since
        history.serials[wire_version] = max(history.serials[wire_version], history.serials.get(version, 0))
        history.reread = version, wire_version

    def serial(self, path: Path, wire_version: int) -> int:
        """The serial of a version that a server has reported on; -1 if it is not of the present opening."""
        history = self._history(path)
        known = wire_version in history.serials
        if wire_version >= _OURS:
            if not known:
                return -1  # another program's
            history.before = ()  # all reports on the previous opening have arrived before this
        elif not known:
            editors = [version for version in history.serials if version < _OURS]
            if wire_version in history.before or wire_version < max(editors, default=0):
                return -1  # from before the editor last opened it, or before the first version we saw
        return self._serial(history, wire_version)

    def opened(self, path: Path) -> None:
        """The editor has opened `path`, maybe again: its versions start over."""
        history = self._histories.pop(path, _History())
        self._histories[path] = _History(before={version for version in history.serials if version < _OURS})

    def is_uncertain(self, path: Path) -> bool:
        """Whether reports on it may be about an older text, until we have sent a version of ours.

        That is so when the editor has opened it, and when it has a text again that it had before.
        """
        return self._history(path).reread is None

    def clear(self) -> None:
        """Forget everything, for a new server."""
        self._histories.clear()

    def _history(self, path: Path) -> _History:
        return self._histories.setdefault(path, _History())

    def _serial(self, history: _History, wire_version: int, *, same: bool = False) -> int:
        if wire_version not in history.serials:
            # A server reports nothing new about an unchanged text (clangd 22 publishes nothing then).
            history.serials[wire_version] = max(history.serials.values()) if same and history.serials else self._next()
        return history.serials[wire_version]
