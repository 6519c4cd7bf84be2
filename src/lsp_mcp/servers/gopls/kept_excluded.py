"""Excluded files, stored between sessions while their inputs are unchanged: `KeptExcluded`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from lsp_mcp.cache_folders import checkout_folder
from lsp_mcp.private_files import keep_newest, write_private

log = logging.getLogger(__name__)

_RACY_NS = 50_000_000  # a file written this shortly before it was examined may change unnoticed
_MOST_SETTINGS = 4  # of one project, of which something is kept
Found = Mapping[Path, frozenset[str]]
"""The excluded files, by folder."""


class KeptExcluded:
    """The output of the listing command for the folders of a project of the workspace `root`.

    It depends on the names and texts of the source files and of `markers`, and on the output of `settings`: a command
    run in the project's folder that prints the build's settings. Files named in that output count too.
    """

    def __init__(
        self,
        root: Path,
        settings: Callable[[Path], Awaitable[str]],
        extensions: Collection[str],
        markers: Collection[str],
    ) -> None:
        self._root = root
        self._settings = settings
        self._extensions = tuple(extensions)
        self._markers = tuple(markers)

    async def state(self, project: Path, folders: Sequence[Path], command: Sequence[str]) -> str:
        """Digests of `command` with the settings, and of all its inputs in `folders`; empty if uncertain."""
        settings = await self._settings(project)
        if not settings:
            return ""
        files = await asyncio.to_thread(self._files, project, folders, settings)
        words = [*command, settings]
        return f"{_digest(words, ())} {_digest(words, files)}" if files is not None else ""

    def stored(self, project: Path, state: str) -> Found:
        """The stored answer for `project` and `state`; empty if there is none."""
        try:
            kept = json.loads(self._file(project, state).read_bytes())
            if kept["state"] != state:
                return {}
            return {Path(folder): frozenset(files) for folder, files in kept["found"].items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            log.warning("which files the build leaves out is asked: what was kept cannot be read: %r", error)
            return {}

    def keep(self, project: Path, state: str, found: Found) -> None:
        """Store the files `found` in all folders of `project` in that `state`."""
        entry = {"state": state, "found": {str(folder): sorted(files) for folder, files in found.items()}}
        try:
            file = self._file(project, state)
            write_private(file, json.dumps(entry).encode())
            keep_newest(file.parent.glob(f"{_name(project)}-*"), _MOST_SETTINGS)
        except (OSError, UnicodeEncodeError) as error:
            log.warning("which files the build leaves out is not kept: %s", error)

    # --- inside ------------------------------------------------------------------------------------

    def _file(self, project: Path, state: str) -> Path:
        """One for each project and settings: servers for several builds run beside each other."""
        return checkout_folder(self._root) / f"{_name(project)}-{state.partition(' ')[0]}.json"

    def _files(self, project: Path, folders: Iterable[Path], settings: str) -> list[str] | None:
        """A line for each file that counts; None if one may have changed just now."""
        before = time.time_ns() - _RACY_NS
        named = [*(str(project / marker) for marker in self._markers), *settings.split("\n")]
        lines = []
        try:
            for path in filter(os.path.isabs, named):
                if os.path.isfile(path):  # noqa: PTH113 (the same)
                    if not (line := _line(path, os.stat(path), before)):  # noqa: PTH116 (the same)
                        return None
                    lines.append(line)
            for folder in folders:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if entry.name.endswith(self._extensions) and entry.is_file():
                            if not (line := _line(entry.path, entry.stat(), before)):
                                return None
                            lines.append(line)
                time.sleep(0)  # the event loop may wait for the interpreter
        except OSError:
            return None
        return sorted(lines)


def _name(project: Path) -> str:
    return f"excluded-{hashlib.blake2b(os.fsencode(project), digest_size=6).hexdigest()}"


def _line(path: str, state: os.stat_result, before: int) -> str:
    if max(state.st_mtime_ns, state.st_ctime_ns) > before:
        return ""
    return f"{path}\0{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino}"


def _digest(words: Sequence[str], lines: Sequence[str]) -> str:
    data = "\0\0".join([*words, *lines])
    return hashlib.blake2b(data.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
