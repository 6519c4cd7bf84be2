"""The types that have values of another type in them: `carriers`; and the files that use such types: `using`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.remembered import RememberedOf, kept_in_thread
from lsp_mcp.requests.places import text_or_none
from lsp_mcp.syntax.type_parts import DeclaredType, declared_types

_MOST_FILES = 300  # searched for one word
_MOST_TYPES = 300  # that have a value of the type in them, or one that has
_MOST_KEPT = 50_000  # declarations of types
_KEPT: RememberedOf[Backend, Path, str, dict[int, DeclaredType]] = RememberedOf(_MOST_KEPT)  # the stamp is the text


async def types_in(backend: Backend, path: Path) -> Mapping[int, DeclaredType]:
    """The types that a file declares, by the offsets of their names; none for one that cannot be read."""
    text, language = await text_or_none(backend, path), backend.plugin.language_of(path)
    if text is None or language is None:
        return {}
    kept = _KEPT.for_owner(backend)
    return await kept_in_thread(kept, path, text.content, lambda: declared_types(text, language.id))


async def carriers(backend: Backend, type_name: str, home: Path) -> dict[str, Path | None] | None:
    """The names of the types that have a value of `type_name`, of the folder `home`, in them, with the folder of each.

    That type is among them; several of one name may be anywhere. None: there are too many.
    """
    found: dict[str, Path | None] = {type_name: home}
    todo = [type_name]
    while todo:
        word = todo.pop()
        for path in await files_with(backend, word, found[word]):
            for one in (await types_in(backend, path)).values():
                if word not in one.parts or found.get(one.name, path) in (None, path.parent):
                    continue
                found[one.name] = None if one.name in found else path.parent  # several have that name
                todo.append(one.name)
            if len(found) > _MOST_TYPES:
                return None
    return found


async def using(backend: Backend, types: Mapping[str, Path | None]) -> set[Path]:
    """The files that have the name of one of these types, each of a folder or any, more often than they declare it."""
    found: set[Path] = set()
    for name, home in sorted(types.items()):
        for path in await files_with(backend, name, home):
            if path in found or not (text := await text_or_none(backend, path)):
                continue
            declared = sum(one.name == name for one in (await types_in(backend, path)).values())
            if len((await backend.words.occurrences(path, text, name)).spans) > declared:
                found.add(path)
    return found


async def files_with(backend: Backend, name: str, home: Path | None = None) -> list[Path]:
    """The files that may mean what is called `name`; only those in `home`, if others can't name it."""
    private = backend.plugin.visibility and backend.plugin.visibility.private_names
    files = (await backend.words.files_with(name)).files
    if home and private and re.match(private, name):
        files = tuple(path for path in files if path.parent == home)
    return list(files[:_MOST_FILES])
