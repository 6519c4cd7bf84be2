"""Keep a server up to date: what changed, whom to tell, what to read again: `Freshness`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace

from lsp_mcp.adapters import Adapter
from lsp_mcp.disk.changes import Changes
from lsp_mcp.disk.feed import Feed
from lsp_mcp.disk.pipes import is_endless
from lsp_mcp.errors import PathError
from lsp_mcp.lsp.compilation.build import Build
from lsp_mcp.lsp.coverage.workspace_projects import WorkspaceProjects
from lsp_mcp.lsp.editor.connection import HostedConnection
from lsp_mcp.lsp.editor.host import Host
from lsp_mcp.lsp.life import watched_files
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.lsp.life.documents import Documents, Texts
from lsp_mcp.lsp.life.lifetime import Lifetime
from lsp_mcp.lsp.readiness import Readiness
from lsp_mcp.lsp.reloading.reloading import Looked, Reloading
from lsp_mcp.waiting import phase
from lsp_mcp.words.workspace_words import WorkspaceWords
from lsp_mcp.workspace import Workspace


class Freshness:
    """Keeps one server's view of the workspace identical to the disk and, with an editor, to its buffers.

    In order: what changed (the kernel's events, buffers, compiled files outside the watched folders) → who is told
    (our caches, open documents, the server) → what the server must be made to read again → the generation.
    """

    def __init__(
        self,
        adapter: Adapter,
        workspace: Workspace,
        feed: Feed,
        files: Texts,
        host: Host | None,
        *,
        documents: Documents,
        lifetime: Lifetime,
        projects: WorkspaceProjects,
        words: WorkspaceWords,
        build: Build | None,
        readiness: Readiness,
        reloading: Reloading,
    ) -> None:
        self.generation = 0
        self._disturbances = 0  # how much of it is because the server was shown other texts to check them
        self._adapter = adapter
        self._workspace = workspace
        self._feed = feed
        self._files = files
        self._host = host
        self._documents = documents
        self._lifetime = lifetime
        self._projects = projects
        self._words = words
        self._build = build
        self._readiness = readiness
        self._reloading = reloading
        self._syncing = asyncio.Lock()
        self._loaded: tuple[Connection | None, bool] = (None, False)  # by which life of the server, and whether all
        # What is still to be told, and to be read again. It outlives a caller who is cancelled: the next has it done.
        self._untold = Changes()
        self._to_load: set[Path] = set()  # changed files
        self._to_read: set[Path] = set()  # files whose buffers changed, in an editor
        self._changed: set[Path] = set()  # files, for who checks them
        self._host_seen = 0  # the generation of its buffers that the server is known to have

    async def sync(self, *, text_only: bool = False, to_check: bool = False) -> int:
        """See `Backend.sync`."""
        # Nobody may ask before what another caller's changes made the server load is loaded.
        with phase(lambda: f"{self._adapter.name}: processing changes"):
            return await self._sync(text_only=text_only, to_check=to_check)

    async def _sync(self, *, text_only: bool, to_check: bool) -> int:
        async with self._syncing:
            connection = await self._lifetime.live()
            connection = await self._announce(connection)
            replaced = await self._reload(connection, text_only=text_only, to_check=to_check)
            await self._count(replaced=replaced)
        # Checks come one after the other, and one that disturbs is right itself.
        return self.generation - (self._disturbances if to_check else 0)

    @asynccontextmanager
    async def exclusively(self) -> AsyncIterator[None]:
        """Nobody else's answer counts that the server gives during the block: anyone who asked asks again."""
        async with self._syncing:
            try:
                yield
            finally:
                self.generation += 1

    async def look_at(self, changed: Collection[Path] | None) -> Looked:
        """See `Reloading.look_at`."""
        async with self._syncing:
            looked = await self._reloading.look_at(changed)
            self.generation += looked.disturbed
            self._disturbances += looked.disturbed
        return looked

    def take_changed(self) -> set[Path]:
        """The files that changed, on disk or in buffers, since the last call."""
        changed, self._changed = self._changed, set()
        return changed

    def put_back(self, changed: Collection[Path]) -> None:
        """Put back files that were taken but not looked at."""
        self._changed.update(changed)

    async def load_word(self, word: str, *, part: bool) -> frozenset[Path]:
        """See `Reloading.load_word`."""
        with phase(lambda: f"{self._adapter.name}: reading files with {word}"):
            async with self._syncing:
                return await self._reloading.load_word(word, part=part)

    async def _announce(self, connection: Connection) -> Connection:
        """Find out what changed, and tell everybody; the connection of the server that is told."""
        self._feed.watch_also(connection.notifications.watched.outside_folders())
        if not self._workspace.root.is_dir():
            raise PathError(
                f"the workspace root {self._workspace.root} is gone; restore it, or start lsp-mcp elsewhere"
            )
        self._untold = self._untold.then(self._feed.changes())
        changes = self._handed(self._untold)
        if endless := {path for path in changes.deleted if is_endless(path)}:
            # gopls 0.24 reads whatever it is told of, deleted or not; a new server knows nothing of these.
            self._files.forget(endless)
            self.generation += 1
            connection = await self._lifetime.renew()
            changes = replace(changes, deleted=changes.deleted - endless)
        edited = await self._edited(changes)
        matters = self._tell(connection, changes) if changes else False
        self._untold = Changes()
        outside = self._documents.refresh_outside(self._feed.folders())
        if self._build and (elsewhere := self._build.changed_elsewhere()):
            self._build.files.changed(elsewhere)
            outside = [*outside, *elsewhere]
        # Before anything more is waited for: a caller who is cancelled then must not hide it from the others.
        self.generation += bool(matters or outside or edited)
        self._words.changed([*outside, *edited])
        self._words.begin()
        self._to_read.update(edited)
        self._to_load.update(changes.created, changes.changed, changes.deleted, outside)
        self._changed.update(changes.created, changes.changed, changes.deleted, outside, edited)
        return connection

    def _handed(self, changes: Changes) -> Changes:
        """`changes` with links that lead out of the workspace as deleted: no server is to read what is there."""
        leading_out = {path for path in (*changes.created, *changes.changed) if not self._workspace.holds(path)}
        if not leading_out:
            return changes
        return replace(
            changes,
            created=changes.created - leading_out,
            changed=changes.changed - leading_out,
            deleted=changes.deleted | leading_out,
        )

    async def _reload(self, connection: Connection, *, text_only: bool, to_check: bool) -> bool:
        """Have everything read again that the server does not read by being told; whether it was replaced."""
        if isinstance(connection, HostedConnection) and not connection.has_seen_all and not text_only:
            # An editor may not have told its server of files that came before us: seconds, once for each session.
            if connection.client and connection.client.root:
                await self._reloading.reload_all(connection.client.root)
            connection.has_seen_all = True
        with phase(lambda: f"{self._adapter.name}: reading changed files"):
            replaced = await self._reloading.load(self._to_load, to_check=to_check)
            await self._reloading.buffers_changed(self._to_read)
            if await self._projects.join():
                await self._reloading.reload_all(self._workspace.root, settings=True)
                replaced = True
            if await self._projects.repaired():
                await self._reloading.reload_all(self._workspace.root)
                self._projects.taken_up()
        self._to_load.clear()
        self._to_read.clear()
        return replaced

    async def _count(self, *, replaced: bool) -> None:
        """What the server has loaded in the meantime counts too: an answer from before lacks it."""
        connection = await self._lifetime.live()
        loaded, self._loaded = self._loaded, (connection, self._readiness.pending() is None)
        self.generation += bool(replaced or loaded != self._loaded)
        if self._build and self._build.has_index and self._loaded[1]:
            await self._build.indexed()

    async def _edited(self, changes: Changes) -> set[Path]:
        """The files of this server whose buffers changed since the last call; they follow `changes` on disk."""
        if self._host is None:
            return set()
        seen, now = self._host_seen, await self._host.buffers.sync([*changes.created, *changes.changed])
        # Everything up to this generation is looked at, no matter who asks next.
        self._host_seen = now
        changed = self._host.buffers.changed_since(seen) if self._host_seen > seen else set()
        edited = {path for path in changed if self._adapter.language_of(path)}
        for path in edited:
            self._documents.note_version(path)  # it takes its place before the server says anything about it
        return edited

    def _tell(self, connection: Connection, changes: Changes) -> bool:
        """Tell the server of `changes`: its open documents first, then what it watches.

        Whether any of them can matter to an answer: a log that somebody writes in the workspace does not.
        """
        touched = [*changes.created, *changes.changed, *changes.deleted]
        self._files.forget(touched)
        self._projects.changed(touched)
        self._words.changed(touched)
        if self._build:
            self._build.files.changed(touched)
        self._documents.refresh(touched)
        connection.notifications.last_error = ""  # it may be fixed; if not, the server says so again
        events = connection.notifications.watched.events(changes)
        if events:
            connection.notify(watched_files.METHOD, {"changes": events})
        return bool(events) or any(self._adapter.language_of(path) for path in touched)
