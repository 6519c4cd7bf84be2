"""What the code declares though the server's search by name knows no symbol of that name: `unlisted`.

clangd 22 leaves out of its index what a header declares in an unnamed namespace, in the middle of which it is included.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import first_few
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.symbols import FUNCTIONS
from lsp_mcp.requests.workspace_symbol import Keep
from lsp_mcp.syntax.definitions import Definition, definitions
from lsp_mcp.syntax.grammars import Grammar
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Text

_MOST_FILES = 30  # that are parsed


async def unlisted(
    backend: Backend,
    name: str,
    keep: Keep = lambda *_: True,
    *,
    reported: Sequence[Place] = (),
    is_silent: bool = False,
    owner: str = "",
) -> list[Gap]:
    """The gap for declarations called `name` by their syntax that fit `keep`; without locals and dependencies.

    With an `owner`, only members of a type or scope of that name. Those at `reported` are known to the caller.

    For a `name` that the server does not know, or about which it has not answered (`is_silent`).
    """
    if not name.isidentifier():
        return []
    dependencies = set(backend.plugin.adapter.workspace.dependency_folder_names)
    told = {(place.path, place.span.start) for place in reported}
    found: list[str] = []
    files: list[Path] = []
    having = (await backend.words.files_with(name, seconds=budget.left())).files
    inside = [(path, path.relative_to(backend.root)) for path in having if path.is_relative_to(backend.root)]
    own = [(path, shown) for path, shown in inside if dependencies.isdisjoint(shown.parts)]
    own.sort(key=lambda one: (one[0].stem.casefold() != name.casefold(), one))  # where it is declared most often
    for path, shown in own[:_MOST_FILES]:
        grammar = backend.plugin.grammar_of(path)
        text = await text_or_none(backend, path) if grammar else None
        if not (grammar and text and await backend.words.occurrences(path, text, name)):
            continue
        declared = await asyncio.to_thread(_declared, text, grammar, name, owner)
        points = [text.offset_point(one.name_start) for one in declared if keep(one.kind, path)]
        if points := [point for point in points if (path, point) not in told]:
            files.append(path)
            found += [f"{shown.as_posix()}:{at.line}:{at.character}" for at in points]
    if not found:
        return []
    places = f"{first_few(found)}; pass one of these"
    lists = "did not list" if is_silent else "lists no"
    said = f"{backend.plugin.name} {lists} {name}, which by syntax is declared at {places}"
    return [Gap("not_searched", said, tuple(files), about=name)]


def _declared(text: Text, grammar: Grammar, name: str, owner: str) -> list[Definition]:
    found = definitions(TREES.tree_of(text, grammar), grammar) or []
    named = ((one, found[one.above] if one.above >= 0 else None) for one in found if one.name == name)
    return [
        one
        for one, above in named
        if not (above and above.kind in FUNCTIONS)
        and (not owner or owner == re.split(r"\W+", one.owner)[-1] or (above and above.name == owner))
    ]
