"""Cells of notebooks, which a server names like files, and which are none: `without_cells`."""

from __future__ import annotations

from typing import Any

_NAMING = ("uri", "targetUri", "textDocument", "location", "from", "to")


def without_cells(answer: Any) -> Any:
    """A server's answer without the places and edits in cells of notebooks (`file:///a.ipynb#0`)."""
    if isinstance(answer, list):
        return [without_cells(one) for one in answer if not _is_cell(one)]
    if not isinstance(answer, dict):
        return answer
    return {key: without_cells(one) for key, one in answer.items() if not _is_cell(key)}


def _is_cell(value: Any) -> bool:
    """Whether a URI, or an object that is placed by one, is of a cell."""
    if isinstance(value, str):
        return value.startswith("file:") and ".ipynb#" in value
    return isinstance(value, dict) and any(_is_cell(value.get(key)) for key in _NAMING)
