"""The documents that a server has open: `Documents` (LSP 3.17, "Text Document Synchronization")."""

from __future__ import annotations

import itertools
import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from lsp_mcp.disk.files import Signature
from lsp_mcp.errors import PathError
from lsp_mcp.lsp.life.editor_versions import EditorVersions
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.text import Text
from lsp_mcp.uris import path_uri

Notify = Callable[[str, Any], None]
MAX_OPEN = 64  # documents; the least recently used is closed first
MAX_OPEN_CHARACTERS = 4 * 1024 * 1024  # of all of them together: a server's memory grows with what is open


class Texts(Protocol):
    """Gives the texts of files, as `Files` does."""

    def text(self, path: Path) -> Text:
        """The present text of `path`."""

    def forget(self, paths: Iterable[Path]) -> None:
        """Note that `paths` may have changed."""


class Holder(Protocol):
    """An editor that has documents open with the same server."""

    def held(self) -> dict[Path, tuple[Text, int]]:
        """Text and version of each."""

    def reread(self, path: Path, version: int) -> None:
        """Make the server read it again, as `version`."""

    def show(self, path: Path, version: int, text: Text) -> None:
        """Show the server `text` as its content, as `version`, until `reread`."""


class Document(Struct):
    """One document that we have opened: the text and version last sent to the server."""

    text: Text
    version: int  # unique among this program's versions
    signature: Signature | None
    pinned: bool = False  # open because of what it makes the server load; never closed for room
    passing: bool = False  # not in use: closed once the server has read it
    is_read: bool = False  # the server has reported on this version


