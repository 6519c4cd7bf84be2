"""The trash, and the history of tasks that are no longer on the board: `trash.json`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

import msgspec
import sqlalchemy as sa
from msgspec import Meta, Struct

from lsp_mcp.anchors import parse_anchor
from lsp_mcp.board import tables, trash
from lsp_mcp.board.exchange.talk import NO_SURROGATES, Name, Said, Time, all_of, insert_new
from lsp_mcp.board.store import Transaction
from lsp_mcp.errors import AnchorError, CallerError

Id = Annotated[str, Meta(max_length=80, pattern=r"^[a-z0-9]+(?:[-_.][a-z0-9]+)*\Z")]
Kind = Literal["task", "stage", "standard", "snippet"]
Text = Annotated[str, Meta(max_length=1_000_000, pattern=NO_SURROGATES)]
Rows = dict[str, list[dict[str, Any]]]  # by table

# Constraints of a column's values beyond its type.
_COLUMNS: dict[str, Any] = {
    **dict.fromkeys(("id", "task", "depends_on"), Id),
    "tags": list[Annotated[str, Meta(max_length=60, pattern=NO_SURROGATES)]],
    **dict.fromkeys(("required_proof", "proof"), list[Annotated[str, Meta(max_length=300, pattern=NO_SURROGATES)]]),
    "due": Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d\Z")],
    "activities": list[dict[Literal["name", "prompt"], Text]],
    "color": Annotated[str, Meta(pattern=r"^#(?:[0-9a-f]{3}|[0-9a-f]{6})\Z")],
    "status": Literal["pending", "completed"],
    "state": Literal["known", "unknown", "gone"],
    "priority": Annotated[int, Meta(ge=0, le=4)],
}
_TYPES: dict[type, Any] = {sa.Integer: Annotated[int, Meta(ge=0, le=2**31 - 1)], sa.Float: float, sa.Boolean: bool}


class Deleted(Struct, forbid_unknown_fields=True):
    """An item of the trash, with its former rows by table."""

    kind: Kind
    ref: Id
    title: Text
    at: Time
    who: Name
    content: Rows


class Done(Struct, forbid_unknown_fields=True):
    """An entry of the history of a task that is not on the board."""

    kind: Literal["task"]
    ref: Id
    revision: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    at: Time
    who: Name
    message: Said
    fields: dict[str, Any]


class Trash(Struct, forbid_unknown_fields=True):
    """All of these, each in the order of events."""

    deleted: list[Deleted] = []
    history: list[Done] = []


def parsed(text: str) -> Trash:
    """The content of a `trash.json`. Raises CallerError with the place of an error."""
    try:
        found = msgspec.json.decode(text, type=Trash)
        for number, one in enumerate(found.deleted):
            one.content = _checked(one, f"$.deleted[{number}].content")
    except (msgspec.DecodeError, AnchorError, RecursionError, UnicodeEncodeError) as error:
        raise CallerError(f"it cannot be used: {str(error)[:200]}") from None
    return found


def load(at: Transaction) -> Trash:
    """Everything deleted from the board."""
    gone = tables.history.c.ref.not_in(sa.select(tables.tasks.c.id))
    return Trash(
        deleted=all_of(at, tables.trash, Deleted, tables.trash.c.id),
        history=all_of(at, tables.history, Done, tables.history.c.id, gone & (tables.history.c.kind == "task")),
    )


def store(at: Transaction, found: Trash) -> int:
    """Add new entries to the board's trash, except for tasks that the board has; returns their number."""
    here = set(at.connection.execute(sa.select(tables.tasks.c.id)).scalars())
    deleted = [one for one in found.deleted if one.kind != "task" or one.ref not in here]
    count = insert_new(at, tables.trash, deleted, "kind", "ref", "at", "who")
    history = [one for one in found.history if one.ref not in here]
    return count + insert_new(at, tables.history, history, "kind", "ref", "revision", "at", "message")


# --- inside ----------------------------------------------------------------------------------------


def _checked(one: Deleted, where: str) -> Rows:
    """The rows of an item of the trash, if its tables could take them all. Raises DecodeError or AnchorError."""
    own, allowed = f"{one.kind}s", trash.tables_of(one.kind)
    if unknown := one.content.keys() - allowed:
        raise msgspec.ValidationError(f"{sorted(unknown)[0][:40]!r} holds nothing of a {one.kind} - at `{where}`")
    if [row.get("id") for row in one.content.get(own, [])] != [one.ref]:
        raise msgspec.ValidationError(f"{own} is not the row of {one.ref} alone - at `{where}`")
    found = {
        name: [_row(allowed[name], row, f"{where}.{name}[{number}]") for number, row in enumerate(rows)]
        for name, rows in one.content.items()
    }
    for row in found.get("anchors", []):
        parse_anchor(row["anchor"])
    if any(one.ref not in row.values() for name, rows in found.items() if name != own for row in rows):
        raise msgspec.ValidationError(f"it has a row that is not of {one.ref} - at `{where}`")
    return found


def _row(table: sa.Table, row: Mapping[str, Any], where: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = msgspec.to_builtins(msgspec.convert(row, _struct(table)))
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(str(error).replace("`$", f"`{where}")) from None
    return found


@cache
def _struct(table: sa.Table) -> type[Struct]:
    """A row of a table; one of an older board lacks some columns."""
    columns = [(str(column.name), _type(column), msgspec.UNSET) for column in table.c if not trash.is_number(column)]
    return msgspec.defstruct(table.name, columns, forbid_unknown_fields=True)


def _type(column: sa.Column[Any]) -> Any:
    kind = _COLUMNS.get(column.name) or _TYPES.get(type(column.type))
    if kind is None:
        length = getattr(column.type, "length", None)
        kind = Annotated[str, Meta(max_length=length, pattern=NO_SURROGATES)] if length else Text
    return kind | None | msgspec.UnsetType if column.nullable else kind | msgspec.UnsetType
