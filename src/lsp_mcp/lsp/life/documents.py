"""The documents that a server has open: `Documents` (LSP 3.17, "Text Document Synchronization")."""

from __future__ import annotations

import itertools
import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from lsp_mcp.adapters import Adapter
from lsp_mcp.disk.files import Signature
from lsp_mcp.errors import PathError
from lsp_mcp.lsp.life.editor_versions import EditorVersions
from lsp_mcp.text import Text
from lsp_mcp.uris import path_uri

Notify = Callable[[str, Any], None]
MAX_OPEN = 64  # documents; the least recently asked about is closed first


class Texts(Protocol):
    """What gives the text of files, as `Files` does."""

    def text(self, path: Path) -> Text:
        """The text of `path` now."""

    def forget(self, paths: Iterable[Path]) -> None:
        """Note that `paths` may have changed."""


class Holder(Protocol):
    """An editor that has documents open with the same server."""

    def held(self) -> dict[Path, tuple[Text, int]]:
        """Text and version of each."""

    def reread(self, path: Path, version: int) -> None:
        """Have the server read it again, as `version`."""

    def show(self, path: Path, version: int, text: Text) -> None:
        """Let the server take `text` for what is in it, as `version`, until `reread`."""


class Document(Struct):
    """One document that we have opened: the text and version that the server was told last."""

    text: Text
    version: int  # among those of this program, which never come twice
    signature: Signature | None
    pinned: bool = False  # open for what it makes the server load; never closed for room
    passing: bool = False  # nobody has asked about it: it is closed once the server has read it
    is_read: bool = False  # the server has said something about this version


