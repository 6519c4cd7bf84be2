"""Where something is, as people and models read it: `Place`, made from LSP's `Location`s."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lsp_mcp.backend import Backend, Json
from lsp_mcp.errors import PathError
from lsp_mcp.text import Span, Text
from lsp_mcp.uris import uri_path

_CODE_LENGTH = 200  # characters of a source line that are shown


@dataclass(frozen=True)
class Place:
    """A stretch of a file, the text it was seen in, and what surrounds it."""

    path: Path
    span: Span
    text: Text
    container: str = ""  # the symbol that it lies in, where the server says so

    @property
    def code(self) -> str:
        """The source line that it starts on, trimmed, and shortened around the place if it is long."""
        return shown_line(self.text, self.span)


def plain_name(name: str) -> str:
    """The identifier that `name` ends with; empty for what may be spelled otherwise where it stands.

    A destructor, an operator, an instance of a template.
    """
    found = re.fullmatch(r"(?:\w+(?:::|\.|/))*([^\W\d]\w*)", name)
    return found[1] if found and "operator" not in name else ""


def shown_line(text: Text, span: Span) -> str:
    """The line that `span` starts on, without the white space around it, at most 200 characters of it."""
    line = text.line(span.start.line)
    if len(line) <= _CODE_LENGTH:
        return line.strip()
    start = max(0, span.start.character - _CODE_LENGTH // 2)
    cut = line[start : start + _CODE_LENGTH].strip()
    return f"{'…' if start else ''}{cut}{'…' if start + _CODE_LENGTH < len(line) else ''}"


def location_key(location: Json, root: Path) -> tuple[bool, str, int, int]:
    """Sorts `Location`s: the workspace first, then by file, line and character, as the file shows them."""
    start = location["range"]["start"]
    return (*_file_key(location["uri"], root), start["line"], start["character"])


@lru_cache(4096)
def _file_key(uri: str, root: Path) -> tuple[bool, str]:
    path = uri_path(uri)
    return not path.is_relative_to(root), str(path)


def distinct(locations: Iterable[Json], root: Path) -> list[Json]:
    """`locations` in their stable order, each place once (a file can be in several of a server's packages)."""
    by_file: dict[tuple[bool, str], dict[tuple[int, int], Json]] = {}
    for location in locations:
        start = location["range"]["start"]
        by_file.setdefault(_file_key(location["uri"], root), {})[start["line"], start["character"]] = location
    return [by_file[file][start] for file in sorted(by_file) for start in sorted(by_file[file])]


class Locator:
    """Makes places of the `Location`s in one answer of `backend`; each file is looked at once."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._texts: dict[Path, Text | None] = {}

    async def place(self, location: Json, name: str = "") -> Place | None:
        """The place of an LSP `Location`; None when its file is gone or no longer has that place.

        If something called `name` should be there and isn't, the server is mistrusted.
        """
        path = uri_path(location["uri"])
        if path not in self._texts:
            self._texts[path] = await text_or_none(self._backend, path)
        text = self._texts[path]
        span = text.contained_range_span(location["range"], self._backend.encoding) if text else None
        if (plain := plain_name(name)) and not (text and span and plain in text.slice(span)):
            self._backend.mistrust(path, plain)
        return Place(path, span, text, str(location.get("containerName") or "")) if text and span else None


async def place_of(backend: Backend, location: Json, name: str = "") -> Place | None:
    """See `Locator.place`; for one location alone."""
    return await Locator(backend).place(location, name)


async def text_or_none(backend: Backend, path: Path) -> Text | None:
    """`Backend.text`, None for a file that is gone or no text."""
    try:
        return await backend.text(path)
    except PathError:
        return None
