"""What the server said about uses in other builds, kept as long as it holds, between sessions too: `Heard`.

An answer is kept with the state that it depends on (`Words.state_of`): for most symbols, the folders that have the word
and all that these import. Which methods belong together also depends on types elsewhere, so answers about methods
depend on all source files. Refusals, and answers without the place asked about, hold until something changes.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Collection
from pathlib import Path

import msgspec
from msgspec import Struct, field
from msgspec.structs import astuple

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.cache_folders import checkout_folder
from lsp_mcp.errors import LspMcpError, RefusedError
from lsp_mcp.private_files import keep_newest, private_folder, write_private
from lsp_mcp.protocol.lsp import Location, Position, Range, TextDocumentPositionParams
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.requests.symbols import flat
from lsp_mcp.text import Point
from lsp_mcp.uris import uri_path

log = logging.getLogger(__name__)

_MOST_KEPT = 20_000  # places in memory, and in one file
_MOST_FILES = 300  # names on disk
_FORM = 1  # another number for another form or meaning of what is stored

Asked = tuple[str, int, int]
"""The place of a question: its URI and LSP position."""


class _Answer(Struct):
    state: str  # it holds in this one
    places: list[Location] | RefusedError


class _Stored(Struct, array_like=True):
    """The answers about one name: `places` are a number of `uris` and an LSP range."""

    form: int
    name: str
    uris: list[str]
    answers: list[tuple[Asked, str, list[tuple[int, int, int, int, int]]]]


class _States(Struct, frozen=True):
    """What answers can depend on, as of now: `folders` with the word, `all` files, or anything at all (`moment`)."""

    folders: str
    all: str
    moment: str


class _Known(Struct):
    answers: dict[Asked, _Answer] = field(default_factory=dict)
    is_loaded: bool = False  # what is stored has been read


_KNOWN: RememberedOf[Backend, str, None, _Known] = RememberedOf(_MOST_KEPT)


class Heard:
    """The answers to textDocument/references about places of `name`, those that hold now and new ones."""

    def __init__(self, backend: Backend, name: str) -> None:
        self._backend = backend
        self._name = name
        self._states: _States | None = None  # until the first question
        self._known = _KNOWN.for_owner(backend).get(name, None) or _Known()
        self._new: list[tuple[_Answer, str]] = []  # with the state that each will hold in

    async def has(self, position: TextDocumentPositionParams) -> bool:
        """Whether `references` needs not ask the server."""
        return await self._held(position) is not None

    async def references(self, position: TextDocumentPositionParams) -> list[Location]:
        """The server's answer at `position`, a `TextDocumentPositionParams`; its document is opened if it is asked.

        Raises:
            PathError: see `Documents.open`.
            RefusedError, UnavailableError: see `Backend.request`.
        """
        known = await self._held(position) or await self._ask(position)
        if isinstance(known.places, RefusedError):
            raise known.places
        return known.places

    async def keep(self) -> None:
        """Keep the new answers beyond the next change, and store them for the next session."""
        backend, states, new, self._new = self._backend, self._states, self._new, []
        # The server may have read a text that nobody was told of yet.
        if not (new and states and await backend.words.is_on_disk()) or states.moment != _moment(backend):
            return
        for answer, state in new:
            answer.state = state
        lasting = {states.folders, states.all}
        answers = {asked: one for asked, one in self._known.answers.items() if one.state in lasting}
        await asyncio.to_thread(_store, backend.root, backend.plugin.name, self._name, answers)

    async def _present(self) -> _States:
        """The present states; reads what is stored, too."""
        backend, words = self._backend, self._backend.words
        moment, build = _moment(backend), await backend.coverage.build_state()
        folders = await words.state_of(self._name, seconds=budget.left()) if build else ""
        every = await words.state_of("", seconds=budget.left()) if build else ""
        if every and not self._known.is_loaded:
            stored = await asyncio.to_thread(_load, backend.root, backend.plugin.name, self._name)
            self._known.answers = {**stored, **self._known.answers}
            self._known.is_loaded = True
            self._remember()
        return _States(folders and f"{build} {folders}", every and f"{build} {every}", moment)

    def _remember(self) -> None:
        weight = 1 + _weight(self._known.answers.values())
        _KNOWN.for_owner(self._backend).put(self._name, None, self._known, weight)

    async def _held(self, position: TextDocumentPositionParams) -> _Answer | None:
        """The known answer that holds now."""
        states = self._states = self._states or await self._present()
        known = self._known.answers.get(_question(position))
        return known if known and known.state in astuple(states) else None

    async def _ask(self, position: TextDocumentPositionParams) -> _Answer:
        backend, states, asked = self._backend, self._states, _question(position)
        assert states
        path = uri_path(asked[0])
        text = await backend.documents.visit(path)
        places: list[Location] | RefusedError
        try:
            params = {**position, "context": {"includeDeclaration": True}}
            places = await backend.request("textDocument/references", params) or []
        except RefusedError as error:
            places = error
        answer = _Answer(states.moment, places)
        if states.moment == _moment(backend) and backend.state() == "running":
            self._known.answers[asked] = answer
            self._remember()
            # An answer without the very place asked about shows that the server has not read the file.
            if states.all and not isinstance(places, RefusedError) and asked in map(_asked, places):
                point = text.position_point(position["position"], backend.encoding)
                of_folders = states.folders and not await _may_be_method(backend, path, point)
                self._new.append((answer, states.folders if of_folders else states.all))
        return answer


def _moment(backend: Backend) -> str:
    return f"generation {backend.generation}"


async def _may_be_method(backend: Backend, path: Path, point: Point) -> bool:
    try:
        places = await definition_places(backend, path, point)
        outlines = [flat(await document_symbols(backend, file, opened=False)) for file, _ in places]
    except LspMcpError:
        return True
    kinds = [one.kind for outline in outlines for one in outline if (one.place.path, one.place.span.start) in places]
    return len(kinds) != len(places) or not kinds or "method" in kinds


def _question(position: TextDocumentPositionParams) -> Asked:
    start = position["position"]
    return position["textDocument"]["uri"], start["line"], start["character"]


def _asked(place: Location) -> Asked:
    start = place["range"]["start"]
    return place["uri"], start["line"], start["character"]


def _weight(answers: Collection[_Answer]) -> int:
    return sum(1 if isinstance(one.places, RefusedError) else 1 + len(one.places) for one in answers)


# --- on disk --------------------------------------------------------------------------------------


def _file(root: Path, server: str, name: str) -> Path:
    """Raises OSError."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return private_folder(checkout_folder(root) / f"{server}.other-builds") / digest


