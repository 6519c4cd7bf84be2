"""Fields of JSON objects: whole numbers in any JSON spelling, and names of fields in errors."""

from __future__ import annotations

from typing import Any

from lsp_mcp.visible import quoted

FieldPath = tuple[str | int, ...]
"""The keys and indices that lead to a field."""


def whole(value: Any) -> int | None:
    """The integer value of a JSON number (3.0 is 3, RFC 8259); None for anything else, including `true`."""
    if type(value) is int:
        return value
    return int(value) if type(value) is float and value.is_integer() else None


def spelled(name: str, path: FieldPath) -> str:
    """`path` below the object that the caller knows as `name`: `params.positions[0].line`."""
    return name + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)


def shown(value: Any) -> str:
    """`value` for an error message, shortened."""
    return quoted(value, 80)
