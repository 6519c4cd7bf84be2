"""How a board proves that it is this user's, without revealing the token: any program may listen on its ports."""

from __future__ import annotations

import hashlib
import hmac


def proof_of(token: str, port: int, challenge: str) -> str:
    """The answer to `challenge` from a board with `token`; for this port, so that no other server can pass it on."""
    return hmac.new(token.encode(), f"board on port {port}: {challenge}".encode(), hashlib.sha256).hexdigest()
