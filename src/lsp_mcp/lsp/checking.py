"""Diagnostics of the whole workspace, for its present or for other texts: `Checking`."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.backend import Checked
from lsp_mcp.errors import DiedError, SilentError
from lsp_mcp.gaps import Gap
from lsp_mcp.lsp.coverage import Built, Coverage, Miss, own_variables
from lsp_mcp.lsp.freshness import Freshness
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.lsp.life.lifetime import Lifetime
from lsp_mcp.lsp.life.reading import read_told
from lsp_mcp.lsp.reloading.reloading import Looked
from lsp_mcp.lsp.unopened import nearest_first, see_closed
from lsp_mcp.prose import count, first_few
from lsp_mcp.protocol.lsp import Diagnostic
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.text import PositionEncoding, Text
from lsp_mcp.uris import path_uri
from lsp_mcp.waiting import phase, within

log = logging.getLogger(__name__)

_ERROR = 1  # LSP 3.17, `DiagnosticSeverity`
_SHARE = 0.75  # share of a call's remaining time that the server may spend checking
_WITH_AN_EDIT = 5.0  # seconds for other files, before an edit and after it
_MOST_SCRIPTS = 20  # files that are opened because a server checks them only then
_MOST_BASELINE = 2_000  # files that are checked one by one before anybody asks


class _Others(Struct, frozen=True):
    """Files that were checked in addition to those shown to the server, what hides others, and errors of a build."""

    covers: frozenset[Path] = frozenset()
    gap: Gap | None = None
    errors: Mapping[Path, Sequence[Miss]] = {}


class Checking:
    """Collects diagnostics. `samples` are files, at least one of each project; `sources` are all of this server's."""

    def __init__(
        self,
        plugin: Plugin,
        documents: Documents,
        lifetime: Lifetime,
        freshness: Freshness,
        *,
        samples: Callable[[], Collection[Path]],
        sources: Callable[[], Awaitable[list[Path]]],
        coverage: Coverage,
        display_path: Callable[[Path], str],
        timeout: float,
    ) -> None:
        self._adapter = plugin.adapter
        self._plugin = plugin
        self._rules = plugin.diagnostics
        self._documents = documents
        self._lifetime = lifetime
        self._freshness = freshness
        self._samples = samples
        self._sources = sources
        self._coverage = coverage
        self._compiles_files = plugin.compiles_files
        self._display_path = display_path
        self.timeout = timeout  # seconds for one answer
        self._asking = asyncio.Lock()
        self._ever_changed: set[Path] = set()
        self._seen: tuple[tuple[int, Connection, frozenset[Path]], Checked] | None = None  # the last one, and its state
        self._built: tuple[tuple[int, Connection], Built] | None = None  # the last build, and its state
        self._deadly: set[Path] = set()  # closed files: the server died while it checked these
        self._first: int | None = None  # the changes of the workspace when its baseline was to be taken
        self.baseline: Checked | None = None

    @property
    def _patience(self) -> float:
        """The seconds that the server may spend checking everything; more if nobody waits."""
        return budget.left() if budget.present().is_background else within(self.timeout) * _SHARE

    @property
    def _covers_workspace(self) -> bool:
        return bool(self._rules.command) and self._rules.command_covers == "workspace"

    # --- before anything changes -------------------------------------------------------------------

    def begin_baseline(self) -> bool:
        """Whether `take_baseline` has to be called: any change after the first call of this one leaves no baseline."""
        if self._first is None:
            self._first = self._freshness.changes
        return self.baseline is None and self._first == self._freshness.changes

    async def take_baseline(self) -> None:
        """Record the problems of the workspace before its first change; it may be cancelled, and called again.

        Raises:
            LspMcpError: see `check`.
        """
        if self._coverage.builds:
            return  # without a build nothing is known, and one that nobody asked for would block the builds of others
        before = await self._freshness.sync()
        if not self.begin_baseline():
            return
        one_by_one = self._rules.closed_on_request and len(await self._sources()) <= _MOST_BASELINE
        if self._covers_workspace or one_by_one:
            checked = await self.check()
        else:
            checked = await self._checked(await self._lifetime.live(), await self._freshness.look_at(None))
        # Files that depend on others may be unknown; that does not matter.
        if any(gap.kind == "not_read" for gap in checked.gaps):
            return
        if await self._freshness.sync() == before and self.begin_baseline():
            self.baseline = checked

    # --- now ---------------------------------------------------------------------------------------

    async def check(self, also: Collection[Path] = (), *, only: bool = False) -> Checked:
        """See `backend.Problems.check`."""
        async with self._asking:
            connection = await self._lifetime.live()
            # Open documents are checked more closely, with quick fixes.
            state = self._freshness.generation, connection, frozenset(self._documents)
            if self._covers_workspace:
                if self._seen and self._seen[0] == state:
                    return self._seen[1]
                checked = await self._all(connection)
                checked = replace(checked, gaps=(*checked.gaps, *await self._excluded()))
            else:
                changed = self._freshness.take_changed()
                try:
                    patience = min(self._patience, _WITH_AN_EDIT) if also else self._patience
                    checked = await self._some(connection, {*changed, *also}, None if only else patience)
                except BaseException:
                    self._freshness.put_back(changed)
                    raise
            if not any(gap.kind == "not_read" for gap in checked.gaps):
                self._seen = state, checked
            return checked

    async def _all(self, connection: Connection) -> Checked:
        """The diagnostics of a server that checks every file on request."""
        self._ever_changed |= self._freshness.take_changed()
        files = [path_uri(path) for path in sorted(self._samples())]
        if not files:
            return Checked({})
        params = {"command": self._rules.command, "arguments": [{self._rules.command_field: files}]}
        try:
            with phase(lambda: f"{self._adapter.name}: checking all files"):
                await connection.request("workspace/executeCommand", params, timeout=self._patience)
        except SilentError:
            text = f"{self._adapter.name} did not check all files in time; ask again"
            return Checked(self._found(connection), (), gaps=(Gap("not_read", text),))
        unparsed = sorted(connection.notifications.diagnostics.unparsed)
        found = await self._of_own_build(await self._with_missed(connection))
        return Checked(found, gaps=(*self._hiding(unparsed), *self._hiding(self._not_loaded(found), beside=True)))

    async def _of_own_build(self, found: Mapping[Path, Sequence[Diagnostic]]) -> Mapping[Path, Sequence[Diagnostic]]:
        """`found` without what is wrong in other builds only, which proofs may have made the server load for a while.

        It stays for files of these that were changed, and that the own build excludes.
        """
        if not (pattern := self._rules.other_build):
            return found
        kept: dict[Path, Sequence[Diagnostic]] = {}
        for path, every in found.items():
            own = [one for one in every if not re.search(pattern, one["message"])]
            if own != every and not await self._coverage.is_native():
                return found  # messages about its own build end so, too
            is_kept = own == every or (path in self._ever_changed and await self._coverage.excludes(path))
            if shown := every if is_kept else own:
                kept[path] = shown
        return kept

    def _not_loaded(self, found: Mapping[Path, Sequence[Diagnostic]]) -> list[Path]:
        """The files with errors for which the server may not know those beside them."""
        if not (pattern := self._rules.load_error):
            return []
        return sorted(path for path, some in found.items() if any(re.match(pattern, one["message"]) for one in some))

    async def _excluded(self) -> list[Gap]:
        """The gap for files that changed and that the build excludes, unless they are open in a build of their own."""
        excluded = [path for path in sorted(self._ever_changed) if await self._coverage.excludes(path)]
        # Without the variables of its own build, the server shows no errors of an open one either.
        closed = [path for path in excluded if path not in self._documents or own_variables(self._plugin, path)]
        if not closed:
            return []
        named = first_few([self._display_path(path) for path in closed])
        hint = await self._coverage.how_to_build(closed)
        text = f"not checked: {named}, not in this build{f'; {hint}' if hint else ''}"
        brief = f"not checked: {count(len(closed), 'file')} not in this build"
        return [Gap("not_searched", text, tuple(closed), brief=brief, about="excluded")]

    async def _with_missed(self, connection: Connection) -> Mapping[Path, list[Diagnostic]]:
        """Its diagnostics, and the errors that only the language's own build reports."""
        found = dict(self._found(connection))
        shown = {path: text for path in self._documents if (text := self._documents.get(path)) is not None}
        for path, misses in (await self._coverage.missed(shown)).items():
            if path in connection.notifications.diagnostics.unparsed:
                continue  # its text is not what it looks like; the status says that errors may be hidden
            found[path] = [*found.get(path, ()), *self._as_diagnostics(path, misses, connection)]
        return found

    def _as_diagnostics(self, path: Path, misses: Sequence[Miss], connection: Connection) -> list[Diagnostic]:
        if not misses:
            return []
        text = self._documents.present(path)
        return [
            {"range": text.span_range(one.span, connection.encoding), "severity": one.severity, "message": one.message}
            for one in misses
        ]

    def _hiding(self, paths: Sequence[Path], *, beside: bool = False) -> tuple[Gap, ...]:
        """The gap for files in which errors keep the server from finding others: in those files, or `beside` them."""
        if not paths:
            return ()
        named = first_few([self._display_path(path) for path in paths])
        where = f"the {'package' if len(paths) == 1 else 'packages'} of {named}" if beside else named
        text = f"the reported errors may hide others in {where}; fix those and check again"
        return (Gap("syntax_error", text, tuple(paths)),)

    async def _some(self, connection: Connection, changed: Collection[Path], patience: float | None) -> Checked:
        """The diagnostics of a server that checks files one by one, for at most `patience` seconds those that are not
        open; None: no others than the `changed` matter.
        """
        self._deadly -= set(changed)
        sources = await self._sources() if self._rules.closed_on_request and patience is not None else []
        scripts = [path for path in sources if self._is_script(path) and path not in self._documents]
        changed = {*changed, *scripts[:_MOST_SCRIPTS]}
        with phase(lambda: f"{self._adapter.name}: checking changes"):
            looked = await self._freshness.look_at(changed)
        if left := {*looked.unread, *looked.silent}:
            self._freshness.put_back(left)
        connection = await self._lifetime.live()
        known = len(self._deadly)
        try:
            others = await self._others(connection, changed, sources, patience)
            return await self._checked(connection, looked, others)
        except DiedError:
            if len(self._deadly) == known:
                raise
            return await self._some(await self._lifetime.live(), changed, patience)  # without those files

    async def _others(
        self, connection: Connection, changed: Collection[Path], sources: Sequence[Path], patience: float | None
    ) -> _Others | None:
        """What is known of those of `sources` that nobody has opened; None if nothing is."""
        if self._coverage.builds:
            built = await self._built_now(connection)
            return _Others(frozenset(built.covers), Gap("not_read", built.left) if built.left else None, built.errors)
        if not self._rules.closed_on_request:
            return None
        if patience is None:
            return _Others()
        closed = [path for path in sources if path not in self._documents]
        files = [path for path in closed if path not in self._deadly and not self._is_script(path)]
        begun: set[Path] = set()
        try:
            with phase(lambda: f"{self._adapter.name}: checking {count(len(files), 'file')}"):
                covers, left = await see_closed(connection, nearest_first(files, changed), patience, begun)
        except DiedError:
            self._deadly |= begun
            raise
        left += filter(self._is_script, closed)
        deadly = sorted(self._deadly.intersection(closed))
        named = first_few([self._display_path(path) for path in deadly])
        said = [f"{self._adapter.name} has not checked {count(len(left), 'other file')} yet; ask again"] if left else []
        said += [f"not checked until they change, because {self._adapter.name} crashed then: {named}"] if deadly else []
        unread = (*left, *deadly)
        return _Others(covers, Gap("not_read", "; ".join(said), unread, about="others") if unread else None)

    def _is_script(self, path: Path) -> bool:
        """Whether the extension of `path` does not tell what it is: servers may check it only if it is open, or die."""
        return path.suffix not in self._adapter.extensions

    async def _built_now(self, connection: Connection) -> Built:
        """What the language's own build says of the present files."""
        state = self._freshness.generation, connection
        if self._built and self._built[0] == state:
            return self._built[1]
        with phase(lambda: f"{self._adapter.name}: building"):
            built = await self._coverage.build(await self._sources(), self._patience)
        self._built = None if built.left else (state, built)
        return built

    async def _checked(self, connection: Connection, looked: Looked, others: _Others | None = None) -> Checked:
        found = dict(self._found(connection))
        if self._compiles_files:
            # Another question may have opened a file that is not compiled.
            counted = set(looked.covers).difference(looked.outdated)
            found = {path: raw for path, raw in found.items() if path in counted}
        for path in found.keys() & {*looked.units, *looked.parts}:
            found[path] = [one for one in found[path] if one.get("severity", _ERROR) != _ERROR]
        for path, errors in looked.units.items():
            found[path] = [*errors, *found.get(path, ())]
        incomplete = looked.incomplete
        if incomplete is None:
            incomplete = {path for path in connection.notifications.diagnostics.errors if path not in found}
        covers = frozenset(looked.covers)
        if others:
            covers |= others.covers
            found = {path: raw for path, raw in found.items() if path in covers}
        if others and self._coverage.builds:
            for path in others.covers:
                own = [one for one in found.get(path, ()) if one.get("severity", _ERROR) != _ERROR]
                found[path] = [*self._as_diagnostics(path, others.errors.get(path, ()), connection), *own]
        gaps = self._gaps(looked)
        if others:
            gaps += [others.gap] if others.gap else []
        elif not self._compiles_files:
            gaps += await self._unlooked()
        return Checked(found, covers, frozenset(incomplete), tuple(gaps))

    async def _unlooked(self) -> list[Gap]:
        """The gap for files of a server that knows errors of changed and open ones only; none if it has no files."""
        spoken = {language.name for path in await self._sources() if (language := self._adapter.language_of(path))}
        if not spoken:
            return []
        names = first_few(sorted(spoken))
        if self._rules.syntax_only:
            text, brief = f"{names}: only syntax was checked, of changed and open files", f"{names}: syntax only"
        else:
            text = f"{names}: only changed and open files were checked, not their dependents"
            brief = f"{names}: changed and open files only"
        return [Gap("not_searched", text, brief=brief, about="dependents")]

    def _gaps(self, looked: Looked) -> list[Gap]:
        """What the server has not said, or not surely, of the files that it was shown."""
        gaps: list[Gap] = []
        if looked.hidden:
            gaps += self._hiding(sorted(looked.hidden))
        if looked.unread:
            named = first_few([self._display_path(path) for path in sorted(looked.unread)])
            text = f"not checked in time: {named}; ask again"
            gaps.append(Gap("not_read", text, tuple(sorted(looked.unread))))
        if looked.silent:
            named = first_few([self._display_path(path) for path in sorted(looked.silent)])
            text = f"{self._adapter.name} has not reported about {named}; ask again"
            gaps.append(Gap("not_read", text, tuple(sorted(looked.silent)), about="silent"))
        if looked.undated:
            named = first_few([self._display_path(path) for path in sorted(looked.undated)])
            name = self._adapter.name
            text = f"{name} does not say when it is done: its errors for {named} may be outdated or incomplete"
            brief = f"{name} does not say when it is done"
            gaps.append(Gap("unverified", text, tuple(sorted(looked.undated)), brief=brief, about="undated"))
        return gaps

    def _found(self, connection: Connection) -> Mapping[Path, list[Diagnostic]]:
        """Its diagnostics, without errors that are not in the code."""
        diagnostics = connection.notifications.diagnostics
        return {
            path: kept
            for path, raw in diagnostics.raw.items()
            if (kept := [one for one in raw if one.get("severity", _ERROR) != _ERROR or diagnostics.hides(one)])
        }

    # --- what would be -----------------------------------------------------------------------------

    @asynccontextmanager
    async def trial(self) -> AsyncIterator[_Trial]:
        """See `backend.Problems.trial`."""
        async with self._freshness.exclusively(), self._asking:
            connection = await self._lifetime.live()
            state = connection.notifications.diagnostics.state()
            try:
                yield _Trial(self, connection)
            finally:
                self._seen = None
                shown = self._documents.show_present()
                if shown and not self._covers_workspace:
                    await self._read(shown, connection)
                connection.notifications.diagnostics.put_back(state)

    async def _read(self, paths: Collection[Path], connection: Connection) -> set[Path]:
        """Wait until the server has read the latest texts of `paths`; returns those that it has not read."""
        unread = set(paths)
        if connection.notifications.diagnostics.is_undated:
            return unread  # it will not report that
        try:
            async with asyncio.timeout(within(self.timeout) * _SHARE):
                for path in paths:
                    if path in self._documents:
                        await read_told(path, self._documents, connection.notifications.diagnostics)
                    unread.discard(path)
        except TimeoutError:
            log.warning("%s has not read %d documents in time", self._adapter.name, len(unread))
        return unread

    async def check_shown(self, connection: Connection, shown: Collection[Path]) -> Checked:
        """The problems in the texts that the server is shown."""
        if self._covers_workspace:
            return await self._all(connection)
        unread = await self._read(shown, connection)
        found = {path: raw for path, raw in self._found(connection).items() if path in shown}
        gaps = [Gap("not_searched", "dependents of the changed files are checked once they are written")]
        if unread:
            named = first_few([self._display_path(path) for path in sorted(unread)])
            gaps.append(Gap("not_read", f"not checked in time: {named}", tuple(sorted(unread))))
        return Checked(found, frozenset(shown), gaps=tuple(gaps))


class _Trial:
    """See `backend.Trial`."""

    def __init__(self, checking: Checking, connection: Connection) -> None:
        self._checking = checking
        self._connection = connection
        self._shown: dict[Path, Text] = {}

    def show(self, path: Path, text: Text) -> None:
        """See `Trial.show`."""
        if self._shown.get(path) == text:
            return  # clangd 22 publishes nothing for a version without a change
        self._shown[path] = text
        self._checking._documents.show(path, text)

    async def read(self, path: Path) -> None:
        """See `Trial.read`: it was told of the text."""

    @property
    def encoding(self) -> PositionEncoding:
        """See `Trial.encoding`."""
        return self._connection.encoding

    def text(self, path: Path) -> Text | None:
        """See `Trial.text`."""
        return self._shown.get(path)

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """See `Trial.request`."""
        return await self._connection.request(method, params, timeout=within(self._checking.timeout))

    async def check(self, naming: Collection[Path] = ()) -> Checked:
        """See `Trial.check`. All dependents are tried, or none."""
        return await self._checking.check_shown(self._connection, list(self._shown))
