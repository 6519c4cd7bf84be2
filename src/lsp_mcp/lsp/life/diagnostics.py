"""What a server says is wrong with each document: `Diagnostics` (LSP 3.17, "Publish Diagnostics")."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsp_mcp.errors import PathError
from lsp_mcp.uris import uri_path

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
        self.raw[path] = params["diagnostics"]
        self.unparsed.pop(path, None)
        if error := next(
            (one for one in params["diagnostics"] if self._syntax and one.get("source") == self._syntax), None
        ):
            self.unparsed[path] = _first_line(error["message"])
        serial = self.serial(path, version) if isinstance(version, int) else -1
        if serial < 0:
            return
        self._versions[path] = max(serial, self._versions.get(path, -1))
        self._errors.pop(path, None)
        if error := next((one for one in params["diagnostics"] if self._hides(one)), None):
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
        """What is known now, for `put_back`."""
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
        """Wait until diagnostics for `version` of `path`, or a later one, have come; False if the server ended."""
        while self._versions.get(path, -1) < version and not self.ended:
            await self._changed.wait()
        return not self.ended

    @property
    def errors(self) -> dict[Path, str]:
        """The first error of each document that has any, by its last diagnostics."""
        self.hear()
        return {**self._errors, **self._unusable} if self._unusable else self._errors

    def end(self) -> None:
        """The server is gone."""
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        before, self._changed = self._changed, asyncio.Event()
        before.set()


def _first_line(message: Any) -> str:
    return str(message).partition("\n")[0]
