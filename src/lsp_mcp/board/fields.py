"""Constraints of texts, titles and tags. Raises `CallerError`s that say what is allowed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from lsp_mcp.errors import CallerError

MOST_TITLE = 300  # characters
MOST_TEXT = 200_000  # characters of a description, a standard, a snippet
MOST_MESSAGE = 4_000
_MOST_TAGS, _MOST_TAG = 20, 60
MOST_NAME = 60
_MOST_BRANCH = 255
_MOST_SOUGHT = 300
# Control characters, lone surrogates, and characters that reverse the text after them, which right-to-left text does
# not need.
_BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def now() -> str:
    """The time, UTC, in the format of the tables."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def before(time: str, seconds: float) -> str:
    """The time that many seconds before another."""
    return (datetime.fromisoformat(time) - timedelta(seconds=seconds)).isoformat(timespec="microseconds")


def title(value: str, what: str = "title") -> str:
    """One line of text that is not empty."""
    text = " ".join(value.split())
    if all(unicodedata.category(char)[0] in "CZ" for char in _clean(text, what)):
        raise CallerError(f"the {what} is empty; summarize it in a few words.")
    if len(text) > MOST_TITLE:
        raise CallerError(
            f"the {what} has {len(text):,} characters; at most {MOST_TITLE} are allowed. Put the rest into the text."
        )
    return text


def body(value: str, what: str = "description", most: int = MOST_TEXT) -> str:
    """Text of several lines, which may be empty."""
    if len(value) > most:
        raise CallerError(f"the {what} has {len(value):,} characters; at most {most:,} are allowed. Split it.")
    return _clean(value.replace("\r\n", "\n").replace("\r", "\n"), what)


def message(value: str, what: str = "message") -> str:
    """Text for a person, which is not empty."""
    text = body(value.strip(), what, MOST_MESSAGE)
    if not text:
        raise CallerError(f"the {what} is empty.")
    return text


def tags(values: Iterable[str]) -> list[str]:
    """Tags in their order, each once."""
    found = list(dict.fromkeys(" ".join(value.split()) for value in values))
    if len(found) > _MOST_TAGS:
        raise CallerError(f"there are {len(found)} tags; at most {_MOST_TAGS} are allowed.")
    for tag in found:
        if not tag or len(tag) > _MOST_TAG or "," in tag:
            raise CallerError(f"{tag[:80]!r} cannot be a tag: 1 to {_MOST_TAG} characters, without commas.")
        _clean(tag, "tag")
    return found


def tag_key(tag: str) -> str:
    """The search key of a tag: the same for all its spellings."""
    return " ".join(tag.split()).casefold()[:_MOST_TAG]


def sought(value: str, what: str = "text") -> str:
    """A search text: an id that was typed, or a part of a text."""
    text = value.strip()
    if len(text) > _MOST_SOUGHT:
        raise CallerError(f"the {what} has {len(text):,} characters; at most {_MOST_SOUGHT} can be searched for.")
    return _clean(text, what)


USUAL_PRIORITY = 2


def priority(value: str | int) -> int:
    """0 to 4, from `P0` (the most urgent) to `P4`."""
    digits = str(value).strip().upper().removeprefix("P")
    if digits not in ("0", "1", "2", "3", "4"):
        raise CallerError(
            f"{str(value)[:20]!r} is not a priority; use P0 (most urgent) to P4 (least urgent). P2 is the default."
        )
    return int(digits)


def due(value: str) -> str | None:
    """A day, as 2026-12-31; None if it is empty."""
    text = value.strip()
    try:
        if text and date.fromisoformat(text).isoformat() != text:
            raise ValueError
    except ValueError:
        raise CallerError(f"{value[:40]!r} is not a day; write it as 2026-12-31, or leave it empty.") from None
    return text or None


def branch(value: str) -> str | None:
    """The name of a branch of git's; None if it is empty."""
    text = _clean(value.strip(), "branch")
    if text.startswith("-") or len(text) > _MOST_BRANCH or len(text.split()) > 1:
        raise CallerError(f"{value[:60]!r} cannot be a branch: one word of at most {_MOST_BRANCH} characters.")
    return text or None


def printable(value: str, most: int) -> str:
    """Text from elsewhere, as far as it can be stored."""
    return _BAD.sub("", value)[:most]


def name(value: str, what: str = "name") -> str:
    """A short name."""
    text = title(value, what)
    if len(text) > MOST_NAME:
        raise CallerError(f"the {what} has {len(text)} characters; at most {MOST_NAME} are allowed.")
    return text


def _clean(text: str, what: str) -> str:
    if bad := _BAD.search(text):
        raise CallerError(f"the {what} has the control character U+{ord(bad[0]):04X} at character {bad.start() + 1}.")
    return text
