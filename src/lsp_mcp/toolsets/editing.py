"""Edits of whole symbols: the tool `edit_symbol`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace
from pydantic import Field

from lsp_mcp.backend import Backend, Reach
from lsp_mcp.edits.plan import EditPlan
from lsp_mcp.edits.rewriting import change_of
from lsp_mcp.errors import CallerError, RefusedError
from lsp_mcp.evidence.definitions import Definitions
from lsp_mcp.evidence.namesakes import own_references
from lsp_mcp.features.checking.checking import problems
from lsp_mcp.features.editing.still_needed import still_needed
from lsp_mcp.features.editing.symbol_edit import Action, edited
from lsp_mcp.features.editing.tidying import tidied
from lsp_mcp.features.impact.left_unused import left_unused
from lsp_mcp.gaps import Gap, hiding, news, texts
from lsp_mcp.prose import count, first_few
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.references import References
from lsp_mcp.requests.symbol_text import SymbolText, symbol_texts
from lsp_mcp.text import Text
from lsp_mcp.toolsets.answers import Confirmed
from lsp_mcp.toolsets.changing import ChangingToolset, Outcome
from lsp_mcp.toolsets.deltas import Looked, limited
from lsp_mcp.toolsets.questions import PlacesCheck, references_check
from lsp_mcp.toolsets.symbols import SymbolTarget
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool

_LISTED = 10  # uses that prevent the deletion of a symbol


class _Wanted(Struct, frozen=True):
    """The declarations to change, and the earlier problems."""

    texts: Sequence[SymbolText]
    before: Looked
    found: References | None = None  # what prevents a deletion

    @property
    def uses(self) -> list[Place]:
        """The uses outside the declarations themselves."""
        return [
            use
            for use in (self.found.places if self.found else ())
            if not any(
                one.path == use.path and one.declared.span.start <= use.span.start < one.declared.span.end
                for one in self.texts
            )
        ]


class SymbolEditTools(ChangingToolset):
    """One tool: it changes whole declarations, never parts of one."""

    @tool(title="Edit a symbol", read_only=False, destructive=True)
    async def edit_symbol(
        self,
        call: Call,
        symbol: Annotated[str, Field(description="Name or anchor")],
        action: Action,
        code: Annotated[str, Field(description="Declaration, or body")] = "",
        expect: Annotated[str | None, Field(description="Hash from read_symbol")] = None,
        apply: Annotated[bool, Field(description="false: preview")] = True,
        allow_partial: Annotated[bool, UNLISTED] = False,
        confirmed: Annotated[Confirmed, UNLISTED] = False,
        format: FormatChoice = None,
    ) -> str:
        """Change a whole declaration, formatted and with imports; returns the diff and the errors it causes.
        Refuses to delete used symbols."""

        async def ask(target: SymbolTarget) -> _Wanted:
            texts = self._chosen(target, await self._texts(target), action, expect)
            paths = [one.path for one in texts]
            checked = await target.backend.problems.check(paths)
            found = await problems(target.backend, checked)
            at = target.backend, Definitions(target.backend), target.path, target.identifier.start
            uses = await own_references(*at) if is_deleted else None
            return _Wanted(texts, (found, checked), uses)

        is_deleted, root = action == "delete", self._sessions.workspace.root
        # A use that only the text shows, such as a name for the linker, prevents a deletion, too.
        check: PlacesCheck[_Wanted] = references_check(
            lambda wanted: wanted.found or References((), 0),
            lambda wanted, checked: replace(
                wanted, found=wanted.found and wanted.found.joined_by(checked.missing, root)
            ),
            thorough=True,
        )
        reach: Reach = "workspace" if is_deleted else "text"
        answered = await self._questions.about_symbol(
            call, symbol, ask, reach=reach, check=check if is_deleted else None
        )
        target, wanted, backend = answered.target, answered.value, answered.target.backend
        befores = {one.path: one.declared.text for one in wanted.texts}
        afters = self._edited(wanted.texts, action, code)
        self._refuse_forbidden(_plan(befores, afters))
        if action == "delete":
            hidden = [*hiding(answered.gaps), *await self._implied(target)]
            self._refuse_used(target, wanted.uses, hidden if not allow_partial else [])
        remarks: list[Gap] = []
        outcome: Outcome | None = None
        async with backend.problems.trial() as trial:
            for path, after in afters.items():
                afters[path], more = await tidied(backend, trial, path, befores[path], after)
                remarks += more
            if not apply or action == "delete":
                outcome = await self._look_at(backend, trial, afters, wanted.before)
        caused = limited(outcome.delta, None, "error").new if outcome else []
        if action == "delete" and apply and caused and not allow_partial:
            first = caused[0]
            at = self._targets.anchor(first.place.path, first.place.span.start)
            raise RefusedError(
                f"{target.name} was not deleted: {count(len(caused), 'new error')}, the first at {at}: "
                f"{first.message}. Nothing was changed; change that first, or pass allow_partial=true."
            )
        plan = _plan(befores, afters)
        if action == "delete":
            plan = replace(plan, confirmations=await still_needed(backend, target.path, target.identifier.start))
            remarks += await self._left_unused(backend, wanted.texts)
        return await self._finish(
            call,
            backend,
            f"{action.replace('_', ' ')} {target.name}",
            plan,
            wanted.before,
            apply=apply,
            confirmed=confirmed,
            gaps=[*answered.gaps, *remarks],
            tried=outcome,
        )

    # --- inside ------------------------------------------------------------------------------------

    async def _left_unused(self, backend: Backend, texts: Sequence[SymbolText]) -> list[Gap]:
        """The remark on what nothing uses without `texts`, which are to be deleted."""
        deleted = {
            one.path: (one.declared.text, [other.declared.span for other in texts if other.path == one.path])
            for one in texts
        }
        found = await left_unused(backend, self._sessions.word_checks.for_backend(backend), deleted)
        told = []
        for how, left in (("unused without it", found.unused), ("then used by tests only", found.by_tests)):
            by_file = groupby(left, key=lambda one: self._sessions.workspace.display_path(one.place.path))
            names = [f"{first_few([one.name for one in group], _LISTED)} in {file}" for file, group in by_file]
            told += [f"{how}: {first_few(names, _LISTED)}"] if names else []
        if told and found.late:
            told.append("not all that it uses was looked at")
        return [news("applied", text) for text in told]

    async def _texts(self, target: SymbolTarget) -> list[SymbolText]:
        texts = await symbol_texts(target.backend, target.path, target.identifier.start)
        if not [one for one in texts if one.symbol]:
            raise CallerError(f"{target.name} has no declaration that can be edited whole; edit the file.")
        return [one for one in texts if one.symbol]

    def _chosen(
        self, target: SymbolTarget, texts: list[SymbolText], action: Action, expect: str | None
    ) -> list[SymbolText]:
        """The declarations that `action` concerns: all for a deletion, else the one pointed at or read."""
        here = [one for one in texts if one.path == target.path and one.name.start == target.identifier.start]
        chosen = texts if action == "delete" else here or texts[:1]
        if action == "replace_body" and not any(one.declared.body for one in chosen):
            chosen = [one for one in texts if one.declared.body][:1] or chosen
        if expect:
            matching = [one for one in texts if one.declared.hash == expect.strip()]
            if not matching:
                hashes = ", ".join(
                    f"{one.declared.hash} at {self._targets.anchor(one.path, one.name.start)}" for one in texts
                )
                raise CallerError(
                    f"{target.name} is not what you read: its hash is {hashes} now, not {expect}. Read it again; "
                    "nothing was changed."
                )
            chosen = texts if action == "delete" else matching[:1]
        if shared := [one for one in chosen if one.shared_with and action in ("replace", "delete")]:
            others = ", ".join(other.name for other in shared[0].shared_with)
            raise CallerError(f"the declaration of {target.name} declares {others} too; edit that line of the file.")
        return chosen

    def _refuse_used(self, target: SymbolTarget, uses: Sequence[Place], hidden: Sequence[Gap]) -> None:
        if uses:
            self._targets.hand_out_readable(uses[:_LISTED])
            listed = "".join(
                f"\n{self._targets.anchor(use.path, use.span.start)}| {use.code}" for use in uses[:_LISTED]
            )
            more = f"\nand {len(uses) - _LISTED:,} more" if len(uses) > _LISTED else ""
            raise RefusedError(
                f"{target.name} was not deleted: {count(len(uses), 'use')} of it left. Change that first.{listed}{more}"
            )
        if hidden:
            why = "; ".join(texts(hidden))
            raise RefusedError(
                f"{target.name} was not deleted, because uses of it may be missed: {why}. Fix that, or accept it with "
                "allow_partial=true."
            )

    def _edited(self, texts: Sequence[SymbolText], action: Action, code: str) -> dict[Path, Text]:
        """The new text of each file."""
        afters: dict[Path, Text] = {}
        for one in sorted(texts, key=lambda one: one.declared.span.start, reverse=True):
            declared = replace(one.declared, text=afters.get(one.path, one.declared.text))
            language = next(
                (found for backend in self._sessions.backends if (found := backend.plugin.language_of(one.path))),
                None,
            )
            afters[one.path] = Text(edited(declared, action, code, language, nested=bool(one.owners)))
        return afters


def _plan(befores: dict[Path, Text], afters: dict[Path, Text]) -> EditPlan:
    steps = [change_of(path, befores[path], after.content) for path, after in sorted(afters.items())]
    return EditPlan(tuple(step for step in steps if step))
