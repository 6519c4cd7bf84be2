"""Where code loads a module that is one symbol as a whole, under any name: `loaded`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

from msgspec import Struct

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.syntax.loads import Load, loads, near_paths, whole
from lsp_mcp.text import Text

_MOST_FILES = 2_000  # in which paths are looked for


class Loaded(Struct, frozen=True):
    """The names that loading modules give to a symbol, where it is used without one, and files not looked at."""

    aliases: tuple[Place, ...] = ()
    used: tuple[Place, ...] = ()
    unread: tuple[Path, ...] = ()


async def loaded(backend: Backend, places: Sequence[Place]) -> Loaded:
    """Where the symbol with the uses `places` is loaded, if one of these says that a module is nothing but it.

    Only by relative paths. Nothing for languages without a query `loads`.
    """
    modules = await asyncio.to_thread(_modules, backend, places)
    if not modules:
        return Loaded()
    words = {grammar.modules.loader for path in modules if (grammar := backend.plugin.grammar_of(path))}
    having = {path for word in words for path in (await backend.words.files_with(word, seconds=budget.left())).files}
    files = sorted(path for path in having if path.is_relative_to(backend.root))
    texts = {path: text for path in files[:_MOST_FILES] if (text := await text_or_none(backend, path))}
    aliases: list[Place] = []
    used: list[Place] = []
    known: set[Path] = set()
    while new := modules - known:
        known |= new
        for path, one in await asyncio.to_thread(_loading, backend, texts, new):
            text = texts[path]
            span = text.identifier_at(text.offset_point(one.at)) or text.offsets_span(one.at, one.at)
            match one.kind:
                case "passed":
                    modules.add(path)
                case "alias":
                    aliases.append(Place(path, span, text))
                case "used":
                    used.append(Place(path, span, text))
    return Loaded(tuple(aliases), tuple(used), tuple(files[_MOST_FILES:]))


def _modules(backend: Backend, places: Sequence[Place]) -> set[Path]:
    """The files of which one of `places` names what they are as a whole."""
    found, wholes = set[Path](), dict[Path, set[int]]()
    for place in places:
        grammar = backend.plugin.grammar_of(place.path)
        if grammar and grammar.modules.loader:
            if place.path not in wholes:
                wholes[place.path] = whole(place.text, grammar)
            if place.text.point_offset(place.span.start) in wholes[place.path]:
                found.add(place.path)
    return found


def _loading(backend: Backend, texts: Mapping[Path, Text], modules: Set[Path]) -> list[tuple[Path, Load]]:
    """Where `texts` load one of `modules`."""
    found = []
    for path, text in texts.items():
        if not any(_leads_to(backend, path, near, modules) for near in near_paths(text.content)):
            continue
        if grammar := backend.plugin.grammar_of(path):
            found += [(path, one) for one in loads(text, grammar) if _leads_to(backend, path, one.path, modules)]
    return found


def _leads_to(backend: Backend, path: Path, spelled: str, modules: Set[Path]) -> bool:
    if not spelled.startswith("."):
        return False
    there = Path(os.path.normpath(path.parent / spelled))
    return any(
        there in (one, one.with_suffix(""))
        or (
            there == one.parent
            and (grammar := backend.plugin.grammar_of(one))
            and one.stem in grammar.modules.like_folders
        )
        for one in modules
    )
