"""Proofs that a task is done: what one looks like, and which are required. Pure.

A proof is a command with its exit status (`make test => 0`), the hash of a commit, or a link. What a task requires is
`commit`, `link`, `command` (any), or one command (`make test`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lsp_mcp.board import fields
from lsp_mcp.errors import CallerError

_MOST = 10
_COMMAND = re.compile(r"(?P<command>.*\S)\s*=>\s*(?P<status>\d{1,3})")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_LINK = re.compile(r"https?://[^\s/]\S*", re.I)
_KINDS = ("command", "commit", "link")
_FORMS = {"command": "COMMAND => 0", "commit": "the hash of a commit", "link": "a link"}


def checked(values: Iterable[str]) -> list[str]:
    """Proofs in their order, each once.

    Raises:
        CallerError: one is none; the message says how to write it.
    """
    found = _lines(values, "proof")
    for one in found:
        command = _COMMAND.fullmatch(one)
        if command and int(command["status"]):
            raise CallerError(f"{one[:80]!r} proves nothing: only a command with the exit status 0 does.")
        if not (command or _COMMIT.fullmatch(one) or _LINK.fullmatch(one)):
            raise CallerError(f"{one[:80]!r} is not a proof; write {', '.join(_FORMS.values())} (https://…).")
    return [_spelled(one) for one in found]


def required(values: Iterable[str]) -> list[str]:
    """What a task requires, each once.

    Raises:
        CallerError: one cannot be required.
    """
    return _lines((re.sub(r"\s*=>\s*0$", "", one.strip()) for one in values), "required proof")


def commits(proof: Sequence[str]) -> list[str]:
    """The commits among proofs."""
    return [one for one in proof if _COMMIT.fullmatch(one)]


def missing(wanted: Sequence[str], proof: Sequence[str]) -> list[str]:
    """What is required and not proven, as it is to be written."""
    there = {_kind(one) for one in proof} | {found["command"] for one in proof if (found := _COMMAND.fullmatch(one))}
    return [_FORMS.get(one, f"{one} => 0") for one in wanted if one not in there]


def _kind(proof: str) -> str:
    return _KINDS[0] if _COMMAND.fullmatch(proof) else _KINDS[1] if _COMMIT.fullmatch(proof) else _KINDS[2]


def _spelled(proof: str) -> str:
    found = _COMMAND.fullmatch(proof)
    return f"{found['command']} => {int(found['status'])}" if found else proof


def _lines(values: Iterable[str], what: str) -> list[str]:
    found = list(dict.fromkeys(fields.title(value, what) for value in values))
    if len(found) > _MOST:
        raise CallerError(f"there are {len(found)} entries for {what}; at most {_MOST} are allowed.")
    return found
