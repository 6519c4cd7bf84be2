"""The end of a program: `Exit`."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from lsp_mcp.dap.adapter import Exits
from lsp_mcp.dap.output import Output


@dataclass(frozen=True)
class Exit:
    """An exit code, or the name of a signal; neither if unknown."""

    code: int | None = None
    signal: str = ""


def exit_of(rules: Exits, status: int | None, codes: Sequence[int], output: Output, last_stop: str) -> Exit:
    """The end by the kernel's `status` (negative: a signal), the adapter's codes, or its output."""
    if status is not None and status < 0:
        return Exit(signal=_signal_name(-status))
    said = [line.text for line in output.lines()[-50:] if line.stream == "debugger"]
    if rules.signal_pattern and (found := _last(rules.signal_pattern, said)):
        return Exit(signal=_signal_name(int(found)) if found.isdigit() else found)
    code = codes[0] if codes else status
    if code is None and rules.code_pattern and (found := _last(rules.code_pattern, said)):
        code = int(found)
    if code is None:
        return Exit()
    return _by_rule(rules, code, last_stop) or Exit(code)


def _by_rule(rules: Exits, code: int, last_stop: str) -> Exit | None:
    if code < 0 and rules.signals:
        return Exit(signal=_signal_name(-code))
    if rules.signals == "from 256" and 256 - code in _PLAIN and code > 200:
        return Exit(signal=_signal_name(256 - code))
    if rules.signals == "last stop" and rules.stop_pattern and (found := re.search(rules.stop_pattern, last_stop)):
        name = found[1]
        if name in signal.Signals.__members__ and signal.Signals[name] == code:
            return Exit(signal=name)
    return None


# Signals that end a program from outside or by its fault.
_PLAIN = frozenset(
    {signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
    | {signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE}
)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last(pattern: str, lines: Sequence[str]) -> str | None:
    for line in reversed(lines):
        if found := re.search(pattern, line):
            return found[1]
    return None
