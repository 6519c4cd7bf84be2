"""Which file a buffer's name means."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path


@lru_cache(4096)
def buffer_path(name: str) -> Path:
    """The file of a buffer called `name`, by the real name of its folder, the one that everybody else uses."""
    folder, base = os.path.split(name)
    return Path(os.path.realpath(folder), base)
