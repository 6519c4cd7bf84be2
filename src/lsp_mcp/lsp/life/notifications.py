"""The notifications of a language server: `Notifications`."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsp_mcp.lsp.life.diagnostics import PULL, Diagnostics
from lsp_mcp.lsp.life.progress import Progress
from lsp_mcp.lsp.life.watched_files import METHOD as WATCHED_FILES
from lsp_mcp.lsp.life.watched_files import WatchedFiles
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.uris import uri_path

log = logging.getLogger(__name__)

_ERROR, _WARNING = 1, 2  # LSP 3.17, `MessageType`


class Notifications:
    """The notifications of one run of a server, reduced to what questions need."""

    def __init__(self, plugin: Plugin, root: Path) -> None:
        self.progress = Progress()
        rules = plugin.diagnostics
        self.diagnostics = Diagnostics(
            plugin.reports.harmless_errors,
            rules.syntax_source,
            rules.outdated_code,
            hiding=plugin.reports.hiding_warnings,
            clears_closed=rules.clears_closed,
        )
        self.on_line: Callable[[str], None] = lambda _: None  # called with each line of its stderr, in any thread
        self.inactive: dict[Path, list[Any]] = {}  # the ranges of each document that the preprocessor excludes
        self.watched = WatchedFiles(root)
        self.last_error = ""  # the last error that the server showed to a person
        self.trouble = ""  # what it says of its present state, if that is bad
        self._name = plugin.adapter.name
        self._inactive_regions = plugin.inactive_regions.method
        self._ready, self._reports = plugin.adapter.ready, plugin.reports

    def on_notification(self, method: str, params: Any) -> None:
        """Take in one notification."""
        match method:
            case "$/progress":
                self.progress.update(params["token"], params["value"])
            case "textDocument/publishDiagnostics":
                self.diagnostics.publish(params)
            case _ if method == self._inactive_regions:
                self.inactive[uri_path(params["textDocument"]["uri"])] = params["regions"]
            case _ if method == self._ready.status_notification:
                self._take_status(params)
            case "window/showMessage":
                if params.get("type") == _ERROR:
                    self.last_error = str(params.get("message", "")).strip()
                log.warning("%s: %s", self._name, params.get("message"))
            case "window/logMessage":
                level = logging.INFO if params.get("type") in (_ERROR, _WARNING) else logging.DEBUG
                message = str(params.get("message"))
                log.log(level, "%s: %s", self._name, message)
                if (pattern := self._ready.log_pattern) and re.search(pattern, message):
                    self._work("log", "begin")
                    self._work("log", "end")

    def _take_status(self, status: Any) -> None:
        message = str(status.get("message") or "").strip()
        self.trouble = "" if status.get("health", "ok") == "ok" else message
        self._work(self._ready.status_notification, "end" if status.get("quiescent") else "begin")

    def _work(self, token: str, kind: str) -> None:
        """Take in that the server begins to load the workspace, or has ended."""
        self.progress.update(token, {"kind": kind, "title": self._ready.work})

    def registered(self, registrations: list[Any]) -> None:
        """Process a registration: the server asks for notifications."""
        for one in registrations:
            options = one.get("registerOptions")
            if one["method"] == WATCHED_FILES:
                self.watched.register(one["id"], options)
            elif one["method"] == PULL:
                self.diagnostics.offer(options or {})

    def on_stderr_line(self, line: str) -> None:
        """Process one line of its stderr; may be called in another thread."""
        self.on_line(line)
        reports = self._reports
        if reports.incomplete_pattern and (match := re.search(reports.incomplete_pattern, line)):
            self.diagnostics.incomplete(Path(match[1]), "could not be compiled to its end")
        elif reports.unusable_pattern and (match := re.search(reports.unusable_pattern, line)):
            reason = f"its compile command cannot be used: {reports.unusable_hint}"
            self.diagnostics.unusable(Path(match[1]), reason)

    def end(self) -> None:
        """The server is gone: wake everyone who waits for it."""
        self.progress.wake()
        self.diagnostics.end()
