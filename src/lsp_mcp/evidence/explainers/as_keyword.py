"""Words that are keywords where they stand: `AsKeyword`, about which a server says nothing, and `AsListedKeyword`."""

from __future__ import annotations

from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.requests.keywords import keywords_of


class AsKeyword:
    """A word that is part of the syntax means no symbol: languages have keywords that are names elsewhere."""

    keeps_time = True

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        return so_far.explained(other=await keywords_of(question.backend, so_far.unknown))


class AsListedKeyword:
    """A word that is part of the syntax, which the server would take for a symbol: it is not asked about it."""

    keeps_time = True

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        listed = question.backend.plugin.word_check.listed_keywords
        doubtful = [place for place in so_far.unasked if listed and place.text.slice(place.span) in listed]
        return so_far.explained(other=await keywords_of(question.backend, doubtful))
