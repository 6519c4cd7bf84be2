"""The documents that a server has open: `Documents` (LSP 3.17, "Text Document Synchronization")."""

from __future__ import annotations

import itertools
import os
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lsp_mcp.adapters import Adapter
from lsp_mcp.disk.files import Signature
from lsp_mcp.errors import PathError
from lsp_mcp.text import Text
from lsp_mcp.uris import path_uri

Notify = Callable[[str, Any], None]
MAX_OPEN = 64  # documents; the least recently asked about is closed first


_REOPENED = 1 << 30  # versions of documents of an editor's that we have opened again; its own are lower


class Texts(Protocol):
    """What gives the text of files, as `Files` does."""

    def text(self, path: Path) -> Text:
        """The text of `path` now."""

    def forget(self, paths: Iterable[Path]) -> None:
        """Something was heard of `paths`."""


class Holder(Protocol):
    """An editor that has documents open with the same server."""

    def held(self) -> dict[Path, tuple[Text, int]]:
        """Text and version of each."""

    def reopen(self, path: Path, version: int) -> None:
        """Have the server read it again, as `version`."""


@dataclass
class Document:
    """One open document: the text and version that the server was told last."""

    text: Text
    version: int  # among those of this program, which never come twice
    signature: Signature | None
    pinned: bool = False  # open for what it makes the server load; never closed for room
    passing: bool = False  # open only until the server has read it; nobody asked about it


