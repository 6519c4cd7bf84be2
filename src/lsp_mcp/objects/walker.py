"""`Walker`: the positions inside a raw LSP object, from a server's numbers to ours and back. Pure.

It goes by structure, not by types, because servers send extensions. A position is an object with `line` and
`character`; a folding range (LSP 3.17, `FoldingRange`) has `startLine` and `endLine`, with or without characters.
Each belongs to the document that the nearest object around it names:

    itself                                 by `uri`, `textDocument.uri` or `document.uri`
    targetRange, targetSelectionRange      by `targetUri`
    fromRanges                             by `from.uri` (incoming calls; outgoing ones belong to the request's)
    what is in changes, relatedDocuments   by its key
    anything else                          the document that the request is about

Servers get back untouched what only they understand: `data`, `arguments` of a command, settings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from lsp_mcp.errors import CallerError, PointError
from lsp_mcp.objects.fields import FieldPath, shown, spelled, whole
from lsp_mcp.protocol.lsp import Position
from lsp_mcp.text import Base, Json, PositionEncoding, Text, numbers_point, point_numbers

_UNREAD = Text("")  # has no lines, so positions only move by the base
_POSITION = ("line", "character")
_OPAQUE = frozenset({"data", "initializationOptions", "settings", "experimental"})
_BY_DOCUMENT = frozenset({"changes", "relatedDocuments"})  # objects whose keys are URIs
_NAMING = frozenset({"uri", "textDocument", "document"})
_TARGETS = frozenset({"targetRange", "targetSelectionRange"})
_CALLERS_OWN = ("position", "positions", "range", "ranges")  # at the top of params with a `textDocument`

_Keys = tuple[str, ...]
"""Of a line, and of the character in it unless a folding range leaves that out; both in the same object."""
_Visit = Callable[[Json, _Keys, str | None, FieldPath], Json]
"""Called with an object that has a place, the keys of its numbers, its document's URI and the way to it.

Returns the numbers that replace these; none leaves them.
"""


def documents(value: Any, home: str | None) -> set[str]:
    """The URIs, as spelled, of the documents that contain positions of `value`; `home` as in `Walker`."""
    found: set[str | None] = set()

    def visit(_place: Json, _keys: _Keys, document: str | None, _path: FieldPath) -> Json:
        found.add(document)
        return {}

    _walk(value, home, visit)
    return {document for document in found if document is not None}


class Walker(Struct, frozen=True):
    """Converts objects of one server; `inward(outward(value, home), home) == value` for everything that LSP lets
    servers send.

    Positions past the end of a line or a document stay equally far past it. Only these are not restored exactly: one
    inside a character (half a surrogate pair) becomes the character's start, one before a byte order mark moves after
    it, and a negative one is refused, as is anything else in the form of `line` and `character`.

    `home` is the URI of the document that the request is about; None if there is none. Results are new objects that
    share the opaque parts with the old ones; arguments are not changed.
    """

    texts: Mapping[str, Text | None]
    """The server's texts, by the URIs that `documents` found.

    Without one, its positions are moved by the base only: code units are taken for characters. Callers must report
    missing ones.
    """
    encoding: PositionEncoding
    base: Base = 1

    def outward(self, value: Any, home: str | None) -> Any:
        """An object from a server for a caller: numbers from `base`, in code points."""
        return _walk(value, home, self._to_caller)

    def inward(self, value: Any, home: str | None, name: str = "params") -> Any:
        """An object from a caller for the server; errors call it `name`.

        The caller's own places (`position`, `range`, `positions` or `ranges` of params with a `textDocument`) must be
        in the document. Places from a server, even past the end, are restored.

        Raises:
            PointError: a place of the caller's own is past the end.
            CallerError: a number that isn't whole, or is below the base; the message names the field.
        """
        own = _CALLERS_OWN if isinstance(value, dict) and isinstance(value.get("textDocument"), dict) else ()

        def visit(place: Json, keys: _Keys, document: str | None, path: FieldPath) -> Json:
            return self._to_server(place, keys, document, path, name=name, strict=bool(path) and path[0] in own)

        return _walk(value, home, visit)

    def _to_caller(self, place: Json, keys: _Keys, document: str | None, _path: FieldPath) -> Json:
        if keys == _POSITION:
            position = Position(line=place["line"], character=place["character"])
            if quick := self._text(document).plain_numbers(position, self.base):
                return dict(quick)
        numbers = [number for key in keys if (number := whole(place[key])) is not None]
        if len(numbers) < len(keys):
            return {}  # it only looks like a place
        point = self._text(document).unclamped_position_point(_line_and_character(numbers, 0), self.encoding)
        return dict(zip(keys, point_numbers(point, self.base).values(), strict=False))

    def _to_server(
        self, place: Json, keys: _Keys, document: str | None, path: FieldPath, *, name: str, strict: bool
    ) -> Json:
        numbers = [self._number(place[key], name, (*path, key)) for key in keys]
        text, point = self._text(document), numbers_point(_line_and_character(numbers, self.base), self.base)
        if strict and text is not _UNREAD:
            try:
                text.point_offset(point, self.base)
            except PointError as error:
                raise PointError(f"{spelled(name, path)}: {error}") from None
        return dict(zip(keys, text.unclamped_point_position(point, self.encoding).values(), strict=False))

    def _number(self, value: Any, name: str, path: FieldPath) -> int:
        number = whole(value)
        if number is None:
            raise CallerError(f"{spelled(name, path)}: expected an integer, got {shown(value)}")
        if number < self.base:
            raise CallerError(f"{spelled(name, path)} is {number}; lines and characters count from {self.base}")
        return number

    def _text(self, document: str | None) -> Text:
        return (self.texts.get(document) if document is not None else None) or _UNREAD


def _line_and_character(numbers: Sequence[int], first: int) -> Position:
    """A place in LSP's form; a line alone stands for its `first` character."""
    line, character = numbers if len(numbers) == 2 else (*numbers, first)
    return {"line": line, "character": character}


