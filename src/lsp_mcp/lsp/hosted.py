"""A language server that an editor runs: `HostedConnection`, and `HostLauncher`, which finds it there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from lsp_mcp.adapters import Adapter
from lsp_mcp.errors import DiedError, MissingProgramError, UnavailableError
from lsp_mcp.lsp.heard import Heard
from lsp_mcp.text import PositionEncoding, Text
from lsp_mcp.uris import uri_path

log = logging.getLogger(__name__)

_START_TIMEOUT = 60.0  # seconds for a server to be initialized by the editor
_PATIENCE = 2.0  # seconds for an editor that has shown a file to think of a server for it
_END_TIMEOUT = 3.0  # seconds for a server that the editor was told to end
# What an editor tells of documents, among what servers tell: a buffer has taken over one that we had open; the editor
# has opened one, which it may have had open before.
_HANDED_OVER, _OPENED = "lsp-mcp/handedOver", "lsp-mcp/opened"


class Client(Protocol):
    """A language client in an editor."""

    @property
    def id(self) -> int:
        """Its number there."""

    @property
    def name(self) -> str:
        """What the user calls it."""

    @property
    def initialized(self) -> bool:
        """Whether its server is."""

    @property
    def unit(self) -> str:
        """In which code units its server counts."""

    @property
    def capabilities(self) -> dict[str, Any]:
        """LSP `ServerCapabilities`."""

    @property
    def root(self) -> Path | None:
        """The folder that its server works in."""

    @property
    def command(self) -> Sequence[str]:
        """What was started, if it is known."""

    @property
    def filetypes(self) -> Sequence[str]:
        """The languages that it is for."""

    @property
    def work(self) -> Sequence[tuple[int | str, str]]:
        """Token and title of the work that its server has begun."""

    @property
    def done(self) -> Sequence[str]:
        """Titles of the work that has ended, as far as the editor knows."""

    @property
    def known_from_start(self) -> bool:
        """Whether all that its server has begun and ended is in `work` and `done`."""

    @property
    def tells_inactive(self) -> bool:
        """See `Connection`."""

    @property
    def errors(self) -> Sequence[tuple[Path, str, str]]:
        """File, source and message of each error that its server had reported when `Host.follow` began."""


class Host(Protocol):
    """An editor with language clients, and with buffers whose texts win over files."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def attached(self) -> asyncio.Event:
        """Set, and replaced, whenever a client was attached to a buffer."""

    @property
    def epoch(self) -> int:
        """How many editors it has been, one after the other."""

    def check(self) -> None:
        """Raise `UnavailableError` if the editor is gone."""

    async def ready(self) -> None:
        """Wait until the editor is there; raises as `check`."""

    async def clients(self) -> Sequence[Client]:
        """All clients."""

    async def follow(
        self,
        client: Any,
        told: Callable[[str, Any], None],
        said: Callable[[str], None],
        died: Callable[[bool], None],
    ) -> Client | None:
        """Have `told` called with what the client's server says, `said` with each line on its stderr as far as the
        editor has it, and `died` once it is gone (whether it crashed)."""

    async def show(self, path: Path) -> None:
        """Let the editor load a file out of sight, so that it starts what it has for it."""

    async def request(self, client: int, method: str, params: Any, *, timeout: float) -> Any:
        """As `Peer.request`."""

    def notify(self, client: int, method: str, params: Any) -> None:
        """As `Peer.notify`, but for documents that the editor has open with that server."""

    def reopen(self, client: int, path: Path, version: int) -> None:
        """Have the server of `client` read again a document that the editor has open with it, as `version`."""

    def stop(self, client: int) -> None:
        """End a client's server."""

    async def restart(self, client: int) -> None:
        """Start an ended client anew, for the buffers that it had."""

    async def sync(self, changed: Iterable[Path] = ()) -> int:
        """Look at all buffers, those of files that `changed` on disk as closely as can be.

        A number that is another one after anything in them changed.
        """

    def changed_since(self, generation: int) -> set[Path]:
        """The files whose buffers changed after that."""

    def held(self, client: int) -> dict[Path, tuple[Text, int]]:
        """Text and version of each document that the editor has open with the server of `client`."""

    def text(self, path: Path) -> Text:
        """The text of a file: its buffer's if it has one."""

    def forget(self, paths: Iterable[Path]) -> None:
        """See `Files.forget`."""

    def unsaved(self) -> list[Path]:
        """The files whose buffers have unsaved changes."""

    def conflicts(self) -> list[Path]:
        """Those of them that were changed on disk as well."""


