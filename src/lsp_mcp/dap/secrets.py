"""Values of the environment that answers must not contain: `Secrets`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|PRIVATE|_AUTH|AUTH_|COOKIE|DSN", re.IGNORECASE)
_SHORTEST = 8  # characters; a shorter value would match ordinary words


class Secrets:
    """The values of variables whose names say that they are secret: of this process, and of `environments`."""

    def __init__(self, environments: Iterable[Mapping[str, Any]] = ()) -> None:
        found = {
            value: name
            for environment in (os.environ, *environments)
            for name, value in environment.items()
            if _SECRET.search(name) and isinstance(value, str) and len(value) >= _SHORTEST
        }
        # The longest first: one may be a part of another.
        self._names = dict(sorted(found.items(), key=lambda pair: -len(pair[0])))

    def hidden(self, value: Any) -> Any:
        """`value`, an answer, with each secret replaced by the name of its variable."""
        if not self._names:
            return value
        if isinstance(value, dict):
            return {self.hidden(key): self.hidden(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.hidden(one) for one in value]
        if isinstance(value, str):
            for secret, name in self._names.items():
                value = value.replace(secret, f"[{name}]")
        return value