class Documents:
    """Opens, refreshes and closes documents so that the server always has what is on disk.

    Documents stay open because a question about an open one is several times faster; at most `MAX_OPEN` do. Where the
    adapter says so, one is closed only when the server has read the last text that it was told of it.
    """

    def __init__(self, adapter: Adapter, files: Texts, notify: Notify, holder: Holder | None = None) -> None:
        self._adapter = adapter
        self._rules = adapter.documents
        self._files = files
        self._notify = notify
        self._holder = holder
        self._versions = itertools.count(1)  # never the same twice: a server's late word on a closed document is known
        self._open: OrderedDict[Path, Document] = OrderedDict()
        self._editor_versions = EditorVersions(self._versions.__next__)
        self._awaited: Counter[Path] = Counter()  # how many wait until the server has read these: they stay open
        # What the server is shown in place of what is there; whether only for that reason it is open.
        self._shown: dict[Path, tuple[Text, bool]] = {}

    # --- what is open ------------------------------------------------------------------------------

    def __contains__(self, path: Path) -> bool:
        return path in self._open or path in self._held()

    def __iter__(self) -> Iterator[Path]:
        return iter({**self._open, **self._held()})

    def get(self, path: Path) -> Text | None:
        """The text that the server has of the open document `path`, None if it is not open."""
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
        """The text that the server has of `path`: the open document's, else the file's, as `on_disk`."""
        text = self.get(path)
        return self.on_disk(path) if text is None else text

    def is_editors(self, path: Path) -> bool:
        """Whether the editor has `path` open."""
        return path in self._held()

    # --- versions ----------------------------------------------------------------------------------

    def wire_version(self, path: Path) -> int | None:
        """The version of the open document `path` as the server knows it; None if it is not open."""
        if held := self._held().get(path):
            return self._editor_versions.wire_version(path, held[1])
        document = self._open.get(path)
        return document.version if document else None

    def note_version(self, path: Path) -> int | None:
        """Our version of what the server was told last of `path`, which is taken note of; None if it is not open."""
        if held := self._held().get(path):
            return self._editor_versions.note(path, held[1], held[0])
        document = self._open.get(path)
        return document.version if document else None

    def serial(self, path: Path, wire_version: int) -> int:
        """Our version for the one that the server has said something about; -1 if that is none of the present ones."""
        return wire_version if path in self._open else self._editor_versions.serial(path, wire_version)

    @property
    def reread_times(self) -> int:
        """How often `reread` must be answered until the last answer is about what is on disk."""
        return self._rules.reread_times

    def is_uncertain(self, path: Path) -> bool:
        """Whether what the server says of `path` may be about another opening of it, by the editor."""
        return self.is_editors(path) and self._editor_versions.is_uncertain(path)

    def unread_version(self, path: Path) -> int | None:
        """The version that the server must have read before `path` can be closed; None if it can be closed now."""
        document = self._open.get(path)
        return document.version if document and self._rules.close_when_read and not document.is_read else None

    def published(self, path: Path, version: int) -> None:
        """The server has said something about our `version` of `path`."""
        document = self._open.get(path)
        if document and version >= document.version:
            document.is_read = True
            if document.passing and not self._awaited[path]:
                self.close(path)

    # --- opening and closing -----------------------------------------------------------------------

    def open(self, path: Path, *, pinned: bool = False) -> Text:
        """Open `path` unless it is; the text that the server has of it.

        Raises:
            PathError: it cannot be read as text, or is of no language of this server.
        """
        if held := self._held().get(path):
            return held[0]
        document = self._open.get(path)
        if document is None:
            document = self._tell_open(path, self._files.text(path))
        elif document.passing and (text := self._files.text(path)) != document.text:
            self._tell_change(path, document, text)  # it was to be closed because its file had gone
        document.pinned |= pinned
        document.passing = False
        self._open.move_to_end(path)
        self._close_surplus()
        return document.text

    def open_to_read(self, path: Path, text: Text | None = None) -> int:
        """Let the server read `path` as it is on disk, empty if it is gone: its version. See `close_if_only_read`.

        With a `text` it reads that until it is told otherwise.

        If we have it open it is closed first, so that the server reads what it includes again too: not before
        `unread_version` is None.

        Raises:
            PathError: it is there and cannot be read as text.
        """
        before = self._open.get(path)
        if text is None:
            text = self._files.text(path) if path.exists() else Text("")
        self._tell_close(path)
        document = self._tell_open(path, text)
        document.pinned = bool(before and before.pinned)
        document.passing = before is None or before.passing
        return document.version

    def reread(self, path: Path) -> int:
        """Let the server read again `path`, which the editor has open, and what it includes: its version."""
        assert self._holder
        text, version = self._held()[path]
        self._editor_versions.note(path, version, text)  # comes before what follows
        wire_version, serial = self._editor_versions.reread(path, version)
        self._holder.reread(path, wire_version)
        return serial

    @contextmanager
    def awaiting(self, path: Path) -> Iterator[None]:
        """Keep `path` open while somebody waits until the server has read it; then close it if it was only for that."""
        self._awaited[path] += 1
        try:
            yield
        finally:
            self._awaited[path] -= 1
            if not self._awaited[path]:
                del self._awaited[path]
            self.close_if_only_read(path)

    def close_if_only_read(self, path: Path) -> None:
        """Close `path` if nobody has asked about it: it is open only because of `open_to_read`."""
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
        """Tell the server the new text of those of `paths` that are open, if their text did change."""
        for path in paths:
            document = self._open.get(path)
            if document is None:
                continue
            document.signature = Signature.of(path)
            try:
                text = self._files.text(path)
            except PathError:
                # Gone, or not text any more: the server must see what is on disk.
                self.close(path)
                continue
            if text != document.text:
                self._tell_change(path, document, text)

    def refresh_outside(self, folders: Collection[Path]) -> list[Path]:
        """Refresh the open documents outside `folders`, whose changes no event names; those that changed."""
        inside = tuple(f"{folder}{os.sep}" for folder in folders)
        changed = [
            path
            for path, document in self._open.items()
            if not str(path).startswith(inside) and Signature.of(path) != document.signature
        ]
        self.refresh(changed)
        return changed

    def handed_over(self, path: Path) -> None:
        """The editor has opened `path` itself, and closed it for us before that."""
        self._open.pop(path, None)

    def opened_by_editor(self, path: Path) -> None:
        """The editor has opened `path`, maybe again."""
        self._editor_versions.opened(path)

    def reread_by_editor(self, path: Path, wire_version: int, version: int) -> None:
        """The editor told our `wire_version` of `path` to the server, after its own `version`."""
        self._editor_versions.reread_after(path, wire_version, version)

    # --- what would be if -------------------------------------------------------------------------

    def show(self, path: Path, text: Text) -> None:
        """Let the server take `text` for the content of `path`, which need not exist, until `show_present`.

        Raises:
            PathError: `path` is of no language of this server.
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
        """Let the server have again what is there of all that it was shown instead; those documents."""
        shown, self._shown = self._shown, {}
        for path, (_, passing) in shown.items():
            if path in self._held():
                self.reread(path)
            elif document := self._open.get(path):
                self._tell_change(path, document, self.on_disk(path), saved=False)
                document.signature = Signature.of(path)
                if passing or not path.exists():
                    self.close(path)
        return list(shown)

    # --- from one server to the next ---------------------------------------------------------------

    def reopen_all(self) -> None:
        """Open everything again, for a server that was started again; what cannot be read any more is left out."""
        self._editor_versions.clear()
        before, self._open = self._open, OrderedDict()
        for path, document in before.items():
            if document.passing:
                continue
            try:
                self.open(path, pinned=document.pinned)
            except PathError:
                continue  # gone while the server was down; anyone who asks about it is told so

    @property
    def pinned(self) -> list[Path]:
        """The open documents that are never closed for room."""
        return [path for path, document in self._open.items() if document.pinned]

    def keep_last(self, most: int) -> None:
        """Count only the `most` that were asked about last as open: the server is gone, or is about to be replaced."""
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
        language = self._adapter.language_of(path)
        if language is None:
            raise PathError(
                f"{path.name} is not a file that {self._adapter.name} answers for "
                f"({', '.join(self._adapter.extensions)})"
            )
        document = Document(text, next(self._versions), Signature.of(path))
        self._open[path] = document
        item = {"uri": path_uri(path), "languageId": language.id, "version": document.version, "text": text.content}
        self._notify("textDocument/didOpen", {"textDocument": item})
        return document

    def _tell_change(self, path: Path, document: Document, text: Text, *, saved: bool = True) -> None:
        document.text, document.version, document.is_read = text, next(self._versions), False
        identifier = {"uri": path_uri(path), "version": document.version}
        change = {"textDocument": identifier, "contentChanges": [{"text": text.content}], **self._rules.change_fields}
        self._notify("textDocument/didChange", change)
        # What is on disk is by definition saved; some servers look at dependents only then.
        if saved and self._rules.tell_saved:
            self._notify("textDocument/didSave", {"textDocument": {"uri": path_uri(path)}})

    def _tell_close(self, path: Path) -> None:
        if self._open.pop(path, None):
            self._notify("textDocument/didClose", {"textDocument": {"uri": path_uri(path)}})

    def _close_surplus(self) -> None:
        idle = [path for path, document in self._open.items() if not document.pinned and not self._awaited[path]]
        for path in idle[: max(0, len(idle) - MAX_OPEN)]:
            self.close(path)
