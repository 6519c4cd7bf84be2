"""Occurrences of the words of a name or a message in a workspace's text: `text_matches`."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from lsp_mcp.adapters import Language
from lsp_mcp.backend import Backend
from lsp_mcp.errors import LspMcpError, PathError
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.symbol_text import enclosing_text
from lsp_mcp.text import Span, Text
from lsp_mcp.words.lexing import identifiers_in_code

_MOST_FILES = 300  # files searched
_OTHERS = 9  # places in other files
_SECONDS = 2.0  # seconds to wait for the word index


class Matches(Struct, frozen=True):
    """The number of occurrences of a text in source files, and the `first` place with its containing symbol.

    `others` are the first places in the next files. `use` is the last word of the text at the first place that is code.
    """

    first: Place | None = None
    others: tuple[Place, ...] = ()
    use: Place | None = None
    total: int = 0
    least: bool = False  # not every file was searched


async def text_matches(backend: Backend, text: str) -> Matches:
    """The places of `text`, as whole words, in the workspace's source files; comments and strings count."""
    if not re.search(r"\w", text):
        return Matches()
    searched = await backend.words.files_with(text, seconds=_SECONDS)
    first, use, total = None, None, 0
    others: list[Place] = []
    for path in searched.files[:_MOST_FILES]:
        try:
            content = await backend.documents.text(path)
        except PathError:
            continue  # gone since it was indexed
        if spans := content.words(text):
            if first and len(others) < _OTHERS:
                others.append(Place(path, spans[0], content))
            first = first or Place(path, spans[0], content)
            use = use or _use(path, content, spans, backend.plugin.language_of(path))
            total += len(spans)
    if first:
        first = first._replace(container=await _container(backend, first))
    is_least = bool(searched.unknown) or len(searched.files) > _MOST_FILES
    return Matches(first, tuple(others), use, total, is_least)


def _use(path: Path, content: Text, spans: list[Span], language: Language | None) -> Place | None:
    for span in spans:
        word = content.identifier_at(span.end)
        if word and word in identifiers_in_code(content, word.start.line, language):
            return Place(path, word, content)
    return None


async def _container(backend: Backend, place: Place) -> str:
    """The symbol that contains `place`; empty if the server does not say: the place matters more."""
    for opened in (False, True):  # an open document may change the server's knowledge, so only if necessary
        try:
            inside = await enclosing_text(backend, place.path, place.span, opened=opened)
        except LspMcpError:
            continue
        return inside.symbol.name if inside and inside.symbol else ""
    return ""
