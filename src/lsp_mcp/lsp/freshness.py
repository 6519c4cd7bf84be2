"""Keeping a server up to date: changes, notifications, files to read again: `Freshness`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from weakref import WeakSet

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.disk.changes import Changes
from lsp_mcp.disk.feed import Feed
from lsp_mcp.disk.pipes import is_endless
from lsp_mcp.errors import LspMcpError, PathError
from lsp_mcp.lsp.coverage import Coverage
from lsp_mcp.lsp.editor.connection import HostedConnection
from lsp_mcp.lsp.editor.host import Host
from lsp_mcp.lsp.life import watched_files
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.lsp.life.documents import Documents, Texts
from lsp_mcp.lsp.life.lifetime import Lifetime
from lsp_mcp.lsp.readiness import Readiness
from lsp_mcp.lsp.reloading.reloading import Looked, Reloading
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.waiting import phase
from lsp_mcp.words.workspace_words import WorkspaceWords
from lsp_mcp.workspace import Workspace

log = logging.getLogger(__name__)

_MOST_OPENED = 50  # changed files that are opened at once
_MOST_EDITS = 100  # generations whose changed files are remembered


class Sources(Struct, frozen=True):
    """What may change: the files of a workspace, and the buffers of an editor, the `host`, if its server is asked."""

    workspace: Workspace
    feed: Feed
    files: Texts
    host: Host | None


class Served(Struct, frozen=True):
    """What has to be kept up to date: a server, and what is remembered of the files."""

    plugin: Plugin
    documents: Documents
    lifetime: Lifetime
    words: WorkspaceWords
    coverage: Coverage
    readiness: Readiness
    reloading: Reloading


class Freshness:
    """Keeps one server's view of the workspace identical to the disk and, with an editor, to its buffers.

    In order: changes (the kernel's events, buffers, compiled files outside the watched folders) → notifications (our
    caches, open documents, the server) → what the server must read again → the generation.
    """

    def __init__(self, sources: Sources, served: Served) -> None:
        self.generation = 0
        self.changes = 0  # of the workspace: the part of the generation that others caused
        self._edits: dict[int, frozenset[Path]] = {}  # by generation, if it grew only for files with new contents
        self._disturbances = 0  # the part of it caused by showing the server other texts for a check
        self._sources = sources
        self._served = served
        self._syncing = asyncio.Lock()
        self._loaded: tuple[Connection | None, bool] = (None, False)  # by run of the server, and whether all
        # Pending notifications and files to read. They outlive a cancelled caller: the next one continues.
        self._untold = Changes()
        self._to_load: set[Path] = set()  # changed files
        self._to_read: set[Path] = set()  # files whose buffers changed, in an editor
        self._changed: set[Path] = set()  # files to be read by the checker
        self._host_seen = 0  # the generation of its buffers known to the server
        self._reading_all: HostedConnection | None = None  # whose server was made to read the whole workspace
        if sources.host:
            _HOSTED.add(self)

    async def sync(self, *, text_only: bool = False, to_check: bool = False) -> int:
        """See `Backend.sync`."""
        # No question may be asked before the server has loaded another caller's changes.
        with phase(lambda: f"{self._served.plugin.name}: processing changes"):
            return await self._sync(text_only=text_only, to_check=to_check)

    async def _sync(self, *, text_only: bool, to_check: bool) -> int:
        async with self._syncing:
            connection = await self._served.lifetime.live()
            connection = await self._announce(connection)
            replaced = await self._reload(connection, text_only=text_only, to_check=to_check)
            await self._count(replaced=replaced)
        # Checks run one at a time; the one that disturbs others is itself correct.
        return self.generation - (self._disturbances if to_check else 0)

    def edited_since(self, generation: int) -> frozenset[Path] | None:
        """The files whose contents changed since `generation`; None if something else may have changed."""
        edits = [self._edits.get(one) for one in range(generation + 1, self.generation + 1)]
        known = [edit for edit in edits if edit is not None]
        return frozenset[Path]().union(*known) if len(known) == len(edits) else None

    @asynccontextmanager
    async def exclusively(self) -> AsyncIterator[None]:
        """Answers to others during the block do not count: their questions are repeated."""
        async with self._syncing:
            try:
                yield
            finally:
                self.generation += 1

    async def look_at(self, changed: Collection[Path] | None) -> Looked:
        """See `Reloading.look_at`."""
        async with self._syncing:
            looked = await self._served.reloading.look_at(changed)
            self.generation += looked.disturbed
            self._disturbances += looked.disturbed
        return looked

    def take_changed(self) -> set[Path]:
        """The files that changed, on disk or in buffers, since the last call."""
        changed, self._changed = self._changed, set()
        return changed

    def put_back(self, changed: Collection[Path]) -> None:
        """Put back changes that were taken but not processed."""
        self._changed.update(changed)

    async def load_word(self, word: str, *, part: bool) -> frozenset[Path]:
        """See `Reloading.load_word`."""
        with phase(lambda: f"{self._served.plugin.name}: reading files with {word}"):
            async with self._syncing:
                return await self._served.reloading.load_word(word, part=part)

    async def _announce(self, connection: Connection) -> Connection:
        """Find changes and notify everything concerned; returns the server's connection."""
        self._sources.feed.watch_also(connection.notifications.watched.outside_folders())
        if not self._sources.workspace.root.is_dir():
            raise PathError(
                f"the workspace root {self._sources.workspace.root} is gone; restore it, or start lsp-mcp elsewhere"
            )
        self._untold = self._untold.then(self._sources.feed.changes())
        changes = self._handed(self._untold)
        if endless := {path for path in changes.deleted if is_endless(path)}:
            # gopls 0.24 reads whatever is announced, deleted or not; a new server needs none of this.
            self._sources.files.forget(endless)
            self.generation += 1
            connection = await self._served.lifetime.renew()
            changes = replace(changes, deleted=changes.deleted - endless)
        edited = await self._edited(changes)
        matters = self._tell(connection, changes) if changes else False
        self._untold = Changes()
        outside = self._served.documents.refresh_outside(self._sources.feed.folders())
        if elsewhere := self._served.coverage.changed_elsewhere():
            self._served.coverage.changed(elsewhere)
            outside = [*outside, *elsewhere]
        # Before any further wait: a caller cancelled there must not hide it from others.
        has_changed = bool(matters or outside or edited)
        self.generation += has_changed
        self.changes += has_changed
        if has_changed and not (changes.created or changes.deleted or outside):
            self._edits[self.generation] = changes.changed | edited
            if len(self._edits) > _MOST_EDITS:
                del self._edits[next(iter(self._edits))]
        self._served.words.changed([*outside, *edited])
        self._served.words.begin()
        self._to_read.update(edited)
        self._to_load.update(changes.created, changes.changed, changes.deleted, outside)
        self._changed.update(changes.created, changes.changed, changes.deleted, outside, edited)
        return connection

    def _handed(self, changes: Changes) -> Changes:
        """`changes`, with links out of the workspace as deleted: a server must not read their targets."""
        leading_out = {path for path in (*changes.created, *changes.changed) if not self._sources.workspace.holds(path)}
        if not leading_out:
            return changes
        return replace(
            changes,
            created=changes.created - leading_out,
            changed=changes.changed - leading_out,
            deleted=changes.deleted | leading_out,
        )

    async def _reload(self, connection: Connection, *, text_only: bool, to_check: bool) -> bool:
        """Make the server read what notifications do not cover; returns whether it was replaced."""
        if isinstance(connection, HostedConnection) and not connection.has_seen_all and not text_only:
            # An editor may not have told its server about files created before we connected.
            root = connection.client.root if connection.client else None
            if root and not await self._is_told_by_another(connection, root):
                self._reading_all = connection
                await self._served.reloading.reload_all(root)  # seconds
            connection.has_seen_all = True
        with phase(lambda: f"{self._served.plugin.name}: reading changed files"):
            replaced = await self._served.reloading.load(self._to_load, to_check=to_check)
            await self._served.reloading.buffers_changed(self._to_read)
            replaced |= await self._served.coverage.settle(
                partial(self._served.reloading.reload_all, self._sources.workspace.root)
            )
        self._to_load.clear()
        self._to_read.clear()
        return replaced

    async def _is_told_by_another(self, connection: HostedConnection, root: Path) -> bool:
        """Whether another session has told the server of `connection` of all changes below `root` until now.

        Our own watch began before, so nothing is lost in between.
        """
        if not self._served.reloading.reads_untold:
            return False
        for other in [one for one in _HOSTED if one is not self and root.is_relative_to(one._sources.workspace.root)]:
            try:
                if await other._tells(connection.server):
                    return True
            except LspMcpError as error:
                log.info("another session of %s: %s", self._served.plugin.name, error)
        return False

    async def _tells(self, server: object) -> bool:
        """Tell `server` of all changes until now, if it is this session's and has been told of all before."""
        connection = self._served.lifetime.connection
        if not (
            isinstance(connection, HostedConnection)
            and connection.server == server
            and (connection.has_seen_all or self._reading_all is connection)
            and not self._served.lifetime.closing
        ):
            return False
        # Of the text only: who is asked asks nobody, so that no two wait for each other.
        await self.sync(text_only=True)
        # What the editor has answered comes after what it was told before.
        assert self._sources.host
        await self._sources.host.buffers.sync()
        is_alive = self._served.lifetime.connection is connection and not connection.dead.done()
        return is_alive and connection.has_seen_all

    async def _count(self, *, replaced: bool) -> None:
        """Files loaded in the meantime count too: an earlier answer lacks them."""
        connection = await self._served.lifetime.live()
        loaded, self._loaded = self._loaded, (connection, self._served.readiness.pending() is None)
        self.generation += bool(replaced or loaded != self._loaded)
        if self._loaded[1]:
            await self._served.coverage.loaded()

    async def _edited(self, changes: Changes) -> set[Path]:
        """The files of this server whose buffers changed since the last call, following `changes` on disk."""
        if self._sources.host is None:
            return set()
        seen, now = self._host_seen, await self._sources.host.buffers.sync([*changes.created, *changes.changed])
        # Everything up to this generation has been processed, for all callers.
        self._host_seen = now
        changed = self._sources.host.buffers.changed_since(seen) if self._host_seen > seen else set()
        edited = {path for path in changed if self._served.plugin.language_of(path)}
        for path in edited:
            self._served.documents.note_version(path)  # so that it is in order before the server reports about it
        return edited

    def _tell(self, connection: Connection, changes: Changes) -> bool:
        """Tell the server about `changes`: its open documents first, then watched files.

        Returns whether any of them can affect an answer: a log file in the workspace does not.
        """
        touched = [*changes.created, *changes.changed, *changes.deleted]
        self._sources.files.forget(touched)
        self._served.words.changed(touched)
        self._served.coverage.changed(touched)
        self._served.documents.refresh(touched)
        if self._served.plugin.documents.reads_closed_later and self._sources.host is None:
            self._open([*changes.created, *changes.changed])
        connection.notifications.last_error = ""  # it may be fixed; if not, the server reports it again
        events = connection.notifications.watched.events(changes)
        if events:
            connection.notify(watched_files.METHOD, {"changes": events})
        return bool(events) or any(self._served.plugin.language_of(path) for path in touched)

    def _open(self, changed: Sequence[Path]) -> None:
        """Show the server the first of these files, of its languages."""
        documents = self._served.documents
        ours = [path for path in changed if self._served.plugin.adapter.owns(path, self._sources.workspace.root)]
        for path in ours[:_MOST_OPENED]:
            if path not in documents:
                with suppress(PathError):
                    documents.open(path)


_HOSTED: WeakSet[Freshness] = WeakSet()  # of this process, with a server of an editor
