"""A language server that runs only for a trial, and sees unsaved headers as if they were saved: `trial_server`.

The server of the workspace reads from disk what a document includes. So it cannot say what a change to a header does to
the files that include it, before the change is written.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsp_mcp.backend import Checked
from lsp_mcp.errors import PathError
from lsp_mcp.gaps import Gap, GapKind
from lsp_mcp.lsp.coverage import Coverage, Whole
from lsp_mcp.lsp.life.documents import Texts
from lsp_mcp.lsp.process.connection import ProcessConnection, ProcessLauncher
from lsp_mcp.prose import count
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.text import PositionEncoding, Text
from lsp_mcp.uris import path_uri, uri_path
from lsp_mcp.waiting import phase, within

log = logging.getLogger(__name__)

_SHARE = 0.5  # share of a call's remaining time for compiling
_MOST_UNNAMED = 24  # files tried that do not have the name
_AT_ONCE = 8  # documents that wait to be compiled


@asynccontextmanager
async def trial_server(
    launcher: ProcessLauncher, plugin: Plugin, texts: Texts, coverage: Coverage, timeout: float
) -> AsyncIterator[TrialServer]:
    """A `Trial` on a server that `launcher` starts, which is killed in the end."""

    async def nothing() -> None:
        pass

    connection = await launcher.launch(nothing)
    try:
        yield TrialServer(connection, plugin, texts, coverage, timeout)
    finally:
        await connection.abandon()


class TrialServer:
    """See `backend.Trial`. Each document is opened once: its text and those of its includes do not change."""

    def __init__(
        self, connection: ProcessConnection, plugin: Plugin, texts: Texts, coverage: Coverage, timeout: float
    ) -> None:
        self._connection = connection
        self._plugin = plugin
        self._adapter = plugin.adapter
        self._plugin = plugin
        self._texts = texts
        self._coverage = coverage
        self._timeout = timeout
        self._shown: dict[Path, Text] = {}  # in place of what is on disk
        self._whole: dict[Path, Whole] = {}  # files that include the shown ones
        self._open: dict[Path, tuple[Text, int]] = {}  # text and version
        self._versions = itertools.count(1)
        connection.notifications.diagnostics.on_outdated = self._read_again

    @property
    def encoding(self) -> PositionEncoding:
        """See `Trial.encoding`."""
        return self._connection.encoding

    def show(self, path: Path, text: Text) -> None:
        """See `Trial.show`."""
        self._shown[path] = text

    def text(self, path: Path) -> Text | None:
        """See `Trial.text`."""
        self._show_own(path)
        return self._open[path][0] if path in self._open else None

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """See `Trial.request`."""
        if uri := params.get("textDocument", {}).get("uri"):
            self._show_own(uri_path(uri))
        answer = await self._connection.request(method, params, timeout=within(self._timeout))
        return self._coverage.second_names.resolved(answer)

    async def read(self, path: Path) -> None:
        """See `Trial.read`."""
        await self._read([path])

    async def check(self, naming: Collection[Path] = ()) -> Checked:
        """See `Trial.check`: the shown files and those that include them, those of `naming` first."""
        including = set(await self._coverage.dependents(list(self._shown))) - self._shown.keys()
        headers = [path for path in self._shown if self._plugin.is_header(path)]
        for path in headers:
            self._tell_open(path, self._shown[path])
            for name in self._coverage.second_names.others(path):  # by which others may include it
                self._tell_open(name, self._shown[path])
        for path in headers[:-1]:
            self._read_again(path)  # it was read before the others were open
        named = sorted(path for path in including if path in naming)
        others = sorted(path for path in including if path not in naming and not self._plugin.is_header(path))
        units = [path for path in self._shown if path not in headers]
        of_units = await self._coverage.dependents(units) if units else ()
        for path in [*named, *others[:_MOST_UNNAMED]]:
            if not self._plugin.is_header(path):
                await self._show_whole(path, even_moved=path in of_units)
        most = _MOST_UNNAMED
        unread = await self._read([*headers, *units, *named, *others[:most]])
        gaps = []
        if left := [*unread, *others[most:]]:
            text = f"{count(len(left), 'file')} that {'depends' if len(left) == 1 else 'depend'} on it not tried"
            kind: GapKind = "not_read" if self._shown.keys() & set(unread) else "not_searched"
            gaps.append(Gap(kind, text, tuple(left)))
        diagnostics = self._connection.notifications.diagnostics
        links = self._coverage.second_names
        covers = frozenset(self._open).difference(unread, *map(links.others, headers))
        # A header has the errors of the command that it was read with, which may be that of another file the next time.
        said = (
            (path, [one for one in diagnostics.raw.get(path, ()) if not diagnostics.is_harmless(one)])
            for path in sorted(covers)
        )
        found = {path: self._diagnostics(path, reported) for path, reported in said if reported}
        return Checked(found, covers, gaps=tuple(gaps))

    # --- inside ------------------------------------------------------------------------------------

    async def _show_whole(self, path: Path, *, even_moved: bool) -> None:
        """Show `path` so that the server checks the bodies of functions in what it includes, too.

        What asks for places there, or gets some, means those of its own text: so if that moves, only if it must be.
        """
        try:
            whole = await self._coverage.whole(path, self._texts.text(path))
        except PathError:
            return
        if even_moved or not whole.moves:
            self._whole[path] = whole

    def _show_own(self, path: Path) -> None:
        """Show the own text of `path` from now on."""
        whole = self._whole.get(path)
        if whole and whole.moves and path in self._open and self._open[path][0] is whole.text:
            self._open[path] = self._texts.text(path), 0
            self._read_again(path)

    def _diagnostics(self, path: Path, reported: Sequence[Any]) -> Sequence[Any]:
        return self._whole[path].diagnostics(reported, self.encoding) if path in self._whole else reported

    async def _read(self, paths: list[Path]) -> list[Path]:
        """Open `paths` and wait until the server has compiled them; returns those that it has not."""
        diagnostics = self._connection.notifications.diagnostics
        unread = dict.fromkeys(paths)
        left = iter(paths)

        async def read() -> None:
            for path in left:
                if path in self._open or self._tell_open(path, self._shown.get(path)):
                    await diagnostics.arrived(path, self._open[path][1])
                unread.pop(path)

        tasks = [asyncio.ensure_future(read()) for _ in range(_AT_ONCE)]
        try:
            with phase(lambda: f"{self._adapter.name}: trying it in {count(len(paths), 'file')}"):
                async with asyncio.timeout(within(self._timeout) * _SHARE):
                    await asyncio.gather(*tasks)
        except TimeoutError:
            log.info("%s: %d files not tried", self._adapter.name, len(unread))
        finally:
            for task in tasks:
                task.cancel()
        return list(unread)

    def _tell_open(self, path: Path, text: Text | None) -> bool:
        """Open `path`; False if it cannot be read, or is in no language of the server."""
        language = self._plugin.language_of(path)
        if text is None and path in self._whole:
            text = self._whole[path].text
        try:
            text = self._texts.text(path) if text is None else text
        except PathError:
            return False
        if language is None:
            return False
        version = next(self._versions)
        self._open[path] = text, version
        item = {"uri": path_uri(path), "languageId": language.id, "version": version, "text": text.content}
        self._connection.notify("textDocument/didOpen", {"textDocument": item})
        return True

    def _read_again(self, path: Path) -> None:
        """Make the server compile the open document `path` again."""
        if path not in self._open:
            return
        text, version = self._open[path][0], next(self._versions)
        self._open[path] = text, version
        fields = self._plugin.documents.reread_fields
        identifier = {"uri": path_uri(path), "version": version}
        change = {"textDocument": identifier, "contentChanges": [{"text": text.content}], **fields}
        self._connection.notify("textDocument/didChange", change)
