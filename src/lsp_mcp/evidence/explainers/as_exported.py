"""Words in strings that say what a module exports or a class has, of which a server says nothing: `AsExported`."""

from __future__ import annotations

import asyncio

from lsp_mcp.evidence.explainers.by_definition import says
from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.requests.places import Place, by_file
from lsp_mcp.syntax.exports import bound_for_exports


class AsExported:
    """Such a word means what its module binds that name to, or what the code of its class has by that name."""

    keeps_time = False

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        same: list[Place] = []
        other: list[Place] = []
        for path, places in by_file(so_far.unknown).items():
            if (language := question.backend.plugin.language_of(path)) is None:
                continue
            text, spans = places[0].text, [place.span for place in places]
            bound = await asyncio.to_thread(bound_for_exports, text, language.id, spans)
            for place in places:
                if there := bound.get(place.span):
                    meaning = await question.definitions.meaning((path, there.start))
                    said = await says(question, Place(path, there, text), meaning)
                    if said is not None:
                        (same if said else other).append(place)
        return so_far.explained(same=same, other=other)
