"""Occurrences of the words of a name or a message in a workspace's text: `text_matches`."""

from __future__ import annotations

import re

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.errors import LspMcpError, PathError
from lsp_mcp.features.places import Place
from lsp_mcp.features.symbol_text import enclosing_text

_MOST_FILES = 300  # files searched
_SECONDS = 2.0  # seconds to wait for the word index


class Matches(Struct, frozen=True):
    """The number of occurrences of a text in source files, and the `first` place with its containing symbol."""

    first: Place | None = None
    total: int = 0
    least: bool = False  # not every file was searched


async def text_matches(backend: Backend, text: str) -> Matches:
    """The places of `text`, as whole words, in the workspace's source files; comments and strings count."""
    words = re.findall(r"\w+", text)
    if not words:
        return Matches()
    searched = await backend.words.files_with(max(words, key=len), seconds=_SECONDS)
    first, total = None, 0
    for path in searched.files[:_MOST_FILES]:
        try:
            content = await backend.text(path)
        except PathError:
            continue  # gone since it was indexed
        if spans := content.words(text):
            first = first or Place(path, spans[0], content)
            total += len(spans)
    if first:
        first = first._replace(container=await _container(backend, first))
    return Matches(first, total, bool(searched.unknown) or len(searched.files) > _MOST_FILES)


async def _container(backend: Backend, place: Place) -> str:
    """The symbol that contains `place`; empty if the server does not say: the place matters more."""
    for opened in (False, True):  # an open document may change the server's knowledge, so only if necessary
        try:
            inside = await enclosing_text(backend, place.path, place.span, opened=opened)
        except LspMcpError:
            continue
        return inside.symbol.name if inside and inside.symbol else ""
    return ""
