"""Single values out of files, checked. Pure; raises `CallerError`s that say what is wrong, not in which file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from lsp_mcp.anchors import parse_anchor
from lsp_mcp.board import fields
from lsp_mcp.board.ids import read_id
from lsp_mcp.errors import CallerError

_ID = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
_LONGEST_ID, _LONGEST_STAGE, _LONGEST_WHO = 40, 64, 80
_MOST_NUMBER = 2**31 - 1  # of PostgreSQL's integers
_LONGEST_LINE = 300  # characters of a standard's description
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STATES = ("known", "unknown", "gone")
_NEVER = re.compile("[\0\ud800-\udfff]")  # no database takes them


class Reader:
    """The values of one object, each taken once; what nobody took is an error in the end."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def text(self, key: str, default: str | None = None) -> str:
        """A text; without a default it must be there."""
        value = self._values.pop(key, default)
        if not isinstance(value, str):
            raise CallerError(f"{key} is missing" if value is None else f"{key} is not a text")
        return value

    def whole(self, key: str, default: int) -> int:
        """A number that counts something."""
        value = self._values.pop(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_NUMBER:
            raise CallerError(f"{key} is not a number from 0 to {_MOST_NUMBER}")
        return value

    def number(self, key: str) -> float | None:
        """A number, if it is there."""
        value = self._values.pop(key, None)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise CallerError(f"{key} is not a number")
        try:
            found = float(value)
        except OverflowError:
            found = math.inf
        if not math.isfinite(found):
            raise CallerError(f"{key} is too large")
        return found

    def flag(self, key: str) -> bool:
        """True or false, which is what it is without one."""
        value = self._values.pop(key, False)
        if not isinstance(value, bool):
            raise CallerError(f"{key} is neither true nor false")
        return value

    def texts(self, key: str) -> list[str]:
        """A list of texts."""
        value = self._values.pop(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise CallerError(f"{key} is not a list of texts")
        return value

    def objects(self, key: str) -> list[dict[str, Any]]:
        """A list of objects."""
        value = self._values.pop(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise CallerError(f"{key} is not a list of objects")
        return value

    def rest(self, key: str) -> Any:
        """Whatever it is."""
        return self._values.pop(key, None)

    def end(self) -> None:
        """Raises CallerError if something is left."""
        if self._values:
            raise CallerError(f"{', '.join(sorted(self._values))[:200]} is not known here")


def task_id(typed: str) -> str:
    """The id of a task as the tables have it. Raises CallerError if it cannot be one."""
    id_ = read_id("t", typed)
    if not _ID.fullmatch(id_) or len(id_) > _LONGEST_ID or read_id("t", id_) != id_:
        raise CallerError(f"{typed[:80]!r} cannot be the id of a task")
    return id_


def stage_id(typed: str) -> str:
    """The id of a stage. Raises CallerError if it cannot be one."""
    if not _ID.fullmatch(typed) or len(typed) > _LONGEST_STAGE:
        raise CallerError(f"{typed[:80]!r} cannot be the id of a stage")
    return typed


def time(value: Any) -> str:
    """A time as the tables have it, from ISO 8601 or milliseconds since 1970. Raises CallerError."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            found = _EPOCH + timedelta(milliseconds=value)
        elif isinstance(value, str):
            found = datetime.fromisoformat(value.strip())
            found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        else:
            raise ValueError
    except (ValueError, OverflowError):
        raise CallerError(f"{str(value)[:40]!r} is not a time") from None
    return found.isoformat(timespec="microseconds")


def optional_time(value: str) -> str:
    """As `time`; empty if `value` is."""
    return time(value) if value else ""


def who(value: str) -> str:
    """Somebody's name."""
    return _NEVER.sub("", value)[:_LONGEST_WHO]


def line(value: str) -> str:
    """The description of a standard. Raises CallerError."""
    text = " ".join(fields.body(value).split())
    if len(text) > _LONGEST_LINE:
        raise CallerError(f"the description has {len(text):,} characters; at most {_LONGEST_LINE} are allowed")
    return text


def status(value: str) -> str:
    """`pending` or `completed`. Raises CallerError."""
    if value not in ("pending", "completed"):
        raise CallerError(f"status is {value[:40]!r}, neither pending nor completed")
    return value


def anchor(value: Mapping[str, Any]) -> dict[str, Any]:
    """An anchor of a task. Raises CallerError."""
    read = Reader(value)
    found = {
        "anchor": scrubbed(str(parse_anchor(read.text("anchor")))),
        "symbol": scrubbed(read.rest("symbol")),
        "code": scrubbed(read.rest("code")),
        "state": read.text("state", "unknown"),
    }
    read.end()
    if found["state"] not in _STATES or not all(isinstance(found[key], str | None) for key in ("symbol", "code")):
        raise CallerError(f"the anchor {found['anchor']} has a value that cannot be used")
    return found


def entry(value: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of a task's history. Raises CallerError."""
    read = Reader(value)
    found = {
        "revision": read.whole("revision", 0),
        "at": time(read.rest("at")),
        "who": who(read.text("who", "")),
        "message": scrubbed(read.text("message", "")),
        "fields": scrubbed(read.rest("fields") or {}),
    }
    read.end()
    if not isinstance(found["fields"], dict):
        raise CallerError("fields of an entry of the history is not an object")
    return found


def scrubbed(value: Any) -> Any:
    """The same without the characters that no database takes."""
    match value:
        case str():
            return _NEVER.sub("", value)
        case list():
            return [scrubbed(one) for one in value]
        case dict():
            return {scrubbed(key): scrubbed(one) for key, one in value.items()}
    return value


def cleaned(text: str) -> str:
    """Another program's text without the characters that ours may not have."""
    return fields.printable(text.replace("\r\n", "\n").replace("\r", "\n"), len(text))
