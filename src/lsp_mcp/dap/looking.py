"""The state of a stopped program: `View`, of one `Stop`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_mcp.dap.adapter import DebugAdapter
from lsp_mcp.dap.breakpoints import Breakpoint
from lsp_mcp.dap.session import DebugSession
from lsp_mcp.dap.target import Stop, Target, quietly
from lsp_mcp.dap.variables import Variable, of_frame
from lsp_mcp.errors import CallerError, RefusedError
from lsp_mcp.protocol.dap import StackFrame

_FRAMES = 25  # requested at each stop
_MOST_THREADS = 24  # searched for one in code of the workspace


@dataclass(frozen=True)
class Frame:
    """One call on the stack; `path` is None without a source on this machine."""

    id: int
    name: str
    path: Path | None
    line: int
    source: str = ""  # what the adapter calls it

    @property
    def has_source(self) -> bool:
        """Whether its line can be shown."""
        return self.path is not None and self.line > 0


@dataclass(frozen=True)
class View:
    """A stop: the shown frame is the program's own, though another one may be on top."""

    stop: Stop
    frames: tuple[Frame, ...]
    total: int  # frames
    index: int  # of the frame that is shown
    variables: tuple[Variable, ...] = ()
    exception: str = ""
    breakpoints: tuple[Breakpoint, ...] = ()
    broken_conditions: tuple[str, ...] = ()
    foreign: frozenset[int] = frozenset()  # indices of frames that are not the program's own

    @property
    def frame(self) -> Frame | None:
        """The frame that is shown."""
        return self.frames[self.index] if self.frames else None


async def look(session: DebugSession, stop: Stop, frame: int | None = None, *, root: Path) -> View:
    """The view at `stop`, of the frame with this index, or of the most relevant one.

    Raises:
        CallerError: there is no such frame.
    """
    target = stop.target
    answer = (
        await quietly(target.ask("stackTrace", {"threadId": stop.thread, "startFrame": 0, "levels": _FRAMES})) or {}
    )
    frames = tuple(_frame(one, session.plan.adapter) for one in answer.get("stackFrames") or ())
    total = max(answer.get("totalFrames") or 0, len(frames))
    if frame is not None and not 0 <= frame < max(1, len(frames)):
        raise CallerError(f"there is no frame {frame}; the stack has {len(frames)}, from 0.")
    index = frame if frame is not None else _telling(session, stop, frames, root)
    if not frames:
        return View(stop, (), 0, 0, exception=await _exception(session, stop))
    shown = frames[index]
    top = frames[0]
    hit = _on_breakpoint(session, stop, top.path, top.line)
    foreign = frozenset(set(range(len(frames))) - set(_own(session, frames)))
    variables, exception, broken = await asyncio.gather(
        of_frame(target, session.plan.adapter.variables, shown.id),
        _exception(session, stop),
        _broken(session, target, top, hit),
    )
    return View(stop, frames, total, index, tuple(variables), exception, tuple(hit), tuple(broken), foreign)


def _telling(session: DebugSession, stop: Stop, frames: Sequence[Frame], root: Path) -> int:
    """The index of the frame to show: at a step or a breakpoint the top, else the first of the program's own."""
    if stop.reason in ("step", "goto", "entry") or "breakpoint" in stop.reason:
        return 0
    own = _own(session, frames)
    inside = [index for index in own if (path := frames[index].path) and path.is_relative_to(root)]
    return next(iter(inside or own), 0)


def _own(session: DebugSession, frames: Sequence[Frame]) -> list[int]:
    """The indices of the frames that are the program's own."""
    foreign = [re.compile(pattern) for pattern in session.plan.adapter.not_it]
    return [
        index
        for index, one in enumerate(frames)
        if one.has_source and not any(pattern.search(str(one.path)) for pattern in foreign)
    ]


async def own_thread(session: DebugSession, stop: Stop, root: Path) -> Stop:
    """`stop`, of the first thread that is in code of the workspace: a pause may stop a thread that is not."""
    threads = (await quietly(stop.target.ask("threads")) or {}).get("threads") or ()
    numbers = [one.get("id") for one in threads if isinstance(one.get("id"), int)]
    for number in [stop.thread, *(one for one in numbers if one != stop.thread)][:_MOST_THREADS]:
        arguments = {"threadId": number, "startFrame": 0, "levels": _FRAMES}
        answer = await quietly(stop.target.ask("stackTrace", arguments)) or {}
        frames = [_frame(one, session.plan.adapter) for one in answer.get("stackFrames") or ()]
        if any((path := frames[index].path) and path.is_relative_to(root) for index in _own(session, frames)):
            return replace(stop, thread=number)
    return stop


def _frame(one: StackFrame, adapter: DebugAdapter) -> Frame:
    source = one.get("source") or {}
    path = source.get("path")
    is_here = isinstance(path, str) and path and not source.get("sourceReference")
    if isinstance(path, str) and path and not is_here:
        is_here = Path(path).is_file()
    return Frame(
        int(one.get("id") or 0),
        adapter.plain(str(one.get("name") or "?")),
        Path(str(path)) if is_here else None,
        int(one.get("line") or 0),
        str(source.get("name") or path or ""),
    )


async def _exception(session: DebugSession, stop: Stop) -> str:
    """The exception, in the adapter's words; empty if there is none."""
    if stop.reason != "exception":
        return ""
    said = stop.text or stop.description
    if not stop.target.can("supportsExceptionInfoRequest"):
        return said
    info = await quietly(stop.target.ask("exceptionInfo", {"threadId": stop.thread})) or {}
    details = info.get("details") or {}
    name = str(details.get("typeName") or info.get("exceptionId") or "")
    reason = str(info.get("description") or details.get("message") or "")
    text = reason if reason.startswith(name) else f"{name}: {reason}" if reason else name
    return session.plan.adapter.plain(text or said)


async def _broken(session: DebugSession, target: Target, top: Frame, hit: Sequence[Breakpoint]) -> list[str]:
    """Why the conditions of the breakpoints at this place failed, if that is why the program stopped."""
    found = []
    for one in hit:
        if not one.condition:
            continue
        arguments = {"expression": one.condition, "frameId": top.id, "context": session.plan.adapter.context}
        try:
            await target.ask("evaluate", arguments)
        except RefusedError as error:
            found.append(f"its condition {one.condition!r} cannot be evaluated: {error}")
    return found


def hit_by_id(session: DebugSession, stop: Stop) -> list[Breakpoint]:
    """The breakpoints of which the adapter says that `stop` hit them."""
    return [one for one in session.breakpoints if one.id in stop.target.hit(stop.hit)]


def _on_breakpoint(session: DebugSession, stop: Stop, path: Path | None, line: int) -> list[Breakpoint]:
    """The breakpoints at `stop`, by the adapter's ids or by place."""
    bound = stop.target.bound
    by_id = hit_by_id(session, stop)
    if by_id or path is None or stop.reason == "step":
        return by_id
    here = [
        one
        for one in session.breakpoints.in_file(path)
        if line == one.line or (one.id in bound and bound[one.id].line == line)
    ]
    # To some adapters, a condition that cannot be evaluated is an exception.
    return here if "breakpoint" in stop.reason else [one for one in here if one.condition]
