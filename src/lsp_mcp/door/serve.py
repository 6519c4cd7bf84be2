"""What a door does: `serve` a client on stdio, or make one call from the shell."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from lsp_mcp.door.asked import asked_of
from lsp_mcp.door.forward import Forwarding, Line, RefusedError


def serve(words: Sequence[str]) -> int | None:
    """Do what `words`, the arguments of `lsp-mcp`, say by a shared daemon; the exit status.

    None: this process is to do it itself.
    """
    asked = asked_of(words)
    if asked is None:
        return None
    try:
        line = Line(asked)
    except RefusedError as error:
        if not error.is_told:
            sys.stderr.write(f"lsp-mcp: not shared with other sessions: {error}\n")
        return None
    return _call(line) if asked.call else Forwarding(asked, line).run()


def _call(line: Line) -> int:
    """Print the outcome of the call that `line` was made for; its exit status."""
    at_terminal = sys.stderr.isatty()
    while message := line.message():
        if "progress" in message:
            if at_terminal:
                sys.stderr.write(f"\r\x1b[K{message['progress'][:100]}")
                sys.stderr.flush()
            continue
        if at_terminal:
            sys.stderr.write("\r\x1b[K")
        for text in message["err"]:
            sys.stderr.write(f"{text}\n")
        if message["out"] is not None:
            sys.stdout.write(f"{message['out']}\n")
        sys.stdout.flush()
        return int(message["status"])
    sys.stderr.write(
        "lsp-mcp: the daemon ended during this call, so it is not known whether it changed anything; look at the files "
        "before you call again\n"
    )
    return 1
