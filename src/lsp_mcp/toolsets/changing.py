"""Preview and apply changes, with the errors they cause: for every tool that edits code (`ChangingToolset`)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend, Checked, Trial
from lsp_mcp.edits.plan import CreateFile, EditPlan, FileChange, RenameFile, Step
from lsp_mcp.edits.rewriting import change_of
from lsp_mcp.errors import RefusedError
from lsp_mcp.features.checking.checking import problems
from lsp_mcp.features.checking.problems import Delta, Problem, known
from lsp_mcp.features.editing.including import included
from lsp_mcp.features.editing.tidying import tidied
from lsp_mcp.features.renaming.made_from import inputs
from lsp_mcp.gaps import Gap, news
from lsp_mcp.prose import first_few
from lsp_mcp.render.answers import Change
from lsp_mcp.render.problems import counted
from lsp_mcp.text import Text
from lsp_mcp.toolsets.answers import AnchorToolset, without_places
from lsp_mcp.toolsets.deltas import Looked, compared_with, limited, look, with_fixes
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.waiting import share_of_rest

_INCLUDING = 0.3  # share of a call's remaining time for finding includes


class Outcome(Struct, frozen=True):
    """The errors that a change causes, and what is not known about them."""

    delta: Delta
    gaps: tuple[Gap, ...] = ()


class ChangingToolset(AnchorToolset):
    """Tools that change code and report the errors that this causes."""

    def _told_of_generated(self, plan: EditPlan) -> list[Gap]:
        """That `plan` changes generated sources alone: their generator will undo that."""
        changes = [step for step in plan.steps if isinstance(step, FileChange)]
        others = [one.path for one in changes]
        generated = [one for one in changes if self._is_generated(one.path, one.before)]
        if not (files := [one.path for one in generated if not self._made_from(one, others)]):
            return []
        shown = first_few([self._sessions.workspace.display_path(file) for file in files], 5)
        return [news("applied", f"generated, so change what it is made from, too: {shown}", files=tuple(files))]

    async def _finish(
        self,
        call: Call,
        backend: Backend,
        what: str,
        plan: EditPlan,
        before: Looked,
        *,
        apply: bool,
        confirmed: bool,
        gaps: Sequence[Gap] = (),
        tried: Outcome | None = None,
    ) -> str:
        """Apply `plan`, or only preview the errors it would cause (`tried`: they are known); returns the answer.

        Raises:
            RefusedError: the policy refuses.
            EditError: nothing was changed; the message says why.
        """
        self._refuse_forbidden(plan)
        remarks: list[Gap] = []
        if apply:
            done = await self._context.apply(self._sessions, plan, confirmed=confirmed)
            remarks = [news("applied", text) for text in self._sessions.remarks(done)]
            outcome = await self._outcome(call, backend, plan, before)
        else:
            remarks = [news("applied", f"confirmed=true is needed to apply it: {one}") for one in plan.confirmations]
            outcome = tried or await self._trial(backend, plan, before)
        remarks += self._told_of_generated(plan)
        delta = await with_fixes(backend, limited(outcome.delta, None, "error")) if apply else outcome.delta
        delta = limited(delta, None, "error")
        if apply:  # errors from before the edit do not cast doubt on its result
            broken = {one.place.path for one in (*delta.new, *delta.remaining)}
            gaps = [gap for gap in gaps if gap.kind != "syntax_error" or not broken.isdisjoint(gap.files)]
        self._targets.hand_out_readable(one.place for one in delta.new if apply)
        verb = "Done" if apply else "Preview, nothing written"
        fixed = f", {len(delta.fixed)} fixed" if delta.fixed else ""
        errors = counted(delta.new, "new ") + fixed
        return self._render(
            call,
            Change(
                message=f"{verb}: {what}; {errors}.",
                arguments=call.arguments,
                gaps=[*without_places(gaps), *outcome.gaps, *remarks],
                plan=plan,
                delta=delta,
            ),
        )

    async def _tidied(self, backend: Backend, plan: EditPlan) -> tuple[EditPlan, list[Gap]]:
        """`plan` with the new text in its files formatted: servers may leave blank lines, for example."""
        self._refuse_forbidden(plan)
        if any(isinstance(step, RenameFile) for step in plan.steps):
            return plan, []
        steps: list[Step] = []
        remarks: list[Gap] = []
        async with backend.problems.trial() as trial:
            for step in plan.steps:
                if not isinstance(step, FileChange) or not backend.plugin.language_of(step.path):
                    steps.append(step)
                    continue
                after, more = await tidied(backend, trial, step.path, step.before, Text(step.after))
                remarks += more
                if after.content != step.after:
                    steps += filter(None, [change_of(step.path, step.before, after.content)])
                else:
                    steps.append(step)
        return replace(plan, steps=tuple(steps)), remarks

    async def _with_includes(self, backend: Backend, plan: EditPlan, files: Collection[Path]) -> EditPlan:
        """`plan` with the includes that its new code in `files` needs, as far as the server knows them in time."""
        if backend.plugin.headers is None or not files:
            return plan
        found: dict[Path, FileChange | None] = {}
        with suppress(TimeoutError):
            async with asyncio.timeout(share_of_rest(_INCLUDING)), backend.problems.trial() as trial:
                for step in plan.steps:
                    if isinstance(step, FileChange) and step.path in files:
                        after = await included(backend, trial, step.path, step.before, Text(step.after))
                        found[step.path] = change_of(step.path, step.before, after.content)
        steps = [(isinstance(step, FileChange) and found.get(step.path)) or step for step in plan.steps]
        return replace(plan, steps=tuple(steps))

    def _is_generated(self, path: Path, text: Text) -> bool:
        languages = [backend.plugin.language_of(path) for backend in self._sessions.backends]
        patterns = [language.generator_pattern for language in languages if language and language.generator_pattern]
        return any(re.match(pattern, text.content) for pattern in patterns)

    def _made_from(self, change: FileChange, paths: Sequence[Path]) -> bool:
        """Whether the changed file says that it is made from one of `paths`."""
        plugins = [backend.plugin for backend in self._sessions.backends if backend.plugin.language_of(change.path)]
        directives = {plugin.renaming.line_directive for plugin in plugins} - {""}
        return any(inputs(change.path, change.before, one, paths) - {change.path} for one in directives)

    def _refuse_forbidden(self, plan: EditPlan) -> None:
        if why := self._sessions.policy.refusal(plan):
            raise RefusedError(why)

    async def _outcome(
        self, call: Call, backend: Backend, plan: EditPlan, before: Looked, files: Sequence[Path] | None = None
    ) -> Outcome:
        """The errors after applying the plan; `files` are the changed files, if they have new names now."""
        changed = plan.files if files is None else files
        looked = await look(call, backend, [path for path in changed if path.is_file()])
        found, checked = looked.value
        return Outcome(_delta(before, found, checked), (*looked.gaps, *checked.gaps))

    async def _trial(self, backend: Backend, plan: EditPlan, before: Looked) -> Outcome:
        """The errors that the plan would cause."""
        if not all(isinstance(step, FileChange | CreateFile) for step in plan.steps):
            text = "its errors are known only once it is applied, because it moves or deletes files"
            return Outcome(Delta([]), (Gap("not_searched", text),))
        async with backend.problems.trial() as trial:
            texts = {step.path: Text(step.after) for step in plan.steps if isinstance(step, FileChange)}
            for path, after in texts.items():
                if backend.plugin.language_of(path):
                    trial.show(path, after)
            return await self._look_at(backend, trial, texts, before)

    async def _look_at(self, backend: Backend, trial: Trial, texts: dict[Path, Text], before: Looked) -> Outcome:
        """The errors in `texts`, which are shown to the server."""
        checked = await trial.check()
        return Outcome(_delta(before, await problems(backend, checked, texts), checked), checked.gaps)


def _delta(before: Looked, found: Sequence[Problem], checked: Checked) -> Delta:
    was, of = before
    return compared_with(found, checked, known(was, of.covers, of.incomplete, None))
