"""What is nested in code, replaced from the inside out: `replaced_inside_out`. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable


def replaced_inside_out(pattern: re.Pattern[str], instead: str | Callable[[re.Match[str]], str], code: str) -> str:
    """`code` with `instead` for each match of `pattern`, again until nothing changes.

    A pattern that excludes its own brackets matches the innermost pair first. `instead` must leave nothing that
    `pattern` matches again and again: this would not end.
    """
    while (shorter := pattern.sub(instead, code)) != code:
        code = shorter
    return code
