"""One life of one language server: `Connection`, from its start to its exit."""

from __future__ import annotations

import asyncio
import logging
import re
from pathlib import Path
from typing import Any

from lsp_mcp.adapters import Adapter
from lsp_mcp.errors import DiedError, LspMcpError, RefusedError
from lsp_mcp.lsp import watched_files
from lsp_mcp.lsp.diagnostics import Diagnostics
from lsp_mcp.lsp.offers import initialize_params, workspace_folders
from lsp_mcp.lsp.progress import Progress
from lsp_mcp.lsp.watched_files import WatchedFiles
from lsp_mcp.text import PositionEncoding
from lsp_mcp.uris import uri_path
from lsp_mcp.wire.peer import METHOD_NOT_FOUND, Peer
from lsp_mcp.wire.process import Child

log = logging.getLogger(__name__)

INITIALIZE_TIMEOUT = 60.0  # seconds; a server that loads a large workspace before it answers needs some
_SHUTDOWN_TIMEOUT = 1.0  # seconds for the answer to `shutdown`
_EXIT_PATIENCE = 0.7  # seconds between `exit`, or the end of its output, and SIGTERM
_SILENT_PATIENCE = 0.2  # seconds between the end of the input of a server that did not shut down, and SIGTERM
_LAST_WORDS = 0.25  # seconds for what a server that is gone has left in its pipe
_ERROR, _WARNING = 1, 2  # LSP 3.17, `MessageType`


class Connection:
    """A started server that is being, or has been, initialized. `dead` completes when it is gone."""

    def __init__(self, adapter: Adapter, child: Child, root: Path) -> None:
        self.adapter = adapter
        self.root = root
        self.progress = Progress()
        self.diagnostics = Diagnostics(adapter.ready.harmless_errors)
        self.inactive: dict[Path, list[Any]] = {}  # the ranges of each document that the preprocessor leaves out
        self.watched = WatchedFiles(root)
        self.encoding = PositionEncoding()
        self.capabilities: dict[str, Any] = {}
        self.shown_error = ""  # the last error that the server wanted a person to see
        self._child = child
        self._ending = False

    async def start(self) -> None:
        """Initialize the server.

        Raises:
            DiedError, SilentError, RefusedError: it died, said nothing, or refused.
        """
        if self.adapter.ready.incomplete_pattern:
            self._child.on_error_line = self._said
        await self._child.attach()
        self._peer = Peer(self.adapter.name, self._child.reader, self._child.writer, self._asked, self._told)
        self.dead = asyncio.create_task(self._live(), name=f"{self.adapter.name} {self._child.pid}")
        result = await self._peer.request(
            "initialize", initialize_params(self.adapter, self.root), timeout=INITIALIZE_TIMEOUT
        )
        if not isinstance(result, dict):
            raise RefusedError(f"it answered initialize with {str(result)[:80]!r}")
        self.capabilities = result.get("capabilities") or {}
        unit = self.capabilities.get("positionEncoding") or "utf-16"
        if unit not in ("utf-8", "utf-16", "utf-32"):
            raise RefusedError(f"it counts positions in {unit!r}, which LSP 3.17 doesn't know")
        self.encoding = self.adapter.encoding(unit)
        self._peer.notify("initialized", {})

    async def request(self, method: str, params: Any, *, timeout: float) -> Any:
        """As `Peer.request`."""
        return await self._peer.request(method, params, timeout=timeout)

    def notify(self, method: str, params: Any) -> None:
        """As `Peer.notify`."""
        self._peer.notify(method, params)

    async def end(self) -> None:
        """Shut the server down within 3 s, whatever it does; nothing of its process group is left."""
        self._ending = True
        patience = _SILENT_PATIENCE
        if hasattr(self, "_peer"):
            try:
                await self._peer.request("shutdown", None, timeout=_SHUTDOWN_TIMEOUT)
                self._peer.notify("exit", None)
                patience = _EXIT_PATIENCE
            except LspMcpError as error:
                log.debug("%s did not shut down by itself: %s", self.adapter.name, error)
        await self._child.end(patience)
        await self._gone()

    async def abandon(self) -> None:
        """End it at once, without a word."""
        self._ending = True
        self._child.kill()
        await self._gone()

    # --- inside ------------------------------------------------------------------------------------

    async def _live(self) -> None:
        """Read what the server says until it is gone; then fail everyone who waits for it."""
        reading = asyncio.create_task(self._peer.run())
        exited = asyncio.create_task(self._child.exited.wait())
        deaf = asyncio.create_task(self._peer.deaf.wait())
        broken = ""
        try:
            # Each is the end, and may come without the others: a child of the server may hold its pipes open.
            await asyncio.wait([reading, exited, deaf], return_when=asyncio.FIRST_COMPLETED)
            await self._child.end(_EXIT_PATIENCE)
            await asyncio.wait([reading], timeout=_LAST_WORDS)
            broken = reading.result() if reading.done() else ""
        finally:
            for task in (reading, exited, deaf):
                task.cancel()
            self._child.kill()
            self._child.detach()
            words = "was shut down" if self._ending else broken or self._child.last_words()
            self._peer.close(DiedError(f"{self.adapter.name} {words}"))
            self.progress.wake()
            self.diagnostics.end()

    async def _gone(self) -> None:
        """Wait until nobody is left to be told of the end."""
        if hasattr(self, "dead"):
            await asyncio.wait([self.dead], timeout=2 * _LAST_WORDS)

    def _asked(self, method: str, params: Any) -> Any:
        match method:
            case "workspace/configuration":
                return [self._settings(item.get("section")) for item in params["items"]]
            case "client/registerCapability":
                for registration in params["registrations"]:
                    if registration["method"] == watched_files.METHOD:
                        self.watched.register(registration["id"], registration.get("registerOptions"))
                if missed := self.watched.missed():
                    self.notify(watched_files.METHOD, {"changes": missed})
                return None
            case "client/unregisterCapability":
                # The misspelling is the specification's.
                for registration in params.get("unregisterations", []):
                    self.watched.unregister(registration["id"])
                return None
            case "workspace/workspaceFolders":
                return workspace_folders(self.root)
            case "workspace/applyEdit":
                # Edits reach the disk only through this program's own tools.
                return {"applied": False, "failureReason": "lsp-mcp applies no edits that nobody asked for"}
            case "window/workDoneProgress/create" | "window/showMessageRequest" | "window/showDocument":
                return None
            case _ if method.startswith("workspace/") and method.endswith("/refresh"):
                return None  # nothing is kept here that could be stale
            case _:
                raise RefusedError(f"lsp-mcp does not know {method}", METHOD_NOT_FOUND)

    def _told(self, method: str, params: Any) -> None:
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
                log.warning("%s: %s", self.adapter.name, params.get("message"))
            case "window/logMessage":
                level = logging.INFO if params.get("type") in (_ERROR, _WARNING) else logging.DEBUG
                log.log(level, "%s: %s", self.adapter.name, params.get("message"))

    def _said(self, line: str) -> None:
        """One line of its stderr; called in another thread."""
        if match := re.search(self.adapter.ready.incomplete_pattern, line):
            self.diagnostics.incomplete(Path(match[1]), "could not be compiled to its end")

    def _settings(self, section: str | None) -> Any:
        settings = self.adapter.settings
        if section and section != settings.section:
            return None
        return settings.values
