"""Ids that people can type: a letter for the kind, and five characters of 32 that cannot be mistaken for each other."""

from __future__ import annotations

import re
import secrets

from lsp_mcp.errors import CallerError

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: without i, l, o, u
_LENGTH = 5  # 33 million; the database refuses one that is there already, and another is made
_MISTAKEN = str.maketrans("ilo", "110")
_KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_NAME = 60


def new_id(kind: str) -> str:
    """A new id: `t-7k3f9` for a task (`t`), `q` for a question, `a` for an agent."""
    return f"{kind}-{''.join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))}"


def read_id(kind: str, typed: str) -> str:
    """The id that somebody has `typed`: in any case, with or without its letter, with `o` for `0`."""
    bare = typed.strip().lower()
    tail = bare.removeprefix(f"{kind}-")
    if len(tail) == _LENGTH and tail.isalnum():
        return f"{kind}-{tail.translate(_MISTAKEN)}"
    return bare  # of an imported board


def kebab_id(typed: str, what: str) -> str:
    """`typed` as the id of a standard, a snippet or a stage.

    Raises:
        CallerError: it is not kebab-case; the message has one that is.
    """
    if _KEBAB.fullmatch(typed) and len(typed) <= _LONGEST_NAME:
        return typed
    hint = f"; {slug!r} would do" if (slug := slug_of(typed)) else ""
    raise CallerError(f"{typed[:80]!r} cannot be the id of a {what}: kebab-case, at most {_LONGEST_NAME} long{hint}.")


def slug_of(text: str) -> str:
    """`text` in kebab-case; empty if it has no letter or digit of ASCII."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))[:_LONGEST_NAME].strip("-")
