"""One order for the versions of documents that an editor has open: `EditorVersions`.

An editor's versions say little: Neovim's are changedticks, after a reload it uses the old one again, and after `:edit!`
it is 0. So each gets a serial of ours when we first see it, and a server's word about a version is put in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from msgspec import Struct, field

from lsp_mcp.text import Text

_OURS = 1 << 30  # versions that we have told a server of an editor's document begin here; the editor's own are lower


class _History(Struct):
    """What is known of one document since the editor opened it last."""

    serials: dict[int, int] = field(default_factory=dict)  # by version, as the server knows it
    before: Collection[int] = ()  # the editor's versions of its opening before, as long as a word on them may come
    text: Text | None = None  # as we last took note of it
    reread: tuple[int, int] | None = None  # the editor's version when we told of ours last, and that


class EditorVersions:
    """Serials of the versions of an editor's documents: a text that comes later has a higher one, the same text none.

    `next_serial` gives a number that is higher than all before.
    """

    def __init__(self, next_serial: Callable[[], int]) -> None:
        self._next = next_serial
        self._histories: dict[Path, _History] = {}

    def note(self, path: Path, version: int, text: Text) -> int:
        """The serial of what the editor has told its server: `text`, as its `version`."""
        history = self._history(path)
        serial = self._serial(history, self.wire_version(path, version), same=text == history.text)
        history.text = text
        return serial

    def wire_version(self, path: Path, version: int) -> int:
        """The version that the server knows of what the editor calls `version`: ours, if we told of one since then."""
        before, ours = self._history(path).reread or (-1, -1)
        return ours if before == version else version

    def reread(self, path: Path, version: int) -> tuple[int, int]:
        """A version of ours to tell of what the editor calls `version`, and its serial."""
        history, serial = self._history(path), self._next()
        wire_version = _OURS + serial
        history.reread = version, wire_version
        history.serials[wire_version] = serial
        return wire_version, serial

    def reread_after(self, path: Path, wire_version: int, version: int) -> None:
        """The editor told our `wire_version` after its own `version`: a server that has read the one has read both."""
        history = self._history(path)
        if history.reread is None or history.reread[1] != wire_version:
            return  # of an opening before, or we have told of another since
        history.serials[wire_version] = max(history.serials[wire_version], history.serials.get(version, 0))
        history.reread = version, wire_version

    def serial(self, path: Path, wire_version: int) -> int:
        """The serial of the version that a server has said something about; -1 if it is none of the present opening."""
        history = self._history(path)
        known = wire_version in history.serials
        if wire_version >= _OURS:
            if not known:
                return -1  # another program's
            history.before = ()  # what was said of the opening before has come before this
        elif not known:
            editors = [version for version in history.serials if version < _OURS]
            if wire_version in history.before or wire_version < max(editors, default=0):
                return -1  # from before the editor opened it last, or before the first that we saw
        return self._serial(history, wire_version)

    def opened(self, path: Path) -> None:
        """The editor has opened `path`, maybe again: its versions begin again."""
        history = self._histories.pop(path, _History())
        self._histories[path] = _History(before={version for version in history.serials if version < _OURS})

    def is_uncertain(self, path: Path) -> bool:
        """Whether we have told of no version of ours since the editor opened it: what is said of it may be older."""
        return self._history(path).reread is None

    def clear(self) -> None:
        """Forget everything, for a new server."""
        self._histories.clear()

    def _history(self, path: Path) -> _History:
        return self._histories.setdefault(path, _History())

    def _serial(self, history: _History, wire_version: int, *, same: bool = False) -> int:
        if wire_version not in history.serials:
            # A server has nothing new to say of a text that is the same (clangd 22 says nothing then).
            history.serials[wire_version] = max(history.serials.values()) if same and history.serials else self._next()
        return history.serials[wire_version]
