"""A function inlined wherever it is called: the action `inline` of `refactor` at a declaration."""

from __future__ import annotations

from lsp_mcp.edits.plan import EditPlan
from lsp_mcp.errors import AnchorError, PathError, RefusedError
from lsp_mcp.features.editing.inlining import changes_of, inlined
from lsp_mcp.features.editing.tidying import tidied
from lsp_mcp.features.signatures.planning import Obstacle
from lsp_mcp.gaps import news
from lsp_mcp.prose import count
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.requests.symbol_text import symbol_texts
from lsp_mcp.toolsets.deltas import look
from lsp_mcp.toolsets.relocating import Relocating
from lsp_mcp.toolsets.tool import Call

_KINDS = ("function", "method")


class Inlining(Relocating):
    """Inlines all calls of a function, all or nothing."""

    async def _inline_everywhere(
        self, call: Call, symbol: str, *, keep: bool, apply: bool, confirmed: bool, allow_partial: bool
    ) -> str | None:
        """The answer about a function at its declaration; None for anything else."""
        try:
            handle = await self._targets.handle(call, symbol)
            target = await self._targets.target(handle)
        except (AnchorError, PathError):
            return None
        backend, at = target.backend, (target.path, target.identifier.start)
        if backend.plugin.trial_arguments or at not in await definition_places(backend, *at):
            return None
        texts = [one for one in await symbol_texts(backend, *at) if one.symbol and one.symbol.kind in _KINDS]
        if len(texts) != 1:
            return None
        declared = texts[0]
        name, uses, gaps = await self._all_uses(call, backend, *at)
        if not allow_partial:
            self._refuse_hidden(name, gaps)
        calls = [one for one in uses.places if (one.path, one.span.start) != at]
        if not calls:
            raise RefusedError(f"nothing uses {name}: edit_symbol with action=delete deletes it.")
        span = declared.declared.span
        own = [one for one in calls if one.path == declared.path and span.start <= one.span.start < span.end]
        self._refuse_obstacles(name, [Obstacle(one, "is in the function itself") for one in own])
        is_public = backend.plugin.is_exported(name, declared.path)
        befores = {one.path: one.text for one in calls} | {declared.path: declared.declared.text}
        before = (await look(call, backend, list(befores))).value
        async with backend.problems.trial() as trial:
            found = await inlined(backend, trial, calls, declared, delete=not keep and not is_public)
            self._refuse_obstacles(name, [Obstacle(place, why) for place, why in found.left])
            afters = {}
            for path, after in found.texts.items():
                afters[path], more = await tidied(backend, trial, path, befores[path], after)
                gaps += more
        plan = EditPlan(tuple(changes_of(befores, afters)))
        tried = await self._tried_move(backend, plan)
        if apply and not allow_partial:
            self._refuse_errors(name, tried)
        if is_public and not keep:
            gaps.append(news("applied", f"{name} is still declared, because code outside the workspace can use it"))
        what = f"inlined {count(len(calls), 'call')} of {name}"
        return await self._finish(
            call, backend, what, plan, before, apply=apply, confirmed=confirmed, gaps=[*gaps, *tried.gaps], tried=tried
        )
