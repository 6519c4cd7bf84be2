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
_MOST_OUTDATED = 3  # consecutive reports on a document after which it is not read again by itself


class Diagnostics:
    """The document versions of the latest diagnostics, and the first error of each document.

    Errors whose code matches `harmless` hide nothing; those of the source `syntax` hide the text after them. A report
    with the code `outdated` is about no present text: it is ignored. `ended` says that no more will arrive.
    """

    def __init__(
        self,
        harmless: str = "",
        syntax: str = "",
        outdated: str = "",
        *,
        hiding: str = "(?!)",
        clears_closed: bool = False,
    ) -> None:
        self._clears_closed = clears_closed
        self._outdated = outdated
        self._times_outdated: Counter[Path] = Counter()  # consecutive reports
        self._syntax = syntax
        self.unparsed: dict[Path, str] = {}  # the first syntax error of each file that has any, open or not
        self._harmless = re.compile(harmless) if harmless else None
        self._hiding = re.compile(hiding)  # codes of warnings
        self._changed = asyncio.Event()
        self.raw: dict[Path, list[Any]] = {}  # the last of each document, published and requested ones
        self._published: dict[Path, list[Any]] = {}
        self._requested: dict[Path, list[Any]] = {}
        self._versions: dict[Path, int] = {}
        self._errors: dict[Path, str] = {}
        self._unusable: dict[Path, str] = {}  # files that this run of the server can never read
        self.ended = False
        self.serial: Callable[[Path, int], int] = lambda _, version: version  # puts versions into order
        self.hear: Callable[[], None] = lambda: None  # calls `incomplete` for everything reported so far
        self.pull: Callable[[Path], Awaitable[list[Any] | None]] | None = None  # requests a document's diagnostics
        self.pull_options: dict[str, Any] | None = None  # of a server that supports requests, once known
        self._was_dated = False  # whether it ever named a version
        self._undated: Counter[Path] = Counter()  # number of reports without a version, per document
        self.on_outdated: Callable[[Path], None] | None = None  # called to have a document read again
        self.on_published: Callable[[Path, int], None] | None = None  # called with path and version, in that order
        self.on_incomplete: Callable[[Path], None] | None = None  # called, maybe in another thread, like `incomplete`

    def publish(self, params: Any) -> None:
        """Process one `PublishDiagnosticsParams`. Without a version it counts for none: it may be about any."""
        try:
            path = uri_path(params["uri"])
        except PathError:
            return
        version = params.get("version")
        if version is None and self._clears_closed:
            return  # it is closed, and the diagnostics of its text stay valid
        if version is None:
            self._undated[path] += 1
        serial = self.serial(path, version) if isinstance(version, int) else -1
        self._take(path, params["diagnostics"], serial, self._published)

    def requested(self, path: Path, said: list[Any], serial: int = -1) -> None:
        """Process the answer to a request about `path`; `serial` as for `_take`.

        A server may publish others of the same text: what the language's build says, for example.
        """
        self._take(path, said, serial, self._requested)

    def _take(self, path: Path, said: list[Any], serial: int, among: dict[Path, list[Any]]) -> None:
        """`said` are the diagnostics for the version `serial` of `path`; negative: an unknown version."""
        if self._outdated and any(one.get("code") == self._outdated for one in said):
            self._times_outdated[path] += 1
            if self.on_outdated and self._times_outdated[path] <= _MOST_OUTDATED:
                self.on_outdated(path)
            return
        self._times_outdated.pop(path, None)
        among[path] = said
        said = [*self._requested.get(path, ()), *self._published.get(path, ())]
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
        if self._hiding.match(str(diagnostic.get("code", ""))):
            return True
        return diagnostic.get("severity", _ERROR) == _ERROR and not self.is_harmless(diagnostic)

    def is_harmless(self, diagnostic: Any) -> bool:
        """Whether `diagnostic` is one that hides nothing, such as one of a compile command."""
        return bool(self._harmless and self._harmless.match(str(diagnostic.get("code", ""))))

    def published_before(self, path: Path, said: list[Any]) -> None:
        """The diagnostics of `path` when we connected, of a version unknown to us; a server may not send them again."""
        if path not in self.raw:
            self._take(path, said, -1, self._published)

    def incomplete(self, path: Path, reason: str) -> None:
        """The server reports otherwise that it could not read all of `path`."""
        self._errors.setdefault(path, reason)
        if self.on_incomplete:
            self.on_incomplete(path)

    def said(self, pattern: str) -> tuple[Path, re.Match[str]] | None:
        """The first message of any document that matches `pattern`, with that document."""
        for path, raw in self.raw.items():
            for one in raw:
                if match := re.search(pattern, str(one.get("message", ""))):
                    return path, match
        return None

    def state(self) -> tuple[dict[Path, Any], ...]:
        """The present state, for `put_back`."""
        return dict(self.raw), dict(self._published), dict(self._requested), dict(self.unparsed), dict(self._errors)

    def put_back(self, state: tuple[dict[Path, Any], ...]) -> None:
        """Diagnostics since `state` are about texts that no longer exist."""
        self.raw, self._published, self._requested, self.unparsed, self._errors = state

    def hides(self, diagnostic: Any) -> bool:
        """Whether `diagnostic` is an error, or like one, because of which the server may miss uses."""
        return self._hides(diagnostic)

    def unusable(self, path: Path, reason: str) -> None:
        """The server reports otherwise that it cannot read `path` at all, whatever it publishes later."""
        self._unusable[path] = reason
        if self.on_incomplete:
            self.on_incomplete(path)

    @property
    def has_versions(self) -> bool:
        """Whether it is known for which text its diagnostics are: they name its version, or are requested."""
        return bool(self._versions) or self.pull_options is not None

    def forget(self, path: Path) -> None:
        """Diagnostics of `path` are about an earlier opening."""
        self._versions.pop(path, None)

    def knows(self, path: Path, version: int | None) -> bool:
        """Whether diagnostics for `version` of `path`, or a later one, have come."""
        return version is not None and self._versions.get(path, -1) >= version

    async def arrived(self, path: Path, version: int) -> bool:
        """Wait for diagnostics for `version` of `path`, or a later one; False if the server ended.

        If the server supports requests for diagnostics, they are requested.
        """
        while not self.knows(path, version) and not self.ended:
            changed = self._changed
            if await self.pulled(path, version):
                return True
            await changed.wait()
        return not self.ended

    def offer(self, options: dict[str, Any]) -> None:
        """The server supports requests for diagnostics."""
        self.pull_options = options
        self._wake()

    async def pulled(self, path: Path, version: int) -> bool:
        """Request the diagnostics of `version` of `path`, the present one; False if there is no answer."""
        said = await self.pull(path) if self.pull else None
        if said is None:
            return False
        self.requested(path, said, version)
        return True

    @property
    def is_undated(self) -> bool:
        """Whether it has published diagnostics, but never with a version, and gives none on request."""
        return self.pull_options is None and not self._was_dated and self._undated.total() > 0

    def times_undated(self, path: Path) -> int:
        """The number of reports about `path` without a version."""
        return self._undated[path]

    async def undated(self, path: Path, times: int) -> None:
        """Wait for more than `times` reports about `path` without a version, or the server's end."""
        while self._undated[path] <= times and not self.ended:
            await self._changed.wait()

    @property
    def errors(self) -> dict[Path, str]:
        """The first error of each document that has any, by its latest diagnostics."""
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
