"""The errors that `cargo check` reports: `CargoCoverage`."""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from lsp_mcp.backend import Scope
from lsp_mcp.disk.files import Signature
from lsp_mcp.errors import MissingProgramError, SilentError
from lsp_mcp.gaps import Gap
from lsp_mcp.lsp.coverage import Built, Miss, Start
from lsp_mcp.lsp.found_settings import FoundSettings
from lsp_mcp.prose import count, first_few
from lsp_mcp.text import Point, Span
from lsp_mcp.wire.process import run

_MANIFEST = "Cargo.toml"
# Crates that depend on one with errors are not checked; the others are, with `--keep-going`.
_CHECK = ("check", "--workspace", "--all-targets", "--keep-going", "--quiet", "--message-format=json")
_SEVERITIES = {"error": 1, "error: internal compiler error": 1, "warning": 2}
_REASON = 200  # shown characters of why cargo fails
_MOST_LOADED = 24  # workspaces that the server loads: each runs `cargo metadata`, and takes memory
_FOREIGN = frozenset({"vendor", "node_modules", "target"})  # folders with crates of others
_WORKSPACE = re.compile(rb"^\s*\[workspace\b", re.MULTILINE)


class CargoCoverage(FoundSettings):
    """Tells the server where Cargo's workspaces are, and runs `cargo check` there, the judge of a file's errors."""

    builds = True
    marked_by = frozenset({_MANIFEST})

    def __init__(self, start: Start) -> None:
        super().__init__()
        self._start = start

    def found(self) -> Mapping[str, Any]:
        """See `FoundSettings.found`: by itself it finds only what is at the root, or right below."""
        found = self._workspaces()[:_MOST_LOADED]
        return (
            {"linkedProjects": list(map(str, found))}
            if found not in ([], [self._start.workspace.root / _MANIFEST])
            else {}
        )

    async def gaps(self, scope: Scope) -> list[Gap]:
        """See `Coverage.gaps`."""
        left = [] if scope.reach == "text" else self._workspaces()[_MOST_LOADED:]
        if not left:
            return []
        shown = first_few([self._start.workspace.display_path(path) for path in left])
        text = f"not loaded: {count(len(left), 'Cargo workspace')}: {shown}; start lsp-mcp below the root to ask there"
        return [Gap("not_loaded", text, brief="some Cargo workspaces are not loaded")]

    def _workspaces(self) -> list[Path]:
        """The manifests of workspaces and of packages outside any, as far as that can be told without running Cargo."""
        root = self._start.workspace.root
        every = [
            path
            for path in self._start.feed.files_named([_MANIFEST])
            if _FOREIGN.isdisjoint(path.relative_to(root).parts)
        ]
        apart = [path for path in every if _has_workspace(path)]
        return list(dict.fromkeys([*_topmost(every), *apart]))

    async def build(self, sources: Collection[Path], seconds: float) -> Built:
        """See `Coverage.build`."""
        until = monotonic() + seconds
        manifests = set(self._start.feed.files_named([_MANIFEST]))
        by_manifest: dict[Path | None, set[Path]] = defaultdict(set)
        for path in sources:
            by_manifest[_manifest_of(path, manifests)].add(path)
        errors: dict[Path, dict[Miss, None]] = defaultdict(dict)
        checked: set[Path] = set()
        failed = ""
        for manifest in _topmost(manifests):
            try:
                command = [_cargo(), *_CHECK, "--manifest-path", str(manifest)]
                code, output = await run(
                    command, cwd=manifest.parent, timeout=max(0.0, until - monotonic()), env=self._start.env
                )
            except SilentError:
                failed = failed or "cargo check has not ended; ask again"
                break
            except MissingProgramError as error:
                failed = str(error)
                break
            messages = list(_messages(output))
            checked |= {Path(one["manifest_path"]) for one in messages if "manifest_path" in one}
            for path, miss in _misses(messages, manifest.parent):
                errors[path][miss] = None
            if code and not any(one.get("reason") == "compiler-message" for one in messages):
                failed = failed or f"cargo check failed: {output.strip()[:_REASON]}"
        left = [path for manifest, files in by_manifest.items() if manifest not in checked for path in files]
        covers = {path for manifest in checked for path in by_manifest.get(manifest, ())}
        if left and not failed:
            shown = first_few([self._start.workspace.display_path(path) for path in sorted(left)])
            failed = f"cargo check did not reach {count(len(left), 'file')}: {shown}"
        return Built({path: list(found) for path, found in errors.items()}, covers, failed)


def _cargo() -> str:
    return shutil.which("cargo") or str(Path.home() / ".cargo" / "bin" / "cargo")


def _has_workspace(manifest: Path) -> bool:
    return _declares_workspace(manifest, Signature.read(manifest))


@lru_cache(maxsize=1_000)
def _declares_workspace(manifest: Path, signature: Signature | None) -> bool:
    """Kept for the state of the file that `signature` says: each question asks."""
    try:
        return _WORKSPACE.search(manifest.read_bytes()) is not None
    except OSError:
        return False


def _manifest_of(path: Path, manifests: Collection[Path]) -> Path | None:
    """The manifest of the package that `path` belongs to."""
    return next((one for folder in path.parents if (one := folder / _MANIFEST) in manifests), None)


def _topmost(manifests: Iterable[Path]) -> list[Path]:
    """Those of `manifests` with none above them."""
    found: list[Path] = []
    for one in sorted(manifests, key=lambda path: len(path.parts)):
        if not any(one.is_relative_to(other.parent) for other in found):
            found.append(one)
    return found


def _messages(output: str) -> Iterator[dict[str, Any]]:
    for line in output.split("\n"):
        if line.startswith("{"):
            yield msgspec.json.decode(line)


def _misses(messages: Iterable[dict[str, Any]], folder: Path) -> Iterator[tuple[Path, Miss]]:
    """The errors and warnings in `messages`, each with its file, below `folder`."""
    for one in messages:
        said = one.get("message", {})
        severity = _SEVERITIES.get(said.get("level", "")) if one.get("reason") == "compiler-message" else None
        span = next((span for span in said.get("spans", ()) if span["is_primary"]), None)
        if severity is None or span is None:
            continue
        label = f": {span['label']}" if span["label"] else ""
        while span["expansion"] and not _own(span, folder):  # in a macro of another crate
            span = span["expansion"]["span"]
        path = (folder / span["file_name"]).resolve()
        start = Point(span["line_start"], span["column_start"])
        end = Point(span["line_end"], span["column_end"])
        yield path, Miss(Span(start, end), f"{said['message']}{label}", severity)


def _own(span: dict[str, Any], folder: Path) -> bool:
    return not Path(span["file_name"]).is_absolute() and (folder / span["file_name"]).is_file()
