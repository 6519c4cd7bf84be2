"""Words that are keywords where they stand, about which a server says nothing: `AsKeyword`."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.requests.places import Place
from lsp_mcp.syntax.keywords import keywords_at


class AsKeyword:
    """A word that is part of the syntax means no symbol: languages have keywords that are names elsewhere."""

    keeps_time = True

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        by_file: dict[str, list[Place]] = defaultdict(list)
        for place in so_far.unknown:
            by_file[str(place.path)].append(place)
        other: list[Place] = []
        for places in by_file.values():
            language = question.backend.plugin.language_of(places[0].path)
            spans = [place.span for place in places]
            keywords = await asyncio.to_thread(keywords_at, places[0].text, language.id, spans) if language else ()
            other += [place for place in places if place.span in keywords]
        return so_far.explained(other=other)
