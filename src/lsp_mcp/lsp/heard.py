"""What a language server has said by itself: `Heard`, and `Connection`, whatever it was heard on."""

from __future__ import annotations

import asyncio
import logging
import re
from pathlib import Path
from typing import Any, Protocol

from lsp_mcp.adapters import Adapter
from lsp_mcp.lsp.diagnostics import Diagnostics
from lsp_mcp.lsp.progress import Progress
from lsp_mcp.lsp.watched_files import WatchedFiles
from lsp_mcp.text import PositionEncoding
from lsp_mcp.uris import uri_path

log = logging.getLogger(__name__)

_ERROR, _WARNING = 1, 2  # LSP 3.17, `MessageType`


class Heard:
    """The notifications of one life of a server, folded into what questions need."""

    def __init__(self, adapter: Adapter, root: Path) -> None:
        self.progress = Progress()
        self.diagnostics = Diagnostics(adapter.ready.harmless_errors, adapter.diagnostics.syntax_source)
        self.inactive: dict[Path, list[Any]] = {}  # the ranges of each document that the preprocessor leaves out
        self.watched = WatchedFiles(root)
        self.shown_error = ""  # the last error that the server wanted a person to see
        self._name = adapter.name
        self._incomplete = adapter.ready.incomplete_pattern

    def told(self, method: str, params: Any) -> None:
        """Take in one notification."""
        match method:
            case "$/progress":
                self.progress.update(params["token"], params["value"])
            case "textDocument/publishDiagnostics":
                self.diagnostics.publish(params)
            case "textDocument/inactiveRegions":  # clangd's
                self.inactive[uri_path(params["textDocument"]["uri"])] = params["regions"]
            case "window/showMessage":
                if params.get("type") == _ERROR:
                    self.shown_error = str(params.get("message", "")).strip()
                log.warning("%s: %s", self._name, params.get("message"))
            case "window/logMessage":
                level = logging.INFO if params.get("type") in (_ERROR, _WARNING) else logging.DEBUG
                log.log(level, "%s: %s", self._name, params.get("message"))

    def said(self, line: str) -> None:
        """Take in one line of its stderr; may be called in another thread."""
        if self._incomplete and (match := re.search(self._incomplete, line)):
            self.diagnostics.incomplete(Path(match[1]), "could not be compiled to its end")

    def end(self) -> None:
        """The server is gone: let everyone who waits for a word of it look."""
        self.progress.wake()
        self.diagnostics.end()


class Connection(Protocol):
    """One life of one language server, initialized, by whatever way it is reached."""

    @property
    def heard(self) -> Heard:
        """What it has said."""

    @property
    def encoding(self) -> PositionEncoding:
        """How it counts."""

    @property
    def capabilities(self) -> dict[str, Any]:
        """LSP `ServerCapabilities`."""

    @property
    def tells_inactive(self) -> bool:
        """Whether it says of an open document what the preprocessor leaves out, if there is anything."""

    @property
    def dead(self) -> asyncio.Future[None]:
        """Completes when it is gone."""

    async def request(self, method: str, params: Any, *, timeout: float) -> Any:
        """As `Peer.request`."""

    def notify(self, method: str, params: Any) -> None:
        """As `Peer.notify`."""

    async def end(self) -> None:
        """End the server, within 3 s."""

    async def leave(self) -> None:
        """Be done with the server, which goes on if it is somebody else's too."""