class Documents:
    """Opens, refreshes and closes documents so that the server always has the text on disk.

    Documents stay open because a question about an open one is several times faster; at most `MAX_OPEN` do, with at
    most `MAX_OPEN_CHARACTERS` together, unless the last one alone has more. If the
    adapter requires it, one is closed only after the server has read its latest text.
    """

    def __init__(
        self,
        plugin: Plugin,
        files: Texts,
        notify: Notify,
        holder: Holder | None = None,
        opening: Callable[[Path, Text, Notify], None] | None = None,
    ) -> None:
        self._adapter = plugin.adapter
        self._plugin = plugin
        self._opening = opening
        self._rules = plugin.documents
        self._files = files
        self._notify = notify
        self._holder = holder
        self._versions = itertools.count(1)  # never reused: a server's late report on a closed document is recognised
        self._open: OrderedDict[Path, Document] = OrderedDict()
        self._editor_versions = EditorVersions(self._versions.__next__)
        self._awaited: Counter[Path] = Counter()  # how many wait until the server has read these: they stay open
        # Texts shown to the server in place of the present ones; whether each is open only for that.
        self._shown: dict[Path, tuple[Text, bool]] = {}

    # --- what is open ------------------------------------------------------------------------------

    def __contains__(self, path: Path) -> bool:
        return path in self._open or path in self._held()

    def __iter__(self) -> Iterator[Path]:
        return iter({**self._open, **self._held()})

    def is_held(self, path: Path) -> bool:
        """Whether an editor has `path` open."""
        return path in self._held()

    def get(self, path: Path) -> Text | None:
        """The server's text of the open document `path`, None if it is not open."""
        if held := self._held().get(path):
            return held[0]
        document = self._open.get(path)
        return document.text if document else None

    def on_disk(self, path: Path) -> Text:
        """The text of the file `path`, empty if it cannot be read."""
        try:
            return self._files.text(path)
        except PathError:
            return Text("")

    def present(self, path: Path) -> Text:
        """The server's text of `path`: the open document's, else the file's, as `on_disk`."""
        text = self.get(path)
        return self.on_disk(path) if text is None else text

    def is_editors(self, path: Path) -> bool:
        """Whether the editor has `path` open."""
        return path in self._held()

    def is_shown(self, path: Path) -> bool:
        """Whether the server is shown another text in place of that of `path`."""
        return path in self._shown

    # --- versions ----------------------------------------------------------------------------------

    def wire_version(self, path: Path) -> int | None:
        """The server's version of the open document `path`; None if it is not open."""
        if held := self._held().get(path):
            return self._editor_versions.wire_version(path, held[1])
        document = self._open.get(path)
        return document.version if document else None

    def note_version(self, path: Path) -> int | None:
        """Our serial for the version of `path` last sent to the server, which is recorded; None if it is not open."""
        if held := self._held().get(path):
            return self._editor_versions.note(path, held[1], held[0])
        document = self._open.get(path)
        return document.version if document else None

    def serial(self, path: Path, wire_version: int) -> int:
        """Our serial for a version that the server has reported on; -1 if it is not a present one."""
        return wire_version if path in self._open else self._editor_versions.serial(path, wire_version)

    @property
    def reread_times(self) -> int:
        """How many answers to `reread` are needed until the last is about the text on disk."""
        return self._rules.reread_times

    def is_uncertain(self, path: Path) -> bool:
        """Whether the server's reports on `path` may be about an earlier opening by the editor."""
        return self.is_editors(path) and self._editor_versions.is_uncertain(path)

    def unread_version(self, path: Path) -> int | None:
        """The version that the server must have read before `path` can be closed; None if it can be closed now."""
        document = self._open.get(path)
        return document.version if document and self._rules.close_when_read and not document.is_read else None

    def published(self, path: Path, version: int) -> None:
        """The server has reported on our `version` of `path`."""
        document = self._open.get(path)
        if document and version >= document.version:
            document.is_read = True
            if document.passing and not self._awaited[path]:
                self.close(path)

    # --- opening and closing -----------------------------------------------------------------------

    def open(self, path: Path, *, pinned: bool = False) -> Text:
        """Open `path` unless it is; the server's text of it.

        Raises:
            PathError: it cannot be read as text, or is in no language of this server.
        """
        if held := self._held().get(path):
            return held[0]
        document = self._open.get(path)
        if document is None:
            document = self._tell_open(path, self._files.text(path))
        elif document.passing and (text := self._files.text(path)) != document.text:
            self._tell_change(path, document, text)  # it was to be closed because its file was gone
        document.pinned |= pinned
        document.passing = False
        self._open.move_to_end(path)
        self._close_surplus()
        return document.text

    def open_to_read(self, path: Path, text: Text | None = None) -> int:
        """Make the server read `path` as on disk, empty if it is gone: its version. See `close_if_only_read`.

        With a `text` it reads that until further notice.

        If we have it open it is closed first, so that the server also reads its includes again: not before
        `unread_version` is None.

        Raises:
            PathError: it exists and cannot be read as text.
        """
        before = self._open.get(path)
        if text is None:
            text = self._files.text(path) if path.exists() else Text("")
        self._tell_close(path)
        document = self._tell_open(path, text)
        document.pinned = bool(before and before.pinned)
        document.passing = before is None or before.passing
        return document.version

    def show_briefly(self, path: Path) -> None:
        """Open `path`, empty, and close it at once: the server learns of it, and has nothing to compile.

        Raises:
            PathError: it is in none of the server's languages.
        """
        self._tell_open(path, Text(""))
        self._tell_close(path)

    def reread(self, path: Path) -> int:
        """Make the server read `path`, which the editor has open, and its includes again: its version."""
        assert self._holder
        text, version = self._held()[path]
        self._editor_versions.note(path, version, text)  # comes before what follows
        wire_version, serial = self._editor_versions.reread(path, version)
        self._holder.reread(path, wire_version)
        return serial

    def read_again(self, path: Path) -> None:
        """Make the server read `path`, if it is open, and its includes again, as a later version."""
        if self.is_editors(path):
            self.reread(path)
        elif document := self._open.get(path):
            self._tell_change(path, document, document.text, saved=False, fields=self._rules.reread_fields)

    @contextmanager
    def awaiting(self, path: Path) -> Iterator[None]:
        """Keep `path` open while a caller waits until the server has read it; then close it if it was only for that."""
        self._awaited[path] += 1
        try:
            yield
        finally:
            self._awaited[path] -= 1
            if not self._awaited[path]:
                del self._awaited[path]
            self.close_if_only_read(path)

    def close_if_only_read(self, path: Path) -> None:
        """Close `path` if it is open only because of `open_to_read`."""
        document = self._open.get(path)
        if document and document.passing:
            self.close(path)

    def close(self, path: Path) -> None:
        """Close `path` if it is open, at once or as soon as that is safe."""
        if self.unread_version(path) is None:
            self._tell_close(path)
        else:
            self._open[path].passing = True  # `published` closes it

    def refresh(self, paths: Iterable[Path]) -> None:
        """Send the server the new text of those of `paths` that are open and have changed."""
        for path in paths:
            document = self._open.get(path)
            if document is None:
                continue
            document.signature = Signature.read(path)
            try:
                text = self._files.text(path)
            except PathError:
                # Gone, or no longer text: the server must see the state on disk.
                self.close(path)
                continue
            if text != document.text:
                self._tell_change(path, document, text)

    def refresh_outside(self, folders: Collection[Path]) -> list[Path]:
        """Refresh the open documents outside `folders`, whose changes cause no events; returns those that changed."""
        inside = tuple(f"{folder}{os.sep}" for folder in folders)
        changed = [
            path
            for path, document in self._open.items()
            if not str(path).startswith(inside) and Signature.read(path) != document.signature
        ]
        self.refresh(changed)
        return changed

    def handed_over(self, path: Path) -> None:
        """The editor has opened `path` itself, after closing it for us."""
        self._open.pop(path, None)

    def opened_by_editor(self, path: Path) -> None:
        """The editor has opened `path`, maybe again."""
        self._editor_versions.opened(path)

    def reread_by_editor(self, path: Path, wire_version: int, version: int) -> None:
        """The editor sent our `wire_version` of `path` to the server, after its own `version`."""
        self._editor_versions.reread_after(path, wire_version, version)

    # --- what would be if -------------------------------------------------------------------------

    def show(self, path: Path, text: Text) -> None:
        """Show the server `text` as the content of `path`, which need not exist, until `show_present`.

        Raises:
            PathError: `path` is in no language of this server.
        """
        if self.is_editors(path):
            assert self._holder
            _, version = self._held()[path]
            present, _ = self._holder.held()[path]
            self._editor_versions.note(path, version, present)
            wire_version, _ = self._editor_versions.reread(path, version)
            self._holder.show(path, wire_version, text)
            self._shown[path] = text, False
        elif document := self._open.get(path):
            self._shown.setdefault(path, (text, False))
            self._tell_change(path, document, text, saved=False)
        else:
            self._tell_open(path, text)
            self._shown[path] = text, True

    def show_present(self) -> list[Path]:
        """Send the server the present texts of all documents with other texts; returns those documents."""
        shown, self._shown = self._shown, {}
        for path, (_, passing) in shown.items():
            if path in self._held():
                self.reread(path)
            elif document := self._open.get(path):
                self._tell_change(path, document, self.on_disk(path), saved=False)
                document.signature = Signature.read(path)
                if passing or not path.exists():
                    self.close(path)
        return list(shown)

    # --- from one server to the next ---------------------------------------------------------------

    def reopen_all(self) -> None:
        """Open everything again for a restarted server, except documents that can no longer be read."""
        self._editor_versions.clear()
        before, self._open = self._open, OrderedDict()
        for path, document in before.items():
            if document.passing:
                continue
            try:
                self.open(path, pinned=document.pinned)
            except PathError:
                continue  # deleted while the server was down; questions about it will say so

    @property
    def pinned(self) -> list[Path]:
        """The open documents that are never closed for room."""
        return [path for path, document in self._open.items() if document.pinned]

    def keep_last(self, most: int) -> None:
        """Treat only the `most` most recently used as open: the server is gone, or is about to be replaced."""
        for path in list(self._open)[: max(0, len(self._open) - most)]:
            del self._open[path]

    # --- inside ------------------------------------------------------------------------------------

    def _held(self) -> dict[Path, tuple[Text, int]]:
        held = self._holder.held() if self._holder else {}
        if not self._shown:
            return held
        shown = {path: (self._shown[path][0], held[path][1]) for path in self._shown.keys() & held.keys()}
        return {**held, **shown}

    def _tell_open(self, path: Path, text: Text) -> Document:
        language = self._plugin.language_of(path)
        if language is None:
            raise PathError(
                f"{path.name} is not a file that {self._adapter.name} answers for ({', '.join(self._adapter.by_kind)})"
            )
        if self._opening:
            self._opening(path, text, self._notify)
        document = Document(text, next(self._versions), Signature.read(path))
        self._open[path] = document
        item = {"uri": path_uri(path), "languageId": language.id, "version": document.version, "text": text.content}
        self._notify("textDocument/didOpen", {"textDocument": item})
        return document

    def _tell_change(
        self, path: Path, document: Document, text: Text, *, saved: bool = True, fields: Mapping[str, Any] | None = None
    ) -> None:
        document.text, document.version, document.is_read = text, next(self._versions), False
        identifier = {"uri": path_uri(path), "version": document.version}
        more = self._rules.change_fields if fields is None else fields
        change = {"textDocument": identifier, "contentChanges": [{"text": text.content}], **more}
        self._notify("textDocument/didChange", change)
        # The text on disk is by definition saved; some servers check dependents only then.
        if saved and self._rules.tell_saved:
            self._notify("textDocument/didSave", {"textDocument": {"uri": path_uri(path)}})

    def _tell_close(self, path: Path) -> None:
        if self._open.pop(path, None):
            self._notify("textDocument/didClose", {"textDocument": {"uri": path_uri(path)}})

    def _close_surplus(self) -> None:
        idle = [path for path, document in self._open.items() if not document.pinned and not self._awaited[path]]
        size = sum(len(self._open[path].text.content) for path in idle)
        for number, path in enumerate(idle[:-1]):
            if len(idle) - number <= MAX_OPEN and size <= MAX_OPEN_CHARACTERS:
                return
            size -= len(self._open[path].text.content)
            self.close(path)