def _load(root: Path, server: str, name: str) -> dict[Asked, _Answer]:
    try:
        stored = msgspec.msgpack.decode(_file(root, server, name).read_bytes(), type=_Stored)
        if (stored.form, stored.name) != (_FORM, name):
            return {}
        uris = stored.uris
        return {
            asked: _Answer(state, [_location(uris[number], *at) for number, *at in places])
            for asked, state, places in stored.answers
        }
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError, LookupError) as error:
        log.warning("other builds are asked about %s: what was kept cannot be read: %r", name, error)
        return {}


def _store(root: Path, server: str, name: str, answers: dict[Asked, _Answer]) -> None:
    if _weight(answers.values()) > _MOST_KEPT:
        return
    uris: dict[str, int] = {}
    rows = []
    for asked, one in answers.items():
        assert not isinstance(one.places, RefusedError)
        places = [(uris.setdefault(place["uri"], len(uris)), *_numbers(place["range"])) for place in one.places]
        rows.append((asked, one.state, places))
    try:
        file = _file(root, server, name)
        write_private(file, msgspec.msgpack.encode(_Stored(_FORM, name, list(uris), rows)))
        keep_newest(file.parent.iterdir(), _MOST_FILES)
    except (OSError, msgspec.MsgspecError, UnicodeError) as error:
        log.warning("what other builds have of %s is not kept: %s", name, error)


def _numbers(range_: Range) -> tuple[int, int, int, int]:
    start, end = range_["start"], range_["end"]
    return start["line"], start["character"], end["line"], end["character"]


def _location(uri: str, line: int, character: int, end_line: int, end_character: int) -> Location:
    start: Position = {"line": line, "character": character}
    return {"uri": uri, "range": {"start": start, "end": {"line": end_line, "character": end_character}}}
