"""Servers that read a changed file only when it is opened: `Reopening`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any
from weakref import WeakSet

from lsp_mcp import budget
from lsp_mcp.backend import Scope, Use
from lsp_mcp.errors import PathError
from lsp_mcp.gaps import Gap
from lsp_mcp.lsp.coverage import Parts
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.lsp.life.reading import read_again, read_told
from lsp_mcp.lsp.reloading.reloading import Looked, error_gaps, own_error_gap
from lsp_mcp.objects.elsewhere import elsewhere, one_line
from lsp_mcp.prose import count, first_few
from lsp_mcp.servers.clangd.background_reading import BackgroundReading
from lsp_mcp.servers.clangd.compilation.build import Build
from lsp_mcp.servers.clangd.rules import Compilation
from lsp_mcp.servers.clangd.unit_errors import UnitErrors
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.text import Text
from lsp_mcp.waiting import within
from lsp_mcp.words.lexing import occurrences_in_thread

log = logging.getLogger(__name__)

_AT_ONCE = 4  # files open only to be read
_FEW = 8  # files outside the build that stay open: their words are asked about next
_KEPT = 4  # documents kept open when a server is replaced
_SHARE = 0.75  # share of a call's remaining time that the server may spend reading
_MOST_KNOWN = 1_000  # words in files whose inactive lines are cached


class Reopening:
    """Opens each changed file and waits until the server has read it. See `Reloading`.

    For more files than `load_most`, or another database, the server is replaced by one that indexes them.
    """

    def __init__(self, plugin: Plugin, rules: Compilation, build: Build, parts: Parts) -> None:
        self._plugin = plugin
        self._adapter = plugin.adapter
        self._rules = rules
        self._build = build
        self._documents = parts.documents
        self._lifetime = parts.lifetime
        self._known = parts.known
        self._timeout = parts.timeout
        self._background = BackgroundReading(self._read_unbuilt)
        self._units = UnitErrors(plugin, rules, build, parts.documents)
        self._has_read: set[Path] = set()  # files that the present server has read because they were opened
        self._checked: set[Path] = set()  # files checked because they changed or a caller named them
        self._later: set[Path] = set()  # files to read before the next question, which need no check
        self._alone: set[Path] = set()  # headers read only for a check
        self._unread: set[Path] = set()  # files not read in time
        self._reread: set[Path] = set()  # those of them that were in the index before, with their state then
        self._retried: set[Path] = set()  # those given another chance
        self._lines: dict[tuple[Path, str], tuple[Text, list[Any], list[int]]] = {}  # see `_inactive_lines`
        self._mistrusted = False
        self._forgotten_for: WeakSet[budget.Budget] = WeakSet()  # see `_forget_parts`
        self._macros: set[tuple[Path, str]] = set()  # places of names that no text spells

    @property
    def reads_untold(self) -> bool:
        """See `Reloading.reads_untold`: its index says what it has read."""
        return False

    def started(self) -> None:
        """There is a new server, which has only its index."""
        self._background.forget()
        self._units.forget()
        self._has_read.clear()
        self._reread.clear()
        self._later.clear()
        self._alone.clear()
        self._unread.clear()
        self._retried.clear()

    async def load(self, changed: Collection[Path], *, to_check: bool = False) -> bool:
        """Make the server read all files affected by the changed ones; returns whether it knows more then.

        For a check it is enough to check compiled files (`UnitErrors`), which takes as long as reading them.
        """
        if await self._build.database_changed(changed) or self._mistrusted:
            await self._renew()
            return True
        self._retried.difference_update(changed)
        again = self._unread - self._retried
        if not to_check and await self._forget_parts():
            return True
        if not changed and not again and (to_check or not self._later):
            return False
        affected = await self._build.affected(changed, {*self._has_read, *self._documents}) | again
        self._units.read(affected)
        put_off = bool(self._later)
        affected |= self._later
        # What the index says about a deleted file, such as definitions in it, stays in it.
        gone = any(not self._build.holds(path) for path in affected)
        # What it takes from an open file is the uses in that file alone; those in a part of it only its index has.
        parts = await self._build.parts_among(affected)
        is_part_changed = not to_check and not parts.isdisjoint(changed)
        affected -= parts
        too_many = len(affected) > self._rules.load_most and not to_check
        # clangd 22 builds a module once, whatever changes in it. Importers with errors may well be without it.
        is_module_changed = not self._build.importers(changed) <= self._errors.keys()
        if gone or too_many or is_part_changed or is_module_changed or self._build.is_configured_by(changed):
            await self._renew()
            return True
        self._retried |= again
        if to_check:
            self._later = affected
            return False
        unreadable = await self._read(affected, await self._already_sent(changed))
        self._reread |= affected
        affected |= self._alone
        self._later.clear()
        self._alone.clear()
        if unreadable:  # as text; the server reads bytes
            await self._renew()
            return True
        # Alone, such a header means less than where it is included; the index of its includers is right about it.
        alone = self._errors.keys() & affected - self._told_where_included(affected)
        if await self._build.are_headers(alone):
            await self._renew()
            self._units.read(affected)  # few; the index may not have reported yet which failed
            return True
        return put_off

    async def load_alone(self, files: Collection[Path]) -> None:
        """See `Reloading.load_alone`: opening them was enough."""

    async def reload_all(self, root: Path, *, settings: bool = False) -> None:
        """Nothing: its index records what it has read, and stale parts are found when it is prepared."""

    async def buffers_changed(self, paths: Collection[Path]) -> None:
        """See `Reloading.buffers_changed`: waits until the server has read them, so that its index has
        their contents.
        """
        open_ = {path for path in paths if path in self._documents}
        self._units.read(open_)  # reports on their earlier text
        await self._read(open_, open_)

    def has_reread(self, path: Path) -> bool:
        """See `backend.Coverage.has_reread`."""
        return path in self._reread

    def mistrust(self, path: Path, name: str) -> None:
        """The server reported `name` in `path`, where it is not: the next `load` replaces it, if that may help.

        Its index may keep a definition in a file after the file was read again without it.
        """
        if path not in self._reread:
            self._macros.add((path, name))  # the index cannot be fresher: a macro makes the name
        elif (path, name) not in self._macros:
            self._mistrusted = True

    async def load_word(self, word: str, *, part: bool) -> frozenset[Path]:
        """Make the server read files in which `word` may be hidden, unless there are too many.

        Those are excluded files, and files with parts that the preprocessor excludes, which the server reports only for
        open documents. With `part`, a part of a word is enough.
        """
        left_out = await self._left_out_with(word, part=part)
        files = {*left_out, *await self._conditional_with(word)}
        if len(files) > self._rules.load_most:
            return frozenset(left_out)
        unread = await self._background.read(files) if files else set()
        return frozenset(unread.intersection(left_out))

    async def look_at(self, changed: Collection[Path] | None) -> Looked:
        """See `Reloading.look_at`: compiled files are checked with all their includes.

        Indexed files are known to have errors, or none.
        """
        view = await self._build.files.view()
        inside = view.inside if self._build.has_index else ()
        unread: set[Path] = set()
        units: set[Path] = set()
        if changed is not None:
            self._checked.update(changed)
            mine = {path for path in changed if path not in inside and self._plugin.language_of(path)}
            todo = {*mine, *self._units.due, *self._errors} - self._units.found.keys()
            units = {path for path in todo if self._units.is_unit(path) and self._build.holds(path)}
            units = self._counted(units, inside)
            parts = {path for path in self._later if not self._units.is_unit(path)}
            later = {path for path in parts if path in self._checked or path in self._documents}
            headers = {path for path in (mine - units) | later if self._build.holds(path)} - self._with_diagnostics
            headers -= await self._build.parts_among(headers)
            await self._read(headers, {path for path in headers if path in self._documents})
            self._later -= headers
            self._alone |= headers
            unread = self._unread & {*mine, *await self._build.affected(changed, inside)}
            if units:
                connection = await self._lifetime.live()
                unread |= await self._units.look(units, connection, within(self._timeout) * _SHARE)
                self._has_read |= units - unread
        failing = {path for path in self._errors if self._units.is_unit(path) and path not in self._units.found}
        failing = self._counted(failing, inside)
        return Looked(
            {*inside, *self._counted(self._has_read, inside)},
            unread,
            units={path: found.errors for path, found in self._units.found.items()},
            parts=frozenset(inside).difference(view.compiled),
            incomplete={*await self._build.files.included_by(failing), *self._units.hidden},
            hidden=self._units.hidden,
            disturbed=bool(units),
            outdated=frozenset(path for path in self._later if not self._units.is_unit(path)),
        )

    def _counted(self, paths: Iterable[Path], inside: Collection[Path]) -> set[Path]:
        """Those of `paths` whose errors count: a file that is not compiled may be open only for another question."""
        return {path for path in paths if path in inside or path in self._checked}

    @property
    def _with_diagnostics(self) -> set[Path]:
        """The files for whose present texts all diagnostics have arrived."""
        return {path for path in self._has_read - self._later if path in self._published}

    def _told_where_included(self, paths: Collection[Path]) -> set[Path]:
        """The files that are reported for `paths` too, as their includers."""
        pattern = self._plugin.diagnostics.elsewhere_pattern
        errors = filter(None, (elsewhere(one, pattern) for path in paths for one in self._published.get(path, ())))
        return {
            path
            for path, range_, message in errors
            if any(
                (one["range"]["start"], one_line(one)) == (range_["start"], message)
                for one in self._published.get(path, ())
            )
        }

    @property
    def _published(self) -> Mapping[Path, list[Any]]:
        connection = self._lifetime.connection
        return connection.notifications.diagnostics.raw if connection else {}

    async def gaps(self, scope: Scope) -> list[Gap]:
        """See `Reloading.gaps`."""
        use, display_path = scope.use, self._build.display_path
        left_out = {*await self._left_out_with(use.identifier, part=scope.path is None)} if use else set()
        # Files read since the question was asked are not in its answer.
        later = scope.unsearched | (left_out & {*self._background.pending}) if use else frozenset()
        now = [path for path in sorted(left_out - later) if use and use.may_be_in(path)]
        later = frozenset(path for path in later if use and use.may_be_in(path))
        gaps = self._build.build_gaps(now, sorted(later), use) if scope.reach != "text" else []
        if self._build.remote and scope.reach != "text":
            if connection := self._lifetime.connection:
                connection.notifications.diagnostics.hear()
            gaps += await self._build.remote.gaps()
        if scope.reach != "workspace" and scope.path:
            gaps += own_error_gap(scope.path, self._errors.get(scope.path), display_path)
        if scope.path and scope.reach != "text":
            gaps += await self._part(scope.path)
        if use and scope.reach == "workspace":
            gaps += await self._inactive(use)
            having = await self._build.files.having(use.identifier, self._errors)
            # Errors of a part of other code, read alone, are none of the build's.
            bad = [p for p in having if use.may_be_in(p) and not await self._build.part_of(p)]
            gaps += error_gaps(use.identifier, {path: self._errors[path] for path in bad}, display_path)
        if unread := [path for path in sorted(self._unread) if use or scope.reach == "workspace" or path == scope.path]:
            text = f"{self._adapter.name} has not read {self._build.named(unread)} in time"
            gaps.append(Gap("not_read", text, tuple(unread)))
        return gaps

    # --- inside ------------------------------------------------------------------------------------

    @property
    def _errors(self) -> dict[Path, str]:
        return self._lifetime.connection.notifications.diagnostics.errors if self._lifetime.connection else {}

    async def _left_out_with(self, word: str, *, part: bool) -> list[Path]:
        outside = await self._build.files.outside_with(word, part=part)
        return [path for path in outside if path not in self._has_read]

    async def _conditional_with(self, word: str) -> list[Path]:
        """The files with `word` in a part that the preprocessor may exclude, and of unknown state."""
        connection = self._lifetime.connection
        known = self._has_read if connection and connection.tells_inactive else ()
        return [path for path in await self._build.files.conditional_with(word) if path not in known]

    async def _part(self, path: Path) -> list[Gap]:
        """That `path`, which the question is about, is a part of other code, without which the server reads it."""
        if not (whole := await self._build.files.part_of(path)):
            return []
        (file, line), display_path = whole, self._build.display_path
        brief = f"{display_path(path)} is included inside other code"
        text = (
            f"{brief} ({display_path(file)} {line}), without which {self._adapter.name} reads it: its names may mean "
            "other symbols there; ask at a use in another file"
        )
        return [Gap("doubt", text, (path,), brief=brief)]

    async def _inactive(self, use: Use) -> list[Gap]:
        """Where `word` is in code that is not, or may not be, compiled."""
        gaps, word = [], use.identifier
        if conditional := [path for path in await self._conditional_with(word) if use.may_be_in(path)]:
            text = f"not searched for {word} between #if and #endif: {self._build.named(conditional)}"
            brief = f"not searched for {word} between #if and #endif: {count(len(conditional), 'file')}"
            gaps.append(Gap("not_searched", text, tuple(conditional), brief=brief, about="conditional"))
        connection = self._lifetime.connection
        for path in await self._build.files.having(word, connection.notifications.inactive) if connection else ():
            assert connection
            every = await self._inactive_lines(path, word, self._documents.present(path), connection)
            if lines := tuple(line for line in every if use.may_be_on(path, line)):
                place = f"{self._build.display_path(path)} line {first_few([str(line) for line in lines])}"
                text = f"not compiled, so not searched: {place}, with {word}"
                gaps.append(Gap("not_compiled", text, (path,), lines=lines, place=place))
        return gaps

    async def _inactive_lines(self, path: Path, word: str, text: Text, connection: Connection) -> list[int]:
        """The lines of `text`, from 1, with `word` in code that the preprocessor excludes from `path`."""
        regions = connection.notifications.inactive[path]
        known = self._lines.get((path, word))
        if known and known[0] is text and known[1] is regions:
            return known[2]
        spans = [text.range_span(region, connection.encoding) for region in regions]
        words = await occurrences_in_thread(text, word, self._plugin.language_of(path))
        inactive = (w.start for w in words if any(s.start <= w.start <= s.end for s in spans))
        lines = sorted({point.line for point in inactive})
        self._lines[path, word] = text, regions, lines
        if len(self._lines) > _MOST_KNOWN:
            del self._lines[next(iter(self._lines))]
        return lines

    async def _already_sent(self, changed: Collection[Path]) -> set[Path]:
        """The open documents of `changed` that include none of the others; the server has received all changes."""
        mine = {path for path in changed if path in self._documents}
        for path in changed:
            mine -= await self._build.files.affected([path]) - {path} if mine else set()
        return mine

    async def _read_unbuilt(self, path: Path) -> None:
        """Make the server read `path`, within a time limit; it answers for the file then."""
        connection = await self._lifetime.live()
        if path not in self._documents and len(self._background.pending) <= _FEW:
            self._documents.open(path)
        is_told = path in self._documents and not self._documents.is_uncertain(path)
        read_now = read_told if is_told else read_again
        try:
            async with asyncio.timeout(self._timeout):
                with self._documents.awaiting(path), connection.waited_for():
                    if await read_now(path, self._documents, connection.notifications.diagnostics):
                        self._has_read.add(path)
        except TimeoutError:
            log.warning("%s did not read %s in time", self._adapter.name, path)

    async def _forget_parts(self) -> bool:
        """Replace a server that was shown a part of other code alone, unless the present question is about that.

        What it made of that hides what its index has about the file. Once for each call, which may show parts to learn
        more about its answer. Returns whether it was replaced.
        """
        call = budget.present()
        if call.is_background or call in self._forgotten_for:
            return False
        shown = list(self._documents)
        parts = await self._build.parts_among(shown)
        if not parts or shown[-1] in parts or any(map(self._documents.is_held, parts)):
            return False
        self._forgotten_for.add(call)
        for path in parts:
            self._documents.close(path)
        await self._renew()
        return True

    async def _renew(self) -> None:
        # Each one that is reopened is parsed again.
        self._documents.keep_last(_KEPT)
        await self._lifetime.renew()
        self._mistrusted = False
        await self._known()

    async def _read(self, paths: Iterable[Path], sent: Collection[Path]) -> list[Path]:
        """Wait until the server has read `paths`, within a time limit for all, or is gone.

        Those of `sent` are open with their latest text. Returns those that are not text.
        """
        unreadable = []
        room = asyncio.Semaphore(_AT_ONCE)
        connection = await self._lifetime.live()
        waiting = set(paths)

        async def read(path: Path) -> None:
            async with room:
                is_told = path in sent and path in self._documents and not self._documents.is_uncertain(path)
                read_now = read_told if is_told else read_again
                try:
                    with self._documents.awaiting(path):
                        if await read_now(path, self._documents, connection.notifications.diagnostics):
                            self._has_read.add(path)
                    waiting.discard(path)
                except PathError:
                    unreadable.append(path)
                    waiting.discard(path)

        try:
            # Not all of the call's remaining time: an answer with gaps is worth more than none.
            async with asyncio.timeout(within(self._timeout) * _SHARE):
                with connection.waited_for():
                    await asyncio.gather(*map(read, sorted(paths)))
        except TimeoutError:
            log.warning("%s did not read %d files in time", self._adapter.name, len(waiting))
        self._unread = self._unread.difference(paths) | waiting
        return unreadable
