"""Other parameters for a function and everything that calls it: the action `change_signature` of `refactor`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.backend import Backend, Trial
from lsp_mcp.edits.plan import EditPlan, FileChange
from lsp_mcp.errors import RefusedError
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.features.checking.checking import problems
from lsp_mcp.features.checking.problems import Delta, Problem, compare, known
from lsp_mcp.features.renaming.tried import can_be_tried
from lsp_mcp.features.signatures.planning import Obstacle, Planned, planned
from lsp_mcp.features.signatures.uses import Uses, uses_of
from lsp_mcp.features.signatures.wanted import SignatureOptions, options_of
from lsp_mcp.gaps import Gap, hiding, news, texts
from lsp_mcp.prose import count, first_few
from lsp_mcp.requests.places import Place, position_params
from lsp_mcp.requests.scope import locations
from lsp_mcp.text import Text
from lsp_mcp.toolsets.changing import ChangingToolset, Outcome
from lsp_mcp.toolsets.deltas import look
from lsp_mcp.toolsets.questions import PlacesCheck, SymbolAnswer
from lsp_mcp.toolsets.symbols import SymbolTarget
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.uris import uri_path

_LISTED = 10  # places and errors
_CHECK = PlacesCheck[Uses](
    sites=lambda uses: uses.sites,
    joined=lambda uses, checked: uses.joined_by(checked.missing, checked.by_macros),
    thorough=True,
    searched=lambda uses: uses.searched,
    pending=lambda uses: uses.pending,
    family=lambda uses: uses.family,
    apart=lambda uses: uses.apart,
)
_ACCEPT = "or accept it with allow_partial=true and check those places"


class SignatureChanging(ChangingToolset):
    """Changes parameters where a function is declared, defined and called, all or nothing."""

    async def _change_signature(
        self,
        call: Call,
        symbol: str,
        options: Mapping[str, Any],
        *,
        apply: bool,
        confirmed: bool,
        allow_partial: bool,
    ) -> str:
        wanted = options_of(options)
        answered = await self._uses(call, symbol, alone=wanted.alone)
        target, uses, gaps = answered.target, answered.value, [*answered.gaps, *answered.value.gaps]
        backend, name = target.backend, target.name
        if not allow_partial:
            self._refuse_hidden(name, gaps)

        async def ask(path: Path, offset: int, text: Text) -> Uses:
            anchor = self._targets.anchor(path, text.offset_point(offset))
            more = await self._uses(call, anchor, alone=False)
            if why := hiding([*more.gaps, *more.value.gaps]):
                raise RefusedError(f"uses of it may be missed: {why[0].text}")
            return more.value

        found = await planned(backend, wanted, uses, ask)
        self._refuse_obstacles(name, found.obstacles)
        self._refuse_outside(uses, wanted, found)
        unnamed = await self._by_makers(backend, name) if found.is_silent else []
        gaps += unnamed
        if not allow_partial:
            self._refuse_hidden(name, unnamed)
        before = (await look(call, backend, found.plan.files)).value
        plan, remarks = await self._tidied(backend, found.plan)
        if not plan.steps:
            raise RefusedError(f"{name} has these parameters already: there is nothing to change.")
        plan = await self._with_includes(backend, plan, [path for path in plan.files if backend.plugin.is_header(path)])
        tried = await self._tried(backend, plan, uses)
        if broken := {one.place.path for one in tried.delta.new if not backend.plugin.is_header(one.place.path)}:
            again = await self._with_includes(backend, plan, broken)
            plan, tried = (again, await self._tried(backend, again, uses)) if again != plan else (plan, tried)
        if apply and not allow_partial:
            self._refuse_errors(name, tried)
        gaps += [*remarks, *tried.gaps, *_told(found)]
        what = (
            f"change_signature of {name}: {count(found.declarations, 'declaration')}, {count(found.calls, 'call')} "
            f"in {count(len(plan.files), 'file')}"
        )
        return await self._finish(
            call, backend, what, plan, before, apply=apply, confirmed=confirmed, gaps=gaps, tried=tried
        )

    async def _uses(self, call: Call, symbol: str, *, alone: bool) -> SymbolAnswer[Uses]:
        async def ask(target: SymbolTarget) -> Uses:
            return await uses_of(target.backend, target.path, target.identifier, alone=alone)

        return await self._questions.about_symbol(call, symbol, ask, check=_CHECK)

    async def _by_makers(self, backend: Backend, name: str) -> list[Gap]:
        """The gap for calls of a constructor through functions of libraries, if something calls these."""
        found: dict[Path, None] = {}
        for word in backend.plugin.word_check.maker_words:
            found.update(dict.fromkeys((await backend.words.files_with(word)).files))
        if not found:
            return []
        shown = first_few([self._sessions.workspace.display_path(path) for path in found], _LISTED)
        words = ", ".join(backend.plugin.word_check.maker_words[:3])
        return [
            Gap("unverified", f"calls of {name} through {words} and the like are not seen, in {shown}", tuple(found))
        ]

    # --- refusals ----------------------------------------------------------------------------------

    def _refuse_hidden(self, name: str, gaps: Sequence[Gap]) -> None:
        if why := hiding(gaps):
            todo = "Ask again" if any(gap.kind == "indexing" for gap in why) else "Fix that"
            raise RefusedError(
                f"{name} was not changed, no file changed, because uses of it may be missed: "
                f"{'; '.join(texts(why))}. {todo}, {_ACCEPT}."
            )

    def _refuse_obstacles(self, name: str, obstacles: Sequence[Obstacle]) -> None:
        if not obstacles:
            return
        self._targets.hand_out_readable(one.place for one in obstacles[:_LISTED])
        listed = "".join(
            f"\n{self._targets.anchor(one.place.path, one.place.span.start)}| {one.place.code}: {one.why}"
            for one in obstacles[:_LISTED]
        )
        more = f"\nand {len(obstacles) - _LISTED:,} more" if len(obstacles) > _LISTED else ""
        raise RefusedError(
            f"{name} was not changed, no file changed: {count(len(obstacles), 'place')} cannot be changed with it. "
            f"Change that first.{listed}{more}"
        )

    def _refuse_outside(self, uses: Uses, wanted: SignatureOptions, found: Planned) -> None:
        if uses.outside and found.plan.confirmations and not wanted.alone:
            shown = first_few([f"{path.parent.name}/{path.name}:{point.line}" for path, point in uses.outside])
            raise RefusedError(
                f"{uses.name} was not changed: it implements a method outside of the workspace ({shown}), which cannot "
                'change with it. With "alone": true in options only this method changes, and is then another one.'
            )

    def _refuse_errors(self, name: str, tried: Outcome) -> None:
        if errors := tried.delta.new:
            self._targets.hand_out_readable(one.place for one in errors[:_LISTED])
            show = self._sessions.workspace.display_path
            listed = "".join(
                f"\n{show(one.place.path)}:{one.place.span.start.line}| {one.place.code}: {one.message}"
                for one in errors[:_LISTED]
            )
            more = f"\nand {len(errors) - _LISTED:,} more" if len(errors) > _LISTED else ""
            raise RefusedError(
                f"{name} was not changed, no file changed: it would make {count(len(errors), 'new error')} (lines as "
                f"they would be).{listed}{more}\nChange that first, {_ACCEPT}."
            )

    # --- trying ------------------------------------------------------------------------------------

    async def _tried(self, backend: Backend, plan: EditPlan, uses: Uses) -> Outcome:
        """The errors that `plan` would cause, and places that would mean another function then."""
        if not can_be_tried(backend, plan):
            return Outcome(Delta([]), (news("applied", "not tried before it was written, so run check"),))
        steps = [one for one in plan.steps if isinstance(one, FileChange) and backend.plugin.language_of(one.path)]
        naming = (await backend.words.files_with(uses.name)).files
        after = {one.path: Text(one.after) for one in steps}
        async with backend.problems.trial(with_dependents=True) as trial:
            found, gaps = await self._seen(backend, trial, after, naming)
            lost = [] if found else await _lost(backend, trial, {one.path: one.before for one in steps}, after, uses)
        self._refuse_obstacles(uses.name, [Obstacle(place, "would mean another function") for place in lost])
        if found:
            async with backend.problems.trial(with_dependents=True) as trial:
                old, _ = await self._seen(backend, trial, {one.path: one.before for one in steps}, naming)
            found = list(compare(found, None, known(old, None, (), None)).new)
        return Outcome(Delta(found), gaps)

    async def _seen(
        self, backend: Backend, trial: Trial, texts: Mapping[Path, Text], naming: Collection[Path]
    ) -> tuple[list[Problem], tuple[Gap, ...]]:
        for path, text in texts.items():
            trial.show(path, text)
        checked = await trial.check(naming)
        found = await problems(backend, checked, dict(texts))
        gaps = tuple(news("applied", gap.text, files=gap.files) for gap in checked.gaps if gap.hides)
        return [one for one in found if one.severity == "error"], gaps


async def _lost(
    backend: Backend, trial: Trial, before: Mapping[Path, Text], after: Mapping[Path, Text], uses: Uses
) -> list[Place]:
    """The places, in the texts `before`, that would not mean the function in those `after`, where names are overloaded.

    A use is the same if it is as many uses of the word from the beginning.
    """
    if backend.plugin.word_check.grouped:
        return []
    moved: dict[Site, Place] = {}
    for place in uses.places:
        path, old = place.path, before.get(place.path)
        if trial.text(path) is None:
            continue
        if old is None:
            moved[path, place.span.start] = place
            continue
        words, new = old.words(uses.name), after[path].words(uses.name)
        if len(words) != len(new) or place.span not in words:
            return []
        moved[path, new[words.index(place.span)].start] = place
    meant: set[Site] = set()
    declared = {*uses.own, *uses.family}
    for site, place in moved.items():
        text = trial.text(site[0])
        if (place.path, place.span.start) not in declared or text is None:
            continue
        params = position_params(site[0], text, site[1], trial.encoding) | {"context": {"includeDeclaration": True}}
        for one in locations(await trial.request("textDocument/references", params)):
            if there := trial.text(path := uri_path(one["uri"])):
                meant.add((path, there.position_point(one["range"]["start"], trial.encoding)))
    return [place for site, place in moved.items() if site not in meant] if meant else []


def _told(found: Planned) -> list[Gap]:
    told = []
    if found.threaded:
        told.append(news("applied", f"also with the new parameter: {first_few(found.threaded, _LISTED)}"))
    if found.not_threaded:
        told.append(news("applied", f"without it: {first_few(found.not_threaded, _LISTED)}"))
    return told
