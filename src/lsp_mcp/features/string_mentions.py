"""Strings that look something up by its name, as templates do, and that no server renames: `string_mentions`."""

from __future__ import annotations

import re

from lsp_mcp.backend import Backend
from lsp_mcp.features.places import Place, text_or_none
from lsp_mcp.words.lexing import in_strings

_MOST_FILES = 300  # looked into
_SECONDS = 1.0  # that the index of words is waited for


async def string_mentions(backend: Backend, name: str) -> list[Place]:
    """Where strings of the first few hundred source files with `name` have it alone, or behind a dot.

    None of a name that only its own package can use, since nothing else looks that up, nor of a path.
    """
    adapter = backend.adapter
    is_private = adapter.visibility and re.search(adapter.visibility.private_names or "(?!)", name)
    if is_private or not name.isidentifier():
        return []
    found = []
    for path in (await backend.words.files_with(name, seconds=_SECONDS)).files[:_MOST_FILES]:
        if (text := await text_or_none(backend, path)) is not None:
            found += [Place(path, span, text) for span in in_strings(text, name, adapter.language_of(path))]
    return found
