"""Servers that load a new package on a request about one of its files: `PackageRequests`."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Json
from lsp_mcp.disk.files import is_backdated
from lsp_mcp.errors import LspMcpError, PathError, RefusedError, SilentError, UnavailableError
from lsp_mcp.gaps import Gap
from lsp_mcp.lsp.coverage import Parts
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.lsp.life.documents import MAX_OPEN
from lsp_mcp.lsp.process.initialize import workspace_folders
from lsp_mcp.lsp.reloading.plain import PlainReloading
from lsp_mcp.lsp.reloading.reloading import own_error_gap
from lsp_mcp.servers.gopls.rules import Changes
from lsp_mcp.servers.gopls.syntax_check import syntax_errors
from lsp_mcp.text import Text
from lsp_mcp.uris import path_uri
from lsp_mcp.waiting import within

log = logging.getLogger(__name__)

_KEPT = 4  # documents kept open when a server is replaced
_TRIES = 4  # of a request that the server asks to repeat


class PackageRequests(PlainReloading):
    """Sends a request about each changed file, so that the server loads its package. See `Reloading`.

    `loads` tells whether the server should have loaded a file. One that it should have, and has overlooked, is shown
    to it with another text, once until it is deleted.

    For more files than `load_most` the workspace folder is removed and added again. Up to that, files are checked for
    syntax errors at once, or after a check before the next question that such errors matter to; for others the
    server reports them later.
    """

    def __init__(
        self, adapter: Adapter, rules: Changes, parts: Parts, *, loads: Callable[[Path], Awaitable[bool]]
    ) -> None:
        super().__init__(adapter, parts.workspace, parts.documents, parts.lifetime, parts.known, parts.timeout)
        self._rules = rules
        self._loads = loads
        self._shown: set[Path] = set()  # files that were shown because the server had overlooked them
        self._parsed: dict[Path, tuple[int, str | None]] = {}  # hash of a text, and its first error
        self._unparsed: set[Path] = set()  # files that changed before a check, which does not need that
        self._mistrusted: set[Path] = set()  # files for which the server may have an old text
        self._handed_over: set[Path] = set()  # files for which it has the present text

    @property
    def reads_untold(self) -> bool:
        """See `Reloading.reads_untold`."""
        return bool(self._rules.load_request)

    def started(self) -> None:
        """A new server reads all packages itself."""
        self._shown.clear()

    async def load(self, changed: Collection[Path], *, to_check: bool = False) -> bool:
        """See `Reloading.load`: only files for which it may have an old text are new to the server."""
        rules = self._rules
        touched = [path for path in changed if self._adapter.language_of(path)]
        sources = sorted(path for path in touched if path.is_file() and self._workspace.holds(path))
        self._handed_over.difference_update(changed)
        self._shown.difference_update({*changed}.difference(sources))
        if rules.goes_by_mtime:
            self._mistrusted.update(path for path in sources if is_backdated(path))
        handed_over = await self._hand_over(self._mistrusted)
        if not rules.load_request or not touched:
            return handed_over
        connection = await self._lifetime.live()
        if len(sources) > rules.load_most:
            await self._load_all(connection, self._workspace.root)
            return handed_over
        loading = self._load_packages(sources, connection, rules)
        if to_check:
            self._unparsed.update(sources)
            await loading
        else:
            await asyncio.gather(loading, self.buffers_changed(sources))
        return handed_over

    async def load_alone(self, files: Collection[Path]) -> None:
        """See `Reloading.load_alone`: by a request about each.

        To wait until all views have settled, as for files that others import, takes half a minute in Go's own source.
        """
        self._unparsed.update(files)
        await self._request_packages(files, await self._lifetime.live(), self._rules)

    def mistrust(self, path: Path, name: str) -> None:
        """See `Reloading.mistrust`: the server has the text of an open document in any case."""
        known = path in self._documents or path in self._handed_over
        if self._rules.goes_by_mtime and not known and self._adapter.language_of(path):
            self._mistrusted.add(path)

    async def _hand_over(self, paths: Collection[Path]) -> bool:
        """Send the server the texts of `paths`, by opening them or as changes; returns whether there were any."""
        closed = sorted(path for path in paths if path not in self._documents)
        pinned = self._documents.pinned
        if len(closed) > self._rules.load_most or (closed and len(pinned) + len(closed) > MAX_OPEN):
            # A new server reads all files itself, so none has to stay open.
            self._documents.keep_last(_KEPT)
            await self._lifetime.renew()
            await self._known()
        else:
            for path in sorted(paths):
                try:
                    # Must not be closed for room: then its old text would count again.
                    self._documents.open(path, pinned=True)
                except PathError as error:
                    log.info("%s may have an old text: %s", self._adapter.name, error)
        self._handed_over.update(paths)
        self._mistrusted.clear()
        return bool(closed)

    async def buffers_changed(self, paths: Collection[Path]) -> None:
        """See `Reloading.buffers_changed`: checks their syntax, which the server reports later."""
        if len(paths) <= self._rules.load_most:
            await self._parse(paths)

    async def _parse(self, paths: Collection[Path]) -> None:
        command = self._rules.syntax_command
        if not command or not paths:
            return
        texts = {path: self._documents.present(path).content for path in sorted(paths)}
        try:
            errors = await syntax_errors(command, texts)
        except (UnavailableError, OSError) as error:
            log.warning("what changed files hide is known only once %s says so: %s", self._adapter.name, error)
            return
        self._parsed.update({path: (hash(text), errors.get(path)) for path, text in texts.items()})

    async def _own_error(self, path: Path) -> list[Gap]:
        if self._verdict(path) is None:
            await self.buffers_changed([path])
        return own_error_gap(path, self._error(path), self._workspace.display_path)

    async def _errors(self) -> dict[Path, str]:
        """The first known syntax error of each file that has one."""
        self._unparsed = {path for path in self._unparsed if path.is_file() and self._verdict(path) is None}
        await self._parse(self._unparsed)
        candidates = sorted({*self._published, *(path for path, (_, error) in self._parsed.items() if error)})
        # Published diagnostics may be about an earlier text.
        await self.buffers_changed([path for path in candidates if self._verdict(path) is None])
        return {path: error for path in candidates if (error := self._error(path))}

    def _error(self, path: Path) -> str | None:
        verdict = self._verdict(path)
        return verdict[1] if verdict else self._published.get(path)

    def _verdict(self, path: Path) -> tuple[int, str | None] | None:
        """The parser's result for the present text of `path`, if it was asked."""
        verdict = self._parsed.get(path)
        return verdict if verdict and verdict[0] == hash(self._documents.present(path).content) else None

    async def _load_packages(self, paths: Iterable[Path], connection: Connection, rules: Changes) -> None:
        """Load the packages of `paths`, then dependents of those and of deleted files."""
        refused = await self._request_packages(paths, connection, rules)
        if overlooked := [path for path in refused if await self._loads(path)]:
            log.info("%s has overlooked %s", self._adapter.name, overlooked)
            self._shown.update(overlooked)
            for path in overlooked:
                self._documents.show(path, Text(""))
            self._documents.show_present()
            await self._request_packages(overlooked, connection, rules)
        if rules.settle_request:
            await self._ask(connection, rules.settle_request, [rules.settle_params])

    async def _request_packages(self, paths: Iterable[Path], connection: Connection, rules: Changes) -> list[Path]:
        """Send the request about each of `paths`; returns those that the server may have overlooked."""
        paths = list(paths)
        uris = map(path_uri, paths)
        if field := rules.load_command_field:
            commands = ({"command": rules.load_request, "arguments": [{field: uri}]} for uri in uris)
            refusals = await self._ask(connection, "workspace/executeCommand", commands)
        else:
            documents = ({"textDocument": {"uri": uri}} for uri in uris)
            refusals = await self._ask(connection, rules.load_request, documents)
        if not (pattern := rules.overlooked_refusal):
            return []
        refused = {path for path, refusal in zip(paths, refusals, strict=True) if re.search(pattern, refusal)}
        return sorted(refused - self._shown)

    async def _ask(self, connection: Connection, method: str, params: Iterable[Json]) -> list[str]:
        """Send the request with each of `params`; returns the error of each, empty if there was none."""
        refusals: list[str] = []
        requests = (self._answer(connection, method, one) for one in params)
        for outcome in await asyncio.gather(*requests, return_exceptions=True):
            # A file that cannot be parsed or is gone again loads nothing; a dead server is restarted. After a missing
            # answer the request must be repeated before anything else.
            is_unanswered = isinstance(outcome, SilentError) or (
                isinstance(outcome, RefusedError) and outcome.asks_again
            )
            if isinstance(outcome, LspMcpError) and not is_unanswered:
                log.debug("%s: %s: %s", self._adapter.name, method, outcome)
            elif isinstance(outcome, BaseException):
                raise outcome
            refusals.append(str(outcome) if isinstance(outcome, LspMcpError) else "")
        return refusals

    async def _answer(self, connection: Connection, method: str, params: Json) -> Any:
        """The answer to one request, repeated while the server reports changes in between."""
        for _ in range(_TRIES - 1):
            try:
                return await connection.request(method, params, timeout=within(self._timeout))
            except RefusedError as error:
                if not error.asks_again:
                    raise
        return await connection.request(method, params, timeout=within(self._timeout))

    async def reload_all(self, root: Path, *, settings: bool = False) -> None:
        """See `Reloading.reload_all`."""
        if settings:
            # gopls 0.24 keeps results from the old ones.
            self._documents.keep_last(_KEPT)
            await self._lifetime.renew()
            await self._known()
        elif self._rules.load_request:
            await self._load_all(await self._lifetime.live(), root)

    async def _load_all(self, connection: Connection, root: Path) -> None:
        folders = workspace_folders(root)
        connection.notifications.progress.expect(self._adapter.ready.progress_title)
        connection.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": folders, "removed": folders}})
        await self._known()
