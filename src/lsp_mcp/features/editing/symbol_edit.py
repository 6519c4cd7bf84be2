"""Edits of whole declarations, computed on their text: `edited`. Pure."""

from __future__ import annotations

import re
import textwrap
from itertools import accumulate
from typing import Literal

from lsp_mcp.adapters import Language
from lsp_mcp.errors import CallerError
from lsp_mcp.requests.declaration import Declaration
from lsp_mcp.text import Point, Text

Action = Literal["replace", "replace_body", "insert_before", "insert_after", "delete"]


def edited(declared: Declaration, action: Action, code: str, language: Language | None, *, nested: bool) -> str:
    """The text of the file after `action` on the declaration; `nested`: it is inside another one.

    `code` may have any indentation and line ends, which are adapted. A comment above the declaration is replaced only
    by code that begins with one.

    Raises:
        CallerError: it has no body, or there is no code.
    """
    text = declared.text
    newline = "\r\n" if "\r\n" in text.content else "\n"
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    if action not in ("delete", "replace_body") and not code.strip():
        raise CallerError(f"code is empty; pass what to {action.replace('_', ' ')}, or use action=delete.")
    if action == "replace_body":
        return _with_body(declared, code, newline)
    indent = _indent(text, declared.code.start)
    if action == "delete":
        start, end = _whole_lines(declared)
        return _without(text.content, start, end)
    block = textwrap.indent(textwrap.dedent(code).strip("\n"), indent)
    if action == "replace":
        span = declared.span if declared.doc and _begins_with_comment(code, language) else declared.code
        start, end = text.point_offset(span.start), text.point_offset(span.end)
        return text.content[:start] + block[len(indent) :].replace("\n", newline) + text.content[end:]
    start, end = _whole_lines(declared)
    gap = newline if not nested or "\n" in block or declared.body else ""
    block = block.replace("\n", newline) + newline
    if action == "insert_before":
        return text.content[:start] + block + gap + text.content[start:]
    before = text.content[:end]
    if not before.endswith(("\n", "\r")):
        before += newline
    return before + gap + block + text.content[end:]


def _with_body(declared: Declaration, code: str, newline: str) -> str:
    text, inner = declared.text, declared.inner
    if inner is None or declared.body is None:
        raise CallerError("it has no body; use action=replace with the whole declaration.")
    start, end = text.point_offset(inner.start), text.point_offset(inner.end)
    bare = textwrap.dedent(code).strip("\n")
    braced = declared.body != inner
    if braced and _is_block(bare.strip()):
        bare = textwrap.dedent(bare.strip()[1:-1].strip("\n")).rstrip()
    own = _indent(text, declared.code.start)
    if not braced:
        block = textwrap.indent(bare, _indent(text, inner.start))
        return text.content[:start] + block.lstrip(" \t").replace("\n", newline) + text.content[end:]
    within = _inner_indent(text.content[start:end], own)
    block = textwrap.indent(bare, within)
    body = f"\n{block}\n{own}" if bare.strip() else f"\n{own}"
    return text.content[:start] + body.replace("\n", newline) + text.content[end:]


def _is_block(code: str) -> bool:
    """Whether the closing brace at the end of `code` matches the brace at its start."""
    if not (code.startswith("{") and code.endswith("}")):
        return False
    depth = list(accumulate({"{": 1, "}": -1}.get(character, 0) for character in code))
    return 0 not in depth[:-1]


def _inner_indent(inner: str, own: str) -> str:
    """The indentation inside a block, taken from its first line; else one step more than `own`."""
    for line in inner.splitlines()[1:]:
        if line.strip():
            return line[: len(line) - len(line.lstrip())]
    return own + ("\t" if "\t" in own or not own else "    ")


def _begins_with_comment(code: str, language: Language | None) -> bool:
    marks = [language.line_comment, *language.block_comment[:1]] if language else []
    return code.lstrip().startswith(tuple(mark for mark in marks if mark))


def _indent(text: Text, point: Point) -> str:
    line = text.line(point.line)
    return line[: len(line) - len(line.lstrip())]


def _whole_lines(declared: Declaration) -> tuple[int, int]:
    """The offsets of the lines of a declaration, including the last end; of it alone if others share them."""
    text, span = declared.text, declared.span
    start, end = text.point_offset(span.start), text.point_offset(span.end)
    if not declared.whole_lines:
        return start, end
    start = text.point_offset(Point(span.start.line, 1))
    match = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)?").match(text.content, end)
    return start, match.end() if match else end


def _without(content: str, start: int, end: int) -> str:
    """`content` without a range, and without one of two adjacent blank lines that result."""
    before, after = content[:start], content[end:]
    if not after.strip():
        kept = before.rstrip()
        line_end = re.match(r"[ \t]*(\r\n|\n|\r)", before[len(kept) :])
        return kept + (line_end[1] if line_end and kept else "")
    blank = re.match(r"[ \t]*(?:\r\n|\n|\r)", after)
    if blank and re.search(r"(?:^|\n|\r)[ \t]*(?:\r\n|\n|\r)\Z", before):
        after = after[blank.end() :]
    return before + after
