"""Repeated calls are carried out once: `once`, by a key that the caller chose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa

from lsp_mcp.board import fields
from lsp_mcp.board.tables import calls
from lsp_mcp.board.transaction import Transaction, Work
from lsp_mcp.errors import CallerError

Result = TypeVar("Result")

_SHORTEST, _LONGEST = 8, 200
_KEPT = 10_000


@dataclass(frozen=True)
class Key:
    """The identity of a call: the text that its caller chose, and a hash of its arguments."""

    text: str
    digest: str

    def __post_init__(self) -> None:
        """Raises CallerError if others could use the same text."""
        fields.sought(self.text[:_SHORTEST], "idempotency key")
        if not _SHORTEST <= len(self.text) <= _LONGEST:
            raise CallerError(
                f"the idempotency key has {len(self.text)} characters: choose {_SHORTEST} to {_LONGEST} that no other "
                "call has, such as a UUID."
            )


def once(at: Transaction, key: Key, work: Work[Any]) -> Any:
    """The result of `work`, as JSON; or the stored result of an earlier call with this key.

    Raises:
        CallerError: the key was used for something else.
    """
    found = at.connection.execute(sa.select(calls.c.asked, calls.c.answered).where(calls.c.key == key.text)).first()
    if found is None:
        result = work(at)
        at.put(sa.insert(calls).values(key=key.text, asked=key.digest, answered=result, at=at.now))
        newest = sa.select(sa.func.max(calls.c.id)).scalar_subquery()
        at.put(sa.delete(calls).where(calls.c.id <= newest - _KEPT))
        return result
    if found.asked != key.digest:
        raise CallerError(f"the idempotency key {key.text!r} was used for another call; choose a new one.")
    return found.answered
