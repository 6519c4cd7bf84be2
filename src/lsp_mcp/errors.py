"""Every error that reaches a user or a model, as one tree.

    LspMcpError
    ├── CallerError              the arguments were wrong; the message says what to send instead
    │   ├── PointError           a place that is not in the document (line or character past the end)
    │   ├── AnchorError          an anchor that is malformed, on no identifier, or whose symbol is gone
    │   ├── PathError            a file that is missing, outside the workspace, binary, or of no known language
    │   ├── ConflictError        somebody else changed it since the caller looked
    │   └── ConfigError          a flag, an adapter or a configuration file that cannot be used
    ├── RefusedError             the other program understood and said no: its own message, and its code
    ├── EditError                an edit that was not applied; nothing on disk changed
    └── UnavailableError         the other program is missing, dead or silent: which one, its last words
        ├── MissingProgramError  it is not installed; the message names the command that gets it
        ├── DiedError            it exited; carries the exit status and the end of its stderr
        │   └── StuckError       it did nothing any more, and was ended
        └── SilentError          it did not answer within the bound (seconds)

Each message is a whole sentence for the person or model that reads it, and says what to do next.
Anything raised that is not in this tree is a defect of this program.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class LspMcpError(Exception):
    """The root: catching it catches everything this program says on purpose."""


class CallerError(LspMcpError):
    """The caller's arguments cannot be used as they are."""


class PointError(CallerError):
    """A point lies outside its document."""


class AnchorError(CallerError):
    """An anchor is malformed, stands on no identifier, or its symbol is gone."""


class PathError(CallerError):
    """A path names no file that this program may read and a server can answer for."""


class ConflictError(CallerError):
    """Somebody else changed what the caller wanted to change; nothing was changed now."""


class ConfigError(CallerError):
    """A flag, an adapter or a configuration file cannot be used."""


class RefusedError(LspMcpError):
    """The other program answered with an error.

    `code` is the JSON-RPC error code it sent (LSP 3.17, `ErrorCodes` and `LSPErrorCodes`).
    """

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class EditError(LspMcpError):
    """An edit was not applied. All files are as they were before."""


class UnavailableError(LspMcpError):
    """The other program cannot answer now."""


class MissingProgramError(UnavailableError):
    """The other program is not installed."""


class DiedError(UnavailableError):
    """The other program exited while it was needed."""


class StuckError(DiedError):
    """The other program did nothing any more while it was needed, so it was ended."""


class SilentError(UnavailableError):
    """The other program did not answer within the bound."""


_MOST_NAMED = 12


def unknown(what: str, name: str, available: Iterable[str]) -> str:
    """`unknown backend 'x'; available: a, b`, for the message of an error; of many names those that are like it."""
    names = list(available)
    shown = f"unknown {what} {name[:80]!r}"
    if len(names) <= _MOST_NAMED:
        return f"{shown}; available: {', '.join(names) or 'none'}"
    near = difflib.get_close_matches(name[:200], names, n=3, cutoff=0.5)
    return f"{shown}; did you mean {' or '.join(near)}?" if near else f"{shown}; none of the {len(names)} is like it"
