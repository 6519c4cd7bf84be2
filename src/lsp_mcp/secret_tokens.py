"""Tokens that the program makes for others, of which it keeps only the hash: for agents, and for people of a team."""

from __future__ import annotations

import hashlib
import secrets

_BYTES = 32


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(_BYTES)


def token_hash(token: str) -> str:
    """What is kept of a token. A slow hash is for passwords that people choose: a token has 256 random bits."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
