"""What moving files changes in the build of Go packages, before anything moves: `build_changes`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath

from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.servers.gopls import file_names
from lsp_mcp.servers.gopls.rules import Projects

_EMBEDDED = re.compile(r"(?m)^//go:embed[ \t]+(\S.*)$")
_PATTERN = re.compile(r'"(?:all:)?([^"]+)"|`(?:all:)?([^`]+)`|(?:all:)?([^\s"`]+)')


def build_changes(moves: Mapping[Path, Path], root: Path, rules: Projects) -> list[str]:
    """What is built differently, below `root`, once files have moved as `moves` says; empty if nothing is."""
    return list(dict.fromkeys((*_names(moves), *_folders(moves, root, rules), *_embeds(moves, root))))


def _names(moves: Mapping[Path, Path]) -> Iterator[str]:
    for old, new in moves.items():
        if old.suffix == ".go" and (change := file_names.build_change(old.name, new.name)):
            yield change


def _folders(moves: Mapping[Path, Path], root: Path, rules: Projects) -> Iterator[str]:
    """For folders whose files move to others."""
    for old, new in dict.fromkeys((old.parent, new.parent) for old, new in moves.items() if old.parent != new.parent):
        becomes = _shown(new, root)
        if rules.ignores(new / "x", root) and not rules.ignores(old / "x", root):
            yield f"./... does not match {becomes}, so that its tests do not run"
        if (module := _module(new, rules)) != _module(old, rules):
            yield f"{becomes} is in another module, {_shown(module, root)}" if module else f"{becomes} is in no module"
        if new.name == "main" != old.name:
            yield f"{becomes} is a program, which no package can import"


def _embeds(moves: Mapping[Path, Path], root: Path) -> Iterator[str]:
    """For files that code embeds by their paths, `//go:embed`: it can name only those in its folder and below."""
    above = dict.fromkeys(folder for old in moves for folder in old.parents if folder.is_relative_to(root))
    for source in (path for folder in above for path in sorted(folder.glob("*.go"))):
        content = content_or_nothing(source).decode("utf-8", "replace")
        patterns = [
            next(filter(None, found)) for line in _EMBEDDED.findall(content) for found in _PATTERN.findall(line)
        ]
        then = moves.get(source, source)
        for old, new in moves.items() if patterns else ():
            if not old.is_relative_to(source.parent):
                continue
            path = old.relative_to(source.parent)
            stays = new.is_relative_to(then.parent) and new.relative_to(then.parent) == path
            if not stays and any(_matches(path, pattern) for pattern in patterns):
                yield f"{_shown(source, root)} embeds {_shown(old, root)}"


def _matches(path: PurePath, pattern: str) -> bool:
    """Whether `pattern` names the file `path` or a folder above it; its `*` matches no slash."""
    wanted = PurePath(pattern).parts
    return bool(wanted) and len(path.parts) >= len(wanted) and PurePath(*path.parts[: len(wanted)]).match(pattern)


def _module(folder: Path, rules: Projects) -> Path | None:
    return next((one for one in (folder, *folder.parents) if (one / rules.marker).is_file()), None)


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
