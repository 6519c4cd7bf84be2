"""What a directive in a comment names, which the server does not tell: `InDirective`."""

from __future__ import annotations

import re

from lsp_mcp.evidence.identity import Identity
from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.requests.places import Place

_BEFORE = 100  # characters before a name


class InDirective:
    """A directive such as Go's `//go:linkname` and `//export` names what its folder declares at top level."""

    keeps_time = True

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        if not (pattern := question.backend.plugin.word_check.directive_pattern):
            return so_far
        same: list[Place] = []
        other: list[Place] = []
        for place in so_far.unknown:
            start = place.text.point_offset(place.span.start)
            if re.search(pattern, place.text.content[max(0, start - _BEFORE) : start]):
                said = _is_named(place, question.symbol)
                if said is not None:
                    (same if said else other).append(place)
        return so_far.explained(same=same, other=other)


def _is_named(place: Place, symbol: Identity) -> bool | None:
    """Whether the directive at `place` names `symbol`; None if that is not known."""
    if symbol.role == "unknown":  # a function without a body, for example
        return True if any(path == place.path for path, _ in symbol.sites) else None
    return symbol.role == "value" and any(path.parent == place.path.parent for path, _ in symbol.sites)