class Owner(Protocol):
    """Who keeps account of the documents that are open with a server."""

    def handed_over(self, path: Path) -> None:
        """A buffer has taken over a document that we had open."""

    def opened_by_editor(self, path: Path) -> None:
        """The editor has opened a document, maybe again: its versions begin anew."""


class HostedConnection:
    """One life of a server that an editor runs. See `Connection`."""

    def __init__(self, adapter: Adapter, root: Path, host: Host, owner: Owner) -> None:
        self.heard = Heard(adapter, root)
        self.dead: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.crashed = False
        self.ending = False  # we have told the editor to end it
        self.encoding = PositionEncoding()
        self.capabilities: dict[str, Any] = {}
        self.tells_inactive = False
        self.client: Client | None = None
        self.has_seen_all = True  # what was created before we came it may not have been told of
        self._adapter = adapter
        self._host = host
        self._owner = owner
        self._early: list[tuple[str, Any]] | None = []  # what was told before anybody could make sense of it
        # Editors don't let servers register for it on every system; who is told of too much passes it over.
        watchers = [{"globPattern": f"**/{name}"} for name in _told_of(adapter)]
        self.heard.watched.register("lsp-mcp", {"watchers": watchers})

    async def start(self, client: Client) -> None:
        """Begin to hear what `client` hears.

        Raises:
            DiedError: it is gone.
            RefusedError: it counts in something unknown.
        """
        found = await self._host.follow(client, self._told, self.heard.said, self._died)
        if found is None:
            raise DiedError(f"{self._adapter.name} is gone from {self._host.name}")
        self.client = found
        self.encoding = self._adapter.encoding(found.unit)
        self.capabilities = found.capabilities
        self.tells_inactive = found.tells_inactive
        self.has_seen_all = found.known_from_start
        await self._host.sync()  # which buffers are this client's
        for file, source, message in found.errors:
            self.heard.diagnostics.reported(file, source, message)
        progress = self.heard.progress
        for token, title in found.work:
            progress.update(token, {"kind": "begin", "title": title})
        for title in found.done if found.known_from_start else (*found.done, self._adapter.ready.progress_title):
            # What a server does first is done in one that was initialized before we came.
            if not any(title == other for _, other in found.work):
                progress.update("", {"kind": "begin", "title": title})
                progress.update("", {"kind": "end"})

    async def request(self, method: str, params: Any, *, timeout: float) -> Any:
        """As `Peer.request`."""
        assert self.client
        try:
            return await self._host.request(self.client.id, method, params, timeout=timeout)
        except DiedError as error:
            # One that is told to end is no longer asked before it is gone.
            await asyncio.wait([self.dead], timeout=_END_TIMEOUT)
            raise DiedError(f"{self._adapter.name} in {self._host.name}: {error}") from None

    def notify(self, method: str, params: Any) -> None:
        """As `Peer.notify`."""
        if self.client and not self.dead.done():
            self._host.notify(self.client.id, method, params)

    async def end(self) -> None:
        """Have the editor end it."""
        self.ending = True
        if self.client and not self.dead.done():
            self._host.stop(self.client.id)
            await asyncio.wait([self.dead], timeout=_END_TIMEOUT)
            if not self.dead.done():
                log.warning("%s does not end in %s; another takes its place", self._adapter.name, self._host.name)
                self._died(True)

    async def leave(self) -> None:
        """It is the user's: it goes on."""

    def listen(self) -> None:
        """Take in what was told since `start`, and what will be."""
        early, self._early = self._early or [], None
        for method, params in early:
            self._told(method, params)

    def _told(self, method: str, params: Any) -> None:
        if self._early is not None:
            self._early.append((method, params))
        elif method == _HANDED_OVER:
            self._owner.handed_over(uri_path(params["uri"]))
        elif method == _OPENED:
            self._owner.opened_by_editor(uri_path(params["uri"]))
        else:
            self.heard.told(method, params)

    def _died(self, crashed: bool) -> None:
        self.crashed = crashed
        self.heard.end()
        if not self.dead.done():
            self.dead.set_result(None)


