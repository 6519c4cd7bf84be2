"""Every error that reaches a user or a model, as one tree.

    LspMcpError
    ├── CallerError              the arguments were wrong; the message says what to send instead
    │   ├── ArgumentsError       unknown, missing or of the wrong type, or the tool is not offered: nothing has run
    │   ├── PointError           a place that is not in the document (line or character past the end)
    │   ├── AnchorError          an anchor that is malformed, not on an identifier, or whose symbol is gone
    │   ├── PathError            a file that is missing, outside the workspace, binary, or in an unknown language
    │   ├── ConflictError        somebody else changed it since the caller looked
    │   ├── UnprovenError        a task that lacks something is to be completed
    │   └── ConfigError          a flag, an adapter or a configuration file that cannot be used
    ├── RefusedError             the other program answered with an error: its own message, and its code
    ├── EditError                an edit that was not applied; nothing on disk changed
    │   └── OutdatedEditError    the server made it of another text than it has now: ask it again
    └── UnavailableError         the other program is missing, dead or silent: which one, its last words
        ├── MissingProgramError  it is not installed; the message names the command that installs it
        ├── DiedError            it exited; carries the exit status and the end of its stderr
        │   └── StuckError       it hung, and was ended
        └── SilentError          it did not answer within the time limit (seconds)

Each message is a whole sentence for the person or model that reads it, and says what to do next.
Any other exception is a bug in this program.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class LspMcpError(Exception):
    """The root: catching it catches every error that this program raises on purpose."""


class CallerError(LspMcpError):
    """The caller's arguments cannot be used as they are."""


class ArgumentsError(CallerError):
    """A call's arguments are unknown, missing or of the wrong type, or its tool is not offered: nothing has run."""


class PointError(CallerError):
    """A point is outside its document."""


class AnchorError(CallerError):
    """An anchor is malformed, is not on an identifier, or its symbol is gone."""


class PathError(CallerError):
    """A path does not name a file that this program may read and that a server supports."""


class ConflictError(CallerError):
    """Something has changed since the caller looked; nothing was changed by this call."""


class UnprovenError(CallerError):
    """A task is to be completed that lacks something; nothing was changed."""


class ConfigError(CallerError):
    """A flag, an adapter or a configuration file cannot be used."""


class RefusedError(LspMcpError):
    """The other program answered with an error.

    `code` is the JSON-RPC error code it sent (LSP 3.17, `ErrorCodes` and `LSPErrorCodes`).
    """

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code

    @property
    def asks_again(self) -> bool:
        """Whether the server asks to repeat the request, because the content has changed."""
        return self.code in _ASK_AGAIN

    def to(self, method: str) -> RefusedError:
        """The error as the answer to a request for `method`, which it names if the other program does not know it."""
        if self.code != METHOD_NOT_FOUND or method in str(self):
            return self
        return RefusedError(f"it does not support {method} ({self})", self.code)


METHOD_NOT_FOUND = -32601  # JSON-RPC 2.0


class ElsewhereError(RefusedError):
    """An action of our own, called `action` in lists of actions, is not possible at a place, but may be near it."""

    def __init__(self, message: str, action: str) -> None:
        super().__init__(message)
        self.action = action


_ASK_AGAIN = (-32801, -32802)  # LSP 3.17, `LSPErrorCodes`: ContentModified, ServerCancelled


class EditError(LspMcpError):
    """An edit was not applied. All files are as they were before."""


class OutdatedEditError(EditError):
    """The server made an edit of an earlier text than its present one, for example after a restart."""


class UnavailableError(LspMcpError):
    """The other program cannot answer now."""


class MissingProgramError(UnavailableError):
    """The other program is not installed."""


class DiedError(UnavailableError):
    """The other program exited while it was needed."""


class StuckError(DiedError):
    """The other program hung while it was needed, so it was ended."""


class SilentError(UnavailableError):
    """The other program did not answer within the time limit."""


_MOST_NAMED = 12
_MOST_LISTED = 300  # characters of a longer list, without a similar name


def unknown(what: str, name: str, available: Iterable[str], *, listed_by: str = "") -> str:
    """The error message `unknown backend 'x'; available: a, b`; of many names, only those that are similar.

    If none is, the message names `listed_by`, the command that lists them.
    """
    names = list(available)
    shown = f"unknown {what} {name[:80]!r}"
    listed = ", ".join(names) or "none"
    near = difflib.get_close_matches(name[:200], names, n=3, cutoff=0.5) if len(names) > _MOST_NAMED else []
    if near:
        return f"{shown}; did you mean {' or '.join(near)}?"
    if len(names) <= _MOST_NAMED or len(listed) <= _MOST_LISTED:
        return f"{shown}; available: {listed}"
    return f"{shown}; no similar name among {len(names)}" + (f"; list them with: {listed_by}" if listed_by else "")


def defect(what: str, where: str) -> str:
    """The message for a call of `what` that failed by an exception raised by mistake; `where` says who logged it."""
    return f"{what} failed by a defect of lsp-mcp itself; {where}. Please report it."
