"""One run of an editor's language server: `HostedConnection`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from lsp_mcp.adapters import Adapter
from lsp_mcp.errors import DiedError
from lsp_mcp.lsp.editor.host import Client, Clients, Host, Owner
from lsp_mcp.lsp.life.notifications import Notifications
from lsp_mcp.lsp.life.watchdog import PROBE, Free, Watchdog
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.text import PositionEncoding
from lsp_mcp.uris import uri_path
from lsp_mcp.waiting import AGAIN

log = logging.getLogger(__name__)

_STUCK = (
    "{name} does not answer at all and seems stuck: "
    "restart it there with :lua vim.lsp.stop_client({id}, true) and :edit."
)
_END_TIMEOUT = 3.0  # seconds for a server to end at the editor's request
# What an editor reports about documents, among the server's notifications: a buffer has taken over one that we had
# open; the editor has opened one, which it may have had open before.
_HANDED_OVER, _OPENED, _REREAD = "lsp-mcp/handedOver", "lsp-mcp/opened", "lsp-mcp/reread"
_EDIT = "workspace/applyEdit"  # which the server asks for while edits are captured


class HostedConnection:
    """One run of a server in an editor. See `Connection`."""

    def __init__(self, plugin: Plugin, root: Path, host: Host, owner: Owner, timeout: float, free: Free) -> None:
        self.notifications = Notifications(plugin, root)
        self.dead: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.crashed = False
        self.ending = False  # we asked the editor to end it
        self.encoding = PositionEncoding()
        self.capabilities: dict[str, Any] = {}
        self.version = ""  # an editor may discard it
        self.tells_inactive = False
        self.client: Client | None = None
        self.server: object = None  # which server of which editor it is; sessions may share one
        self.has_seen_all = True  # the editor may not have reported files created before we connected
        self._plugin = plugin
        self._adapter = plugin.adapter
        self._host = host
        self._clients: Clients | None = None  # of the editor at the start of this run
        self._owner = owner
        self._early: list[tuple[str, Any]] | None = []  # messages that arrived before they could be interpreted
        self.stuck = False  # its user decides about a stuck server
        self._seems_stuck = False
        self._received = 0  # notifications
        self._captured: list[Any] | None = None
        self._watchdog = Watchdog(
            timeout,
            probe=self._probe,
            cpu_time=_unknown,
            received=lambda: self._received,
            at_work=lambda: self.notifications.progress.goes_on,
            free=free,
            on_stuck=self._seem_stuck,
        )
        # Editors don't let servers register on every system; a server ignores events that it does not need.
        watchers = [{"globPattern": f"**/{name}"} for name in _watched_names(plugin.adapter)]
        self.notifications.watched.register("lsp-mcp", {"watchers": watchers})

    async def start(self, client: Client) -> None:
        """Begin to receive the messages of `client`.

        Raises:
            DiedError: it is gone.
            RefusedError: its position encoding is unknown.
        """
        self._clients = self._host.clients
        self.server = self._host.process, client.id
        found = await self._clients.follow(
            client, self._plugin, self._on_notification, self.notifications.on_stderr_line, self._died
        )
        if found is None:
            raise DiedError(f"{self._adapter.name} is gone from {self._host.name}")
        self.client = found
        self.encoding = self._adapter.encoding(found.unit)
        self.capabilities = found.capabilities
        self.tells_inactive = found.tells_inactive
        self.has_seen_all = found.known_from_start
        await self._host.buffers.sync()  # which buffers are this client's
        for file, sent in found.published:
            self.notifications.diagnostics.published_before(file, sent)
        progress = self.notifications.progress
        for token, title in found.work:
            progress.update(token, {"kind": "begin", "title": title})
        for title in found.done if found.known_from_start else (*found.done, self._adapter.ready.progress_title):
            # The server's first work was begun by an earlier initialization.
            if not any(title == other for _, other in found.work):
                progress.update("", {"kind": "begin", "title": title})
                progress.update("", {"kind": "end"})

    async def request(self, method: str, params: Any, *, timeout: float) -> Any:
        """As `Peer.request`."""
        assert self.client and self._clients
        try:
            with self._watchdog.waited_for():
                answer = await self._clients.request(self.client.id, method, params, timeout=timeout)
            self._seems_stuck = False
            return answer
        except DiedError as error:
            # A server that is being ended gets no more requests.
            await asyncio.wait([self.dead], timeout=_END_TIMEOUT)
            raise DiedError(f"{self._adapter.name} in {self._host.name}: {error}") from None

    async def memory(self) -> int | None:
        """Unknown: its process is the editor's."""
        return None

    @property
    def advice(self) -> str:
        """See `Connection.advice`."""
        return _STUCK.format(name=self._adapter.name, id=self.client.id) if self._seems_stuck and self.client else AGAIN

    def waited_for(self, *, owed: bool = True) -> AbstractContextManager[None]:
        """See `Connection.waited_for`."""
        return self._watchdog.waited_for(owed=owed)

    @contextmanager
    def capture(self) -> Iterator[list[Any]]:
        """See `Connection.capture`."""
        assert self.client and self._clients
        captured: list[Any] = []
        self._captured = captured
        self._clients.capture(self.client.id, begins=True)
        try:
            yield captured
        finally:
            self._captured = None
            self._clients.capture(self.client.id, begins=False)

    def notify(self, method: str, params: Any) -> None:
        """As `Peer.notify`."""
        if self.client and self._clients and not self.dead.done():
            self._clients.notify(self.client.id, method, params)

    async def end(self) -> None:
        """Have the editor end it."""
        self.ending = True
        if self.client and self._clients and not self.dead.done():
            self._clients.stop(self.client.id)
            await asyncio.wait([self.dead], timeout=_END_TIMEOUT)
            if not self.dead.done():
                log.warning("%s does not end in %s; another takes its place", self._adapter.name, self._host.name)
                self._died(True)

    async def leave(self) -> None:
        """Do nothing: the server belongs to the user and keeps running."""

    def listen(self) -> None:
        """Process the messages since `start`, and all later ones."""
        early, self._early = self._early or [], None
        for method, params in early:
            self._on_notification(method, params)

    async def _probe(self, timeout: float) -> None:
        assert self.client and self._clients
        await self._clients.request(self.client.id, PROBE, None, timeout=timeout)

    def _seem_stuck(self) -> None:
        self._seems_stuck = True

    def _on_notification(self, method: str, params: Any) -> None:
        self._received += 1
        self._seems_stuck = False
        if self._early is not None:
            self._early.append((method, params))
        elif method == _EDIT:
            if self._captured is not None:
                self._captured.append(params["edit"])
        elif method == _HANDED_OVER:
            self._owner.handed_over(uri_path(params["uri"]))
        elif method == _OPENED:
            self._owner.opened_by_editor(path := uri_path(params["uri"]))
            self.notifications.diagnostics.forget(path)  # it was about an earlier opening
        elif method == _REREAD:
            self._owner.reread_by_editor(uri_path(params["uri"]), params["version"], params["after"])
        else:
            self.notifications.on_notification(method, params)

    def _died(self, crashed: bool) -> None:
        self.crashed = crashed
        self._watchdog.end()
        self.notifications.end()
        if not self.dead.done():
            self.dead.set_result(None)


async def _unknown() -> float:
    """A reading for an editor's server: its process is not ours."""
    return 0.0


def _watched_names(adapter: Adapter) -> list[str]:
    """Glob patterns of files that interest a server: its sources, and build configuration."""
    names = {name for language in adapter.languages for name in language.file_names}
    return [f"*{extension}" for extension in adapter.extensions] + sorted({*names, *adapter.workspace.root_markers})
