"""Changes of a text in the history: small, and enough to compute each version from the other. Pure."""

from __future__ import annotations

from typing import Any, TypedDict

_WHOLE = 200  # characters of both texts that are stored whole, for readers of the history


class TextChange(TypedDict):
    """One place of a text: at the character `at` (from 0), `removed` was replaced by `added`."""

    at: int
    removed: str
    added: str


def change(before: Any, after: Any) -> list[Any] | TextChange:
    """A field's change in the history: [before, after], for long texts only where they differ."""
    if not isinstance(before, str) or not isinstance(after, str) or len(before) + len(after) <= _WHOLE:
        return [before, after]
    at = _common(before, after)
    same = _common(before[at:][::-1], after[at:][::-1])
    return {"at": at, "removed": before[at : len(before) - same], "added": after[at : len(after) - same]}


def before(after: Any, kept: list[Any] | TextChange) -> Any:
    """The earlier value, from the later one and the change.

    Raises:
        ValueError: the change is not of this text.
    """
    if isinstance(kept, list):
        return kept[0]
    at, end = kept["at"], kept["at"] + len(kept["added"])
    if not isinstance(after, str) or after[at:end] != kept["added"]:
        raise ValueError("another text")
    return after[:at] + kept["removed"] + after[end:]


def _common(one: str, other: str) -> int:
    """The length of their common prefix."""
    shortest = min(len(one), len(other))
    return next((at for at in range(shortest) if one[at] != other[at]), shortest)
