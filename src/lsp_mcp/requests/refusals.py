"""Files that a server did not answer about, or not in time, while an answer was made: `noting`.

The answer may lack results for them, so each file becomes a gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.errors import PathError, RefusedError, SilentError
from lsp_mcp.gaps import Gap, hiding

NO_ANSWER = (PathError, RefusedError, SilentError)  # what `note` takes
_REFUSED = "refused"  # the subject of such a gap
_NOT_IN_TIME = "not in time; ask again"
_noted: ContextVar[dict[Path, str] | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[dict[Path, str]]:
    """The files noted in this block, each with the server's message."""
    noted: dict[Path, str] = {}
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)


def note(path: Path, error: Exception) -> None:
    """Note that the server gave no answer about `path`, if `error` is its own.

    That nothing can be asked about a place is an answer, not a gap.
    """
    noted = _noted.get()
    if noted is None:
        return
    if isinstance(error, SilentError):
        noted.setdefault(path, _NOT_IN_TIME)
    elif isinstance(error, RefusedError) and error.code:
        noted.setdefault(path, str(error))


def gaps_of(backend: Backend, noted: dict[Path, str]) -> list[Gap]:
    """A gap for each of `noted` that is in the workspace."""

    def text(path: Path) -> str:
        return f"{backend.plugin.name} did not answer about {path.relative_to(backend.root)}: {noted[path]}"

    inside = sorted(path for path in noted if path.is_relative_to(backend.root))
    return [Gap("not_read", text(path), (path,), about=_REFUSED) for path in inside]


def without_told(gaps: Sequence[Gap], others: Sequence[Gap]) -> list[Gap]:
    """`gaps` without noted files that another gap in `others` already explains."""
    reported = {file for gap in hiding(others) for file in gap.files}
    return [gap for gap in gaps if gap.about != _REFUSED or reported.isdisjoint(gap.files)]
