"""Gaps as data: `gap_objects`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.gaps import Gap

_MOST_FILES = 20  # listed for one gap


def gap_objects(gaps: Sequence[Gap], display_path: Callable[[Path], str]) -> list[dict[str, Any]]:
    """`gaps` as JSON objects: `kind`, `hides`, and if files are concerned `files`, the first 20, and `more_files`.

    Their texts are in `status`.
    """
    return [_object(gap, display_path) for gap in gaps]


def _object(gap: Gap, display_path: Callable[[Path], str]) -> dict[str, Any]:
    out: dict[str, Any] = {"kind": gap.kind, "hides": gap.hides}
    if gap.files:
        out["files"] = [display_path(path) for path in gap.files[:_MOST_FILES]]
    if len(gap.files) > _MOST_FILES:
        out["more_files"] = len(gap.files) - _MOST_FILES
    return out
