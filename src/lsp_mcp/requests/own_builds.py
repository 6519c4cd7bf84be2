"""Renames in files that none of the server's builds has, because of a tag: `renamed_in_own_builds`.

Each such file is read by a server that is started for it, with the variables of its build.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path

from lsp_mcp.backend import Backend, Trial
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.protocol.lsp import Location, TextDocumentPositionParams, WorkspaceEdit
from lsp_mcp.requests.edit_plans import asked_rename
from lsp_mcp.requests.other_builds import add_edits, edited, key_of, position_of, unversioned
from lsp_mcp.requests.places import position_params
from lsp_mcp.requests.scope import outside_use
from lsp_mcp.text import Point
from lsp_mcp.waiting import share_of_rest

_MOST_BUILDS = 4  # servers started for one rename
_MOST_ASKED = 20  # places asked about in one build
_SHARE = 0.5  # of a call's remaining time


async def renamed_in_own_builds(
    backend: Backend, path: Path, point: Point, new_name: str, edit: WorkspaceEdit, searched: Collection[Path]
) -> frozenset[Path]:
    """The excluded files, beside those `searched`, in which each use of the symbol at `point` is in `edit` afterwards.

    A build that refuses the rename, or is not loaded in time, changes nothing.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    found: set[Path] = set()
    if any("kind" in change for change in edit.get("documentChanges") or []):
        return frozenset()  # files are moved
    text = await backend.documents.open(path)
    name = text.slice(identifier) if (identifier := text.identifier_at(point)) else ""
    use = await outside_use(backend, path, point, name) if name else None
    files = [one for one in await backend.coverage.left_out(path, use) if one not in searched] if use else []
    try:
        async with asyncio.timeout(share_of_rest(_SHARE)):
            for file in files[:_MOST_BUILDS]:
                server = backend.coverage.own_build(file) if file not in found else None
                if server:
                    async with server as there:
                        found |= await _Build(backend, there, name, new_name, edit).renamed(file, files)
    except TimeoutError:
        pass
    return frozenset(found)


class _Build:
    """One build, read by `server`."""

    def __init__(self, backend: Backend, server: Trial, name: str, new_name: str, edit: WorkspaceEdit) -> None:
        self._backend, self._server = backend, server
        self._name, self._new_name = name, new_name
        self._edit = edit
        self._more: WorkspaceEdit = {}  # what this build adds

    async def renamed(self, file: Path, files: Collection[Path]) -> set[Path]:
        """Those of `files` that were searched; `file` is surely in this build."""
        try:
            await self._server.read(file)
            await self._rename()
            searched = {one for one in files if await self._explains(one)}
        except (PathError, RefusedError):  # it has errors, or what would clash
            return set()
        if file not in searched:
            return set()
        add_edits(self._edit, self._more)
        return searched

    async def _rename(self) -> None:
        """Rename from each known place, since a declaration for this build may be another one."""
        done: set[tuple[Path, int, int]] = set()
        for _ in range(_MOST_ASKED):
            places = {key_of(one): one for one in (*edited(self._edit), *edited(self._more))}
            at = next((one for one in places if one not in done), None)
            if at is None:
                return
            done.add(at)
            listed = await self._references(position_of(places[at]))
            if not listed:
                continue
            done.update(map(key_of, listed))
            more = await asked_rename(self._server, position_of(places[at]), self._new_name)
            add_edits(self._more, unversioned(more))
        raise RefusedError("too many places")

    async def _explains(self, file: Path) -> bool:
        """Whether each word in the code of `file` is renamed, or means something else in this build."""
        renamed = {key_of(one) for one in (*edited(self._edit), *edited(self._more))}
        others: set[tuple[Path, int, int]] = set()
        text = await self._backend.documents.text(file)
        for span in await self._backend.words.occurrences(file, text, self._name):
            asked = position_params(file, text, span.start, self._backend.encoding)
            at = (file, asked["position"]["line"], asked["position"]["character"])
            if at in renamed or at in others:
                continue
            listed = set(map(key_of, await self._references(asked)))
            if at not in listed or listed & renamed:
                return False
            others |= listed
        return True

    async def _references(self, at: TextDocumentPositionParams) -> list[Location]:
        """The uses of the symbol at a place; none if this build does not have it."""
        params = {**at, "context": {"includeDeclaration": True}}
        try:
            return await self._server.request("textDocument/references", params) or []
        except RefusedError:
            return []
