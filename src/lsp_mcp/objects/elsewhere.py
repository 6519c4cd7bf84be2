"""Problems in another file that a document's diagnostic reports: `elsewhere`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from lsp_mcp.errors import PathError
from lsp_mcp.uris import uri_path


class Elsewhere(NamedTuple):
    """A problem in another file: `range` is an LSP `Range`, `message` has one line."""

    path: Path
    range: Any
    message: str


def one_line(diagnostic: Any) -> str:
    """The message of `diagnostic`, with its further lines after a colon."""
    first, _, rest = str(diagnostic.get("message", "")).strip().partition("\n")
    return ": ".join(filter(None, (" ".join(part.split()) for part in (first, rest))))


def elsewhere(diagnostic: Any, pattern: str) -> Elsewhere | None:
    """The problem in another file that `diagnostic` reports: its message matches `pattern`, "" if there are none.

    None also if it is in no file.
    """
    message, related = one_line(diagnostic), diagnostic.get("relatedInformation") or []
    match = re.match(pattern, message) if pattern and related else None
    if match is None:
        return None
    location, rest = related[0]["location"], message[match.end() :]
    try:
        return Elsewhere(uri_path(location["uri"]), location["range"], rest[:1].upper() + rest[1:])
    except PathError:
        return None
