"""Errors in compiled files and all their includes, as a compiler would report them: `UnitErrors`."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.errors import PathError
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.lsp.life.reading import read_again, read_told
from lsp_mcp.objects.elsewhere import elsewhere
from lsp_mcp.servers.clangd.compilation.build import Build
from lsp_mcp.servers.clangd.compilation.whole_units import WholeUnit
from lsp_mcp.servers.clangd.rules import Compilation
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.text import Text

log = logging.getLogger(__name__)

_AT_ONCE = 4  # files shown to the server
_ERROR = 1  # LSP 3.17, `DiagnosticSeverity`


class Found(Struct, frozen=True):
    """The `errors` of one compiled file, LSP `Diagnostic`s, and the files they are in.

    `hidden` files may have further errors that the server reports only after these are fixed; for those of `clear` it
    would have reported them. `apart`: includes were listed separately to reveal them.
    """

    errors: list[Any]
    files: frozenset[Path]
    hidden: frozenset[Path]
    clear: frozenset[Path] = frozenset()
    apart: bool = False


class UnitErrors:
    """Shows compiled files to the server so that it checks all of each, and caches the results.

    For an ordinary open document it reports less: includes are read without function bodies.
    """

    def __init__(self, plugin: Plugin, rules: Compilation, build: Build, documents: Documents) -> None:
        self._adapter = plugin.adapter
        self._elsewhere = plugin.diagnostics.elsewhere_pattern
        self._rules = rules
        self._build = build
        self._documents = documents
        self.found: dict[Path, Found] = {}  # of the present texts
        self.due: set[Path] = set()  # read by the server, but not with all includes

    def forget(self) -> None:
        """Everything is indexed again; the index records which files have errors."""
        self.found.clear()
        self.due.clear()

    def read(self, paths: Collection[Path]) -> None:
        """Note that the server has read these again, as documents."""
        for path in paths:
            self.found.pop(path, None)
            if self.is_unit(path):
                self.due.add(path)

    def is_unit(self, path: Path) -> bool:
        """Whether `path` is compiled by itself, judged by its name."""
        return self._rules.compiles(path) and bool(self._adapter.language_of(path))

    @property
    def hidden(self) -> set[Path]:
        """The files that may have errors other than the reported ones."""
        known = {file for found in self.found.values() for file in found.files}
        # An error in a library is caused by text before it, such as a missing brace; so may one in a header.
        if all(map(self._build.contains, known)):
            known.update(file for found in self.found.values() for file in found.clear)
        return {file for found in self.found.values() for file in found.hidden} - known

    async def look(self, units: Collection[Path], connection: Connection, seconds: float) -> set[Path]:
        """Make the server check `units`, for at most `seconds`; returns those that it has not checked."""
        waiting = set(units)
        room = asyncio.Semaphore(_AT_ONCE)

        async def look(path: Path) -> None:
            async with room:
                if await self._look(path, connection, apart=False):
                    waiting.discard(path)

        try:
            async with asyncio.timeout(seconds):
                with connection.waited_for():
                    await asyncio.gather(*map(look, sorted(units)))
                    while path := self._hiding_most():
                        if not await self._helps(path):
                            self.found[path] = replace(self.found[path], apart=True)
                        elif not await self._look(path, connection, apart=True):
                            break
        except TimeoutError:
            log.warning("%s did not check %d files in time", self._adapter.name, len(waiting))
        finally:
            self._documents.show_present()
        return waiting

    def _hiding_most(self) -> Path | None:
        """The file in which more errors can be revealed; a header has the same errors wherever it is included."""
        hidden = self.hidden
        hiding = {path: len(found.hidden & hidden) for path, found in self.found.items() if not found.apart}
        most = max(hiding, key=lambda path: hiding[path], default=None)
        return most if most and hiding[most] else None

    async def _helps(self, path: Path) -> bool:
        """Whether listing the includes of `path` separately reveals more errors."""
        found, unit = self.found[path], await self._unit(path, self._documents.present(path), apart=True)
        hidden = found.hidden & self.hidden
        return bool(unit and (hidden - unit.hidden_by(found.files)))

    async def _look(self, path: Path, connection: Connection, *, apart: bool) -> bool:
        """Make the server check `path`; returns whether it has."""
        with self._documents.awaiting(path):
            try:
                found = await self._found(path, connection, apart=apart)
            except PathError:
                found = Found([], frozenset(), frozenset(), apart=apart)  # not text: opening it reports that
            except BaseException:
                self._documents.refresh([path])
                raise
        if found:
            self.found[path] = found
            self.due.discard(path)
        return bool(found)

    async def _found(self, path: Path, connection: Connection, *, apart: bool) -> Found | None:
        """The problems in `path`; None if the server ended."""
        was_open, stop = path in self._documents, self._rules.stopped_code
        text = self._documents.present(path)
        unit = await self._unit(path, text, apart=apart)
        diagnostics = await self._diagnostics_of(path, unit.shown if unit else text, connection)
        if diagnostics is None:
            return None
        restore = unit and (unit.moves or was_open) and not self._documents.is_editors(path)
        # Its index is based on the shown text.
        if restore and not await read_again(path, self._documents, connection.notifications.diagnostics):
            return None
        hides = connection.notifications.diagnostics.hides
        errors = [one for one in diagnostics if one.get("severity", _ERROR) == _ERROR and hides(one)]
        stopped = [one for one in errors if stop and one.get("code") == stop]
        errors = [one for one in errors if one not in stopped]
        hidden, clear = set[Path](), set[Path]()
        if unit:
            hidden = unit.hidden(errors, connection.encoding)
            clear = unit.apart - hidden
            errors = unit.diagnostics(errors, connection.encoding)
        if stopped:
            hidden, clear = set(await self._build.files.included_by([path])), set()
        files = frozenset(other.path if (other := elsewhere(one, self._elsewhere)) else path for one in errors)
        # At the server's limit of errors, more includes reveal nothing.
        return Found(errors, files, frozenset(hidden), frozenset(clear), apart or bool(stopped))

    async def _unit(self, path: Path, text: Text, *, apart: bool) -> WholeUnit | None:
        """The text to show for `path`; None if it must be its own."""
        rules, language = self._rules, self._adapter.language_of(path)
        if not language or not rules.whole_prefix:
            return None
        if rules.whole_unless and re.search(rules.whole_unless, text.content):
            return None
        return await self._build.files.whole_unit(path, text, language, rules.whole_prefix, apart=apart)

    async def _diagnostics_of(self, path: Path, text: Text, connection: Connection) -> list[Any] | None:
        """The server's diagnostics for `text` as the content of `path`; None if it ended."""
        documents, diagnostics = self._documents, connection.notifications.diagnostics
        if documents.is_editors(path):
            for _ in range(documents.reread_times):
                documents.show(path, text)
                if not await read_told(path, documents, diagnostics):
                    return None
        else:
            while (version := documents.unread_version(path)) is not None:
                if not await diagnostics.arrived(path, version):
                    return None
            if not await diagnostics.arrived(path, documents.open_to_read(path, text)):
                return None
        return list(diagnostics.raw.get(path, []))
