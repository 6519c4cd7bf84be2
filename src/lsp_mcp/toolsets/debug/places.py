"""Places in arguments of the debug tools: `Places` reads `FILE:LINE`, `FILE:TEXT`, anchors and names of functions."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path

from lsp_mcp.anchors import is_anchor, parse_anchor
from lsp_mcp.dap.adapter import debuggers
from lsp_mcp.dap.breakpoints import read_source
from lsp_mcp.errors import AnchorError, CallerError, LspMcpError, PathError
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.symbols import Symbol, flat
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.text import Text
from lsp_mcp.toolsets.symbols import Targets
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.visible import quoted

log = logging.getLogger(__name__)

_LINE = re.compile(r"(?P<file>.+?):(?P<line>\d{1,7})(?::\d+)?")
_FUNCTION = re.compile(r"[^\s:/\\#]+(?:::[^\s:/\\#]+)*")
_LISTED = 6  # lines listed in an error
_LONGEST_HEAD = 40  # lines of a function's declaration


@dataclass(frozen=True)
class Where:
    """A line of a file, or a function by its name."""

    path: Path | None = None
    line: int = 0
    function: str = ""


class Places:
    """Finds places in the workspace of `sessions`, with language servers where they run."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._targets = Targets(sessions)

    async def find(self, call: Call, spelled: str) -> Where:
        """The place that `spelled` means.

        Raises:
            CallerError: there is no such place, or several.
        """
        spelled = spelled.strip()
        if is_anchor(spelled):
            return await self._anchor(call, spelled)
        if (found := _LINE.fullmatch(spelled)) and (path := self._file(found["file"])):
            return Where(path, int(found["line"]))
        for index in (match.start() for match in re.finditer(":", spelled)):
            if path := self._file(spelled[:index]):
                return Where(path, _line_with(path, spelled[index:].removeprefix(":").strip(), spelled[:index]))
        if found:
            self._sessions.workspace.file(found["file"])  # explains why not
        if self._file(spelled):
            raise CallerError(f"{spelled} is a file; name a line in it: {spelled}:LINE or {spelled}:TEXT OF THE LINE.")
        return await self._named(call, spelled)

    async def function_of(self, path: Path, line: int) -> str | None:
        """The anchor of the function around `line` of `path`; None if no language server knows it."""
        try:
            backend = self._sessions.for_path(path)
            outline = flat(await document_symbols(backend, path))
        except LspMcpError:
            return None
        around = [one for one in outline if _holds(one, line)]
        if not around:
            return None
        innermost = max(around, key=lambda one: one.place.span.start)
        self._targets.hand_out_readable([innermost.place])
        return self._targets.anchor(path, innermost.place.span.start)

    def _file(self, name: str) -> Path | None:
        try:
            return self._sessions.workspace.file(name)
        except PathError:
            return None

    async def _anchor(self, call: Call, spelled: str) -> Where:
        anchor = parse_anchor(spelled)
        path = self._sessions.workspace.file(anchor.file)
        line = anchor.point.line
        try:
            target = await self._targets.target(await self._targets.handle(call, spelled))
            path, line = target.path, target.identifier.start.line
            for gap in target.resolved:
                call.remark(gap.text)
        except AnchorError:
            raise
        except LspMcpError as error:
            log.info("the anchor %s is taken as it is: %s", spelled, error)
        return Where(path, body_line(path, read_source(path), line))

    async def _named(self, call: Call, name: str) -> Where:
        if not _FUNCTION.fullmatch(name):
            raise CallerError(
                f"{quoted(name)} is not a location: pass FILE:LINE, FILE:TEXT OF THE LINE, an anchor or a function."
            )
        if self._sessions.backends:
            try:
                target = await self._targets.target(await self._targets.handle(call, name))
                line = target.identifier.start.line
                return Where(target.path, body_line(target.path, target.text, line))
            except LspMcpError as error:
                log.info("%s is left to the debugger: %s", name, error)
        return Where(function=name)


def _holds(symbol: Symbol, line: int) -> bool:
    return symbol.extent is not None and symbol.extent.start.line <= line <= symbol.extent.end.line


def body_line(path: Path, text: Text, line: int) -> int:
    """The line of the first statement of the function declared on `line`, if the declaration itself is executed."""
    adapter = next((one for one in debuggers() if path.suffix in one.extensions), None)
    if adapter is None or not adapter.head_pattern or not 1 <= line <= text.line_count:
        return line
    if not re.search(adapter.head_pattern, text.line(line)):
        return line
    in_body = False
    for number, code in enumerate(text.lines(), 1):
        if number < line:
            continue
        if number > line + _LONGEST_HEAD:
            break
        if in_body and code.strip():
            return number
        in_body = in_body or re.search(adapter.head_end, code) is not None
    return line


def _line_with(path: Path, wanted: str, shown: str) -> int:
    """The only line of `path` with the text `wanted`.

    Raises:
        CallerError: there is none, or several.
    """
    if not wanted:
        raise CallerError(f"{shown}: which line? Pass {shown}:LINE or {shown}:TEXT OF THE LINE.")
    lines = list(enumerate(read_source(path).lines(), 1))
    there = [number for number, code in lines if code.strip() == wanted] or [
        number for number, code in lines if wanted in code
    ]
    if len(there) == 1:
        return there[0]
    if not there:
        raise CallerError(f"no line of {shown} has the text {quoted(wanted)}.")
    listed = ", ".join(f"{shown}:{number}" for number in there[:_LISTED])
    raise CallerError(f"{len(there)} lines of {shown} have the text {quoted(wanted)}; pass one of {listed}.")
