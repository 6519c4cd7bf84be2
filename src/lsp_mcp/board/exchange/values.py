"""Single values out of files, checked. Pure; raises `CallerError`s that say what is wrong, not in which file."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeVar

import msgspec

from lsp_mcp.anchors import parse_anchor
from lsp_mcp.board import fields
from lsp_mcp.board.exchange.data import Count
from lsp_mcp.board.ids import read_id
from lsp_mcp.errors import CallerError

_ID = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
_LONGEST_ID, _LONGEST_STAGE, _LONGEST_WHO = 40, 64, 80
_LONGEST_LINE = 300  # characters of a standard's description
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Made = TypeVar("Made")
_NEVER = re.compile("[\0\ud800-\udfff]")  # no database takes them


def checked(found: Mapping[str, Any], kind: type[Made], **given: Any) -> Made:
    """A `kind`, which is a dataclass, of the values of a file and of those `given`. Raises CallerError."""
    try:
        made = msgspec.convert({**found, **given}, kind)
    except (msgspec.ValidationError, OverflowError) as error:
        raise CallerError(f"it cannot be used: {str(error)[:200]}") from None
    known = {field.name for field in dataclasses.fields(kind)} - given.keys()  # type: ignore[arg-type]
    if unknown := found.keys() - known:
        raise CallerError(f"{', '.join(sorted(unknown))[:200]} is not known here")
    return made


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


@dataclass(frozen=True)
class _Anchor:
    anchor: str
    symbol: str | None = None
    code: str | None = None
    state: Literal["known", "unknown", "gone"] = "unknown"


def anchor(value: Mapping[str, Any]) -> dict[str, Any]:
    """An anchor of a task. Raises CallerError."""
    found = dataclasses.asdict(checked(value, _Anchor))
    return {name: scrubbed(one) for name, one in {**found, "anchor": str(parse_anchor(found["anchor"]))}.items()}


@dataclass(frozen=True)
class _Entry:
    at: Any
    revision: Count = 0
    who: str = ""
    message: str = ""
    fields: dict[str, Any] | None = None


def entry(value: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of a task's history. Raises CallerError."""
    read = checked({"at": None, **value}, _Entry)
    return {
        "revision": read.revision,
        "at": time(read.at),
        "who": who(read.who),
        "message": scrubbed(read.message),
        "fields": scrubbed(read.fields or {}),
    }


@dataclass(frozen=True)
class _Activity:
    name: str
    prompt: str = ""


def activity(value: Mapping[str, Any]) -> dict[str, str]:
    """An activity of a stage. Raises CallerError."""
    read = checked(value, _Activity)
    prompt = fields.body(read.prompt, "activity's prompt", fields.MOST_MESSAGE)
    return {"name": fields.name(read.name, "activity's name"), "prompt": prompt}


def scrubbed(value: Any) -> Any:
    """`value`, with all strings in it, without the characters that no database stores."""
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