class Documents:
    """Opens, refreshes and closes documents so that the server always has what is on disk.

    Documents stay open because a question about an open one is several times faster; at most `MAX_OPEN` do.
    """

    def __init__(self, adapter: Adapter, files: Texts, notify: Notify, holder: Holder | None = None) -> None:
        self._adapter = adapter
        self._files = files
        self._notify = notify
        self._holder = holder
        self._serials: dict[Path, dict[int, int]] = {}  # our versions of documents of the editor's, by its own
        self._before: dict[Path, set[int]] = {}  # the editor's versions of its opening before
        self._texts: dict[Path, Text] = {}  # of documents of the editor's, as we last took note of them
        self._certain: set[Path] = set()  # documents of the editor's that we have opened again since it did
        self._reopened: dict[Path, tuple[int, int]] = {}  # its version when we opened one again, and as what
        self._open: OrderedDict[Path, Document] = OrderedDict()
        self.awaited: set[Path] = set()  # somebody waits until the server has read these: they stay open
        self._versions = itertools.count(1)  # never the same twice: a server's late word on a closed document is known

    def __contains__(self, path: Path) -> bool:
        return path in self._open or path in self._held()

    def __iter__(self) -> Iterator[Path]:
        return iter({**self._open, **self._held()})

    def get(self, path: Path) -> Document | None:
        """The open document, or None."""
        if held := self._held().get(path):
            self._open.pop(path, None)
            return Document(held[0], self._register(path, self._wire_version(path, held[1]), held[0]), None)
        return self._open.get(path)

    def wire_version(self, path: Path) -> int | None:
        """The version of the open document `path` as the server knows it; None if it is not open."""
        if held := self._held().get(path):
            return self._wire_version(path, held[1])
        document = self._open.get(path)
        return document.version if document else None

    def is_uncertain(self, path: Path) -> bool:
        """Whether the editor has it open, and we have not opened it again since: what was said of it may be older."""
        return path in self._held() and path not in self._certain

    def serial(self, path: Path, wire_version: int) -> int:
        """Our version for the one that the server has said something about; -1 if that is none of the present ones."""
        if path in self._open:
            return wire_version
        serials = self._serials.setdefault(path, {})
        if wire_version in serials and wire_version >= _REOPENED:
            self._before.pop(path, None)  # what was said of the opening before has come before this
        if wire_version not in serials:
            if wire_version >= _REOPENED:
                return -1  # another program has opened it again
            if wire_version in self._before.get(path, ()):
                return -1  # from before the editor opened it last
            if wire_version < max((known for known in serials if known < _REOPENED), default=0):
                return -1  # from before the first that we saw
        return self._register(path, wire_version)

    def _register(self, path: Path, wire_version: int, text: Text | None = None) -> int:
        serials = self._serials.setdefault(path, {})
        if wire_version not in serials:
            # A server has nothing new to say of a text that is the same (clangd 22 says nothing then).
            same = text is not None and text == self._texts.get(path)
            serials[wire_version] = max(serials.values()) if same and serials else next(self._versions)
        if text is not None:
            self._texts[path] = text
        return serials[wire_version]

    def opened_by_editor(self, path: Path) -> None:
        """The editor has opened `path`, maybe again: its versions begin anew."""
        self._texts.pop(path, None)
        self._before[path] = {known for known in self._serials.pop(path, ()) if known < _REOPENED}
        self._reopened.pop(path, None)
        self._certain.discard(path)

    def handed_over(self, path: Path) -> None:
        """The editor has opened `path` itself, and closed it for us before that."""
        self._open.pop(path, None)

    def on_disk(self, path: Path) -> Text:
        """The text of the file `path`, empty if it cannot be read."""
        try:
            return self._files.text(path)
        except PathError:
            return Text("")

    def present(self, path: Path) -> Text:
        """The text that the server has of `path`: the open document's, else the file's, as `on_disk`."""
        document = self.get(path)
        return document.text if document else self.on_disk(path)

    def open(self, path: Path, *, pinned: bool = False) -> Text:
        """Open `path` unless it is; the text that the server has of it.

        Raises:
            PathError: it cannot be read as text, or is of no language of this server.
        """
        document = self.get(path)
        if document and path not in self._open:
            return document.text
        if document is None:
            document = self._tell_open(path)
        document.pinned |= pinned
        document.passing = False
        self._open.move_to_end(path)
        self._close_surplus()
        return document.text

    def show(self, path: Path) -> int:
        """Let the server read `path` as it is on disk, empty if it is gone: its version. `shown` ends that.

        If it is open already it is opened again, so that the server reads what it includes again too.

        Raises:
            PathError: it is there and cannot be read as text.
        """
        if self._holder and (held := self._held().get(path)):
            self._register(path, held[1], held[0])  # comes before what follows
            self._certain.add(path)
            version = next(self._versions)
            self._reopened[path] = held[1], _REOPENED + version
            self._serials.setdefault(path, {})[_REOPENED + version] = version
            self._holder.reopen(path, _REOPENED + version)
            return version
        before = self._open.get(path)
        text = self._files.text(path) if path.exists() else Text("")
        self.close(path)
        document = self._tell_open(path, text)
        document.pinned = bool(before and before.pinned)
        document.passing = before is None or before.passing
        return document.version

    def shown(self, path: Path) -> None:
        """Close `path` if it is open only because it was shown."""
        document = self._open.get(path)
        if document and document.passing:
            self.close(path)

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
                # Gone, or no text any more: the server shall see what is on disk.
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

    def close(self, path: Path) -> None:
        """Close `path` if it is open."""
        if self._open.pop(path, None):
            self._notify("textDocument/didClose", {"textDocument": {"uri": path_uri(path)}})

    def reopen_all(self) -> None:
        """Open everything again, for a server that was started anew; what cannot be read any more is left out."""
        for known in (self._serials, self._before, self._reopened, self._certain, self._texts):
            known.clear()
        before, self._open = self._open, OrderedDict()
        for path, document in before.items():
            if document.passing:
                continue
            try:
                self.open(path, pinned=document.pinned)
            except PathError:
                continue  # gone while the server was down; whoever asks about it is told so

    def close_all_but(self, most: int) -> None:
        """Close all but the `most` that were asked about last."""
        for path in list(self._open)[: max(0, len(self._open) - most)]:
            self.close(path)

    def forget(self) -> None:
        """Count nothing as open, for a server that is gone and shall not get it all again."""
        self._open.clear()

    def _held(self) -> dict[Path, tuple[Text, int]]:
        return self._holder.held() if self._holder else {}

    def _wire_version(self, path: Path, version: int) -> int:
        """The version of a document of the editor's: its own, or the one that we opened it again as since then."""
        before, reopened = self._reopened.get(path, (-1, -1))
        return reopened if before == version else version

    def _tell_open(self, path: Path, text: Text | None = None) -> Document:
        language = self._adapter.language_of(path)
        if language is None:
            raise PathError(
                f"{path.name} is no file that {self._adapter.name} answers for ({', '.join(self._adapter.extensions)})"
            )
        signature = Signature.of(path)
        text = self._files.text(path) if text is None else text
        document = Document(text, next(self._versions), signature)
        self._open[path] = document
        item = {"uri": path_uri(path), "languageId": language.id, "version": document.version, "text": text.content}
        self._notify("textDocument/didOpen", {"textDocument": item})
        return document

    def _tell_change(self, path: Path, document: Document, text: Text) -> None:
        document.text = text
        document.version = next(self._versions)
        identifier = {"uri": path_uri(path), "version": document.version}
        # The last is clangd's: it shall not wait for more changes.
        change = {"textDocument": identifier, "contentChanges": [{"text": text.content}], "wantDiagnostics": True}
        self._notify("textDocument/didChange", change)
        # What is on disk is by definition saved; some servers look at dependents only then.
        self._notify("textDocument/didSave", {"textDocument": {"uri": path_uri(path)}})

    def _close_surplus(self) -> None:
        idle = [path for path, document in self._open.items() if not document.pinned and path not in self.awaited]
        for path in idle[: max(0, len(idle) - MAX_OPEN)]:
            self.close(path)
