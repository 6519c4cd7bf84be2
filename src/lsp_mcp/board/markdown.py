"""Markdown as text: putting something under a heading, and ticking checkboxes. Pure; CommonMark says what is what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from lsp_mcp.errors import CallerError
from lsp_mcp.prose import first_few

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_BOX = re.compile(r"(?P<before>[\s>*+\-\d.)]*\[)(?P<mark>[ xX])\][ \t]+(?P<text>\S.*)")


@dataclass(frozen=True)
class Box:
    """A checkbox: an item of a list that begins with `[ ]` or `[x]`."""

    line: int  # from 0
    text: str
    ticked: bool


class _Heading(NamedTuple):
    start: int  # the line, from 0
    end: int  # the line behind it
    level: int
    title: str


def appended(text: str, content: str, section: str | None) -> str:
    """`text` with `content` at its end, or at the end of the section whose heading is `section`.

    A section that is not there is made, as the last one, on the level of the others. A block of code that was left
    open is closed before what follows it.
    """
    content = content.strip("\n")
    if fence := _open_fence(text):
        text = f"{text.rstrip()}\n{fence}"
    if section is None:
        return _joined(text, content)
    lines = text.split("\n")
    headings = _headings(text)
    wanted = _plain(section)
    for number, found in enumerate(headings):
        if _plain(found.title) == wanted:
            end = next((one.start for one in headings[number + 1 :] if one.level <= found.level), len(lines))
            before, after = "\n".join(lines[:end]), "\n".join(lines[end:])
            gap = "\n" if end == found.end else ""
            if after.strip() and (left_open := _open_fence(content)):
                content = f"{content}\n{left_open}"
            joined = _joined(before.rstrip("\n") + gap, content)
            return joined + ("\n\n" + after if after.strip() else "")
    level = min((found.level for found in headings), default=2)
    return _joined(text, f"{'#' * level} {section.strip()}\n\n{content}")


def checkboxes(text: str) -> list[Box]:
    """The checkboxes of a text, in order."""
    if "[" not in text:
        return []
    lines = text.split("\n")
    tokens = _parsed(text)
    items = [second for first, second in pairwise(tokens) if first.type == "list_item_open" and second.map]
    starts = [one.map[0] for one in items if one.type == "paragraph_open" and one.map]
    found = [(line, _BOX.match(lines[line])) for line in starts]
    return [Box(line, box["text"].strip(), box["mark"] != " ") for line, box in found if box]


def ticked(text: str, items: Sequence[str], *, done: bool = True) -> str:
    """`text` with those checkboxes ticked, or cleared if not `done`; all else stays as it is.

    Args:
        items: each a number, from 1, or the text of a checkbox or a part of it, in any case.

    Raises:
        CallerError: there is no such checkbox, or several; the message lists them.
    """
    boxes = checkboxes(text)
    lines = text.split("\n")
    for item in items:
        box = _box(boxes, item)
        line = lines[box.line]
        if match := _BOX.match(line):
            at = match.start("mark")
            lines[box.line] = f"{line[:at]}{'x' if done else ' '}{line[at + 1 :]}"
    return "\n".join(lines)


# --- inside ----------------------------------------------------------------------------------------


def _box(boxes: Sequence[Box], item: str) -> Box:
    wanted = " ".join(item.split()).casefold()
    if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted) <= len(boxes):
        return boxes[int(wanted) - 1]
    texts = [" ".join(box.text.split()).casefold() for box in boxes]
    same = [box for box, text in zip(boxes, texts, strict=True) if text == wanted]
    found = same or [box for box, text in zip(boxes, texts, strict=True) if wanted and wanted in text]
    if len(found) == 1:
        return found[0]
    listed = first_few([f"{number} {box.text[:60]}" for number, box in enumerate(boxes, 1) if box in (found or boxes)])
    what = "is the text of several checkboxes; pass a number" if found else "is not a checkbox of the description"
    raise CallerError(f"{item[:60]!r} {what}: {listed or 'it has none'}.")


def _joined(text: str, content: str) -> str:
    return f"{text.rstrip()}\n\n{content}" if text.strip() else content


def _headings(text: str) -> list[_Heading]:
    tokens = _parsed(text)
    return [
        _Heading(first.map[0], first.map[1], int(first.tag[1:]), second.content)
        for first, second in pairwise(tokens)
        if first.type == "heading_open" and first.level == 0 and first.map
    ]


def _open_fence(text: str) -> str:
    """What closes the block of code that a text leaves open; empty if it leaves none."""
    if "```" not in text and "~~~" not in text:
        return ""
    last = next((token for token in reversed(_parsed(text)) if token.level == 0), None)
    if last is None or last.type != "fence" or last.map is None:
        return ""
    start, end = last.map
    closing = text.split("\n")[end - 1].strip() if end - 1 > start else ""
    closed = len(closing) >= len(last.markup) and not closing.strip(last.markup[0])
    return "" if closed else last.markup


def _parsed(text: str) -> list[Token]:
    return _parser().parse(text)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable("inline")  # what is in a line does not matter here


def _plain(title: str) -> str:
    return " ".join(title.strip().strip("#").split()).casefold()
