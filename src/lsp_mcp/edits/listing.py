"""Lists in brackets, such as parameters and arguments, with other items: `Listing.inner`. Pure.

Items keep their comments; an item that is added gets the white space of its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

_BREAK = re.compile(r"(?:\r\n|\n|\r)[ \t]*\Z")


class Item(Struct, frozen=True):
    """An item with its comments; `before` it is white space, `behind` its comma maybe a comment that ends the line."""

    start: int
    end: int
    before: str = ""
    behind: str = ""


class Slot(Struct, frozen=True):
    """An item of the new list: `text`, in place of the old item `index`; None: a new one."""

    text: str
    index: int | None = None


class Listing(Struct, frozen=True):
    """A list: between its brackets, from `start` to `end`, are its items; `tail` follows the last one."""

    start: int
    end: int
    items: tuple[Item, ...] = ()
    has_last_comma: bool = False
    tail: str = ""

    def inner(self, slots: Sequence[Slot]) -> str:
        """The text between the brackets with the items `slots`."""
        if not slots:
            return ""
        pieces = [self._before(number, slot) + slot.text for number, slot in enumerate(slots)]
        behind = [self.items[slot.index].behind if slot.index is not None else "" for slot in slots]
        last = len(slots) - 1
        text = ""
        for number, piece in enumerate(pieces):
            comma = "," if number < last or self.has_last_comma else ""
            joins_comment = text and not _BREAK.match(piece[: len(piece) - len(piece.lstrip())]) and behind[number - 1]
            text += (self._line() + piece.lstrip() if joins_comment else piece) + comma + behind[number]
        tail = self.tail if self.items else ""
        return text + (self._line() if behind[last] and not tail.lstrip(" \t") else tail)

    def _before(self, number: int, slot: Slot) -> str:
        """The white space before the item `number` of the new list."""
        first = self.items[0].before if self.items else ""
        if number == 0:
            return first
        if slot.index:
            return self.items[slot.index].before
        breaks = [one.before for one in self.items if _BREAK.search(one.before)]
        return breaks[-1] if len(breaks) == len(self.items) > 0 else " "

    def _line(self) -> str:
        """A line end, as before one of the items."""
        return next((one.before for one in self.items if _BREAK.search(one.before)), "\n")


def listing(
    content: str, start: int, end: int, spans: Sequence[tuple[int, int]], is_code: Callable[[int], bool]
) -> Listing:
    """The list between `start` and `end` of `content`, behind and before its brackets, with items at `spans`.

    Raises:
        ValueError: there is something else than commas and comments between the items.
    """
    items: list[Item] = []
    at, behind_comma, has_comma = start, "", False
    edges = [*spans, (end, end)]
    for number, (first, last) in enumerate(edges):
        gap = content[at:first]
        comma = next((at + n for n, one in enumerate(gap) if one == "," and is_code(at + n)), None)
        if number and (comma is not None or number < len(spans)):
            before_comma = content[at:comma]
            if comma is None or ("\n" in before_comma and before_comma.strip()):
                raise ValueError("no comma behind an item, in its line, between two items")
            items[-1] = _extended(items[-1], content, comma)
            at, has_comma = comma + len(","), number == len(spans)
            behind_comma = _rest_of_line(content, at, first, is_code)
            items[-1] = Item(items[-1].start, items[-1].end, items[-1].before, behind_comma)
            at += len(behind_comma)
        elif number and number == len(spans):
            behind = _rest_of_line(content, at, first, is_code)
            items[-1] = Item(items[-1].start, items[-1].end, items[-1].before, behind)
            if not behind:
                items[-1] = _extended(items[-1], content, first)
            at = items[-1].end + len(behind)
        gap = content[at:first]
        if any(not one.isspace() and is_code(at + n) for n, one in enumerate(gap)):
            raise ValueError("something else than a comma between two items")
        if number < len(spans):
            white = gap[: len(gap) - len(gap.lstrip())]
            items.append(Item(at + len(white), last, white))
            at = last
    return Listing(start, end, tuple(items), has_comma, content[at:end])


def _extended(item: Item, content: str, until: int) -> Item:
    """`item` with the comments behind it, up to `until`."""
    return Item(item.start, item.end + len(content[item.end : until].rstrip()), item.before)


def _rest_of_line(content: str, start: int, until: int, is_code: Callable[[int], bool]) -> str:
    """A comment that ends the line behind a comma, with the white space before it; empty if there is none."""
    line, *more = re.split(r"\r\n|\n|\r", content[start:until], maxsplit=1)
    has_code = any(not one.isspace() and is_code(start + number) for number, one in enumerate(line))
    return line.rstrip() if more and line.strip() and not has_code else ""
