"""How a server is made to read what it does not read by being told that files changed.

Two kinds of servers need that: one that must be asked about each file (`AskedLoading`), and one that must have it
opened (`OpenedLoading`). See `[changes]` of an adapter.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Use
from lsp_mcp.errors import LspMcpError, PathError, UnavailableError
from lsp_mcp.lsp.build.build import Build
from lsp_mcp.lsp.documents import Documents
from lsp_mcp.lsp.heard import Connection
from lsp_mcp.lsp.lifetime import Lifetime
from lsp_mcp.lsp.offers import workspace_folders
from lsp_mcp.lsp.parsing import syntax_errors
from lsp_mcp.text import Text
from lsp_mcp.uris import path_uri
from lsp_mcp.workspace import Workspace

log = logging.getLogger(__name__)

_AT_ONCE = 4  # files that are open only to be read
_KEPT = 4  # documents that stay open when a server is replaced
_MOST_KNOWN = 1_000  # words in files whose inactive lines are remembered
_MOST_NAMED = 3  # files named in notes of one kind

Known = Callable[[], Awaitable[None]]
"""Waits until the server knows the workspace, with a bound."""


class Loading:
    """What a session asks of either kind; a server that reads by itself what it is told of needs nothing of it."""

    def started(self) -> None:
        """There is a new server, which knows only what is in its index."""

    async def load(self, changed: Collection[Path]) -> bool:
        """Have the changed files loaded; whether the server knows more now than when it was told of them."""
        return False

    async def all_again(self, root: Path) -> None:
        """Have a server that nobody told of changes look at the disk again; `root` is its folder."""

    async def typed(self, paths: Collection[Path]) -> None:
        """The buffers of `paths` changed in an editor, which has told the server."""

    def mistrust(self, path: Path, name: str) -> None:
        """See `Backend.mistrust`."""

    async def load_word(self, word: str, *, part: bool) -> None:
        """Have the files read in which `word` may stand unseen; with `part`, a part of a word is enough."""

    async def notes(self, use: Use | None, *, part: bool) -> list[str]:
        """What makes answers incomplete, besides what the server says itself; see `Backend.notes`."""
        return []

    async def problems(self, path: Path) -> list[str]:
        """See `Backend.problems`."""
        return []


class AskedLoading(Loading):
    """Asks a request about each changed file, so that the server loads the package that it is now in.

    For more files than `load_most` the workspace folder is taken away and given again. Of fewer it is looked at once
    whether they can be parsed; of all others the server says so when it comes to it.
    """

    def __init__(
        self,
        adapter: Adapter,
        workspace: Workspace,
        documents: Documents,
        lifetime: Lifetime,
        known: Known,
        timeout: float,
    ) -> None:
        self._adapter = adapter
        self._workspace = workspace
        self._documents = documents
        self._lifetime = lifetime
        self._known = known
        self._timeout = timeout
        self._parsed: dict[Path, tuple[int, str | None]] = {}  # hash of a text, and the first error in it

    async def load(self, changed: Collection[Path]) -> bool:
        """See `Loading.load`: this one tells nothing new that the server was not told of."""
        rules = self._adapter.changes
        sources = sorted(path for path in changed if self._adapter.language_of(path) and path.exists())
        if not rules.load_request or not sources:
            return False
        connection = await self._lifetime.live()
        if len(sources) > rules.load_most:
            await self._load_all(connection, self._workspace.root)
            return False
        await asyncio.gather(self._ask_about(sources, connection, rules.load_request), self.typed(sources))
        return False

    async def typed(self, paths: Collection[Path]) -> None:
        """See `Loading.typed`: looks whether they can be parsed, which the server says only after a while."""
        command = self._adapter.diagnostics.syntax_command
        if not command or not 0 < len(paths) <= self._adapter.changes.load_most:
            return
        texts = {path: self._documents.present(path).content for path in sorted(paths)}
        try:
            errors = await syntax_errors(command, texts)
        except (UnavailableError, OSError) as error:
            log.warning("what changed files hide is known only once %s says so: %s", self._adapter.name, error)
            return
        self._parsed.update({path: (hash(text), errors.get(path)) for path, text in texts.items()})

    async def notes(self, use: Use | None, *, part: bool) -> list[str]:
        """See `Loading.notes`."""
        if use is None:
            return []
        word, errors = use.identifier, await self._errors()
        bad = {path: error for path, error in errors.items() if self._has(path, word, part=part)}
        return _may_have_more(word, bad, self._workspace.shown)

    async def problems(self, path: Path) -> list[str]:
        """See `Backend.problems`."""
        if self._verdict(path) is None:
            await self.typed([path])
        error = self._error(path)
        return [f"{self._workspace.shown(path)} has errors: {error}"] if error else []

    async def _errors(self) -> dict[Path, str]:
        """The first syntax error of each file that has any, as far as is known."""
        candidates = sorted({*self._published, *(path for path, (_, error) in self._parsed.items() if error)})
        # What the server has published may be about a text that is no more.
        await self.typed([path for path in candidates if self._verdict(path) is None])
        return {path: error for path in candidates if (error := self._error(path))}

    def _error(self, path: Path) -> str | None:
        verdict = self._verdict(path)
        return verdict[1] if verdict else self._published.get(path)

    def _verdict(self, path: Path) -> tuple[int, str | None] | None:
        """What the parser said of the present text of `path`, if it was asked."""
        verdict = self._parsed.get(path)
        return verdict if verdict and verdict[0] == hash(self._documents.present(path).content) else None

    @property
    def _published(self) -> dict[Path, str]:
        return self._lifetime.connection.heard.diagnostics.unparsed if self._lifetime.connection else {}

    def _has(self, path: Path, word: str, *, part: bool) -> bool:
        text = self._documents.present(path)
        return word.casefold() in text.content.casefold() if part else bool(text.words(word))

    async def _ask_about(self, paths: Iterable[Path], connection: Connection, method: str) -> None:
        requests = (
            connection.request(method, {"textDocument": {"uri": path_uri(path)}}, timeout=self._timeout)
            for path in paths
        )
        for outcome in await asyncio.gather(*requests, return_exceptions=True):
            # A file that cannot be parsed or has gone again is loaded by nothing; a dead server is started anew.
            if isinstance(outcome, LspMcpError):
                log.debug("%s: %s: %s", self._adapter.name, method, outcome)
            elif isinstance(outcome, BaseException):
                raise outcome

    async def all_again(self, root: Path) -> None:
        """See `Loading.all_again`."""
        if self._adapter.changes.load_request:
            await self._load_all(await self._lifetime.live(), root)

    async def _load_all(self, connection: Connection, root: Path) -> None:
        folders = workspace_folders(root)
        connection.heard.progress.expect(self._adapter.ready.progress_title)
        connection.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": folders, "removed": folders}})
        await self._known()


class OpenedLoading(Loading):
    """Opens each file that is not what it was, and waits until the server has read it: its diagnostics say so.

    With more files than `load_most`, or another database, the server is replaced by one that indexes them.
    """

    def __init__(
        self, adapter: Adapter, build: Build, documents: Documents, lifetime: Lifetime, known: Known, timeout: float
    ) -> None:
        self._adapter = adapter
        self._build = build
        self._documents = documents
        self._lifetime = lifetime
        self._known = known
        self._timeout = timeout
        self._opened: set[Path] = set()  # files that the present server has read because they were opened
        self._unread: set[Path] = set()  # files that it did not read in time
        self._reread: set[Path] = set()  # those of them that were in the index before, as they were then
        self._retried: set[Path] = set()  # those that it was given another chance to read
        self._lines: dict[tuple[Path, str], tuple[Text, list[Any], list[int]]] = {}  # see `_inactive_lines`
        self._mistrusted = False
        self._macros: set[tuple[Path, str]] = set()  # where names are that no text spells

    def started(self) -> None:
        """There is a new server, which knows only what is in its index."""
        self._opened.clear()
        self._reread.clear()
        self._unread.clear()

    async def load(self, changed: Collection[Path]) -> bool:
        """Have everything read again that the changed files make different; whether the server was replaced."""
        if await self._build.database_changed(changed) or self._mistrusted:
            await self._renew()
            return True
        self._retried.difference_update(changed)
        again = self._unread - self._retried
        self._retried |= again
        if not changed and not again:
            return False
        affected = await self._build.affected(changed, {*self._opened, *self._documents}) | again
        # What the index says of a file that is gone, as that a function is defined there, stays in it.
        gone = any(not path.exists() for path in affected)
        if gone or len(affected) > self._adapter.changes.load_most or self._build.is_configured_by(changed):
            await self._renew()
            return True
        unreadable = await self._read(affected, await self._told(changed))
        self._reread |= affected
        if unreadable:  # as text; the server reads bytes
            await self._renew()
            return True
        # Alone, such a header means less than where it is included; the index of those files is right about it.
        if await self._build.are_headers([path for path in affected if path in self._errors]):
            await self._renew()
            return True
        return False

    async def typed(self, paths: Collection[Path]) -> None:
        """See `Loading.typed`: waits until it has read them, so that its index has what is in them."""
        open_ = {path for path in paths if path in self._documents}
        await self._read(open_, open_)

    def mistrust(self, path: Path, name: str) -> None:
        """The server has said that `name` is in `path`, and it isn't: the next `load` replaces it, if that may help.

        Its index keeps that a symbol is defined in a file, though the file was read again and has none any more.
        """
        if path not in self._reread:
            self._macros.add((path, name))  # the index is as fresh as it can be: a macro makes the name
        elif (path, name) not in self._macros:
            self._mistrusted = True

    async def load_word(self, word: str, *, part: bool) -> None:
        """Have the files read in which `word` may stand unseen, if they are not too many.

        Those are files that the build leaves out, and those of which the preprocessor leaves something out: the
        server says what only of documents that were opened. With `part`, a part of a word is enough.
        """
        files = {*await self._unsearched(word, part=part), *await self._unseen(word)}
        if len(files) <= self._adapter.changes.load_most:
            await self._read(files, {path for path in files if path in self._documents})

    async def notes(self, use: Use | None, *, part: bool) -> list[str]:
        """What makes answers incomplete, besides what the server says itself; see `Backend.notes`."""
        unsearched = await self._unsearched(use.identifier, part=part) if use else []
        notes = self._build.notes(unsearched, use)
        if use:
            notes += await self._inactive(use.identifier)
            bad = await self._build.files.having(use.identifier, self._errors)
            notes += _may_have_more(use.identifier, {path: self._errors[path] for path in bad}, self._build.shown)
        if self._unread:
            notes.append(f"{self._adapter.name} has not read {self._build.named(sorted(self._unread))} in time")
        return notes

    async def problems(self, path: Path) -> list[str]:
        """See `Backend.problems`."""
        return [f"{self._build.shown(path)} has errors: {self._errors[path]}"] if path in self._errors else []

    # --- inside ------------------------------------------------------------------------------------

    @property
    def _errors(self) -> dict[Path, str]:
        return self._lifetime.connection.heard.diagnostics.errors if self._lifetime.connection else {}

    async def _unsearched(self, word: str, *, part: bool) -> list[Path]:
        outside = await self._build.files.outside_with(word, part=part)
        return [path for path in outside if path not in self._opened]

    async def _unseen(self, word: str) -> list[Path]:
        """The files in which `word` may stand where the preprocessor leaves it out, and that nothing is known of."""
        connection = self._lifetime.connection
        told = self._opened if connection and connection.tells_inactive else ()
        return [path for path in await self._build.files.conditional_with(word) if path not in told]

    async def _inactive(self, word: str) -> list[str]:
        """Where `word` stands in code that is not compiled, or may do so."""
        notes = []
        if unseen := await self._unseen(word):
            notes.append(f"not searched for {word} between #if and #endif: {self._build.named(unseen)}")
        connection = self._lifetime.connection
        for path in await self._build.files.having(word, connection.heard.inactive) if connection else ():
            assert connection
            lines = self._inactive_lines(path, word, self._documents.present(path), connection)
            if lines:
                shown = ", ".join(map(str, lines[:_MOST_NAMED])) + (" …" if len(lines) > _MOST_NAMED else "")
                notes.append(f"not compiled, so not searched: {self._build.shown(path)} line {shown}, with {word}")
        return notes

    def _inactive_lines(self, path: Path, word: str, text: Text, connection: Connection) -> list[int]:
        """The lines of `text`, from 1, on which `word` stands in what the preprocessor leaves out of `path`."""
        regions = connection.heard.inactive[path]
        known = self._lines.get((path, word))
        if known and known[0] is text and known[1] is regions:
            return known[2]
        spans = [text.range_span(region, connection.encoding) for region in regions]
        inactive = (w.start for w in text.words(word) if any(s.start <= w.start <= s.end for s in spans))
        lines = sorted({point.line for point in inactive})
        self._lines[path, word] = text, regions, lines
        if len(self._lines) > _MOST_KNOWN:
            del self._lines[next(iter(self._lines))]
        return lines

    async def _told(self, changed: Collection[Path]) -> set[Path]:
        """The open ones of `changed` that include no other of them: the server has been told all that changed."""
        mine = {path for path in changed if path in self._documents}
        for path in changed:
            mine -= await self._build.files.affected([path]) - {path} if mine else set()
        return mine

    async def _renew(self) -> None:
        self._mistrusted = False
        # Each one that is opened again is parsed again.
        self._documents.close_all_but(_KEPT)
        await self._lifetime.renew()
        await self._known()

    async def _read(self, paths: Iterable[Path], told: Collection[Path]) -> list[Path]:
        """Wait until the server has read `paths`, all of them within the request timeout, or is gone.

        Those of `told` are open, and it has been told what is in them. Returns those that are no text.
        """
        unreadable = []
        room = asyncio.Semaphore(_AT_ONCE)
        connection = await self._lifetime.live()
        waiting = set(paths)

        async def read(path: Path) -> None:
            async with room:
                is_told = path in told and not self._documents.is_uncertain(path)
                document = self._documents.get(path) if is_told else None
                self._documents.awaited.add(path)
                try:
                    version = document.version if document else self._documents.show(path)
                    if await connection.heard.diagnostics.of(path, version):
                        self._opened.add(path)
                    waiting.discard(path)
                except PathError:
                    unreadable.append(path)
                    waiting.discard(path)
                finally:
                    self._documents.awaited.discard(path)
                    self._documents.shown(path)

        try:
            async with asyncio.timeout(self._timeout):
                await asyncio.gather(*map(read, sorted(paths)))
        except TimeoutError:
            log.warning("%s did not read %d files in %g s", self._adapter.name, len(waiting), self._timeout)
        self._unread = self._unread.difference(paths) | waiting
        return unreadable


def _may_have_more(word: str, errors: Mapping[Path, str], shown: Callable[[Path], str]) -> list[str]:
    """Notes on files that have `word`, and errors that may hide it from the server."""
    named = [f"{shown(path)} may have more uses of {word}: {error}" for path, error in errors.items()]
    more = [f"so may {len(errors) - _MOST_NAMED:,} more files with errors"] if len(errors) > _MOST_NAMED else []
    return named[:_MOST_NAMED] + more
