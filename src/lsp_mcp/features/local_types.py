"""Types inside functions and their members, of which a server's search by name knows nothing: `in_local_types`."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.features.places import Place, text_or_none
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import count
from lsp_mcp.words.local_types import Kind, declared_inside_functions

_MOST_FILES = 500


class InLocalTypes(Struct, frozen=True):
    """What seems to be declared by a name there, with its kind; `unread`: not every file was looked at."""

    places: tuple[tuple[Place, Kind], ...] = ()
    unread: bool = False


async def in_local_types(backend: Backend, parts: Sequence[str], known: Collection[Place] = ()) -> InLocalTypes:
    """The places in the workspace where the name `parts`, as `Type`, `method`, is declared there, by the text.

    Nothing for a server whose search by name finds these; none of those that are `known`.
    """
    if not backend.adapter.symbols.omits_local_types or not parts or not parts[-1].isidentifier():
        return InLocalTypes()
    *owners, word = parts
    words = await backend.words.files_with(word, seconds=backend.check_seconds)
    has = {(place.path, place.span.start) for place in known}
    found: list[tuple[Place, Kind]] = []
    files = sorted(path for path in words.files if path.is_relative_to(backend.root))
    for path in files[:_MOST_FILES]:
        language = backend.adapter.language_of(path)
        if not (text := await text_or_none(backend, path)):
            continue
        spans = [*backend.words.occurrences(path, text, word)]
        declared = await asyncio.to_thread(declared_inside_functions, text, spans, language)
        found += [
            (Place(path, one.span, text), one.kind)
            for one in declared
            if (path, one.span.start) not in has and _is_in(one.around, owners, one.kind)
        ]
    return InLocalTypes(tuple(found), bool(words.unknown) or len(files) > _MOST_FILES)


def not_searched(backend: Backend, word: str, places: Sequence[Place], *, unread: bool) -> list[Gap]:
    """That the search by name did not find what is declared at `places`, or, if `unread`, may not have found some."""
    if not places:
        return [Gap("not_read", f"not searched in time for {word}: types inside functions")] if unread else []
    first = places[0]
    address = f"{first.path.relative_to(backend.root).as_posix()}:{first.span.start.line}:{word}"
    more = f" and {count(len(places) - 1, 'other place')}" if len(places) > 1 else ""
    text = f"not searched: types inside functions, which may declare {word}, at {address}{more}"
    return [Gap("not_searched", text, tuple(dict.fromkeys(place.path for place in places)), about=word)]


def _is_in(around: Sequence[str], owners: Sequence[str], kind: Kind) -> bool:
    """Whether a name in `around` can be qualified by `owners`; namespaces are not looked at."""
    if not owners:
        return True
    return owners[-1] in around if kind == "class" else bool(around) and around[-1] == owners[-1]
