"""Declarations moved to another package: the action `move` of `refactor`, with `package` or `file` in its options."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.backend import Backend
from lsp_mcp.edits.plan import CreateFile, EditPlan, FileChange, Step
from lsp_mcp.edits.rewriting import change_of
from lsp_mcp.errors import CallerError, RefusedError
from lsp_mcp.evidence.definitions import Definitions, Site
from lsp_mcp.evidence.namesakes import own_references
from lsp_mcp.features.checking.checking import problems
from lsp_mcp.features.checking.problems import Delta, compare, known
from lsp_mcp.features.editing.between_files import moved
from lsp_mcp.features.editing.relocating import Relocation, cycle
from lsp_mcp.features.editing.tidying import tidied
from lsp_mcp.features.signatures.planning import Obstacle
from lsp_mcp.gaps import Gap, news
from lsp_mcp.prose import count
from lsp_mcp.requests.references import References
from lsp_mcp.requests.scope import definition_places, refuse_foreign
from lsp_mcp.requests.symbol_text import symbol_texts, text_at
from lsp_mcp.text import Point, Text
from lsp_mcp.toolsets.changing import Outcome
from lsp_mcp.toolsets.deltas import look
from lsp_mcp.toolsets.questions import PlacesCheck, references_check
from lsp_mcp.toolsets.signatures import SignatureChanging
from lsp_mcp.toolsets.symbols import SymbolTarget
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.visible import quoted
from lsp_mcp.workspace import named_path


def refuse_unknown(action: str, options: Collection[str], known: Sequence[str]) -> None:
    """Raise CallerError if an action is given options that are not `known`."""
    if unknown := set(options) - set(known):
        raise CallerError(f"options: unknown {', '.join(sorted(unknown))}; {action} takes {', '.join(known)}.")


class Relocating(SignatureChanging):
    """Moves declarations to another package, which is created if need be."""

    def _destination(self, source: Path, options: Mapping[str, Any]) -> Path | None:
        """The file in another folder that a declaration of `source` is to be moved to; None: no other folder."""
        package, file = options.get("package"), options.get("file")
        spelled = package or file
        if not isinstance(spelled, str) or not spelled.strip():
            return None
        workspace = self._sessions.workspace
        there = named_path(spelled.strip(), workspace.root).resolve()
        to = there / (named_path(str(file), there).name if file else source.name) if package else there
        if not workspace.contains(to):
            raise CallerError(f"{quoted(spelled)} is outside the workspace root {workspace.root}.")
        return to if to.parent != source.parent else None

    async def _declared(self, call: Call, symbol: str) -> tuple[SymbolTarget, Site]:
        """What `symbol` names, and where that is declared."""
        target = await self._targets.target(await self._targets.handle(call, symbol))
        places = await definition_places(target.backend, target.path, target.identifier.start)
        refuse_foreign(target.backend, places)
        return target, places[0] if places else (target.path, target.identifier.start)

    async def _relocate(
        self,
        call: Call,
        symbol: str,
        options: Mapping[str, Any],
        *,
        apply: bool,
        confirmed: bool,
        allow_partial: bool,
    ) -> str | None:
        """The answer about the move; None if it stays in its package."""
        target, (path, point) = await self._declared(call, symbol)
        backend = target.backend
        if backend.plugin.headers:
            refuse_unknown("move", options, ("file",))
            return await self._move_to_file(
                call, target, path, point, str(options["file"]), apply=apply, confirmed=confirmed, partial=allow_partial
            )
        to = self._destination(path, options)
        if to is None:
            return None
        refuse_unknown("move", options, ("package", "file", "with"))
        moving = await Relocation.planned(backend, path, to)
        sites = moving.add(path, point)
        for name in options.get("with") or ():
            sites += moving.add(*moving.named(str(name)))
        gaps: list[Gap] = []
        found: list[tuple[str, References]] = []
        for site in dict.fromkeys(sites):
            name, uses, more = await self._all_uses(call, backend, *site)
            found.append((name, uses))
            gaps += more
        if not allow_partial:
            self._refuse_hidden(target.name, gaps)
        await moving.inside()
        for name, uses in found:
            inside = [one for one in uses.places if one.path.is_relative_to(backend.root)]
            wrong = await moving.outside(name, inside)
            self._refuse_obstacles(name, [Obstacle(one, "is not understood as a use of a package") for one in wrong])
        texts = await moving.texts()
        before = (await look(call, backend, [one for one in texts if one.is_file()])).value
        steps: list[Step] = [CreateFile(to)] if not to.exists() else []
        tidy: dict[Path, Text] = {}
        async with backend.problems.trial() as trial:
            for file, (_, after) in texts.items():
                trial.show(file, Text(after))
            for file, (old, after) in sorted(texts.items()):
                tidy[file], more_gaps = await tidied(backend, trial, file, old, Text(after))
                gaps += more_gaps
        if circle := await cycle(backend, tidy, to.parent):
            raise RefusedError(
                f"{target.name} was not moved, no file changed: the packages would import each other: "
                f'{" → ".join(circle)}. Move what it uses of its package too, with "with": [names] in options.'
            )
        steps += filter(None, (change_of(file, texts[file][0], after.content) for file, after in sorted(tidy.items())))
        plan = EditPlan(tuple(steps))
        tried = await self._tried_move(backend, plan)
        if apply and not allow_partial:
            self._refuse_errors(target.name, tried)
        gaps += [news("applied", f"{old} is called {new} now") for old, new in moving.names.items()]
        show = self._sessions.workspace.display_path
        what = f"moved {count(moving.count, 'declaration')} to {show(to)}"
        return await self._finish(
            call, backend, what, plan, before, apply=apply, confirmed=confirmed, gaps=[*gaps, *tried.gaps], tried=tried
        )

    async def _move_to_file(
        self,
        call: Call,
        target: SymbolTarget,
        path: Path,
        point: Point,
        file: str,
        *,
        apply: bool,
        confirmed: bool,
        partial: bool,
    ) -> str:
        """The answer about a move where files include each other."""
        backend, workspace = target.backend, self._sessions.workspace
        to = named_path(file.strip(), workspace.root).resolve()
        if not workspace.contains(to) or backend.plugin.language_of(to) is None or to.is_dir():
            raise CallerError(f"{quoted(file)} is not a source file or header in the workspace root {workspace.root}.")
        declared = await symbol_texts(backend, path, point) or [await text_at(backend, path, point)]
        path, point = declared[0].path, declared[0].name.start
        if to == path:
            raise RefusedError(f"{target.name} is in {workspace.display_path(to)} already: there is nothing to change.")
        name, uses, gaps = await self._all_uses(call, backend, path, point)
        if not partial:
            self._refuse_hidden(name, gaps)
        show = workspace.display_path
        before = (await look(call, backend, [path, *([to] if to.is_file() else [])])).value
        for include_all in (False, True):
            try:
                move = await moved(backend, declared, to, uses.places, include_all=include_all)
            except RefusedError as error:
                raise RefusedError(f"{name} was not moved, no file changed: {error}.") from None
            steps: list[Step] = [CreateFile(to)] if not to.exists() else []
            steps += filter(None, (change_of(own, old, after) for own, (old, after) in sorted(move.texts.items())))
            plan = EditPlan(tuple(steps))
            tried = await self._tried_move(backend, plan)
            if not tried.delta.new:
                break
        if apply and not partial:
            self._refuse_errors(name, tried)
        meant = await move.meanings(backend)
        async with backend.problems.trial() as trial:
            for own, (_, after) in move.texts.items():
                trial.show(own, Text(after))
            await trial.check()
            changed = await move.changed(backend, trial, meant)
        self._refuse_obstacles(name, [Obstacle(place, "would mean something else there") for place in changed])
        if not to.exists() and not backend.plugin.is_header(to):
            gaps.append(news("applied", f"{show(to)} is new: the build must be told of it"))
        what = f"moved {name} to {show(to)}"
        return await self._finish(
            call, backend, what, plan, before, apply=apply, confirmed=confirmed, gaps=[*gaps, *tried.gaps], tried=tried
        )

    async def _all_uses(
        self, call: Call, backend: Backend, path: Path, point: Point
    ) -> tuple[str, References, list[Gap]]:
        async def ask(target: SymbolTarget) -> References:
            at = target.backend, Definitions(target.backend), target.path, target.identifier.start
            return await own_references(*at)

        check: PlacesCheck[References] = references_check(
            lambda found: found,
            lambda found, checked: found.joined_by(checked.missing, backend.root),
            thorough=True,
        )
        answered = await self._questions.about_symbol(call, self._targets.anchor(path, point), ask, check=check)
        return answered.target.name, answered.value, [*answered.gaps, *answered.value.gaps]

    async def _tried_move(self, backend: Backend, plan: EditPlan) -> Outcome:
        steps = [one for one in plan.steps if isinstance(one, FileChange)]
        async with backend.problems.trial(with_dependents=True) as trial:
            found, gaps = await self._seen(backend, trial, {one.path: Text(one.after) for one in steps}, ())
        if found:
            checked = await backend.problems.check([one.path for one in steps if one.before.content])
            old = await problems(backend, checked)
            found = list(compare(found, None, known(old, None, (), None)).new)
        return Outcome(Delta(found), gaps)
