"""Which manifests Cargo loads together: `workspaces`, and whose a file is: `workspace_of`, `package_of`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from lsp_mcp.disk.files import Signature

MANIFEST = "Cargo.toml"
_WORKSPACE = re.compile(rb"^\s*\[workspace\b", re.MULTILINE)


class Manifest(Struct, frozen=True):
    """What a Cargo.toml says of workspaces: whether it `is_root` of one, with these, or the folder of its `root`."""

    is_root: bool = False
    members: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    root: str = ""


def workspaces(manifests: Collection[Path]) -> list[Path]:
    """Those of `manifests` that are a workspace, or a package outside any; those nearest to the root first.

    A package that is in the folder of a workspace and neither member nor excluded, which Cargo refuses, is none.
    """
    known = {path: read(path) for path in sorted(manifests, key=lambda path: (len(path.parts), path))}
    return [path for path, said in known.items() if said.is_root or not _is_inside(path, said, known)]


def package_of(path: Path, manifests: Collection[Path]) -> Path | None:
    """The manifest of the package that the file `path` belongs to."""
    return next((one for folder in path.parents if (one := folder / MANIFEST) in manifests), None)


def workspace_of(path: Path, roots: Collection[Path], manifests: Collection[Path]) -> Path | None:
    """The one of `roots`, which are `workspaces`, that the file `path` belongs to."""
    own = package_of(path, manifests)
    if own is None or own in roots:
        return own
    if root := read(own).root:
        return named if (named := _joined(own.parent, root) / MANIFEST) in roots else None
    return next((one for folder in own.parent.parents if _takes(one := folder / MANIFEST, own, roots)), None)


def content(manifest: Path) -> dict[str, Any]:
    """What stands in `manifest`; nothing if it cannot be read."""
    try:
        return tomllib.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def read(manifest: Path) -> Manifest:
    """What `manifest` says; nothing if it cannot be read."""
    return _read(manifest, Signature.read(manifest))


@lru_cache(maxsize=1_000)
def _read(manifest: Path, signature: Signature | None) -> Manifest:
    """Kept for the state of the file that `signature` says: each question asks."""
    try:
        content = manifest.read_bytes()
    except OSError:
        return Manifest()
    try:
        said = tomllib.loads(content.decode("utf-8"))
    except ValueError:
        return Manifest(is_root=_WORKSPACE.search(content) is not None)
    workspace, package = said.get("workspace"), said.get("package")
    root = package.get("workspace") if isinstance(package, dict) else None
    root = root if isinstance(root, str) else ""
    if not isinstance(workspace, dict):
        return Manifest(root=root)
    return Manifest(True, _texts(workspace.get("members")), _texts(workspace.get("exclude")), root)


def _texts(found: Any) -> tuple[str, ...]:
    return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def _is_inside(path: Path, said: Manifest, known: dict[Path, Manifest]) -> bool:
    return bool(said.root) or any(_takes(folder / MANIFEST, path, known) for folder in path.parent.parents)


def _takes(root: Path, manifest: Path, known: Collection[Path]) -> bool:
    """Whether the workspace `root`, if it is one, has the folder of `manifest`."""
    if root not in known or not (said := read(root)).is_root:
        return False
    folder = manifest.parent
    return not _is_below(folder, root.parent, said.excluded) or _is_below(folder, root.parent, said.members)


def _is_below(folder: Path, root: Path, named: Sequence[str]) -> bool:
    return any(folder.is_relative_to(_joined(root, one)) for one in named)


def _joined(folder: Path, path: str) -> Path:
    return (folder / path).resolve()
