"""The errors that `cargo check` reports: `CargoCoverage`."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from lsp_mcp.backend import Scope
from lsp_mcp.errors import MissingProgramError, SilentError
from lsp_mcp.gaps import Gap
from lsp_mcp.lsp.coverage import Built, Miss, Start
from lsp_mcp.lsp.found_settings import FoundSettings
from lsp_mcp.prose import count, first_few
from lsp_mcp.servers.rust_analyzer.builds import VARIABLE, features_in, settings_of
from lsp_mcp.servers.rust_analyzer.workspaces import MANIFEST, content, package_of, workspace_of, workspaces
from lsp_mcp.text import Point, Span
from lsp_mcp.wire.process import run

# Crates that depend on one with errors are not checked; the others are, with `--keep-going`.
_CHECK = ("check", "--workspace", "--all-targets", "--keep-going", "--quiet", "--message-format=json")
_SEVERITIES = {"error": 1, "error: internal compiler error": 1, "warning": 2}
_REASON = 200  # shown characters of why cargo fails
_MOST_LOADED = 24  # workspaces that the server loads: each runs `cargo metadata`, and takes memory
_FOREIGN = frozenset({"vendor", "node_modules", "target"})  # folders with crates of others


class CargoCoverage(FoundSettings):
    """Tells the server where Cargo's workspaces are, and runs `cargo check` there, the judge of a file's errors."""

    builds = True
    marked_by = frozenset({MANIFEST})

    def __init__(self, start: Start, usual: Sequence[str] = ()) -> None:
        super().__init__()
        self._start = start
        self._usual = usual  # options of `#[cfg]` that are always set

    def found(self) -> Mapping[str, Any]:
        """See `FoundSettings.found`: by itself it finds only what is at the root, or right below."""
        found = self._workspaces()[:_MOST_LOADED]
        finds_them = found in ([], [self._start.workspace.root / MANIFEST])
        build = {**os.environ, **(self._start.env or {})}.get(VARIABLE, "")
        packages = [features_in(content(path)) for path in self._start.feed.files_named([MANIFEST])] if build else []
        return {
            **({} if finds_them else {"linkedProjects": list(map(str, found))}),
            **settings_of(build, self._usual, packages),
        }

    async def gaps(self, scope: Scope) -> list[Gap]:
        """See `Coverage.gaps`."""
        left = [] if scope.reach == "text" else self._workspaces()[_MOST_LOADED:]
        if not left:
            return []
        shown = first_few([self._start.workspace.display_path(path) for path in left])
        text = f"not loaded: {count(len(left), 'Cargo workspace')}: {shown}; start lsp-mcp below the root to ask there"
        return [Gap("not_loaded", text, brief="some Cargo workspaces are not loaded")]

    def _workspaces(self) -> list[Path]:
        """The manifests of workspaces and of packages outside any."""
        root = self._start.workspace.root
        every = self._start.feed.files_named([MANIFEST])
        return workspaces([path for path in every if _FOREIGN.isdisjoint(path.relative_to(root).parts)])

    async def build(self, sources: Collection[Path], seconds: float) -> Built:
        """See `Coverage.build`."""
        until = monotonic() + seconds
        every = frozenset(self._start.feed.files_named([MANIFEST]))
        roots = self._workspaces()
        concerned = {workspace_of(path, roots, every) for path in sources}
        by_manifest: dict[Path | None, set[Path]] = defaultdict(set)
        for path in sources:
            by_manifest[package_of(path, every)].add(path)
        errors: dict[Path, dict[Miss, None]] = defaultdict(dict)
        checked: set[Path] = set()
        failed = ""
        for manifest in [one for one in roots if one in concerned]:
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
            why = ", as it does not check what depends on crates with errors" if errors else ""
            failed = f"cargo check did not reach {count(len(left), 'file')}: {shown}{why}"
        return Built({path: list(found) for path, found in errors.items()}, covers, failed)


def _cargo() -> str:
    return shutil.which("cargo") or str(Path.home() / ".cargo" / "bin" / "cargo")


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
