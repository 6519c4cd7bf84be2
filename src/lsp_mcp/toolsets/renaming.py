"""How every tool renames: one question, one set of refusals (`ask_rename`, `Renamed.refuse_partial`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from lsp_mcp.edits.plan import EditPlan
from lsp_mcp.errors import RefusedError
from lsp_mcp.features import rename
from lsp_mcp.gaps import Gap, hiding
from lsp_mcp.toolsets.questions import SymbolAnswer
from lsp_mcp.toolsets.symbols import SymbolTarget, Targets

_DOUBTS = 5  # places listed that a rename may get wrong
Asking = Callable[[Callable[[SymbolTarget], Awaitable[rename.Renaming]]], Awaitable[SymbolAnswer[rename.Renaming]]]
"""Called with what to ask about a symbol; the answer about the one that the caller means."""


@dataclass(frozen=True)
class Renamed:
    """What a rename would change, nothing of which is done yet; `gaps` is what may be wrong with it."""

    target: SymbolTarget
    plan: EditPlan
    gaps: list[Gap]

    def refuse_partial(self, way_out: str) -> None:
        """Refuse to do it as long as uses may be missed.

        Raises:
            RefusedError: they may; the message ends with `way_out`, what the caller can do instead.
        """
        if why := hiding(self.gaps):
            raise RefusedError(
                f"{self.target.name} was not renamed, no file changed, because the result may be wrong: "
                f"{'; '.join(gap.text for gap in why)}. Fix that, {way_out}"
            )


async def ask_rename(asking: Asking, targets: Targets, new_name: str, *, prepare: bool = True) -> Renamed:
    """What renaming a symbol changes; `prepare` to ask the server first whether it can.

    Raises:
        RefusedError: the server refuses, or the policy does: the rename, and its preview, would touch what is
            outside the workspace root, a dependency's source, or what is protected.
        LspMcpError: as `asking`, and `features.rename.rename`.
    """

    async def ask(target: SymbolTarget) -> rename.Renaming:
        return await rename.rename(target.backend, target.path, target.identifier, new_name, prepare=prepare)

    answered = await asking(ask)
    target, renaming = answered.target, answered.value
    if why := targets.sessions.policy.refusal(renaming.plan):
        raise RefusedError(f"{target.name} cannot be renamed: {why}")
    return Renamed(
        target,
        renaming.plan,
        [*answered.gaps, *_doubts(targets, renaming.doubts), *([renaming.told] if renaming.told else [])],
    )


def _doubts(targets: Targets, doubts: Sequence[rename.Doubt]) -> list[Gap]:
    """What a rename may get wrong, with the anchors of the places; they can be handed back."""
    targets.hand_out_readable(doubt.place for doubt in doubts)
    if not doubts:
        return []
    listed = [f"{targets.anchor(d.place.path, d.place.span.start)}: {d.what}" for d in doubts[:_DOUBTS]]
    more = [f"and {len(doubts) - _DOUBTS:,} more such places"] if len(doubts) > _DOUBTS else []
    files = tuple(dict.fromkeys(doubt.place.path for doubt in doubts))
    return [Gap("doubt", "; ".join([*listed, *more]), files)]
