"""Uses and edits in files excluded from the server's build, as seen in the builds of those files.

A server may load such a file for its own system once it is open (gopls makes a view for its GOOS and GOARCH). Its
symbol is the same to a reader if they share a place: `lock` of `lock_windows.go` and of `lock_unix.go` are two
functions with the same calls.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.backend import Backend, Use
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.protocol.lsp import (
    Location,
    OptionalVersionedTextDocumentIdentifier,
    Position,
    TextDocumentPositionParams,
    TextEdit,
    WorkspaceEdit,
)
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.edit_plans import asked_rename
from lsp_mcp.requests.kept_uses import Heard
from lsp_mcp.requests.places import position_params, text_or_none
from lsp_mcp.requests.scope import definition_places, outside_use
from lsp_mcp.requests.symbols import flat
from lsp_mcp.text import Point
from lsp_mcp.uris import uri_path

_MOST_FILES = 12  # opened per question: each system may cost the server a load of the workspace
_MOST_ASKED = 20  # occurrences of the word per file; asking about one explains all of that symbol
_MOST_KEPT = 2_000  # places in other builds

Key = tuple[Path, int, int]  # a place by file and LSP position


class OtherBuilds(Struct):
    """What other builds know about a symbol: `locations` of its uses, and positions of it, one for each different use.

    `searched` are excluded files that need no further search: each `name` in their code is a place of the symbol, or
    known to mean another. `pending` are those that there was no time to ask about.
    """

    locations: list[Location] = field(default_factory=list)
    positions: list[TextDocumentPositionParams] = field(default_factory=list)
    searched: set[Path] = field(default_factory=set)
    pending: frozenset[Path] = frozenset()


_Stamp = tuple[int, frozenset[Key]]
_FOUND: RememberedOf[Backend, tuple[Path, Point], _Stamp, OtherBuilds] = RememberedOf(_MOST_KEPT)


async def uses_in_other_builds(backend: Backend, path: Path, point: Point, found: Iterable[Location]) -> OtherBuilds:
    """What other builds than that of `path` know about the symbol at `point`, whose places in its own build are
    `found`.

    As long as the present `budget` lasts; files not finished by then are `pending`.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    other = OtherBuilds()
    if not backend.plugin.left_out_refusal:
        return other
    text = await backend.documents.open(path)
    if not (identifier := text.identifier_at(point)):
        return other
    name = text.slice(identifier)
    if not (having := await backend.coverage.left_out(path, Use(name))):
        return other
    known = {key_of(location): location for location in found}
    kept, stamp = _FOUND.for_owner(backend), (backend.generation, frozenset(known))
    if (remembered := kept.get((path, point), stamp)) is not None:
        return remembered
    heard = Heard(backend, name)
    later = await not_now(backend, having)
    search = _Search(backend, other, known, backend.plugin.left_out_refusal, set(having), later, heard)
    try:
        async with asyncio.timeout(budget.present().part()):
            if use := await outside_use(backend, path, point, name):
                await search.all(path, name, await backend.coverage.left_out(path, use))
            elif all(file == path for file, _, _ in known):
                other.searched.update(having)  # no other file can mean it
    except TimeoutError:
        budget.cut()
        other.pending = frozenset((search.todo | search.put_off) - other.searched)
        return other
    finally:
        await heard.keep()  # a search that was cut short gets further when it is begun again
    if search.put_off:
        budget.cut()
        other.pending = frozenset(search.put_off)
    elif stamp[0] == backend.generation and backend.state() == "running":
        kept.put((path, point), stamp, other, 1 + len(other.locations))
    return other


async def in_order_of_builds(backend: Backend, files: Iterable[Path]) -> list[Path]:
    """`files`, those of one build after the other: the server may have only one more loaded."""
    systems: dict[Path, list[str]] = {}
    for file in files:
        text = await text_or_none(backend, file)
        systems[file] = sorted(backend.plugin.systems_of(file, text)) if text else []
    return sorted(systems, key=lambda file: systems[file])


