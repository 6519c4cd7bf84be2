"""A server's refactorings by name: the tool `refactor`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import replace
from pydantic import Field

from lsp_mcp.backend import Backend, Scope
from lsp_mcp.edits.plan import EditPlan, FileChange, Step
from lsp_mcp.errors import CallerError, ElsewhereError, PointError, RefusedError
from lsp_mcp.features.checking.checking import problems
from lsp_mcp.features.editing.offered_nearby import offered_nearby, own_actions, own_nearby
from lsp_mcp.features.editing.relocating import import_path
from lsp_mcp.features.editing.tidying import formatting
from lsp_mcp.prose import count
from lsp_mcp.protocol.lsp import Diagnostic, WorkspaceEdit
from lsp_mcp.render.answers import Offers
from lsp_mcp.requests.asking import answer
from lsp_mcp.requests.code_actions import Action, code_actions, edits_of
from lsp_mcp.requests.edit_plans import plan_of
from lsp_mcp.text import Point, Span, Text
from lsp_mcp.toolsets.addresses import Address
from lsp_mcp.toolsets.answers import Confirmed
from lsp_mcp.toolsets.deltas import Looked
from lsp_mcp.toolsets.extracting import Extracting
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool
from lsp_mcp.uris import path_uri
from lsp_mcp.visible import quoted, shortened

_POINTS = 12  # identifiers of one line to ask about
_NEARBY = 3  # of these, those whose declaration and uses are asked about
_FORMAT, _IMPORTS = "Format file", "source.organizeImports"
_EXTRACT = "refactor.extract"
_SIGNATURE = "change signature"
_MOVE = "move"
_INLINE = "inline"
_INTERFACE = "extract interface"
_OTHER_TOOLS = {
    "rename": "rename_symbol_by_anchor renames: symbol_anchor, new_name",
    "delete": "edit_symbol deletes: symbol, action=delete",
}


class _Target(Struct, frozen=True):
    """What a caller points at: `spans` are the places to ask about, the widest first."""

    backend: Backend
    path: Path
    text: Text
    spans: Sequence[Span]


class _Found(Struct, frozen=True):
    """The actions available at a target; with an action, the plan for it."""

    target: _Target
    actions: Sequence[Action]
    before: Looked
    action: Action | None = None
    plan: EditPlan | None = None


class RefactorTools(Extracting):
    """One tool for all code actions that change source, for changes of signatures, and moves to other packages."""

    @tool(title="Refactor", read_only=False, destructive=True)
    async def refactor(
        self,
        call: Call,
        target: Annotated[str, Field(description="Symbol, FILE, FILE:LINE, FILE:LINE-LINE or FILE:L:C-L:C")],
        action: Annotated[str | None, Field(description="Default: list those that apply")] = None,
        options: Annotated[dict[str, Any] | None, Field(description='{"name": …} for extracted code')] = None,
        apply: Annotated[bool, Field(description="false: preview")] = True,
        allow_partial: Annotated[bool, UNLISTED] = False,
        confirmed: Annotated[Confirmed, UNLISTED] = False,
        format: FormatChoice = None,
    ) -> str:
        """Extract, inline, move, change_signature, implement an interface, fill, organize imports, format, quick fix.
        Returns the diff and the errors it causes."""
        if tool := _OTHER_TOOLS.get(_normal(action or "")):
            raise CallerError(f"{tool}.")
        try:
            own = await self._own(
                call, target, action, options, apply=apply, confirmed=confirmed, allow_partial=allow_partial
            )
        except ElsewhereError as error:
            raise RefusedError(f"{error}{await self._own_nearby(call, target, error.action)}") from None
        if own is not None:
            return own
        backend, find = await self._handle(call, target)

        async def ask() -> _Found:
            return await self._find(call, await find(), action, dict(options or {}))

        answered = await answer(backend, ask, lambda found: Scope("file", found.target.path), report=call.report)
        found = answered.value
        if found.plan is None or found.action is None:
            where = f"{self._sessions.workspace.display_path(found.target.path)}:{found.target.spans[0].start.line}"
            names = [_with_options(one) for one in found.actions]
            names += await own_actions(backend, found.target.path, found.target.text, found.target.spans)
            nothing = f"{backend.plugin.name} offers nothing at {where}; edit_symbol edits any symbol."
            return self._render(
                call,
                Offers(
                    message=f"{count(len(names), 'action')} at {where}:" if names else nothing,
                    arguments=call.arguments,
                    gaps=answered.gaps,
                    names=names,
                ),
            )
        if not found.plan.steps:
            raise RefusedError(f"{found.action.name}: there is nothing to change.")
        plan, remarks = await self._tidied(backend, found.plan)
        return await self._finish(
            call,
            backend,
            found.action.name,
            plan,
            found.before,
            apply=apply,
            confirmed=confirmed,
            gaps=[*answered.gaps, *remarks],
        )

    # --- inside ------------------------------------------------------------------------------------

    async def _own(
        self,
        call: Call,
        target: str,
        action: str | None,
        options: dict[str, Any] | None,
        *,
        apply: bool,
        confirmed: bool,
        allow_partial: bool,
    ) -> str | None:
        """The answer of an action of our own; None if `action` is none of those."""
        if _normal(action or "") == _SIGNATURE:
            return await self._change_signature(
                call, target, options or {}, apply=apply, confirmed=confirmed, allow_partial=allow_partial
            )
        if _normal(action or "").split()[:1] == [_MOVE] and options:
            moved = await self._relocate(
                call, target, options, apply=apply, confirmed=confirmed, allow_partial=allow_partial
            )
            if moved is not None:
                return moved
        if _normal(action or "") == _INTERFACE:
            return await self._extract_interface(
                call, target, options or {}, apply=apply, confirmed=confirmed, allow_partial=allow_partial
            )
        if _normal(action or "").split()[:1] == [_INLINE]:
            keep = bool((options or {}).get("keep"))
            inlined = await self._inline_everywhere(
                call, target, keep=keep, apply=apply, confirmed=confirmed, allow_partial=allow_partial
            )
            if inlined is not None:
                return inlined
        return None

    async def _own_nearby(self, call: Call, target: str, action: str) -> str:
        """Where one of our own actions is possible instead, as a sentence; empty if that is not known."""
        found = await self._targets.target(await self._targets.handle(call, target))
        place = await own_nearby(found.backend, found.path, found.identifier.start, action)
        if place is None:
            return ""
        self._targets.hand_out_readable([place])
        return f" It is possible at {self._targets.anchor(place.path, place.span.start)}| {place.code}"

    async def _handle(self, call: Call, target: str) -> tuple[Backend, Any]:
        """The backend for `target`, ready, and a function that finds the place in its present text."""
        addressed = await self._targets.addressed(target)
        if addressed and not addressed[1].name:
            path, address = addressed
            backend = self._sessions.for_path(path)
            return backend, partial(self._of_address, backend, path, address, target)
        handle = await self._targets.handle(call, target)

        async def of_symbol() -> _Target:
            found = await self._targets.target(handle)
            return _Target(
                found.backend, found.path, found.text, [found.identifier, Span(*[found.identifier.start] * 2)]
            )

        return handle.backend, of_symbol

    async def _of_address(self, backend: Backend, path: Path, address: Address, spelled: str) -> _Target:
        text = await backend.documents.open(path)
        try:
            return _Target(backend, path, text, _spans(text, address))
        except PointError as error:
            raise CallerError(f"{shortened(spelled)}: {error}.") from None

    async def _find(self, call: Call, target: _Target, action: str | None, options: dict[str, Any]) -> _Found:
        backend, path, text = target.backend, target.path, target.text
        checked = await backend.problems.check([path])
        before = await problems(backend, checked), checked
        said = checked.diagnostics.get(path, ())
        # Fixes come from the document's diagnostics; for a header, includers have reported the rest.
        if backend.plugin.compiles_files and await backend.problems.diagnosed(path):
            said = backend.problems.diagnostics(path)
        wanted = _normal(action or "")
        actions: list[tuple[Action, Span]] = []
        fixed: dict[str, Sequence[Diagnostic]] = {}  # what each quick fix was offered for, by its name
        for span in target.spans:
            diagnostics = [one for one in said if _touches(backend, text, one, span)]
            fixes = (
                await code_actions(backend, path, text, span, only=["quickfix"], diagnostics=diagnostics)
                if diagnostics
                else []
            )
            fixed = {**{one.name: diagnostics for one in fixes}, **fixed}
            for one in [*fixes, *await code_actions(backend, path, text, span, diagnostics=diagnostics)]:
                if one.name not in {other.name for other, _ in actions}:
                    actions.append((one, span))
        if wanted and not _matching(wanted, [one for one, _ in actions]):
            actions += [(one, target.spans[0]) for one in await self._asked_for(target, wanted)]
        if backend.capabilities.get("documentFormattingProvider"):
            actions.append((Action(_FORMAT, "format", None), target.spans[0]))
        listed = [one for one, _ in actions if not one.disabled]
        if not wanted:
            return _Found(target, listed, before)
        try:
            chosen = self._chosen(wanted, action or "", [one for one, _ in actions], backend)
        except CallerError as error:
            raise CallerError(f"{error}{await self._nearby(target, wanted)}") from None
        chosen = await self._at_its_diagnostic(target, chosen, fixed.get(chosen.name, ()))
        if chosen.kind == "format":
            edits: list[WorkspaceEdit] = [{"changes": {path_uri(path): await formatting(backend, path, text)}}]
        else:
            try:
                edits = await self._edits(call, backend, chosen, options)
            except RefusedError as error:
                what = "; extract whole statements or one expression" if chosen.kind.startswith(_EXTRACT) else ""
                raise RefusedError(f"{backend.plugin.name} refuses {chosen.name}: {error}{what}", error.code) from None
        plan = await plan_of(backend, edits) if edits else EditPlan(())
        return _Found(target, listed, before, chosen, _named(backend, chosen, plan, options))

    async def _edits(
        self, call: Call, backend: Backend, action: Action, options: dict[str, Any]
    ) -> list[WorkspaceEdit]:
        """The edits of `action`; if the server does not know a symbol in `options`, as any tool finds it."""
        try:
            return await edits_of(backend, action, options, backend.root)
        except RefusedError as error:
            unknown = error
            spelled = {name: str(options[name]) for name in (action.built.symbols if action.built else ())}
            full = {name: await self._in_full(call, value) for name, value in spelled.items()}
            if not spelled:
                raise
        try:
            return await edits_of(backend, action, {**options, **full}, backend.root)
        except RefusedError as error:
            if str(error) != str(unknown):
                raise  # the server knows the symbol now
            said = "; ".join(
                f"{value} is not an {name}, or no code here imports its package" for name, value in full.items()
            )
            raise RefusedError(said, error.code) from None

    async def _in_full(self, call: Call, symbol: str) -> str:
        """The name of a symbol with the path of its package. Raises `AnchorError`: it is unknown or ambiguous."""
        found = await self._targets.target(await self._targets.handle(call, symbol))
        packages = found.backend.plugin.renaming.packages
        return f"{import_path(packages, found.path.parent)}.{found.name}" if packages else symbol

    async def _nearby(self, target: _Target, wanted: str) -> str:
        """Where the action is offered instead, as a sentence; empty if that is not known."""
        names = [one.start for one in target.spans if target.text.identifier_at(one.start)]

        def is_wanted(actions: Sequence[Action]) -> bool:
            return any(not one.disabled for one in _matching(wanted, actions))

        for point in names[:_NEARBY]:
            found = await offered_nearby(target.backend, target.path, target.text, point, is_wanted)
            if found:
                self._targets.hand_out_readable([found])
                return f" It is offered at {self._targets.anchor(found.path, found.span.start)}| {found.code}"
        return " It needs a range of statements, or of one expression: FILE:L:C-L:C." if "extract" in wanted else ""

    async def _asked_for(self, target: _Target, wanted: str) -> list[Action]:
        """Actions that servers list only when asked by their kind."""
        kinds = [_IMPORTS] if "import" in wanted else []
        return (
            await code_actions(target.backend, target.path, target.text, target.spans[0], only=kinds) if kinds else []
        )

    async def _at_its_diagnostic(self, target: _Target, fix: Action, diagnostics: Sequence[Diagnostic]) -> Action:
        """`fix` as offered at the one of `diagnostics` that it is for.

        gopls 0.24 applies a fix at the range of the request, and fails there if that is a whole line.
        """
        backend, path, text = target.backend, target.path, target.text
        for one in diagnostics if fix.raw and not fix.raw.get("edit") else ():
            span = text.range_span(one["range"], backend.encoding)
            for again in await code_actions(backend, path, text, span, only=["quickfix"], diagnostics=[one]):
                if again.name == fix.name:
                    return again
        return fix

    def _chosen(self, wanted: str, spelled: str, actions: Sequence[Action], backend: Backend) -> Action:
        matching = _matching(wanted, actions)
        if len(matching) == 1:
            return matching[0]
        if not matching and "import" in wanted:
            raise RefusedError("the imports are already organized; there is nothing to change.")
        offered = "; ".join(one.name for one in matching or actions if not one.disabled) or "nothing"
        if matching:
            raise CallerError(f"the action {quoted(spelled)} means several of these: {offered}.")
        raise CallerError(
            f"{backend.plugin.name} does not offer the action {quoted(spelled)} there; it offers: {offered}."
        )


def _matching(wanted: str, actions: Sequence[Action]) -> list[Action]:
    """The actions with that name: exactly, else by their kind, else by the beginning, a part, or words of the name."""
    name, kind = _normal, f".{wanted.replace(' ', '')}"
    return (
        [one for one in actions if name(one.name) == wanted]
        or [one for one in actions if f".{name(one.kind)}".endswith(kind)]
        or [one for one in actions if name(one.name).startswith(wanted)]
        or [one for one in actions if wanted in name(one.name)]
        or [one for one in actions if {*wanted.split()} <= {*name(one.name).split()}]
    )


def _with_options(action: Action) -> str:
    return f"{action.name} (options: {', '.join(action.options)})" if action.options else action.name


def _normal(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").split())


def _spans(text: Text, address: Address) -> list[Span]:
    """The targets of `address`; for a line, everything in it and each identifier."""
    line = address.line
    if not line:
        return [text.offsets_span(0, len(text.content))]
    last = address.last_line or line
    whole = _trimmed(text, line, last)
    if address.column:
        start = text.byte_point(line, address.column) if address.in_bytes else Point(line, address.column)
        end = Point(last, address.last_column) if address.last_column else whole.end if address.last_line else start
        text.point_offset(start), text.point_offset(end)
        identifier = text.identifier_at(start) if start == end else None
        return [Span(start, end), *([identifier] if identifier else [])]
    if address.last_line:
        return [whole]
    return [whole, *(Span(one.start, one.start) for one in text.identifiers(line)[:_POINTS])]


def _trimmed(text: Text, line: int, last: int) -> Span:
    """The lines without the white space around them."""
    start, end = text.line(line), text.line(last)
    first = text.point_offset(Point(line, 1)) + len(start) - len(start.lstrip())
    return text.offsets_span(first, text.point_offset(Point(last, 1)) + len(end.rstrip()))


def _touches(backend: Backend, text: Text, diagnostic: Diagnostic, span: Span) -> bool:
    there = text.range_span(diagnostic["range"], backend.encoding)
    return there.start <= span.end and span.start <= there.end


def _named(backend: Backend, action: Action, plan: EditPlan, options: dict[str, Any]) -> EditPlan:
    """`plan` with the caller's name in place of one generated by the server."""
    pattern, name = backend.plugin.refactorings.invented.get(action.kind, ""), options.get("name")
    if not pattern or name is None:
        return plan
    if not isinstance(name, str) or not name.isidentifier():
        raise CallerError(f"options.name is {quoted(str(name))}; pass a valid identifier.")
    invented = re.compile(rf"\b(?:{pattern})\b")
    steps: list[Step] = []
    for step in plan.steps:
        if not isinstance(step, FileChange):
            steps.append(step)
            continue
        known = set(invented.findall(step.before.content))

        def renamed(match: re.Match[str], known: set[str] = known) -> str:
            return match[0] if match[0] in known else name

        changes = tuple(replace(one, new_text=invented.sub(renamed, one.new_text)) for one in step.changes)
        steps.append(FileChange(step.path, step.before, step.after, changes).without(()) or step)
    return replace(plan, steps=tuple(steps))
