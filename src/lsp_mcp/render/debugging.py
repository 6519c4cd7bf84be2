"""A debugged program for a model: its place, changes, its end; short and bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.dap.breakpoints import Breakpoint
from lsp_mcp.dap.exits import Exit
from lsp_mcp.dap.looking import Frame, View
from lsp_mcp.dap.output import Line
from lsp_mcp.dap.variables import Variable
from lsp_mcp.errors import LspMcpError
from lsp_mcp.text import Point, Span, Text

Json = dict[str, Any]
Show = Callable[[Path], str]

_AROUND = 2  # source lines before and after
_LONGEST_LINE = 160  # characters of a source line
_LONGEST_VALUE = 200  # characters of a variable's value at a stop
_LONGEST_TEXT = 1_500  # of an exception's description
_CALLERS = 3  # shown at a stop
_LAST_LINES = 15  # of output, at the end
_FEW_LINES = 5  # in progress reports
_LONGEST_OUTPUT = 300  # characters of one line
STOP_BUDGET = 1_200  # characters of all variables at a stop
NEXT = (
    "debug_continue waits on; debug_pause stops it where it is; debug_breakpoints at= stops it at a line; "
    "debug_stop ends it"
)
STARTING = "the debugger is still starting the program{builds}: debug_continue waits on; do not start it again"


def cut(text: str, most: int) -> str:
    """The first `most` characters of `text`, and the number of missing ones."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more)"


def place(frame: Frame, show: Show) -> str:
    """`FILE:LINE`, or the adapter's name for it if there is no file."""
    if frame.has_source and frame.path:
        return f"{show(frame.path)}:{frame.line}"
    return frame.source or "no source"


def source(frame: Frame, around: int = _AROUND) -> str | None:
    """The numbered lines around a frame's, its own marked by an arrow; None without a source file."""
    if frame.path is None or frame.line < 1:
        return None
    try:
        text = Text(frame.path.read_bytes().decode("utf-8", "replace"))
        here = Point(frame.line, 1)
        lines = text.numbered(Span(here, here), around)
    except (OSError, LspMcpError):
        return None
    width = len(str(max((number for number, _ in lines), default=0)))
    return "\n".join(
        f"{'→' if number == frame.line else ' '}{number:>{width}} {cut(line, _LONGEST_LINE)}" for number, line in lines
    )


def values(variables: Iterable[Variable], budget: int, longest: int = _LONGEST_VALUE) -> tuple[dict[str, str], int]:
    """Values by name, within `budget` characters in total; and the number of omitted ones."""
    shown: dict[str, str] = {}
    left_out = 0
    for variable in variables:
        value = cut(variable.text, longest)
        if budget < len(variable.name) + len(value) and shown:
            left_out += 1
            continue
        budget -= len(variable.name) + len(value)
        shown[variable.name] = value
    return shown, left_out


def stopped(
    view: View,
    show: Show,
    *,
    name: str,
    before: Mapping[str, str] | None,
    budget: int = STOP_BUDGET,
    reached: bool = False,
    process: str = "",
    other_thread: bool = False,
) -> Json:
    """A stop. `before`: the variables of the same call at the last stop; then only changes are shown."""
    stop, frame = view.stop, view.frame
    answer = {"session": name, "state": "stopped", **_why(view, reached=reached)}
    if frame is None:
        answer["hint"] = "the debugger does not tell where; debug_context asks again"
        return answer
    answer["at"] = place(frame, show)
    answer["function"] = frame.name
    if view.index:
        answer["raised_in"] = f"{view.frames[0].name} ({place(view.frames[0], show)})"
        answer["frame"] = view.index
    if process:
        answer["process"] = process
    if other_thread:
        answer["thread"] = stop.thread
    if (lines := source(frame)) is not None:
        answer["source"] = lines
    if view.index not in view.foreign:
        answer |= _variables(view, before, budget)
    if before is None and len(view.frames) > view.index + 1:
        behind = range(view.index + 1, len(view.frames))
        callers = [view.frames[index] for index in behind if index not in view.foreign][:_CALLERS]
        if callers:
            answer["called_by"] = [f"{one.name} {place(one, show)}" for one in callers]
    return answer


