"""What `#[cfg]` says of the code at a place: `conditions`, and how it is built: `hint`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.prose import first_few
from lsp_mcp.servers.rust_analyzer.builds import VARIABLE, builds_with
from lsp_mcp.servers.rust_analyzer.workspaces import MANIFEST
from lsp_mcp.syntax.attributes import attributes_around
from lsp_mcp.text import Point, Text

_ROOTS = ("lib", "main", "mod")
_CONDITION = re.compile(r"#!?\[\s*cfg\s*\((.*)\)\s*\]", re.DOTALL)
_ALWAYS = frozenset({"test", "debug_assertions", "not(miri)"})  # what the server is told is so
_MODULE = r"((?:#\[[^\]]*\]\s*)+)(?:pub(?:\s*\([^)]*\))?\s+)?mod\s+{name}\s*[;{{]"


def conditions(path: Path, text: Text, point: Point) -> list[str]:
    """The conditions of `#[cfg]` on the modules that the file `path` is and on what is around `point`."""
    return list(dict.fromkeys([*_of_modules(path), *_around(path, text, point)]))


def hint(found: Sequence[str]) -> str:
    """That code under the conditions `found` may be left out, and how it is included; empty if there are none."""
    if not found:
        return ""
    build = builds_with([found])[0]
    how = f"; to include it, start lsp-mcp with {VARIABLE}='{build}'" if build else ""
    return f"#[cfg({first_few(list(found), 2)})] may leave it out of the build{how}"


def _around(path: Path, text: Text, point: Point) -> list[str]:
    return _told(attributes_around(path, text, point, "rust")) if "cfg" in text.content else []


def _of_modules(path: Path) -> list[str]:
    """The conditions on the declarations `mod NAME` of the modules that `path` is, as far as they are where usual."""
    name, folder = path.stem, path.parent
    if name in _ROOTS:
        name, folder = folder.name, folder.parent
    found: list[str] = []
    while name != "src" and folder != folder.parent:
        above = (*(folder / f"{stem}.rs" for stem in _ROOTS), folder.with_suffix(".rs"))
        texts = [content_or_nothing(one).decode("utf-8", "replace") for one in above]
        pattern = _MODULE.format(name=re.escape(name))
        if declared := next((said for text in texts if (said := re.search(pattern, text))), None):
            found = [*_told(re.findall(r"#\[[^\]]*\]", declared[1])), *found]
        if any(texts[:2]) or (folder / MANIFEST).is_file():
            break  # the crate's own file, or its folder
        name, folder = folder.name, folder.parent
    return found


def _told(attributes: Sequence[str]) -> list[str]:
    said = (match for one in attributes if (match := _CONDITION.fullmatch(one.strip())))
    return [condition for match in said if (condition := " ".join(match[1].split())) not in _ALWAYS]
