"""What is needed of an editor that runs language servers: `Host` with `Clients` and `Buffers`; and of us: `Owner`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from lsp_mcp.adapters import Adapter
from lsp_mcp.text import Text


class Client(Protocol):
    """A language client in an editor."""

    @property
    def id(self) -> int:
        """Its number there."""

    @property
    def name(self) -> str:
        """Its name in the user's configuration."""

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
        """See `Connection`; known from `Host.follow` on."""

    @property
    def errors(self) -> Sequence[tuple[Path, str, str]]:
        """File, source and message of each error that its server had reported when `Clients.follow` began."""


class Clients(Protocol):
    """The language clients of one editor."""

    @property
    def attached(self) -> asyncio.Event:
        """Set, and replaced, whenever a client was attached to a buffer."""

    async def all(self) -> Sequence[Client]:
        """All of them."""

    async def follow(
        self,
        client: Any,
        adapter: Adapter,
        on_notification: Callable[[str, Any], None],
        on_stderr_line: Callable[[str], None],
        on_death: Callable[[bool], None],
    ) -> Client | None:
        """Follow the client's server, which is the adapter's; None if there is no such client any more.

        `on_notification` gets its notifications, `on_stderr_line` its stderr as far as the editor has it, and
        `on_death` whether it crashed, once it is gone.
        """

    async def request(self, client: int, method: str, params: Any, *, timeout: float) -> Any:
        """As `Peer.request`, of a client that is followed."""

    def notify(self, client: int, method: str, params: Any) -> None:
        """As `Peer.notify`, but for documents that the editor has open with that server."""

    def reread(self, client: int, path: Path, version: int) -> None:
        """Have the server of `client` read again a document that the editor has open with it, as `version`.

        By a change of nothing with the adapter's `reread_fields`; if it has none, by closing and opening it.
        """

    def show(self, client: int, path: Path, version: int, content: str) -> None:
        """Let the server of `client` take `content`, as `version`, for that of a document that the editor has open.

        `reread` ends that, and so does the end of this program.
        """

    def capture(self, client: int, *, begins: bool) -> None:
        """From now on, or no more: an edit that the server asks for is told as `workspace/applyEdit`, and not done."""

    def stop(self, client: int) -> None:
        """End a client's server."""

    async def restart(self, client: int) -> None:
        """Start an ended client again, for the buffers that it had."""


class Buffers(Protocol):
    """The buffers of an editor, whose texts win over files; those of one editor after the other."""

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


class Host(Protocol):
    """An editor with language clients and buffers: the present one of those that take each other's place."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    @property
    def epoch(self) -> int:
        """How many editors it has been, one after the other."""

    @property
    def clients(self) -> Clients:
        """The language clients of the present editor; raises the errors of `check`."""

    @property
    def buffers(self) -> Buffers:
        """The buffers of whatever editor is there."""

    def check(self) -> None:
        """Raise `UnavailableError` if the editor is gone."""

    async def ready(self) -> None:
        """Wait until the editor is there; raises the errors of `check`."""

    async def waiting_at(self) -> str | None:
        """What blocks the editor, and what a person can do; None if nothing does. Raises: see `check`."""

    async def show(self, path: Path) -> None:
        """Have the editor load a file in the background, so that it starts its language client for it."""


class Owner(Protocol):
    """Who keeps account of the documents that are open with a server."""

    def handed_over(self, path: Path) -> None:
        """A buffer has taken over a document that we had open."""

    def opened_by_editor(self, path: Path) -> None:
        """The editor has opened a document, maybe again: its versions begin again."""

    def reread_by_editor(self, path: Path, wire_version: int, version: int) -> None:
        """The editor told `wire_version`, one that we asked it for, to the server, after its own `version`."""