def _why(view: View, *, reached: bool) -> Json:
    """The reason of a stop, and its description."""
    stop = view.stop
    reason = "reached" if reached else stop.reason
    if view.breakpoints and not reached:
        reason = f"breakpoint {', '.join(str(one.id) for one in view.breakpoints)}"
    answer: Json = {"reason": reason}
    is_plain = stop.reason in ("breakpoint", "step", "pause", "entry") or "breakpoint" in stop.reason
    if view.exception:
        answer["exception"] = cut(view.exception, _LONGEST_TEXT)
    elif stop.text and not is_plain:
        answer["text"] = cut(stop.text, _LONGEST_TEXT)
    if stop.description and not is_plain and not view.exception and stop.description not in stop.text:
        answer["description"] = cut(stop.description, _LONGEST_TEXT)
    return answer


def _variables(view: View, before: Mapping[str, str] | None, budget: int) -> Json:
    """The variables, or those that differ from `before`."""
    shown, left_out = values(view.variables, budget)
    answer: Json = {"variables": shown}
    if before is not None:
        changed = {
            key: f"{cut(before[key], 60)} → {value}" if key in before else value
            for key, value in shown.items()
            if before.get(key) != value
        }
        answer = {"changed": changed}
    return {**answer, "variables_left_out": left_out} if left_out else answer


def stack(view: View, show: Show, most: int) -> list[str]:
    """The calls, innermost first, each with its index: `0 cents orders.py:11`."""
    lines = [f"{index} {one.name} {place(one, show)}" for index, one in enumerate(view.frames[:most])]
    more = view.total - len(lines)
    return [*lines, *([f"… {more:,} more"] if more > 0 else [])]


def last_output(lines: Sequence[str], most: int) -> Json:
    """The last `most` of `lines`, and the number of others; nothing if there are none."""
    if not lines:
        return {}
    answer: Json = {"output": [cut(line, _LONGEST_OUTPUT) for line in lines[-most:]]}
    if len(lines) > most:
        answer["output_left_out"] = len(lines) - most
    return answer


def ended(name: str, how: Exit, lines: Sequence[str], *, error: str = "") -> Json:
    """The end, with the last output."""
    answer: Json = {"session": name, "state": "failed" if error else "ended"}
    if error:
        answer["error"] = cut(error, _LONGEST_TEXT)
    if how.signal:
        answer["signal"] = how.signal
    elif how.code is not None:
        answer["exit_code"] = how.code
    return {**answer, **last_output(lines, _LAST_LINES)}


def still(name: str, state: str, waited: float, lines: Sequence[str], builds: str = "") -> Json:
    """The answer if there is nothing to show yet: not an error, and with advice on what to do."""
    hint = STARTING.format(builds=f" ({builds})" if builds else "") if state == "starting" else NEXT
    answer: Json = {"session": name, "state": state, "waited_s": round(waited, 1)}
    return {**answer, **last_output(lines, _FEW_LINES), "next": hint}


def breakpoint_line(one: Breakpoint, show: Show, bound: str = "") -> str:
    """`1 orders.py:11: return int(amount) if price == 2 (bound)`."""
    at = one.function or (f"{show(one.path)}:{one.line}" if one.path else "?")
    parts = [f"{one.id} {at}", f": {cut(one.text, 80)}" if one.text else ""]
    parts += [f" if {one.condition}" if one.condition else "", f" from hit {one.hit} on" if one.hit else ""]
    parts += [f" log {one.log!r}" if one.log else "", f" ({bound})" if bound else ""]
    return "".join(parts)


def output_lines(lines: Sequence[Line], *, with_stream: bool) -> list[str]:
    """Lines, with their stream if several are shown."""
    names = {line.stream for line in lines}
    prefix = with_stream and len(names) > 1
    return [f"{line.stream}: {line.text}" if prefix and line.stream != "stdout" else line.text for line in lines]


def compact(answer: Json) -> str:
    """`answer` as short text: long values are on lines of their own."""
    head, body = [], []
    for key, value in answer.items():
        if isinstance(value, str) and "\n" in value:
            body.append(value)
        elif isinstance(value, dict):
            body += [f"{key}:", *(f"  {name} = {one}" for name, one in value.items())]
        elif isinstance(value, list):
            body += [f"{key}:", *(f"  {_item(one)}" for one in value)] if value else [f"{key}: none"]
        else:
            head.append(f"{key}: {value}")
    return "\n".join([", ".join(head), *body] if head else body)


def _item(one: Any) -> str:
    if not isinstance(one, dict):
        return str(one)
    shown = {key: " ".join(map(str, value)) if isinstance(value, list) else value for key, value in one.items()}
    return ", ".join(f"{key}: {value}" for key, value in shown.items())
