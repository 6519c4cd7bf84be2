"""Configurations of `.vscode/launch.json`: `configuration`, with its variables filled in."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from lsp_mcp.errors import CallerError, ConfigError, unknown

Json = dict[str, Any]
_PLACE = ".vscode/launch.json"
_LARGEST = 1024 * 1024  # bytes
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*(?:(?://[^\n]*|/\*.*?\*/)\s*)*[\]}])', re.S)
_VARIABLE = re.compile(r"\$\{([^}]+)\}")
_SYSTEM = {"darwin": "osx", "win32": "windows"}.get(sys.platform, "linux")


def configuration(root: Path, name: str) -> Json:
    """The configuration called `name`, for this system, with the variables in it filled in.

    Raises:
        CallerError: there is none of that name, or it needs something that only an editor has.
        ConfigError: the file cannot be read.
    """
    whole = _read(root / _PLACE)
    there = [one for one in whole.get("configurations") or () if isinstance(one, dict)]
    found = next((one for one in there if one.get("name") == name), None)
    if found is None:
        if any(one.get("name") == name for one in whole.get("compounds") or () if isinstance(one, dict)):
            raise CallerError(f"{name!r} starts several programs: start each by its own name.")
        raise CallerError(f"{_PLACE}: {unknown('configuration', name, [str(one.get('name')) for one in there])}")
    own = {**found, **(found.get(_SYSTEM) or {})}
    filled: Json = _filled({key: value for key, value in own.items() if key not in ("osx", "windows", "linux")}, root)
    if file := filled.pop("envFile", None):
        filled["env"] = {**_variables(Path(str(file))), **(filled.get("env") or {})}
    return filled


def _read(path: Path) -> Json:
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigError(f"{path} is too large for a list of configurations.")
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise CallerError(f"no {_PLACE} in the workspace root; pass program=, module= or test=.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    try:
        whole = json.loads(_TOKENS.sub(lambda token: token[0] if token[0].startswith('"') else "", text))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not JSON: {error}") from None
    if not isinstance(whole, dict):
        raise ConfigError(f"{path} is not a list of configurations.")
    return whole


def _filled(value: Any, root: Path) -> Any:
    if isinstance(value, dict):
        return {key: _filled(one, root) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, root) for one in value]
    return _VARIABLE.sub(lambda found: _value(found[1], root), value) if isinstance(value, str) else value


def _value(name: str, root: Path) -> str:
    known = {
        "workspaceFolder": str(root),
        "workspaceRoot": str(root),
        "workspaceFolderBasename": root.name,
        "userHome": str(Path.home()),
        "cwd": str(root),
        "pathSeparator": os.sep,
        "/": os.sep,
    }
    kind, colon, rest = name.partition(":")
    if kind == "env" and colon:
        return os.environ.get(rest, "")
    if kind == "workspaceFolder" and colon:
        return str(root)
    if name in known:
        return known[name]
    raise CallerError(
        f"the configuration has ${{{name}}}, which only an editor can fill in: pass program=, args= and cwd= instead."
    )


def _variables(path: Path) -> dict[str, str]:
    """The variables of an `envFile`: NAME=VALUE, one a line."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the configuration's envFile {path} cannot be read: {error}") from None
    pairs = (line.removeprefix("export ").partition("=") for line in lines if not line.lstrip().startswith("#"))
    return {name.strip(): value.strip().strip("'\"") for name, equals, value in pairs if equals and name.strip()}
