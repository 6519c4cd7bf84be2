"""The languages of a workspace, each with its server, its projects and whether that server is ready: `spoken`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from lsp_mcp.adapters import Adapter
from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.door.place import daemons, folder
from lsp_mcp.errors import LspMcpError
from lsp_mcp.prose import count, first_few
from lsp_mcp.sessions.choosing import is_installed
from lsp_mcp.sessions.languages import Share
from lsp_mcp.syntax.grammars import has_grammar

_MOST_NAMED = 5  # projects of a language that are named
_GET = "pip install 'lsp-mcp[grammars]'"


class Readiness(Struct, frozen=True):
    """What a server does now: see `backend.State`; `why` it does not answer, or what its answers lack."""

    state: str
    why: str = ""


class Spoken(Struct, frozen=True):
    """One language of a workspace.

    `server` is the backend that answers for it; `roots` the folders with a project of that server, relative to the
    workspace root, in which it starts. `get` installs what is missing.
    """

    language: str
    files: int
    part: float
    server: str
    state: Literal["installed", "missing", "by syntax", "none"]
    get: str
    roots: tuple[str, ...]
    readiness: Readiness

    @property
    def sentence(self) -> str:
        """All of it, for people."""
        return f"{self.part:.0%} ({count(self.files, 'file')})  {'; '.join(filter(None, self._parts()))}"

    def _parts(self) -> Iterable[str]:
        match self.state:
            case "installed":
                why = f": {self.readiness.why}" if self.readiness.why else ""
                yield f"{self.server}, {_STATES.get(self.readiness.state, self.readiness.state)}{why}"
            case "missing":
                yield f"{self.server} is missing: {self.get}"
            case "by syntax":
                yield f"{self.server}: no server is installed, answers are by syntax alone"
                if self.get:
                    yield f"to prove them, {self.get}"
            case "none":
                yield "no server" + (f"; {self.get} for answers by syntax alone" if self.get else "")
        if self.roots != (".",) and self.state in ("installed", "missing"):
            yield f"projects in {first_few(self.roots, _MOST_NAMED)}"


_STATES = {
    "running": "ready",
    "indexing": "loading",
    "starting": "starting",
    "stopped": "failed",
    "missing": "missing",
    "": "not started",
}


def spoken(
    languages: Sequence[Share],
    adapters: Sequence[Adapter],
    paths: Iterable[str],
    root: Path,
    ready: Mapping[str, Readiness],
) -> list[Spoken]:
    """What to say of each of `languages`: `adapters` would run for the files `paths`; `ready` is known by name."""
    markers = _markers(adapters, paths, root)
    found = []
    for share in languages:
        server = next((one for one in adapters if one in share.adapters and not one.is_fallback), None)
        fallback = next((one for one in share.adapters if one.is_fallback), None)
        parsed = [one for one in fallback.languages if one.name == share.language] if fallback else []
        state: Literal["installed", "missing", "by syntax", "none"] = "none"
        name = get = ""
        if server and (is_installed(server) or server.install):
            name, state = server.name, "installed" if is_installed(server) else "missing"
            get = "" if state == "installed" else f"lsp-mcp install {name}"
        elif fallback and any(has_grammar(one.id) for one in parsed):
            name, state = fallback.name, "by syntax"
            able = next((one for one in share.adapters if not one.is_fallback), None)
            get = f"install {able.title}" if able else ""
        elif parsed:
            get = _GET
        roots = markers.get(name, ()) or (".",)
        found.append(
            Spoken(share.language, share.files, share.part, name, state, get, roots, ready.get(name, _UNKNOWN))
        )
    return found


_UNKNOWN = Readiness("")


def _markers(adapters: Sequence[Adapter], paths: Iterable[str], root: Path) -> dict[str, tuple[str, ...]]:
    """By adapter: the folders that have its first root marker that occurs at all, relative to `root`."""
    by_name: dict[str, list[str]] = {}
    wanted = {marker for adapter in adapters for marker in adapter.workspace.root_markers}
    skipped = {name for adapter in adapters for name in adapter.workspace.dependency_folder_names}
    for path in paths:
        place, _, name = path.rpartition(os.sep)
        if name in wanted:
            inside = os.path.relpath(place, root)
            if skipped.isdisjoint(Path(inside).parts):
                by_name.setdefault(name, []).append(inside)
    found = {}
    for adapter in adapters:
        marker = next((one for one in adapter.workspace.root_markers if one in by_name), "")
        found[adapter.name] = tuple(sorted(by_name.get(marker, ()), key=lambda one: (one != ".", one)))
    return found


def in_daemon(root: Path) -> dict[str, Readiness]:
    """What the servers of a daemon that runs for `root` do, by name; empty without one."""
    home = folder()
    for _, about in daemons(home, {"tell": "status"}) if home else ():
        if about.get("root") == str(root) and (states := about.get("states")):
            return {name: Readiness(**one) for name, one in states.items()}
    return {}


async def started(flags: ServerFlags, wanted: Iterable[Adapter]) -> dict[str, Readiness]:
    """What the servers of `wanted` do once they were started in the workspace, for `--ready-timeout` at most."""
    from lsp_mcp.backend import Scope, no_report
    from lsp_mcp.gaps import hiding, texts

    running = flags.running()
    found = {}
    try:
        running.begin()
        for adapter in wanted:
            running.code.join(adapter)
        for session in list(running.code.servers):
            try:
                await session.wait(flags.ready_timeout, no_report)
                gaps = hiding(await session.gaps(Scope())) if session.state() in ("running", "indexing") else []
                state, why = session.standing()
                found[session.name] = Readiness(state, "; ".join(texts(gaps)) or why)
            except LspMcpError as error:
                found[session.name] = Readiness("stopped", str(error))
    finally:
        await running.close()
        running.kill()
    return found
