"""Markdown as text: putting something under a heading. Pure."""

from __future__ import annotations

import re

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


def appended(text: str, content: str, section: str | None) -> str:
    """`text` with `content` at its end, or at the end of the section whose heading is `section`.

    A section that is not there is made, as the last one, on the level of the others. A block of code that was left
    open is closed before what follows it.
    """
    content = content.strip("\n")
    lines = text.split("\n")
    headings, fence = _headings(lines)
    if fence:
        text = f"{text.rstrip()}\n{fence}"
        lines = text.split("\n")
    if section is None:
        return _joined(text, content)
    wanted = _plain(section)
    for number, (at, level, title) in enumerate(headings):
        if _plain(title) == wanted:
            end = next((other for other, deeper, _ in headings[number + 1 :] if deeper <= level), len(lines))
            before, after = "\n".join(lines[:end]), "\n".join(lines[end:])
            gap = "\n" if end == at + 1 else ""
            if after.strip() and (left_open := _headings(content.split("\n"))[1]):
                content = f"{content}\n{left_open}"
            joined = _joined(before.rstrip("\n") + gap, content)
            return joined + ("\n\n" + after if after.strip() else "")
    level = min((level for _, level, _ in headings), default=2)
    return _joined(text, f"{'#' * level} {section.strip()}\n\n{content}")


def _joined(text: str, content: str) -> str:
    return f"{text.rstrip()}\n\n{content}" if text.strip() else content


def _headings(lines: list[str]) -> tuple[list[tuple[int, int, str]], str]:
    """Line number from 0, level and title of each heading outside blocks of code; and what closes an open block."""
    found = []
    fence = ""
    for number, line in enumerate(lines):
        marker = _FENCE.match(line)
        if fence:
            if (
                marker
                and marker[1][0] == fence[0]
                and len(marker[1]) >= len(fence)
                and not line.strip().strip(fence[0])
            ):
                fence = ""
        elif marker:
            fence = marker[1]
        elif heading := _HEADING.match(line):
            found.append((number, len(heading[1]), heading[2]))
    return found, fence


def _plain(title: str) -> str:
    return " ".join(title.strip().strip("#").split()).casefold()