async def not_now(backend: Backend, files: Iterable[Path]) -> frozenset[Path]:
    """Those of `files` that the present answer must not make the server open.

    It would load more for each, such as another build, which may take it as long as its own did, and all further
    questions wait for that.
    """
    present = budget.present()
    if not backend.plugin.left_out_refusal or present.is_whole or backend.coverage.load_seconds() <= present.part():
        return frozenset()
    closed = [file for file in set(files) if backend.documents.version(file) is None]
    return frozenset([file for file in closed if await backend.coverage.loads_more(file)])


class _Search(Struct):
    backend: Backend
    other: OtherBuilds
    known: dict[Key, Location]  # all places of the symbol
    refusal: str  # excluded from every build, as a pattern
    todo: set[Path]  # files to ask about
    later: frozenset[Path]  # files that the server is not to load now
    heard: Heard
    put_off: set[Path] = field(default_factory=set)  # of them, those that had to be asked about
    strangers: list[tuple[TextDocumentPositionParams, list[Location]]] = field(
        default_factory=list
    )  # positions and places of other symbols

    async def all(self, path: Path, name: str, files: Sequence[Path]) -> None:
        """Ask in the builds of `files`, which are excluded; if `path` is one of them, in the server's own build too."""
        files = await in_order_of_builds(self.backend, files[:_MOST_FILES])
        self.todo = set(files)
        if path in files and await self.from_places(frozenset(files)):
            self.other.searched.add(path)
        for file in files:
            if file != path and await self.file(file, name):
                self.other.searched.add(file)
            self.todo.discard(file)

    async def from_places(self, left_out: frozenset[Path]) -> bool:
        """Ask about the known places outside `left_out`, in the builds that see them; True if about all."""
        seen: set[Key] = set()
        for key, location in list(self.known.items()):
            if key[0] not in left_out and key not in seen:
                if len(self.other.positions) >= _MOST_FILES:
                    return False
                position = position_of(location)
                try:
                    places = await self.heard.references(position)
                except (PathError, RefusedError):
                    return False
                seen.update(map(key_of, places))
                await self._join(position, places)
        return True

    async def file(self, file: Path, name: str) -> bool:
        """Ask about each `name` in the code of `file`; True if every one is explained."""
        try:
            text = await self.backend.documents.text(file)
        except PathError:
            return False
        seen: set[Key] = set()
        is_whole, requests = True, 0
        for span in await self.backend.words.occurrences(file, text, name):
            position = position_params(file, text, span.start, self.backend.encoding)
            start = position["position"]
            if (key := (file, start["line"], start["character"])) in seen or key in self.known:
                continue
            if requests == _MOST_ASKED:
                return False
            requests += 1
            if file in self.later and not await self.heard.has(position):
                self.put_off.add(file)
                return False
            try:
                places = await self.heard.references(position)
            except PathError:
                return False
            except RefusedError as error:
                if re.search(self.refusal, str(error)):
                    return False  # none of the server's builds has this file
                is_whole = False
                continue
            seen.update(map(key_of, places))
            if not await self._join(position, places):
                self.strangers.append((position, places))
            # An answer without the very place asked about shows that the server has not read the file.
            is_whole = is_whole and key in map(key_of, places)
        return is_whole

    async def _join(self, position: TextDocumentPositionParams, places: list[Location]) -> bool:
        """Add `places` if they share one with those known, and with them all groups that share one of those."""
        keys = {key_of(place): place for place in places}
        if keys.keys() <= self.known.keys():
            return True
        if not await self._any_means_one([place for key, place in keys.items() if key in self.known]):
            return False
        self.known.update(keys)
        self.other.locations += places
        self.other.positions.append(position)
        strangers, self.strangers = self.strangers, []
        self.strangers = [(at, of) for at, of in strangers if not await self._join(at, of)]
        return True

    async def _any_means_one(self, places: Iterable[Location]) -> bool:
        """Whether one of `places` means only one symbol: where a type is embedded, a field has the same name."""
        for place in places:
            file, start = uri_path(place["uri"]), place["range"]["start"]
            if not await self._is_embedded(file, start):
                return True
        return False

    async def _is_embedded(self, file: Path, position: Position) -> bool:
        """Whether a field is declared there whose definition is elsewhere: that of its type."""
        point = (await self.backend.documents.text(file)).position_point(position, self.backend.encoding)
        outline = flat(await document_symbols(self.backend, file, opened=False))
        if not any(one.kind == "field" and one.place.span.start == point for one in outline):
            return False
        return (file, point) not in await definition_places(self.backend, file, point)


