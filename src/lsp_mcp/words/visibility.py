"""Which files can mean a symbol by its name: `Symbol`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Role = Literal["value", "type", "member", "local", "unknown"]
"""What a symbol is for who asks where its name can stand: a function, variable or constant that is no member; a type;
a method or field; what only its own file knows, such as a parameter; not known, which excludes the least."""


@dataclass(frozen=True)
class Symbol:
    """One symbol, as far as it matters to where its name can stand."""

    name: str
    declared: tuple[Path, ...]  # the files that declare or define it, as far as known; at least one
    role: Role = "unknown"
    owner: str = ""  # the type or namespace that it is a member of, by its last name
