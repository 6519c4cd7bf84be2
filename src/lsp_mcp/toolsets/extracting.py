"""An interface made of a type's methods: the action `extract interface` of `refactor`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.backend import Backend
from lsp_mcp.edits.plan import EditPlan
from lsp_mcp.edits.rewriting import change_of
from lsp_mcp.errors import CallerError, RefusedError
from lsp_mcp.features.editing.interfaces import Method, Methods, methods_of, with_interface
from lsp_mcp.gaps import news
from lsp_mcp.prose import count, first_few
from lsp_mcp.requests.references import references
from lsp_mcp.toolsets.deltas import look
from lsp_mcp.toolsets.inlining import Inlining
from lsp_mcp.toolsets.relocating import refuse_unknown
from lsp_mcp.toolsets.tool import Call

_OPTIONS = ("name", "methods", "in")
_LISTED = 10  # names of methods


class Extracting(Inlining):
    """Writes an interface behind a type."""

    async def _extract_interface(
        self,
        call: Call,
        symbol: str,
        options: Mapping[str, Any],
        *,
        apply: bool,
        confirmed: bool,
        allow_partial: bool,
    ) -> str:
        name, wanted, where = (options.get(one) for one in _OPTIONS)
        refuse_unknown("extract interface", options, _OPTIONS)
        if not isinstance(name, str) or not name.isidentifier():
            raise CallerError('extract interface needs a name: options={"name": "Reader", "methods": ["Read"]}.')
        target, (path, point) = await self._declared(call, symbol)
        backend = target.backend
        found = await methods_of(backend, path, point)
        if wanted is None:
            below = self._sessions.workspace.root / where if isinstance(where, str) else None
            chosen = [one for one in found.methods if await self._is_used(backend, found, one, below)]
        else:
            chosen = _named(found.methods, wanted, target.name)
        if not found.methods:
            raise RefusedError(f"{target.name} has no methods; an interface is extracted from a type that has some.")
        if not chosen:
            there = f" in {where}" if where else ""
            some = json.dumps([one.name for one in found.methods[:_LISTED]])
            raise RefusedError(f'no other code{there} calls a method of {target.name}; name some: "methods": {some}.')
        before = (await look(call, backend, [path])).value
        change = change_of(path, found.text, with_interface(backend, found, name, chosen))
        plan, gaps = await self._tidied(backend, EditPlan((change,) if change else ()))
        tried = await self._tried_move(backend, plan)
        if apply and not allow_partial:
            self._refuse_errors(name, tried)
        is_exported = backend.plugin.is_exported
        left = [one.name for one in found.methods if one not in chosen and is_exported(one.name, one.path)]
        if wanted is None and left:
            gaps.append(
                news("applied", f"not in it, because other code does not call them: {first_few(left, _LISTED)}")
            )
        what = f"extract interface {name} with {count(len(chosen), 'method')} of {target.name}"
        return await self._finish(
            call, backend, what, plan, before, apply=apply, confirmed=confirmed, gaps=[*gaps, *tried.gaps], tried=tried
        )

    async def _is_used(self, backend: Backend, of: Methods, method: Method, below: Path | None) -> bool:
        """Whether code outside of the type's methods, and in `below`, calls it; only if other packages can."""
        if not backend.plugin.is_exported(method.name, method.path):
            return False
        uses = (await references(backend, method.path, method.point)).places
        return any(
            not of.has_inside(one.path, one.text.point_offset(one.span.start))
            and (one.path, one.span.start) != (method.path, method.point)
            and (below is None or one.path.is_relative_to(below))
            for one in uses
        )


def _named(methods: Sequence[Method], names: Any, owner: str) -> list[Method]:
    """The methods with these names, in that order. Raises `CallerError`: one is not there."""
    by_name = {one.name: one for one in methods}
    if not isinstance(names, list) or not names or any(one not in by_name for one in names):
        known = first_few(list(by_name), 2 * _LISTED) if by_name else "it has none"
        raise CallerError(f"options.methods must be names of methods of {owner}: {known}.")
    return [by_name[one] for one in dict.fromkeys(names)]
