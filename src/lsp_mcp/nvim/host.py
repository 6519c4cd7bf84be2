"""A Neovim as an editor with language clients and buffers: `NvimHost`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_mcp.disk.files import Files
from lsp_mcp.errors import UnavailableError
from lsp_mcp.nvim.buffers import Buffers, buffer_path
from lsp_mcp.nvim.connection import NvimConnection
from lsp_mcp.text import Text
from lsp_mcp.uris import path_uri


@dataclass(frozen=True)
class NvimClient:
    """A language client of a Neovim."""

    id: int
    name: str
    initialized: bool
    unit: str  # of positions: utf-8, utf-16 or utf-32
    capabilities: dict[str, Any]
    root: Path | None
    command: tuple[str, ...]  # empty if it is started by a function
    filetypes: tuple[str, ...]
    buffers: tuple[int, ...]  # the numbers of those that its server has open
    work: tuple[tuple[int | str, str], ...]  # token and title of what its server is doing
    done: tuple[str, ...]  # titles of what it has done since we are connected
    known_from_start: bool  # it was not there when we came
    tells_inactive: bool
    errors: tuple[
        tuple[Path, str, str], ...
    ]  # file, source and message: what its server on_stderr_line before we listened


class NvimHost:
    """One workspace's Neovim: the one that is connected now, or that was connected last."""

    def __init__(self) -> None:
        self.files = Files()
        self.connection: NvimConnection | None = None
        self.epoch = 0  # how many Neovims it has been
        self.connecting: Callable[[], Awaitable[None]] | None = None  # called while there is none: it may call `use`
        self.missing = "no Neovim is connected; call connect"  # why there is none
        self._buffers: Buffers | None = None
        self._held_at: tuple[Buffers, int] | None = None  # when the next was true
        self._held: dict[int, dict[Path, tuple[Text, int]]] = {}  # by client
        self._known: tuple[NvimConnection, int, Sequence[NvimClient]] | None = None
        self._generation = 0  # of the buffers of all Neovims before the present one

    def use(self, connection: NvimConnection) -> None:
        """Work through `connection` from now on."""
        self._generation += self._buffers.generation if self._buffers else 0
        self.connection = connection
        self.epoch += 1
        self._buffers = Buffers(connection, self.files)

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.connection.name if self.connection else "Neovim"

    @property
    def attached(self) -> asyncio.Event:
        """See `NvimConnection.attached`."""
        return self.present().attached

    def check(self) -> None:
        """Raise `UnavailableError` if there is no Neovim, or no longer."""
        self.present()

    async def ready(self) -> None:
        """Connect if that was asked for and nothing is connected; raises as `present`."""
        if self.connecting and (self.connection is None or self.connection.gone):
            await self.connecting()
        self.present()

    def present(self) -> NvimConnection:
        """The connected Neovim.

        Raises:
            UnavailableError: there is none, or no longer.
        """
        if self.connection is None:
            raise UnavailableError(self.missing)
        if self.connection.gone:
            raise UnavailableError(
                f"{self.connection.name} (process {self.connection.pid}) has ended; start it again, "
                "or connect to another"
            )
        return self.connection

    @property
    def buffers(self) -> Buffers:
        """The buffers of the connected Neovim; raises as `present`."""
        self.present()
        assert self._buffers
        return self._buffers

    # --- language clients --------------------------------------------------------------------------

    async def clients(self) -> Sequence[NvimClient]:
        """All of them, those too that are being initialized."""
        return [_client(entry) for entry in await self.present().call("clients")]

    async def known_clients(self) -> Sequence[NvimClient]:
        """The clients that are initialized, asked for only if any came or went since the last call."""
        connection = self.present()
        if self._known is None or self._known[:2] != (connection, connection.client_events):
            events = connection.client_events
            self._known = connection, events, [client for client in await self.clients() if client.initialized]
        return self._known[2]

    async def extensions(self, client: NvimClient) -> dict[str, set[str]]:
        """By file type of `client`: the extensions of its files, as Neovim knows them and as its buffers have them."""
        found: dict[str, set[str]] = {filetype: set() for filetype in client.filetypes}
        for filetype, known in (await self.present().call("extensions", list(client.filetypes)) or {}).items():
            found[filetype].update(known)
        await self.sync()
        for buffer in self.buffers.all():
            if client.id in buffer.versions and buffer.path.suffix:
                found.setdefault(buffer.filetype, set()).add(buffer.path.suffix)
        return found

    async def follow(
        self,
        client: NvimClient,
        on_notification: Callable[[str, Any], None],
        on_stderr_line: Callable[[str], None],
        on_death: Callable[[bool], None],
    ) -> NvimClient | None:
        """See `Host.follow`."""
        connection = self.present()
        connection.listeners[client.id], connection.deaths[client.id] = on_notification, on_death
        if client.command:
            connection.hear(client.id, client.command[0], on_stderr_line)
        entry = await connection.call("follow", client.id)
        return _client(entry) if entry else None

    async def show(self, path: Path) -> None:
        """Load `path` into a buffer that is on no list and in no window."""
        await self.present().call("load", str(path))

    async def request(self, client: int, method: str, params: Any, *, timeout: float) -> Any:
        """See `NvimConnection.request`."""
        return await self.present().request(client, method, params, timeout=timeout)

    def notify(self, client: int, method: str, params: Any) -> None:
        """See `Host.notify`; nothing happens if Neovim is gone."""
        if self.connection and not self.connection.gone:
            self.connection.tell("notify", client, method, params)

    def reopen(self, client: int, path: Path, version: int) -> None:
        """See `Host.reopen`."""
        self.present().tell("reopen", client, path_uri(path), version)

    def stop(self, client: int) -> None:
        """See `Host.stop`."""
        self.present().tell("stop", client)

    async def restart(self, client: int) -> None:
        """See `Host.restart`."""
        await self.present().call("restart", client)

    # --- buffers -----------------------------------------------------------------------------------

    async def seen(self) -> Buffers:
        """The buffers as they were at the last `sync`, at least one: what asks a server looks again."""
        if self.buffers.generation == 0:
            await self.sync()
        return self.buffers

    async def sync(self, changed: Iterable[Path] = ()) -> int:
        """See `Buffers.sync`."""
        return self._generation + await self.buffers.sync(changed)

    def changed_since(self, generation: int) -> set[Path]:
        """See `Buffers.changed_since`."""
        return self.buffers.changed_since(generation - self._generation)

    def held(self, client: int) -> dict[Path, tuple[Text, int]]:
        """See `Host.held`."""
        if self._buffers is None:
            return {}
        now = self._buffers, self._buffers.generation
        if self._held_at != now:
            self._held_at, self._held = now, {}
        if client not in self._held:
            there = [b for b in self._buffers.all() if client in b.versions]
            self._held[client] = {b.path: (b.text, b.versions[client]) for b in there if b.text is not None}
        return self._held[client]

    def text(self, path: Path) -> Text:
        """See `Buffers.text`."""
        return self._buffers.text(path) if self._buffers else self.files.text(path)

    def forget(self, paths: Iterable[Path]) -> None:
        """See `Files.forget`."""
        self.files.forget(paths)

    def unsaved(self) -> list[Path]:
        """The files whose buffers have unsaved changes, sorted."""
        return sorted(b.path for b in self._buffers.all() if b.modified) if self._buffers else []

    def conflicts(self) -> list[Path]:
        """Those of them that were changed on disk as well, sorted."""
        return sorted(b.path for b in self._buffers.all() if b.conflict) if self._buffers else []


def _client(entry: dict[str, Any]) -> NvimClient:
    return NvimClient(
        id=entry["id"],
        name=str(entry["name"]),
        initialized=entry["initialized"],
        unit=str(entry["unit"] or "utf-16"),
        capabilities=entry["capabilities"] or {},
        root=Path(entry["root"]).resolve() if entry["root"] else None,
        command=tuple(map(str, entry["command"])),
        filetypes=tuple(map(str, entry["filetypes"])),
        buffers=tuple(entry["buffers"]),
        work=tuple((work["token"], work["title"]) for work in entry["work"]),
        done=tuple(map(str, entry["ended"])),
        known_from_start=not entry["before_us"],
        tells_inactive=entry["tells_inactive"],
        errors=tuple((buffer_path(name), source, message) for name, source, message in entry.get("errors", ())),
    )
