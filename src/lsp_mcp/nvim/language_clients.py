"""The language clients of one Neovim: `LanguageClients`."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from lsp_mcp.errors import DiedError, RefusedError
from lsp_mcp.nvim.lua_module import LuaModule
from lsp_mcp.nvim.paths import buffer_path
from lsp_mcp.nvim.replies import Replies
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.uris import path_uri

_MOST_STDERR = 1_000  # lines of servers' stderr that are remembered


class NvimClient(Struct, frozen=True):
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
    done: tuple[str, ...]  # titles of what it has finished since we connected
    known_from_start: bool  # it was started after we connected
    tells_inactive: bool
    published: tuple[tuple[Path, list[Any]], ...]  # files with the diagnostics that its server published until `follow`


@dataclass
class _Followed:
    """A followed client: its callbacks, and its requests in progress."""

    on_notification: Callable[[str, Any], None]
    on_stderr_line: Callable[[str], None]
    on_death: Callable[[bool], None]
    program: str  # as it was started
    requests: set[int]


class LanguageClients:
    """Requests and notifications to their servers, and messages from those."""

    def __init__(self, lua: LuaModule, replies: Replies) -> None:
        self.events = 0  # how often clients came, went, or changed their buffers
        self.attached = asyncio.Event()  # set, and replaced, whenever a client comes, goes, or gets another buffer
        self._lua = lua
        self._replies = replies
        self._followed: dict[int, _Followed] = {}  # by client id
        self._stderr: dict[str, deque[str]] = {}  # by program, as it was started
        self._known: tuple[int, Sequence[NvimClient]] | None = None

    async def all(self) -> Sequence[NvimClient]:
        """All of them, including those being initialized."""
        return [_client(entry) for entry in await self._lua.call("clients")]

    async def known(self) -> Sequence[NvimClient]:
        """The initialized clients, requested again only if any came or went since the last call."""
        if self._known is None or self._known[0] != self.events:
            events = self.events
            self._known = events, [client for client in await self.all() if client.initialized]
        return self._known[1]

    async def extensions(self, filetypes: Sequence[str]) -> dict[str, set[str]]:
        """The extensions that Neovim knows for each file type."""
        known = await self._lua.call("extensions", list(filetypes)) or {}
        return {filetype: set(known.get(filetype) or ()) for filetype in filetypes}

    async def follow(
        self,
        client: NvimClient,
        plugin: Plugin,
        on_notification: Callable[[str, Any], None],
        on_stderr_line: Callable[[str], None],
        on_death: Callable[[bool], None],
    ) -> NvimClient | None:
        """See `Clients.follow`."""
        program = client.command[0] if client.command else ""
        self._followed[client.id] = _Followed(on_notification, on_stderr_line, on_death, program, set())
        for line in self._stderr.get(program, ()):
            on_stderr_line(line)
        inactive = plugin.inactive_regions
        extension = {
            "methods": [inactive.method] if inactive.method else [],
            "capability": list(inactive.capability),
            "reread_fields": plugin.documents.reread_fields,
            "change_fields": plugin.documents.change_fields,
            "uncancelled": sorted(plugin.uncancelled),
        }
        entry = await self._lua.call("follow", client.id, extension)
        return _client(entry) if entry else None

    async def request(self, client: int, method: str, params: Any, *, timeout: float) -> Any:
        """The answer of a language server, through Neovim's client of it. `timeout` in seconds.

        Raises:
            RefusedError: the server's error.
            DiedError: the server, or Neovim, is gone.
            SilentError: no answer in time; the request was cancelled.
        """
        number = self._replies.number()
        followed = self._followed.get(client)
        if followed is None:
            raise DiedError("the language server is gone")
        followed.requests.add(number)
        try:
            sent = self._lua.call("request", number, client, method, params)
            return await self._replies.reply(number, sent, cancel="cancel", what=method, timeout=timeout)
        except RefusedError as error:
            raise error.to(method) from None
        finally:
            followed.requests.discard(number)

    def notify(self, client: int, method: str, params: Any) -> None:
        """See `Clients.notify`; does nothing if Neovim is gone."""
        self._lua.tell("notify", client, method, params)

    def reread(self, client: int, path: Path, version: int) -> None:
        """See `Clients.reread`."""
        self._lua.tell("reread", client, path_uri(path), version)

    def show(self, client: int, path: Path, version: int, content: str) -> None:
        """See `Clients.show`."""
        self._lua.tell("show_text", client, path_uri(path), version, content)

    def capture(self, client: int, *, begins: bool) -> None:
        """See `Clients.capture`."""
        self._lua.tell("capture", client, begins)

    def stop(self, client: int) -> None:
        """See `Clients.stop`."""
        self._lua.tell("stop", client)

    async def restart(self, client: int) -> None:
        """See `Clients.restart`."""
        await self._lua.call("restart", client)

    # --- what Neovim tells -------------------------------------------------------------------------

    def on_change(self, *_: Any) -> None:
        """A client came, went, or has other buffers."""
        self.events += 1
        before, self.attached = self.attached, asyncio.Event()
        before.set()

    def on_notification(self, client: int, method: str, params: Any) -> None:
        """A server has sent a notification."""
        if followed := self._followed.get(client):
            followed.on_notification(method, params)

    def on_stderr(self, program: str, text: Any) -> None:
        """A server that was started as `program` has written on its stderr."""
        remembered = self._stderr.setdefault(program, deque(maxlen=_MOST_STDERR))
        for line in str(text).splitlines():
            remembered.append(line)
            for followed in [one for one in self._followed.values() if one.program == program]:
                followed.on_stderr_line(line)

    def on_death(self, client: int, crashed: bool) -> None:
        """A server is gone."""
        self.on_change()
        followed = self._followed.pop(client, None)
        if followed is None:
            return
        for number in followed.requests:
            self._replies.fail(number, DiedError("the language server exited"))
        self._stderr.pop(followed.program, None)
        followed.on_death(crashed)

    def on_end(self) -> None:
        """Neovim is gone."""
        for client in list(self._followed):
            self.on_death(client, False)
        self.on_change()


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
        tells_inactive=bool(entry.get("offers")),
        published=tuple((buffer_path(name), sent) for name, sent in entry.get("published", ())),
    )
