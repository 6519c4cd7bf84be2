"""Occurrences of a type's name that mean other types, by the server's index on disk: `InIndex`.

No file has to be opened for them: a compiler takes a second for some. What remains is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from lsp_mcp.backend import Backend, Indexed
from lsp_mcp.evidence.identity import Identity
from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.requests.places import Place
from lsp_mcp.text import PositionEncoding
from lsp_mcp.words.lexing import macro_at
from lsp_mcp.words.nested import replaced_inside_out

_ARGUMENTS = re.compile(r"<[^<>]*>")
_ENCODING = PositionEncoding("utf-16", lone_cr_ends_line=False)  # of the index


class InIndex:
    """The index of a server says which types its words mean.

    It was made from these texts. Not judged are doubted files, open ones, and words that may depend on a template's
    arguments or are in a macro; nor specializations, constructors, and types in the same scope: a place may mean both.
    In a header only declarations count: other units may see its uses in another way.
    """

    keeps_time = False

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        if question.thorough:
            return so_far
        return so_far.explained(
            other=await _others(question.backend, question.symbol, so_far.unasked, question.doubted)
        )


async def _others(
    backend: Backend, symbol: Identity, places: Sequence[Place], doubted: Collection[Path]
) -> frozenset[Place]:
    """Those of `places` that surely mean another type than `symbol`."""
    if symbol.role != "type" or len(symbol.ids) != 1 or not backend.plugin.compiles_files:
        return frozenset()
    closed = [place for place in places if place.path not in doubted and backend.documents.version(place.path) is None]
    if not closed:
        return frozenset()
    files = await backend.coverage.indexed({*(place.path for place in places), *(path for path, _ in symbol.sites)})
    types: dict[str, set[tuple[str, str] | None]] = {}
    for file in files.values():
        for identifier, type_ in file.types.items():
            types.setdefault(identifier, set()).add(type_)
    own = next(iter(symbol.ids)).partition(" ")[0]  # the server's own part, see `Definitions`
    (scope,) = scopes if len(scopes := _scopes(types, own, symbol.name)) == 1 else (None,)
    if scope is None:
        return frozenset()
    rules = backend.plugin.word_check
    texts = {place.path: place.text.content for place in closed if files.get(place.path)}
    generic = {path for path, content in texts.items() if re.search(rules.generic_pattern, content)}

    def means_another(place: Place) -> bool:
        file = files.get(place.path)
        ids, declared = _use(file, place, rules.type_dependent_pattern) if file else (frozenset[str](), False)
        if file is None or not ids or own in ids or not symbol.aliased.isdisjoint(ids):
            return False
        if not declared and (not file.is_unit or place.path in generic):
            return False
        if macro_at(place.text, place.span, backend.plugin.language_of(place.path)):
            return False
        # A name brought in by `using`, or an implicit constructor, may be all that the index has about a place.
        return all(_is_apart(scope, _scopes(types, one, symbol.name), symbol.name) for one in ids)

    return frozenset(filter(means_another, closed))


# --- inside ------------------------------------------------------------------------------------


def _scopes(types: dict[str, set[tuple[str, str] | None]], identifier: str, name: str) -> frozenset[str]:
    """The scope of a type called `name`; empty if it is another, unknown, or a specialization."""
    known = types.get(identifier) or {None}
    if any(one is None or one[0] != name for one in known):
        return frozenset()
    return frozenset(_bare(one[1]) for one in known if one)


def _bare(scope: str) -> str:
    """`scope` without the arguments of templates."""
    return replaced_inside_out(_ARGUMENTS, "", scope)


def _is_apart(scope: str, others: frozenset[str], name: str) -> bool:
    """Whether a type of `scope` is surely none of `others`, scopes of types called `name` too."""
    if len(others) != 1:
        return False
    (other,) = others
    return other != scope and not scope.startswith(f"{other}{name}::") and not other.startswith(f"{scope}{name}::")


def _use(file: Indexed, place: Place, dependent: str) -> tuple[frozenset[str], bool]:
    """The IDs of the symbols at `place`, and whether it declares them; none if that is not certain.

    Not certain is a line that matches `dependent` before the place.
    """
    nothing = frozenset[str](), False
    start = place.text.point_offset(place.span.start)
    before = place.text.content[place.text.content.rfind("\n", 0, start) : start]
    if not before.isascii() or "\r" in before or re.search(dependent, before):
        return nothing
    position = place.text.point_position(place.span.start, _ENCODING)
    return file.uses.get((position["line"], position["character"]), nothing)