# --- structure -------------------------------------------------------------------------------------


def _walk(value: Any, home: str | None, visit: _Visit) -> Any:
    """A copy of `value` with the numbers that `visit` returns.

    Without recursion: a syntax tree may be deeper than Python's stack.
    """
    if not isinstance(value, (dict, list)):
        return value
    top = value.copy()
    todo: deque[tuple[Any, str | None, FieldPath]] = deque([(top, home, ())])
    while todo:
        copy, document, path = todo.popleft()
        if isinstance(copy, list):
            for index, child in enumerate(copy):
                if isinstance(child, (dict, list)):
                    copy[index] = part = child.copy()
                    todo.append((part, document, (*path, index)))
            continue
        if not _NAMING.isdisjoint(copy):
            document = _named_document(copy) or document
        if "line" in copy or "startLine" in copy:
            for keys in _places(copy):
                copy.update(visit(copy, keys, document, path))
        by_document = bool(path) and path[-1] in _BY_DOCUMENT
        for key, child in copy.items():
            if isinstance(child, (dict, list)) and (by_document or not _is_opaque(key, copy)):
                its_document = key if by_document else _document_of(key, copy) or document
                copy[key] = part = child.copy()
                if (
                    isinstance(part, dict) and len(part) == 2 and "line" in part and "character" in part
                ):  # most parts of most answers
                    part.update(visit(part, _POSITION, its_document, (*path, key)))
                else:
                    todo.append((part, its_document, (*path, key)))
    return top


def _is_opaque(key: str, parent: Json) -> bool:
    return key in _OPAQUE or (key == "arguments" and isinstance(parent.get("command"), str))


def _named_document(value: Any) -> str | None:
    """The URI of the document that an object names as its own."""
    if not isinstance(value, dict) or _NAMING.isdisjoint(value):
        return None
    uri = value.get("uri")
    if isinstance(uri, str):
        return uri
    return _named_document(value.get("textDocument")) or _named_document(value.get("document"))


def _document_of(key: str, parent: Json) -> str | None:
    """The URI of the document that one field of `parent` refers to, if it differs from the others'."""
    if key in _TARGETS and isinstance(uri := parent.get("targetUri"), str):
        return uri
    return _named_document(parent.get("from")) if key == "fromRanges" else None


def _places(value: Json) -> Iterator[_Keys]:
    """The keys of each place that `value` itself is."""
    if "line" in value and "character" in value:
        yield _POSITION
    if "startLine" in value and "endLine" in value:
        for line, character in ("startLine", "startCharacter"), ("endLine", "endCharacter"):
            yield (line,) if value.get(character) is None else (line, character)
