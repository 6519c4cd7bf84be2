"""How indexes made by scip-go name what a Go file declares."""

from __future__ import annotations

import re
from pathlib import Path

_MODULE = re.compile(r'^\s*module\s+"?([^\s"]+)"?', re.MULTILINE)
_SCHEME, _MANAGER = "scip-go", "gomod"


def index_package(path: Path) -> str:
    """See `Plugin.index_package`: the module that `path` belongs to."""
    found = _module(path)
    return f"{_MANAGER} {found[0]}" if found else ""


def index_symbols(path: Path, name: str) -> tuple[str, ...]:
    """See `Plugin.index_symbols`: `name` is `Func`, `Type.Field` or `(*Type).Method`."""
    found = _module(path)
    words = re.findall(r"\w+", re.sub(r"\[.*?\]", "", name))
    if not found or not 1 <= len(words) <= 2:
        return ()
    module, folder = found
    inside = path.parent.relative_to(folder).as_posix()
    package = module if inside == "." else f"{module}/{inside}"
    owner = f"{words[0]}#" if words[1:] else ""
    start = f"{_SCHEME} {_MANAGER} {module} `{package}`/{owner}{words[-1]}"
    return tuple(f"{start}{suffix}" for suffix in ("().", ".", "#"))


def _module(path: Path) -> tuple[str, Path] | None:
    """The module of the file `path`, and its folder."""
    for folder in path.parents:
        try:
            found = _MODULE.search((folder / "go.mod").read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
        return (found[1], folder) if found else None
    return None