class HostLauncher:
    """Finds the server of one adapter in an editor, has it started there, or starts it again. See `Launcher`.

    `sample` gives a file of the workspace that the server answers for.
    """

    def __init__(
        self,
        adapter: Adapter,
        root: Path,
        host: Host,
        sample: Callable[[], Awaitable[Path | None]],
        owner: Owner,
    ) -> None:
        self._adapter = adapter
        self._root = root
        self._host = host
        self._sample = sample
        self._owner = owner
        self._last: HostedConnection | None = None
        self._epoch = 0
        self.starts_again = False
        self.command: Sequence[str] = ()  # what the editor has started

    def spawn(self) -> None:
        """Nothing is started by us."""

    def check(self) -> None:
        """Raise `MissingProgramError` if the editor is gone."""
        try:
            self._host.check()
        except UnavailableError as error:
            raise MissingProgramError(str(error)) from None

    def kill(self) -> None:
        """Nothing of this is ours."""

    async def launch(self, before: Callable[[], Awaitable[None]]) -> HostedConnection:
        """See `Launcher.launch`."""
        await self._host.ready()
        if self._host.epoch != self._epoch:
            self._epoch, self._last = self._host.epoch, None
        last = self._last
        if last and last.client and last.dead.done() and (last.ending or last.crashed) and not await self._fitting():
            await before()
            await self._host.restart(last.client.id)
            client = await self._find()
        else:
            client = await self._find()
            self.command = client.command
            await before()
        connection = HostedConnection(self._adapter, self._root, self._host, self._owner)
        await connection.start(client)
        self.starts_again, self._last = self._last is not None, connection
        return connection

    async def _find(self) -> Client:
        """The client; it is initialized.

        Raises:
            UnavailableError: there is none, and the editor starts none.
        """
        last = self._last
        ended_by_user = last is not None and last.dead.done() and not (last.ending or last.crashed)
        if last is None and not await self._fitting() and (sample := await self._sample()):
            await self._host.show(sample)
        try:
            async with asyncio.timeout(_START_TIMEOUT):
                return await self._initialized()
        except TimeoutError:
            raise UnavailableError(
                f"{self._adapter.name} was not initialized in {self._host.name} within {_START_TIMEOUT:g} s; "
                "look there with :checkhealth vim.lsp"
            ) from None
        except LookupError:
            pass
        if ended_by_user:
            raise UnavailableError(
                f"{self._adapter.name} was stopped in {self._host.name}; start it there again, for example with :edit"
            )
        languages = " and ".join(language.name for language in self._adapter.languages)
        raise UnavailableError(
            f"{self._host.name} starts no language server for {languages} in {self._root}; enable one there, for "
            f"example with :lua vim.lsp.enable('{self._adapter.name}'), and see :checkhealth vim.lsp"
        )

    async def _initialized(self) -> Client:
        """The best client, once it is initialized; LookupError if none appears."""
        while True:
            attached = self._host.attached
            fitting = await self._fitting()
            if ready := [client for client in fitting if client.initialized]:
                return ready[0]
            if fitting:
                await attached.wait()
                continue
            try:
                async with asyncio.timeout(_PATIENCE):
                    await attached.wait()
            except TimeoutError:
                raise LookupError(self._adapter.name) from None

    async def _fitting(self) -> list[Client]:
        """The clients that run this adapter's server on the workspace, the best first."""
        fitting = [client for client in await self._host.clients() if runs(client, self._adapter)]
        near = [client for client in fitting if client.root is None or _related(client.root, self._root)]
        return sorted(near, key=lambda client: (not client.initialized, _distance(client.root, self._root)))


def _told_of(adapter: Adapter) -> list[str]:
    """Patterns of names of the files that a server wants to hear of: its sources, and what says how to build them."""
    projects = adapter.projects
    names = {*adapter.workspace.root_markers, *((projects.marker, projects.joined_by) if projects else ())}
    return [f"*{extension}" for extension in adapter.extensions] + sorted(filter(None, names))


def runs(client: Client, adapter: Adapter) -> bool:
    """Whether `client`'s server is the adapter's: by its name, or by what it was started with."""
    program = Path(client.command[0]).name if client.command else ""
    return adapter.name in (client.name, program) or (program != "" and program == Path(adapter.command[0]).name)


def _related(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _distance(root: Path | None, workspace: Path) -> int:
    """The workspace's own server first, then one above it, then one below, then one without a folder."""
    if root is None:
        return 3
    return 0 if root == workspace else 1 if workspace.is_relative_to(root) else 2
