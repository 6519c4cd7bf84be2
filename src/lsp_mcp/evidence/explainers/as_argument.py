"""Names of arguments in calls of the class that the code is in, about which a server says nothing: `AsArgument`."""

from __future__ import annotations

import asyncio

from lsp_mcp.evidence.explainers.by_definition import says
from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.requests.places import Place, by_file, text_or_none
from lsp_mcp.syntax.grammars import has_query
from lsp_mcp.syntax.own_class import OWN_CLASS, arguments_of_own_class
from lsp_mcp.syntax.parameters import names_of_arguments


class AsArgument:
    """Such a name means what the constructor of the class, or the class itself, declares: `x` of `cls(x=1)`.

    A field counts only if its class gets a constructor from a decorator, or, as other calls in the answer show, a base.
    """

    keeps_time = False

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        same: list[Place] = []
        other: list[Place] = []
        for path, places in by_file(so_far.unknown).items():
            language = question.backend.plugin.language_of(path)
            if language is None or not has_query(language.id, OWN_CLASS):
                continue
            text, spans = places[0].text, [place.span for place in places]
            named = await asyncio.to_thread(arguments_of_own_class, text, language.id, spans)
            for place in places:
                if (there := named.get(place.span)) and (there.is_sure or await _names_an_argument(question)):
                    meaning = await question.definitions.meaning((path, there.declared.start))
                    said = await says(question, Place(path, there.declared, text), meaning)
                    if said is not None:
                        (same if said else other).append(place)
        return so_far.explained(same=same, other=other)


async def _names_an_argument(question: Question) -> bool:
    """Whether the answer has a place where a call names the symbol."""
    for path in sorted({path for path, _ in question.claim.sites}):
        text, language = await text_or_none(question.backend, path), question.backend.plugin.language_of(path)
        if text and language:
            points = (point for file, point in question.claim.sites if file == path)
            spans = [span for point in points if (span := text.identifier_at(point))]
            if await asyncio.to_thread(names_of_arguments, text, language.id, spans):
                return True
    return False
