"""The answer to `workspace/configuration` (LSP 3.17): `asked_settings`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsp_mcp.adapters import Settings


def asked_settings(
    settings: Settings, root: Path, section: str, variables: Mapping[str, str], found: Mapping[str, Any]
) -> Any:
    """The settings in `section`, a name with dots; None if there are none. Without a section: all.

    `variables` are those for the programs that the server runs, `found` are settings by their names with dots.
    """
    values: Mapping[str, Any] = settings.values
    if variables:
        values = {**values, settings.env_setting: dict(variables)}
    for name, places in settings.first_of.items():
        if first := _first(root, places):
            values = _with(values, name.split("."), first)
    values = with_found(values, found)
    if not settings.section:
        return _part(values, section)
    if section in ("", settings.section):
        return values
    inner = section.removeprefix(f"{settings.section}.")
    return None if inner == section else _part(values, inner)


def with_found(values: Mapping[str, Any], found: Mapping[str, Any]) -> Mapping[str, Any]:
    """`values` with the settings `found`, by their names with dots."""
    for name, value in found.items():
        values = _with(values, name.split("."), value)
    return values


def _first(root: Path, places: tuple[str, ...]) -> str:
    """The first of `places` that exists below `root`, or by its full path."""
    expanded = (os.path.expandvars(place) for place in places)
    return next((str(root / place) for place in expanded if "$" not in place and (root / place).exists()), "")


def _with(values: Mapping[str, Any], names: list[str], value: Any) -> dict[str, Any]:
    """`values` with one more value, below tables of these `names`."""
    first, *rest = names
    return {**values, first: _with(values.get(first, {}), rest, value) if rest else value}


def _part(values: Any, section: str) -> Any:
    for name in filter(None, section.split(".")):
        if not isinstance(values, Mapping) or name not in values:
            return None
        values = values[name]
    return values
