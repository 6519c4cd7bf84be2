"""Names that macros make strings of, which change with a rename: `in_macro_strings`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.prose import first_few
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.syntax.stringified import Argument, Stringizing, arguments_around, arguments_of, is_stringized, stringizing
from lsp_mcp.text import Text
from lsp_mcp.words.lexing import blanked

_MOST_PLACES = 2_000  # looked at
_MOST_FILES = 2_000  # with macros
_MOST_USING = 300  # files in which the uses of one macro are looked at
_MACROS: RememberedOf[Backend, str, int, Stringizing] = RememberedOf(1)


async def in_macro_strings(backend: Backend, places: Iterable[Place]) -> tuple[str, str]:
    """Where macros of the workspace make strings of the words at `places`, for people: of names, and of expressions.

    A string is that of a name if its macro is only given names: then code may look for it. Others are texts such as
    that of a failed assertion.
    """
    found: list[tuple[Place, list[Argument]]] = []
    for place in [one for one in places if _has_macros(backend, one.path)][:_MOST_PLACES]:
        code = blanked(place.text, backend.plugin.language_of(place.path))
        start, end = (place.text.point_offset(point) for point in (place.span.start, place.span.end))
        if around := list(arguments_around(code, start, end)):
            found.append((place, around))
    macros = await _macros(backend) if found else {}
    names: list[str] = []
    texts: list[str] = []
    only_names: dict[str, bool] = {}
    for place, around in found:
        for argument in around:
            if is_stringized(macros, argument):
                macro = argument.called
                if macro not in only_names:
                    only_names[macro] = await _is_given_names(backend, macro, macros)
                shown = place.path.relative_to(backend.root) if place.path.is_relative_to(backend.root) else place.path
                (names if only_names[macro] else texts).append(f"{shown}:{place.span.start.line} ({macro})")
                break
    return first_few(names), first_few(texts)


async def _macros(backend: Backend) -> Stringizing:
    kept = _MACROS.for_owner(backend)
    generation = backend.generation
    if (known := kept.get("", generation)) is None:
        files = (await backend.words.files_with("define")).files
        texts = await _texts(backend, files[:_MOST_FILES])
        known = await asyncio.to_thread(stringizing, [text.content for _, text in texts])
        kept.put("", generation, known, 1)
    return known


async def _is_given_names(backend: Backend, macro: str, macros: Stringizing) -> bool:
    """Whether all that `macro` makes strings of are names."""
    files = (await backend.words.files_with(macro)).files
    for path, text in await _texts(backend, files[:_MOST_USING]):
        code = blanked(text, backend.plugin.language_of(path))
        for argument in arguments_of(code, macro):
            given = code[argument.start : argument.end]
            if is_stringized(macros, argument) and given and not given.isidentifier():
                return False
    return True


async def _texts(backend: Backend, files: Sequence[Path]) -> list[tuple[Path, Text]]:
    with_macros = [path for path in files if _has_macros(backend, path)]
    return [(path, text) for path in with_macros if (text := await text_or_none(backend, path)) is not None]


def _has_macros(backend: Backend, path: Path) -> bool:
    grammar = backend.plugin.grammar_of(path)
    return grammar is not None and grammar.has_directives
