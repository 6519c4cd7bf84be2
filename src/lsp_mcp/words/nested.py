"""What is nested in code: replaced from the inside out, or followed up to places in it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator


def replaced_inside_out(pattern: re.Pattern[str], instead: str | Callable[[re.Match[str]], str], code: str) -> str:
    """`code` with `instead` for each match of `pattern`, again until nothing changes.

    A pattern that excludes its own brackets matches the innermost pair first. `instead` must leave nothing that
    `pattern` matches again and again: this would not end.
    """
    while (shorter := pattern.sub(instead, code)) != code:
        code = shorter
    return code


def read_up_to(
    places: Iterable[int], pattern: re.Pattern[str], code: str, read: Callable[[re.Match[str]], object]
) -> Iterator[None]:
    """Yield for each of `places`, offsets in order, once `read` was called with each match that begins before it."""
    matches = pattern.finditer(code)
    match = next(matches, None)
    for place in places:
        while match and match.start() < place:
            read(match)
            match = next(matches, None)
        yield
