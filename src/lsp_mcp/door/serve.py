"""The work of a door: `serve` a client on stdio, or make one call from the shell."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any

from lsp_mcp.door.forward import Forwarding, Stdio
from lsp_mcp.door.greetings import Greetings
from lsp_mcp.door.line import Line, RefusedError
from lsp_mcp.door.request import daemon_request

_INTERRUPTED = 130  # exit status, by the convention of shells
_COMPLETES = "_LSP_MCP_COMPLETE"  # set by the functions of `lsp-mcp completion`


def serve(words: Sequence[str]) -> int | None:
    """Carry out `words`, the arguments of `lsp-mcp`, through a shared daemon; the exit status.

    None: this process must do it itself.
    """
    if _COMPLETES in os.environ:
        return None  # a shell asks for completions
    if "hook" in words:
        from lsp_mcp.door.hook import answer_hook

        if (status := answer_hook(words)) is not None:
            return status
    try:
        request = daemon_request(words)
    except OSError:
        return None  # the command line reports the error
    if request is None or not os.path.isdir(request.root):
        return None  # if the root is missing, the command line reports it
    if request.call:
        _show("starting …")
    try:
        line = Line(request)
        if request.call or request.batch:
            line.agree()
            return _batch(line) if request.batch else _call(line)
        greetings = Greetings(request)
        if not greetings.are_known:
            line.agree()
        return Forwarding(request, line, greetings, Stdio()).run()
    except RefusedError as error:
        _show("")
        if not error.is_told:
            sys.stderr.write(f"lsp-mcp: not shared with other sessions: {error}\n")
        return None
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The output is closed, and must not be written again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1


def _batch(line: Line) -> int:
    """Print the outcomes of the calls on stdin; returns the worst exit status."""

    def ask() -> None:
        try:
            while question := sys.stdin.buffer.readline():
                line.send(json.dumps({"question": question.decode("utf-8", "replace")}).encode() + b"\n")
            line.send(b'{"end":true}\n')
        except OSError:
            pass  # the daemon has ended, which the other thread reports

    threading.Thread(target=ask, daemon=True).start()
    worst = 0
    while message := _next(line):
        if message.get("ended"):
            return worst
        _print(message)
        worst = max(worst, message["status"])
    return _lost()


def _call(line: Line) -> int:
    """Print the outcome of the call on `line`; its exit status."""
    while message := _next(line):
        if "progress" in message:
            _show(message["progress"][:100])
            continue
        _show("")
        _print(message)
        return int(message["status"])
    _show("")
    return _lost()


def _show(progress: str) -> None:
    """Show `progress` on a terminal's stderr in place of the earlier one; empty clears it."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{progress}")
        sys.stderr.flush()


def _print(message: dict[str, Any]) -> None:
    for text in message["err"]:
        sys.stderr.write(f"{text}\n")
    if message["out"] is not None:
        sys.stdout.write(f"{message['out']}\n")
    sys.stdout.flush()


def _lost() -> int:
    sys.stderr.write(
        "lsp-mcp: the daemon ended during this call, so it is not known whether it changed anything; look at the files "
        "before you call again\n"
    )
    return 1


def _next(line: Line) -> dict[str, Any]:
    try:
        return line.message()
    except (OSError, ValueError):
        return {}  # it ended in the middle of a message
