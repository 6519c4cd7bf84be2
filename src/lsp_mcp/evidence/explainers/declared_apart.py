"""Declarations that the server does not resolve, as Go's functions without a body: `DeclaredApart`."""

from __future__ import annotations

from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.requests.places import Place
from lsp_mcp.syntax.declarations import declarations_of


class DeclaredApart:
    """Where folders are packages, what a file declares at its top is not the symbol of another folder.

    gopls 0.24 says nothing about a function that `//go:linkname` pulls in.
    """

    keeps_time = False

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        folders = {path.parent for path, _ in question.symbol.sites}
        if question.backend.plugin.visibility is None or not folders:
            return so_far
        outside = [place for place in so_far.unknown if place.path.parent not in folders]
        return so_far.explained(other=[place for place in outside if await _is_declared(question, place)])


async def _is_declared(question: Question, place: Place) -> bool:
    """Whether the place is the name of a declaration at the top of its file, and of no method."""
    language = question.backend.plugin.language_of(place.path)
    known = await declarations_of(place.text, language.id) if language else None
    at = place.text.point_offset(place.span.start)
    return known is not None and any(
        at == start for one in known.declared if not one.receiver for start, _ in one.names
    )
