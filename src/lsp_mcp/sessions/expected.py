"""The files that a coming call may be about, from its arguments alone: `file_names`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

_NAME = re.compile(r"""(?:[a-z][a-z0-9+.-]*://)?([^\s"'`()<>|:#,;=]+\.\w+)""", re.I)


def file_names(arguments: Iterable[str]) -> Iterator[str]:
    """What may be names of files in a call's `arguments`: anchors, addresses such as `FILE:LINE`, and paths.

    For preparations only: names with spaces are not found, and other words may be.
    """
    for argument in arguments:
        for found in _NAME.finditer(argument):
            yield unquote(found[1])
