"""How indexes made by scip-python 0.6.6 name what a file declares."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from configparser import ConfigParser, Error
from pathlib import Path

from lsp_mcp.index.monikers import escaped

_SCHEME, _MANAGER = "scip-python", "python"
_MAKERS = ("__init__", "__new__")
_SOURCE = "src"  # the folder of packages in many projects; theirs does not have its name


def index_package(path: Path) -> str:
    """See `Plugin.index_package`: the distribution that the nearest pyproject.toml or setup.cfg names."""
    found = _distribution(path)
    return f"{_MANAGER} {found[0]}" if found else ""


def index_symbols(path: Path, name: str, scopes: Sequence[str] = ()) -> tuple[str, ...]:
    """See `Plugin.index_symbols`: `name` is `f`, `Class.method` or `Class.attribute`.

    Calls of a class are uses of the class, not of its `__init__`: both are named.
    """
    found = _distribution(path)
    words = re.findall(r"\w+", name)
    if not found or not words:
        return ()
    distribution, folder = found
    parts = list(path.relative_to(folder).with_suffix("").parts)
    parts = parts[1:] if parts[0] == _SOURCE and len(parts) > 1 else parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    module = escaped(".".join(parts))
    owner = "".join(f"{escaped(one)}#" for one in words[:-1])
    own = escaped(words[-1])
    ends = [f"{owner}{own}{end}" for end in ("().", "#", ".", f".{own}.")]  # the last if a variable has an annotation
    if owner and words[-1] in _MAKERS:
        ends.append(owner)
    return tuple(f"{_SCHEME} {_MANAGER} {one} {module}/{end}" for one in _spellings(distribution) for end in ends)


def _spellings(distribution: str) -> list[str]:
    """`distribution` as it is written, and as tools may have normalized it."""
    plain = re.sub(r"[-_.]+", "-", distribution).lower()
    return list(dict.fromkeys((distribution, plain, plain.replace("-", "_"))))


def _distribution(path: Path) -> tuple[str, Path] | None:
    for folder in path.parents:
        if name := _in_pyproject(folder / "pyproject.toml") or _in_setup(folder / "setup.cfg"):
            return name, folder
    return None


def _in_pyproject(file: Path) -> str:
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    tools = said.get("tool")
    for table in (said.get("project"), tools.get("poetry") if isinstance(tools, dict) else None):
        if isinstance(table, dict) and isinstance(name := table.get("name"), str):
            return name
    return ""


def _in_setup(file: Path) -> str:
    read = ConfigParser(interpolation=None)
    try:
        read.read(file, encoding="utf-8")
    except (Error, OSError, UnicodeDecodeError):
        return ""
    return read.get("metadata", "name", fallback="")
