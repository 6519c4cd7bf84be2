"""The diagnostics of each document: `Diagnostics` (LSP 3.17, "Publish Diagnostics")."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsp_mcp.errors import PathError
from lsp_mcp.uris import uri_path

PULL = "textDocument/diagnostic"
_ERROR = 1  # LSP 3.17, `DiagnosticSeverity`


class Diagnostics:
    """For which version of which document diagnostics came last, and the first error among them.

    Errors whose code matches `harmless` hide nothing; those of the source `syntax` hide what stands behind them.
    `ended` says that none will come any more.
    """

    def __init__(self, harmless: str = "", syntax: str = "", *, clears_closed: bool = False) -> None:
        self._clears_closed = clears_closed
        self._syntax = syntax
        self.unparsed: dict[Path, str] = {}  # the first syntax error of each file that has any, open or not
        self._harmless = re.compile(harmless) if harmless else None
        self._changed = asyncio.Event()
        self.raw: dict[Path, list[Any]] = {}  # the last of each document
        self._versions: dict[Path, int] = {}
        self._errors: dict[Path, str] = {}
        self._unusable: dict[Path, str] = {}  # files that this life of the server can never read
        self.ended = False
        self.serial: Callable[[Path, int], int] = lambda _, version: version  # puts versions into their order
        self.hear: Callable[[], None] = lambda: None  # has `incomplete` called for what was said until now
        self.pull: Callable[[Path], Awaitable[list[Any] | None]] | None = None  # asks what is wrong with a document
        self.pull_options: dict[str, Any] | None = None  # of a server that is asked, once it has said so
        self._was_dated = False  # whether it ever said of which version
        self._undated: Counter[Path] = Counter()  # how often something was said of each without a version
        self.on_published: Callable[[Path, int], None] | None = None  # called with path and version, in that order
        self.on_incomplete: Callable[[Path], None] | None = None  # called, maybe in another thread, as `incomplete` is

    def publish(self, params: Any) -> None:
        """Take in one `PublishDiagnosticsParams`. What is about no version is counted for none: it may be about any."""
        try:
            path = uri_path(params["uri"])
        except PathError:
            return
        version = params.get("version")
        if version is None and self._clears_closed:
            return  # it is closed, and what was said of its text is as true as before
        if version is None:
            self._undated[path] += 1
        self._take(path, params["diagnostics"], self.serial(path, version) if isinstance(version, int) else -1)

    def _take(self, path: Path, said: list[Any], serial: int) -> None:
        """`said` is what is wrong with the version `serial` of `path`; with a negative one, nobody knows of which."""
        self.raw[path] = said
        self.unparsed.pop(path, None)
        if error := next((one for one in said if self._syntax and one.get("source") == self._syntax), None):
            self.unparsed[path] = _first_line(error["message"])
        if serial < 0:
            self._wake()
            return
        self._was_dated = True
        self._versions[path] = max(serial, self._versions.get(path, -1))
        self._errors.pop(path, None)
        if error := next((one for one in said if self._hides(one)), None):
            self._errors[path] = _first_line(error["message"])
        if self.on_published:
            self.on_published(path, serial)
        self._wake()

    def _hides(self, diagnostic: Any) -> bool:
        error = diagnostic.get("severity", _ERROR) == _ERROR
        return error and not (self._harmless and self._harmless.match(str(diagnostic.get("code", ""))))

    def reported(self, path: Path, source: str, message: str) -> None:
        """An error that was published before anybody listened here."""
        if self._syntax and source == self._syntax and path not in self.raw:
            self.unparsed.setdefault(path, _first_line(message))

    def incomplete(self, path: Path, reason: str) -> None:
        """The server says by other means that it could not read all of `path`."""
        self._errors.setdefault(path, reason)
        if self.on_incomplete:
            self.on_incomplete(path)

    def state(self) -> tuple[dict[Path, Any], ...]:
        """The present state, for `put_back`."""
        return dict(self.raw), dict(self.unparsed), dict(self._errors)

    def put_back(self, state: tuple[dict[Path, Any], ...]) -> None:
        """What was said since `state` is about texts that are no more."""
        self.raw, self.unparsed, self._errors = state

    def hides(self, diagnostic: Any) -> bool:
        """Whether it is an error because of which something could be hidden."""
        return self._hides(diagnostic)

    def unusable(self, path: Path, reason: str) -> None:
        """The server says by other means that it cannot read `path` at all, whatever it publishes of it later."""
        self._unusable[path] = reason
        if self.on_incomplete:
            self.on_incomplete(path)

    @property
    def has_versions(self) -> bool:
        """Whether it says of which text its diagnostics are."""
        return bool(self._versions)

    def forget(self, path: Path) -> None:
        """What was said of `path` is about another opening of it."""
        self._versions.pop(path, None)

    def knows(self, path: Path, version: int | None) -> bool:
        """Whether diagnostics for `version` of `path`, or a later one, have come."""
        return version is not None and self._versions.get(path, -1) >= version

    async def of(self, path: Path, version: int) -> bool:
        """Wait until diagnostics for `version` of `path`, or a later one, have come; False if the server ended.

        A server that gives them when it is asked is asked.
        """
        while not self.knows(path, version) and not self.ended:
            changed = self._changed
            if await self.pulled(path, version):
                return True
            await changed.wait()
        return not self.ended

    def offer(self, options: dict[str, Any]) -> None:
        """The server says that it gives diagnostics when it is asked."""
        self.pull_options = options
        self._wake()

    async def pulled(self, path: Path, version: int) -> bool:
        """Ask the server what is wrong with `version` of `path`, the present one; False if it doesn't say."""
        said = await self.pull(path) if self.pull else None
        if said is None:
            return False
        self._take(path, said, version)
        return True

    @property
    def is_undated(self) -> bool:
        """Whether it has said things, and never of which text."""
        return not self._was_dated and self._undated.total() > 0

    def times_undated(self, path: Path) -> int:
        """How often it has said something of `path` without a version."""
        return self._undated[path]

    async def undated(self, path: Path, times: int) -> None:
        """Wait until it has said more than so many `times` something of `path` without a version, or ended."""
        while self._undated[path] <= times and not self.ended:
            await self._changed.wait()

    @property
    def errors(self) -> dict[Path, str]:
        """The first error of each document that has any, by its last diagnostics."""
        self.hear()
        return {**self._errors, **self._unusable} if self._unusable else self._errors

    def end(self) -> None:
        """Note that the server is gone."""
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        before, self._changed = self._changed, asyncio.Event()
        before.set()


def _first_line(message: Any) -> str:
    return str(message).partition("\n")[0]
