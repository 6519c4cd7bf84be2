"""The interface of an editor that runs language servers, `Host` with `Clients` and `Buffers`; and ours
to it: `Owner`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.text import Text


class Client(Protocol):
    """A language client in an editor."""

    @property
    def id(self) -> int:
        """Its id in the editor."""

    @property
    def name(self) -> str:
        """Its name in the user's configuration."""

    @property
    def initialized(self) -> bool:
        """Whether its server is initialized."""

    @property
    def unit(self) -> str:
        """The code units in which its server counts."""

    @property
    def capabilities(self) -> dict[str, Any]:
        """LSP `ServerCapabilities`."""

    @property
    def root(self) -> Path | None:
        """The working folder of its server."""

    @property
    def command(self) -> Sequence[str]:
        """The command that was started, if known."""

    @property
    def filetypes(self) -> Sequence[str]:
        """Its languages."""

    @property
    def work(self) -> Sequence[tuple[int | str, str]]:
        """Token and title of work that its server has begun."""

    @property
    def done(self) -> Sequence[str]:
        """Titles of finished work, as far as the editor knows."""

    @property
    def known_from_start(self) -> bool:
        """Whether `work` and `done` contain everything that its server has begun and ended."""

    @property
    def tells_inactive(self) -> bool:
        """See `Connection`; known after `Host.follow`."""

    @property
    def published(self) -> Sequence[tuple[Path, list[Any]]]:
        """The files with the LSP diagnostics that its server had published when `Clients.follow` began."""


class Clients(Protocol):
    """The language clients of one editor."""

    @property
    def attached(self) -> asyncio.Event:
        """Set, and replaced, whenever a client is attached to a buffer."""

    async def all(self) -> Sequence[Client]:
        """All of them."""

    async def follow(
        self,
        client: Any,
        plugin: Plugin,
        on_notification: Callable[[str, Any], None],
        on_stderr_line: Callable[[str], None],
        on_death: Callable[[bool], None],
    ) -> Client | None:
        """Follow the client's server, described by the plug-in; None if the client no longer exists.

        `on_notification` receives its notifications, `on_stderr_line` its stderr if the editor has it, and `on_death`
        whether it crashed.
        """

    async def request(self, client: int, method: str, params: Any, *, timeout: float) -> Any:
        """As `Peer.request`, for a followed client."""

    def notify(self, client: int, method: str, params: Any) -> None:
        """As `Peer.notify`, but for documents that the editor has open with that server."""

    def reread(self, client: int, path: Path, version: int) -> None:
        """Make the server of `client` read a document again that the editor has open with it, as `version`.

        By an empty change with the plug-in's `reread_fields`; without those, by closing and opening it.
        """

    def show(self, client: int, path: Path, version: int, content: str) -> None:
        """Show the server of `client` the text `content`, as `version`, for a document that the editor has open.

        Ends with `reread`, or with this program.
        """

    def capture(self, client: int, *, begins: bool) -> None:
        """Start or stop capturing: edits that the server requests are reported as `workspace/applyEdit`,
        not applied.
        """

    def stop(self, client: int) -> None:
        """End a client's server."""

    async def restart(self, client: int) -> None:
        """Start an ended client again, for its previous buffers."""


class Buffers(Protocol):
    """The buffers of an editor, whose texts take precedence over files; also across editors that replace each other."""

    async def sync(self, changed: Iterable[Path] = ()) -> int:
        """Read all buffers, those of files that `changed` on disk most thoroughly.

        Returns a number that changes with any buffer.
        """

    def changed_since(self, generation: int) -> set[Path]:
        """The files whose buffers changed after that number."""

    def held(self, client: int) -> dict[Path, tuple[Text, int]]:
        """Text and version of each document that the editor has open with the server of `client`."""

    def text(self, path: Path) -> Text:
        """The text of a file: its buffer's if it has one."""

    def forget(self, paths: Iterable[Path]) -> None:
        """See `Files.forget`."""

    def unsaved(self) -> list[Path]:
        """The files whose buffers have unsaved changes."""

    def conflicts(self) -> list[Path]:
        """Those of them that also changed on disk."""


class Host(Protocol):
    """An editor with language clients and buffers: the present one, if editors replace each other."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    @property
    def process(self) -> object:
        """Equal for the same editor in any session, and for no other one; raises the errors of `check`."""

    @property
    def epoch(self) -> int:
        """The number of editors so far."""

    @property
    def clients(self) -> Clients:
        """The language clients of the present editor; raises the errors of `check`."""

    @property
    def buffers(self) -> Buffers:
        """The buffers of the present editor."""

    def check(self) -> None:
        """Raise `UnavailableError` if the editor is gone."""

    async def ready(self) -> None:
        """Wait for the editor; raises the errors of `check`."""

    async def waiting_at(self) -> str | None:
        """What blocks the editor, and how to resolve it; None if nothing does. Raises: see `check`."""

    async def show(self, path: Path) -> None:
        """Make the editor load a file in the background, which starts its language client."""


class Owner(Protocol):
    """Keeps account of the documents that are open with a server."""

    def handed_over(self, path: Path) -> None:
        """A buffer has taken over a document that we had open."""

    def opened_by_editor(self, path: Path) -> None:
        """The editor has opened a document, maybe again: its versions start over."""

    def reread_by_editor(self, path: Path, wire_version: int, version: int) -> None:
        """The editor sent `wire_version`, which we requested, to the server after its own `version`."""
