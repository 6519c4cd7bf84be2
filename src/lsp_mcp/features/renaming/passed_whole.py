"""Files that export everything of others, which name nothing of it: `passing_whole`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from pathlib import Path, PurePath

from lsp_mcp.backend import Backend
from lsp_mcp.requests.places import text_or_none
from lsp_mcp.syntax.files import passed_whole
from lsp_mcp.text import Text

_MOST_FILES = 300  # with the name of one
_MOST = 50  # found


async def passing_whole(backend: Backend, paths: Iterable[Path]) -> dict[Path, Text]:
    """The files that export everything of a file in `paths`, also through others, or of one that is called alike; with
    their texts.

    Two modules that such a file passes on cannot export one name.
    """
    found: dict[Path, Text] = {}
    todo = list(paths)
    while todo and len(found) < _MOST:
        path = todo.pop()
        names = {path.name.partition(".")[0], path.parent.name}
        for word in sorted(words[-1] for name in names if (words := re.findall(r"\w+", name))):
            for file in (await backend.words.files_with(word)).files[:_MOST_FILES]:
                text, language = await text_or_none(backend, file), backend.plugin.language_of(file)
                if file in found or text is None or language is None:
                    continue
                if names.intersection(await asyncio.to_thread(_passed, text, language.id)):
                    found[file] = text
                    todo.append(file)
    return found


def _passed(text: Text, language_id: str) -> set[str]:
    """The last parts of the paths of modules that `text` passes on, without extensions."""
    return {PurePath(one).name.partition(".")[0] for one in passed_whole(text, language_id)}
