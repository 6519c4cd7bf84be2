"""Strings that look a symbol up by its name, as templates do; no server renames them: `string_mentions`."""

from __future__ import annotations

import re

from lsp_mcp.backend import Backend
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.words.lexing import in_strings

_MOST_FILES = 300  # files searched
_SECONDS = 1.0  # seconds to wait for the word index
_MOST_KEPT = 1_000  # places: a rename is previewed first, then applied
_FOUND: RememberedOf[Backend, str, int, list[Place]] = RememberedOf(_MOST_KEPT)


async def string_mentions(backend: Backend, name: str) -> list[Place]:
    """Strings in the first few hundred source files with `name` that consist of it, or have it after a dot.

    None for a name that only its own package can use, since nothing else looks it up, or for a path.
    """
    visibility = backend.plugin.visibility
    is_private = visibility and re.search(visibility.private_names or "(?!)", name)
    if is_private or not name.isidentifier():
        return []
    kept, generation = _FOUND.for_owner(backend), backend.generation
    if (known := kept.get(name, generation)) is not None:
        return known
    found = []
    words = await backend.words.files_with(name, seconds=_SECONDS)
    for path in words.files[:_MOST_FILES]:
        if (text := await text_or_none(backend, path)) is not None:
            found += [Place(path, span, text) for span in in_strings(text, name, backend.plugin.language_of(path))]
    if generation == backend.generation and not words.unknown:
        kept.put(name, generation, found, 1 + len(found))
    return found
