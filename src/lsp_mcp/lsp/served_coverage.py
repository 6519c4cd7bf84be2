"""What a running server has of its workspace: `ServedCoverage`, a `backend.Coverage`."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Backend, Facts, Indexed, Trial, Use
from lsp_mcp.backend import Coverage as BackendCoverage
from lsp_mcp.errors import PathError
from lsp_mcp.lsp.coverage import Coverage, own_variables
from lsp_mcp.lsp.freshness import Freshness
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.lsp.life.lifetime import Lifetime
from lsp_mcp.lsp.reloading.reloading import Reloading
from lsp_mcp.objects.elsewhere import elsewhere
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.words.workspace_words import FilesWith, WorkspaceWords

log = logging.getLogger(__name__)

_MOST_LOOSE = 20  # files opened for one word


class Builds(Protocol):
    """The servers of one workspace, by their builds."""

    async def in_build(
        self, adapter: Adapter, variables: Mapping[str, str], keep: BackendCoverage | None = None
    ) -> Backend:
        """The server `adapter` with these `variables`, started now if there was none.

        Others may be ended for that, but not the one that has the coverage `keep`.
        """

    def running(self, adapter: Adapter) -> Sequence[Backend]:
        """All that run of the server `adapter`."""


class ServedCoverage:
    """What the plug-in's `coverage` and `reloading` know, of the server that runs now.

    `command` gives the command that started it, `timeout` is its limit for one reply in seconds.
    """

    def __init__(
        self,
        plugin: Plugin,
        coverage: Coverage,
        reloading: Reloading,
        *,
        words: WorkspaceWords,
        documents: Documents,
        lifetime: Lifetime,
        freshness: Freshness,
        command: Callable[[], Sequence[str]],
        server: Callable[[Mapping[str, str]], AbstractAsyncContextManager[Trial]] | None,
        timeout: float,
    ) -> None:
        self._plugin = plugin
        self._coverage = coverage
        self._reloading = reloading
        self._words = words
        self._documents = documents
        self._lifetime = lifetime
        self._freshness = freshness
        self._command = command
        self._server = server
        self._timeout = timeout
        self.builds: Builds | None = None
        # What the server was made to load, in which state.
        self._loose: tuple[tuple[Connection | None, int], set[Path]] | None = None

    async def load(self, path: Path | None, word: str) -> frozenset[Path]:
        """See `backend.Coverage.load`."""
        await self._lifetime.live()
        unread: frozenset[Path] = frozenset()
        if word and self._plugin.compiles_files:
            unread = await self._freshness.load_word(word, part=path is None)
        if path is None:
            self.load_projects()
        elif word:
            unread |= await self._load_loose(path, word)
        return unread

    async def _load_loose(self, path: Path, word: str) -> frozenset[Path]:
        """Open what the server reads only then, and has `word`; the files that are too many."""
        loose = self._coverage.loose((await self._words.files_with(word)).files)
        if not self._plugin.is_exported(word, path):
            loose = [one for one in loose if one.parent == path.parent]
        wanted = await self._words.that_may_use(path, loose) if loose else []
        state = self._lifetime.connection, self._freshness.generation  # a change may make a server drop packages
        if self._loose is None or self._loose[0] != state:
            self._loose = state, set()
        loaded = self._loose[1]
        todo = [one for one in wanted[:_MOST_LOOSE] if one != path and not (one in loaded and one in self._documents)]
        if todo and not self._has_time():
            budget.cut()
            return frozenset([*todo, *wanted[_MOST_LOOSE:]])
        for file in todo:
            try:
                self._documents.open(file)
            except PathError as error:
                log.warning("%s: %s is not read: %s", self._plugin.name, file, error)
        if todo:
            try:
                async with asyncio.timeout(budget.left()):
                    await self._reloading.load_alone(todo)
                loaded.update(todo)
            except TimeoutError:
                budget.cut()  # the comparison with the text asks about each
        return frozenset(wanted[_MOST_LOOSE:])

    def load_projects(self) -> None:
        """Open the files by which the server loads its projects."""
        for path in self._coverage.files_to_open():
            if path not in self._documents:
                try:
                    self._documents.open(path, pinned=True)
                except PathError as error:
                    log.warning("%s: a project is not loaded: %s", self._plugin.name, error)

    def _has_time(self) -> bool:
        """Whether the present answer can wait for the server to load more."""
        return budget.present().is_whole or self.load_seconds() <= budget.left()

    async def loads_more(self, path: Path) -> bool:
        """See `backend.Coverage.loads_more`."""
        return await self._coverage.excludes(path) or bool(self._coverage.loose([path]))

    def load_seconds(self) -> float:
        """See `backend.Coverage.load_seconds`."""
        connection = self._lifetime.connection
        return connection.notifications.progress.took(self._plugin.adapter.ready.work) if connection else 0.0

    async def left_out(self, path: Path, use: Use) -> Sequence[Path]:
        """See `backend.Coverage.left_out`."""
        return await self._coverage.left_out(path, use)

    async def excludes(self, path: Path) -> bool:
        """See `backend.Coverage.excludes`."""
        return await self._coverage.excludes(path)

    def own_build(self, path: Path) -> AbstractAsyncContextManager[Trial] | None:
        """See `backend.Coverage.own_build`; an editor starts its servers itself."""
        if self._server is None:
            return None
        variables = own_variables(self._plugin, path)
        return self._server(variables) if variables else None

    async def own_variables(self, path: Path) -> Mapping[str, str]:
        """See `backend.Coverage.own_variables`."""
        if self._server is None:
            return {}
        is_excluded = await self._coverage.excludes(path)
        return own_variables(self._plugin, path) if is_excluded else self._coverage.apart_variables(path)

    async def in_build(self, variables: Mapping[str, str]) -> Backend | None:
        """See `backend.Coverage.in_build`; an editor starts its servers itself."""
        if self._server is None or self.builds is None or not variables:
            return None
        return await self.builds.in_build(self._plugin.adapter, variables, self)

    def other_builds(self) -> Sequence[Backend]:
        """See `backend.Coverage.other_builds`."""
        if self._server is None or self.builds is None:
            return ()
        return [one for one in self.builds.running(self._plugin.adapter) if one.coverage is not self]

    async def build_state(self) -> str:
        """See `backend.Coverage.build_state`; an editor gives its server settings of its own."""
        version = self._lifetime.connection.version if self._lifetime.connection else ""
        state = await self._coverage.build_state() if version else ""
        if not state:
            return ""
        adapter = self._plugin.adapter
        settings = msgspec.json.encode((version, state, adapter.initialization_options, adapter.settings))
        return hashlib.blake2b(settings, digest_size=16).hexdigest()

    async def built_files_with(self, word: str) -> FilesWith:
        """See `backend.Coverage.built_files_with`."""
        having = await self._words.files_with(word)
        return replace(having, files=tuple(await self._coverage.built(having.files)))

    async def indexed(self, files: Collection[Path]) -> Mapping[Path, Indexed]:
        """See `backend.Coverage.indexed`."""
        return await self._coverage.index_of(files)

    async def part_of(self, path: Path) -> tuple[Path, int] | None:
        """See `backend.Coverage.part_of`."""
        return await self._coverage.part_of(path)

    async def wholes_of(self, path: Path) -> Sequence[tuple[Path, int]]:
        """See `backend.Coverage.wholes_of`: it has errors then, or a file includes it several times."""
        wholes = await self._coverage.included_at(path)
        is_repeated = len({whole for whole, _ in wholes}) < len(wholes)
        return wholes if is_repeated or self._has_errors_alone(path, [whole for whole, _ in wholes]) else ()

    def _has_errors_alone(self, path: Path, wholes: Collection[Path]) -> bool:
        """Whether `path` has errors, and more than one that a file of `wholes`, which include it, has there, too."""
        connection = self._lifetime.connection
        if connection is None or path not in (diagnostics := connection.notifications.diagnostics).errors:
            return False
        errors = [one["range"] for one in diagnostics.raw.get(path, ()) if diagnostics.hides(one)]
        pattern = self._plugin.diagnostics.elsewhere_pattern
        there = [elsewhere(one, pattern) for whole in wholes for one in diagnostics.raw.get(whole, ())]
        return not errors or any(
            error not in [one.range for one in there if one and one.path == path] for error in errors
        )

    async def compiles_with(self, pattern: str) -> bool:
        """See `backend.Coverage.compiles_with`."""
        return await self._coverage.compiles_with(pattern)

    def has_reread(self, path: Path) -> bool:
        """See `backend.Coverage.has_reread`."""
        return self._reloading.has_reread(path)

    def mistrust(self, path: Path, name: str) -> None:
        """See `backend.Coverage.mistrust`."""
        self._reloading.mistrust(path, name)

    async def facts(self) -> Facts:
        """See `backend.Coverage.facts`."""
        connection = self._lifetime.connection
        facts = replace(await self._coverage.facts(), request_timeout=self._timeout)
        if connection is None:
            return facts
        return replace(
            facts,
            version=connection.version,
            command=tuple(self._command()),
            memory=await connection.memory(),
            failed=dict(connection.notifications.diagnostics.errors),
        )
