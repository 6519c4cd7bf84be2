"""Uses of other symbols that a server takes for uses of one that only its own file knows: `of_namesakes`.

clangd 22 tells static functions, and all of an unnamed namespace, apart by the last part of their file's name only.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Definitions, Site
from lsp_mcp.requests.places import Place


async def of_namesakes(
    backend: Backend, definitions: Definitions, places: Sequence[Place], at: Site
) -> frozenset[Path]:
    """The files of those of `places`, uses of the symbol at `at` to its server, that mean another symbol.

    One place of each file is asked about, and only if there is a file of the same name as that of the symbol.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    if not backend.plugin.word_check.internal_pattern:
        return frozenset()
    own = await definitions.of(at)
    if not own or not all(symbol.internal for symbol in own):
        return frozenset()
    sites = frozenset[Site]().union(*(symbol.sites for symbol in own))
    home = {path for path, _ in sites}
    first = {place.path: place for place in reversed(places) if place.path not in home}
    if not {path.name for path in home}.intersection(path.name for path in first):
        return frozenset()
    others = set()
    for path, place in first.items():
        meaning = await definitions.of((path, place.span.start))
        if meaning and all(symbol.sites.isdisjoint(sites) for symbol in meaning):
            others.add(path)
    return frozenset(others)
