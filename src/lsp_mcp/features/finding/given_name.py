"""The import that gives a symbol the name by which other files import it from there: `given_by`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.requests.places import text_or_none
from lsp_mcp.requests.refusals import NO_ANSWER, note
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.syntax.imports import imported_as
from lsp_mcp.text import Point, Span

_MOST_FILES = 300  # with the name


async def given_by(backend: Backend, path: Path, point: Point, name: str) -> tuple[Path, Span] | None:
    """Where the one import of the workspace is that calls `name` what a server takes the word at a place for.

    None if there are several, or none, or if not all files with the name are looked at.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    try:
        having = await backend.words.files_with(name)
        if having.unknown or len(having.files) > _MOST_FILES:
            return None
        meant = await definition_places(backend, path, point)
        found: list[tuple[Path, Span]] = []
        for file in having.files:
            text, language = await text_or_none(backend, file), backend.plugin.language_of(file)
            if text is None or language is None:
                continue
            for start in (await asyncio.to_thread(imported_as, text, language.id)).values():
                span = text.identifier_at(text.offset_point(start))
                if span and text.slice(span) == name and await definition_places(backend, file, span.start) == meant:
                    found.append((file, span))
    except NO_ANSWER as error:
        note(path, error)
        return None
    return found[0] if meant and len(found) == 1 else None