async def renamed_in_other_builds(
    backend: Backend, path: Path, point: Point, new_name: str, edit: WorkspaceEdit
) -> OtherBuilds:
    """Other builds' part in renaming the symbol at `point` of `path`; their changes are added to `edit`.

    A file in which they leave a use unchanged is not in `searched`.

    Raises:
        RefusedError: another build refuses to rename it.
        UnavailableError: see `Backend.request`.
    """
    if any("kind" in change for change in edit.get("documentChanges") or []):
        return OtherBuilds()  # files are moved: excluded files stay a gap
    other = await uses_in_other_builds(backend, path, point, list(edited(edit)))
    embedded = backend.plugin.renaming.embedded_refusal
    backend.documents.leave()
    for position in other.positions:
        file = uri_path(position["textDocument"]["uri"])
        # Its version says that the edit is for its present text.
        await backend.documents.stay(file)
        try:
            more = await asked_rename(backend, position, new_name)
        except RefusedError as error:
            if not (embedded and re.search(embedded, str(error))):
                raise RefusedError(f"in the build of {file.name}: {error}", error.code) from None
            params = {**position, "context": {"includeDeclaration": True}}
            places = await backend.request("textDocument/references", params)
            more = {"changes": _changes(places or [], new_name)}
        add_edits(edit, more)
    changed = {key_of(location) for location in edited(edit)}
    left = {uri_path(location["uri"]) for location in other.locations if key_of(location) not in changed}
    return replace(other, searched=other.searched - left)


def edited(edit: WorkspaceEdit) -> Iterator[Location]:
    """Where a `WorkspaceEdit` changes texts, as `Location`s."""
    for document, changes in edited_documents(edit):
        yield from (Location(uri=document["uri"], range=change["range"]) for change in changes)


def edited_documents(edit: WorkspaceEdit) -> Iterator[tuple[OptionalVersionedTextDocumentIdentifier, list[Any]]]:
    """The documents that `edit` changes, and their `TextEdit`s of each kind."""
    for uri, changes in (edit.get("changes") or {}).items():
        yield {"uri": uri}, changes
    for change in edit.get("documentChanges") or []:
        if "textDocument" in change:
            yield change["textDocument"], change["edits"]


def unversioned(edit: WorkspaceEdit) -> WorkspaceEdit:
    """`edit`, for the texts on disk: another server has documents of its own."""
    return {"changes": {document["uri"]: changes for document, changes in edited_documents(edit)}}


def add_edits(edit: WorkspaceEdit, more: WorkspaceEdit) -> None:
    """Add to `edit` the changes of `more` that are new; both change texts only."""
    mine = {uri_path(document["uri"]): changes for document, changes in edited_documents(edit)}
    for document, changes in edited_documents(more):
        known = mine.get(uri_path(document["uri"]))
        if known is not None:
            known += [change for change in changes if change not in known]
        elif edit.get("changes"):
            edit["changes"][document["uri"]] = changes
        else:
            edit.setdefault("documentChanges", []).append({"textDocument": document, "edits": changes})


def _changes(places: Iterable[Location], new_name: str) -> dict[str, list[TextEdit]]:
    """The changes of a `WorkspaceEdit` that put `new_name` at `places`."""
    changes: dict[str, list[TextEdit]] = {}
    for place in places:
        changes.setdefault(place["uri"], []).append({"range": place["range"], "newText": new_name})
    return changes


def position_of(location: Location) -> TextDocumentPositionParams:
    """The start of a `Location`, to ask about."""
    return {"textDocument": {"uri": location["uri"]}, "position": location["range"]["start"]}


def key_of(location: Location) -> Key:
    """The start of a `Location`."""
    start = location["range"]["start"]
    return uri_path(location["uri"]), start["line"], start["character"]
