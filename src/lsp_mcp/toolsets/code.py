"""The toolset `code`: symbols by name, file and anchor, for every language server (docs/contracts/code.md)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated

from msgspec.structs import replace
from pydantic import Field

from lsp_mcp.backend import Backend, Scope, Use
from lsp_mcp.errors import CallerError, RefusedError, UnavailableError, unknown
from lsp_mcp.evidence.namesakes import own_references
from lsp_mcp.evidence.occurrences import that_may_declare
from lsp_mcp.features.finding.exact_names import exact
from lsp_mcp.features.finding.left_out_symbols import with_left_out
from lsp_mcp.features.finding.local_types import in_local_types, not_searched
from lsp_mcp.features.finding.namesakes import with_namesakes
from lsp_mcp.features.finding.roles import InRole, Role, in_role
from lsp_mcp.features.finding.switches import without_case
from lsp_mcp.features.finding.unlisted import unlisted
from lsp_mcp.features.finding.where_included import declared_where_included
from lsp_mcp.features.types.aliased_bases import without_aliased_bases
from lsp_mcp.features.types.overrides import Overrides, related
from lsp_mcp.gaps import Gap, hiding, news
from lsp_mcp.prose import count, first_few
from lsp_mcp.render.answers import Definitions, ReferenceList
from lsp_mcp.requests import references, workspace_symbol
from lsp_mcp.requests.asking import Answered, answer, ask_each
from lsp_mcp.requests.containers import enclosed, inside
from lsp_mcp.requests.import_aliases import with_aliases
from lsp_mcp.requests.places import Place, in_reading_order
from lsp_mcp.requests.promoted import promoted
from lsp_mcp.requests.symbols import KINDS, TYPES, Symbol
from lsp_mcp.syntax.roles import SYNTAX_ROLES
from lsp_mcp.toolsets.answers import AnchorToolset, Code, Hover, Limit, SymbolAnchor, capped, dropped, found
from lsp_mcp.toolsets.by_name import check_name, is_phrase, name_for
from lsp_mcp.toolsets.questions import PlacesCheck, references_check
from lsp_mcp.toolsets.symbols import SymbolTarget
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool
from lsp_mcp.visible import quoted

_WAYS = {
    "test": " in tests",
    "case": " as a case",
    "argument": " as an argument",
    "return": " as a result",
    "literal": " in a literal",
    "type": " as a type",
    "embed": " by embedding or as a base",
}
_MOST_SWITCHES = 20  # listed
_WITH_TASKS = 3  # symbols found by a name whose tasks are reported


class CodeTools(AnchorToolset):
    """Symbols by name and their uses, over all running backends."""

    @tool(title="Find definitions by name", read_only=True, proven=True, parses=True)
    async def find_symbol_definitions_by_name(
        self,
        call: Call,
        symbol_name: Annotated[str, Field(description="Name or part of one; may be qualified: Type.Method, pkg.Func")],
        kind: Annotated[str | None, Field(description="function, method, type, field …")] = None,
        path: Annotated[str | None, Field(description="Only below this folder or in this file")] = None,
        dependencies: Annotated[bool, Field(description="Search dependencies too")] = False,
        similar: Annotated[bool, Field(description="List similar names next to exact ones"), UNLISTED] = False,
        limit: Limit = 50,
        include_hover: Hover = False,
        include_code: Code = True,
        format: FormatChoice = None,
    ) -> str:
        """Find where symbols are defined in the workspace by fuzzy name, exact matches first, each with its anchor."""
        name = symbol_name.strip()
        if not name:
            raise CallerError("symbol_name is empty; pass a name, for example Reader or Reader.Read.")
        check_name(name)
        keep = self._keep(kind, path)
        symbols: list[Symbol] = []
        backends, gaps = await self._sessions.ready(call.report)
        total = 0
        answers, silent = await ask_each(
            backends,
            lambda one: self._search(call, one, name_for(one, name), limit, keep, include_hover=include_hover),
        )
        gaps += silent
        answering = [backend for backend, _ in answers]
        for backend in backends:
            if backend not in answering:
                gaps += await unlisted(backend, name, keep, is_silent=True)
        for backend, answered in answers:
            plain = name_for(backend, name)
            symbols += answered.value.symbols
            total += answered.value.total
            gaps += answered.gaps
            if dependencies:
                theirs, lacking = await self._theirs(backend, plain, keep)
                known = {(symbol.place.path, symbol.place.span.start) for symbol in symbols}  # vendored, and loaded
                theirs = [one for one in theirs if (one.place.path, one.place.span.start) not in known]
                symbols += theirs
                total += len(theirs)
                gaps += lacking
        symbols = sorted(symbols, key=lambda symbol: workspace_symbol.closeness(symbol.name, name, symbol.kind))[:limit]
        least = any(gap.kind == "capped" for gap in gaps)
        are_all = not any(gap.kind == "capped" and gap.hides for gap in gaps)
        names = {name_for(backend, name) for backend in backends}
        only = exact(symbols, names, total, least=least) if are_all and not similar else None
        if only:
            symbols, total = only.symbols, len(only.symbols)
            gaps = [gap for gap in gaps if gap.kind != "capped"]
        symbols = await self._with_extents(symbols)
        # Not `func Name`, if there is one.
        is_message = is_phrase(name) and not any(workspace_symbol.is_called(*one) for one in product(symbols, names))
        if not total or is_message:
            symbols, total, gaps = await self._as_text(name, symbols, total, gaps, is_message=is_message)
        others, unknown = await self._elsewhere.named(name)
        gaps += unknown
        self._targets.hand_out_readable(symbol.place for symbol in symbols)
        for symbol in symbols[:_WITH_TASKS]:
            place = symbol.place
            if identifier := place.text.identifier_at(place.span.start):
                await self._questions.tell_tasks(call, place.path, identifier.start, place.text.slice(identifier))
        where = f"in the {self._sessions.languages} workspace{' and its dependencies' if dependencies else ''}"
        message = f"{found(total, 'symbol definition', gaps)} {where}"
        message += f", and {only.similar}." if only and only.similar else "."
        if any(gap.kind == "capped" for gap in gaps):
            message = message.replace("Found ", "Found at least ", 1)
        return self._render(
            call,
            Definitions(
                message=message,
                arguments=call.arguments,
                gaps=[*gaps, *capped(len(symbols), total)],
                symbols=symbols,
                elsewhere=others,
                with_code=include_code,
            ),
        )

    @tool(title="Find references by anchor", read_only=True, proven=True, parses=True)
    async def find_symbol_references_by_anchor(
        self,
        call: Call,
        symbol_anchor: SymbolAnchor,
        role: Annotated[Role, Field(description="Kind of use")] = "all",
        path: Annotated[str | None, Field(description="Only below this folder or in this file")] = None,
        in_: Annotated[str | None, Field(description="Only inside this function or type")] = None,
        offset: Annotated[int, Field(ge=0, description="Skip this many"), UNLISTED] = 0,
        context: Annotated[int, Field(ge=0, le=20, description="Lines around each use")] = 0,
        limit: Limit = 100,
        include_code: Code = True,
        format: FormatChoice = None,
    ) -> str:
        """Find every use of exactly one symbol in the workspace, including its declaration, by file and function."""
        keep, root = self._keep(None, path), self._sessions.workspace.root
        check: PlacesCheck[tuple[references.References, Overrides]] = references_check(
            lambda found: found[0],
            lambda found, checked: (found[0].joined_by(checked.missing, root), found[1]),
        )
        answered = await self._questions.about_symbol(
            call, symbol_anchor, self._uses, places=lambda found: found[0].places[:limit], check=check
        )
        uses, family = answered.value
        others, unknown = await self._elsewhere.found(answered.target, "use")
        unnamed = await self._implied(answered.target)
        gaps = [*answered.gaps, *uses.gaps, *unnamed, *self._told_of(family), *unknown]
        if not uses.places and not uses.dropped and not hiding(gaps):
            raise await self._questions.refused(answered.target, RefusedError("it sees no symbol there"))
        target = answered.target
        there = [place for place in uses.places if keep("", place.path)]
        if in_ is not None:
            there = await self._inside(call, in_, target.backend, there)
        gaps += await self._overloads(target, uses.places)
        gaps += await self._not_counted(target, "uses", uses.places, is_alone=len(uses.places) == 1, role=role)
        chosen = await in_role(target.backend, target.path, target.identifier.start, there, role)
        unsure = count(len(chosen.unknown), "use")
        text = f"{target.backend.plugin.name} does not distinguish reads from writes in {unsure}"
        if role in SYNTAX_ROLES:
            text = f"the syntax around {unsure} has errors"
        gaps += self._unverified(text, chosen.unknown)
        listed = self._with_through(there, chosen)
        total, shown = len(listed), listed[offset : offset + limit]
        shown = tuple(await enclosed(target.backend, shown))
        of_all = f" of {count(len(uses.places), 'use')}" if role != "all" or path or in_ else ""
        message = _message_of_uses(chosen, role, of_all, gaps)
        if offset:
            message += f", but for the first {offset:,}"
        if role == "case":
            message += await self._without_case(target, chosen.places)
        return self._render(
            call,
            ReferenceList(
                message=f"{message}.",
                arguments=call.arguments,
                gaps=[*gaps, *dropped(uses.dropped), *capped(len(shown), total - offset, offset)],
                places=list(shown),
                elsewhere=others,
                with_code=include_code,
                context=context,
            ),
        )

    # --- inside ------------------------------------------------------------------------------------

    async def _as_text(
        self, name: str, symbols: list[Symbol], total: int, gaps: list[Gap], *, is_message: bool
    ) -> tuple[list[Symbol], int, list[Gap]]:
        """What was found for a `name`, how much, and the gaps, with the places of that name in the text.

        A message that is there is not a symbol that merely has some of its words.
        """
        hints = await self._targets.names.hints(name)
        gaps = [*gaps, *(news("elsewhere", hint) for hint in hints)]
        if not (hints and is_message):
            return symbols, total, gaps
        symbols = [one for one in symbols if name.casefold() in one.name.casefold()]
        # Without any, nothing can be called that, wherever it is declared.
        has_no_name = not symbols and "operator" not in name
        kept = [gap for gap in gaps if gap.kind != "capped" and not (has_no_name and gap.hides)]
        return symbols, len(symbols), kept

    async def _uses(self, target: SymbolTarget) -> tuple[references.References, Overrides]:
        """The uses of the target, and the family of overrides that it belongs to."""
        at = target.backend, target.path, target.identifier.start
        family = await related(*at)  # first: files that a server reads to find all of these contain uses, too
        definitions = self._sessions.word_checks.for_backend(target.backend).definitions
        own = await own_references(target.backend, definitions, *at[1:], family.twin_sites)
        own = replace(own, places=tuple(in_reading_order(family.with_twins(own), self._sessions.workspace.root)))
        uses = await with_aliases(target.backend, own)
        named = await without_aliased_bases(target.backend, definitions, uses.places, at[1:])
        unsure = f"{target.backend.plugin.name} does not say whether these bases are the symbol or an alias of it"
        gaps = (*uses.gaps, *self._unverified(unsure, named.unknown))
        return replace(uses, places=tuple(named.places), gaps=gaps), family

    async def _inside(self, call: Call, spelled: str, backend: Backend, places: Sequence[Place]) -> list[Place]:
        """Those of `places` that are inside the function or type that `spelled` names, its methods included.

        Raises:
            AnchorError, PathError: see `Targets.handle`.
            CallerError: it is not around anything.
        """
        target = await self._targets.target(await self._targets.handle(call, spelled))
        found = await inside(backend, Place(target.path, target.identifier, target.text), places)
        if found is None:
            raise CallerError(f"in={quoted(spelled)} is not a function or type; pass path= for a file or folder.")
        return found

    async def _without_case(self, target: SymbolTarget, cases: Sequence[Place]) -> str:
        """What to add about switches over the constants declared beside the target that have no case for it."""
        try:
            switches = await without_case(target.backend, target.path, target.identifier.start, cases)
        except (RefusedError, UnavailableError) as error:
            return f"; switches without a case for it are not known: {error}"
        if switches is None:
            return ""
        part = "some of " if switches.is_part else ""
        over = f"{count(switches.number, 'switch', 'switches')} over {part}the constants declared with it"
        if not switches.lacking:
            return f"; none of {over} lacks a case for it"
        self._targets.hand_out_readable(switches.lacking)
        listed = [
            f"{self._targets.anchor(one.path, one.span.start)}{' (with a default)' * (one in switches.with_default)}"
            for one in switches.lacking
        ]
        lack = f"{len(listed):,} {'has' if len(listed) == 1 else 'have'}"
        return f"; of {over} {lack} no case for it: {first_few(listed, _MOST_SWITCHES)}"

    @staticmethod
    def _with_through(places: Sequence[Place], chosen: InRole) -> Sequence[Place]:
        """The chosen places and those that may have the role as well, in the order of `places`."""
        if not chosen.through:
            return chosen.places
        wanted = {*chosen.places, *(place for place, _ in chosen.through)}
        return [place for place in places if place in wanted]

    def _unverified(self, text: str, places: Sequence[Place]) -> list[Gap]:
        """The gap that `text` is said of `places`, if there are any."""
        if not places:
            return []
        return [Gap("unverified", f"{text}: {self._listed(places)}", tuple({one.path for one in places}))]

    def _keep(self, kind: str | None, path: str | None) -> workspace_symbol.Keep:
        """The filter that `kind` and `path` make of a name search.

        Raises:
            CallerError: there is no such kind, or no such path.
        """
        if kind is not None and kind not in KINDS:
            raise CallerError(unknown("kind", kind, KINDS))
        below = self._existing(path).resolve() if path is not None else None
        wanted = TYPES if kind == "type" else (kind,)

        def keep(of: str, file: Path) -> bool:
            return (kind is None or of in wanted) and (below is None or file.is_relative_to(below))

        return keep

    async def _theirs(self, backend: Backend, name: str, keep: workspace_symbol.Keep) -> tuple[list[Symbol], list[Gap]]:
        """Symbols of dependencies called `name`, and why some may be missing."""
        if not backend.plugin.adapter.workspace.dependency_files_command:
            text = f"dependencies are not searched by name for {backend.plugin.name}; a use's definition leads there"
            return [], [Gap("not_searched", text)]
        try:
            found = await self._targets.names.in_dependencies(backend, name)
        except (RefusedError, UnavailableError) as error:
            return [], [Gap("not_searched", f"not searched: dependencies ({error})")]
        return [symbol for symbol in found if keep(symbol.kind, symbol.place.path)], []

    async def _search(
        self, call: Call, backend: Backend, name: str, limit: int, keep: workspace_symbol.Keep, *, include_hover: bool
    ) -> Answered[workspace_symbol.Found]:
        """Search one backend for `name`: its results and their gaps.

        Raises:
            RefusedError: nothing was found because the workspace cannot be loaded.
        """

        # The part of a qualified name that a definition spells.
        words = re.findall(r"\w+", name)
        parts = workspace_symbol.parts_of(name)
        definitions = self._sessions.word_checks.for_backend(backend).definitions

        async def ask() -> tuple[workspace_symbol.Found, Use | None]:
            found = await workspace_symbol.workspace_symbols(backend, name, limit, hover=include_hover, keep=keep)
            if not words:
                return found, None
            is_found = any(workspace_symbol.is_called(one, name) for one in found.symbols)
            if not is_found:
                more = [one for one in await promoted(backend, name) if keep(one.kind, one.place.path)]
                more += await declared_where_included(backend, definitions, name, keep)
                found = replace(found, symbols=[*more, *found.symbols][:limit], total=found.total + len(more))
            every, unsure = await with_namesakes(backend, found.symbols, name)
            kept = [one for one in every if keep(one.kind, one.place.path)][:limit]
            found = replace(found, symbols=kept, total=found.total + len(every) - len(found.symbols), gaps=unsure)
            owner = parts[-2] if is_found and parts[1:] else ""  # otherwise what only has its letters counts, too
            known = {(symbol.place.path, symbol.place.span.start) for symbol in found.symbols}
            use = await that_may_declare(definitions, backend, name, owner, known, found.unsearched)
            return await with_left_out(backend, found, use, name, limit, keep)

        answered = await answer(
            backend, ask, lambda found: Scope(use=found[1], unsearched=found[0].unsearched), report=call.report
        )
        found, _ = answered.value
        gaps = [*answered.gaps, *found.gaps, *dropped(found.dropped)]
        lacks = not any(workspace_symbol.is_called(one, name) for one in found.symbols)
        known = [symbol.place for symbol in found.symbols]
        local = await in_local_types(backend, parts, known, embedded=lacks)  # else the type has that name
        places = [one for one, kinds in local.places if any(keep(kind, one.path) for kind in kinds)]
        gaps += not_searched(backend, parts[-1], places, unread=local.unread and lacks)
        if lacks:
            gaps += await unlisted(backend, name, keep, reported=places)
        cap = backend.plugin.symbols.workspace_symbol_cap
        most = f"{backend.plugin.name} gives at most {cap} names for one search"
        if cap is None:
            some = f"only some of the files that have {name} were looked at"
            most = (
                some
                if found.capped
                else f"{backend.plugin.name} has no search by name: only whole names were looked for"
            )
        if found.capped:
            gaps.append(Gap("capped", f"{most}; there may be more: be more specific"))
        elif found.alike_capped:
            more = f"{most}; there may be more that are spelled only like {name}"
            gaps.append(Gap("capped", more, hides=not found.symbols))
        return Answered(found, tuple(gaps))


def _message_of_uses(chosen: InRole, role: Role, of_all: str, gaps: Sequence[Gap]) -> str:
    """How many uses have the role, `of_all` of them; and how many may have it as well."""
    kind = {"all": "reference", **dict.fromkeys(_WAYS, "use")}.get(role, role)
    message = f"{found(len(chosen.places), kind, gaps)}{_WAYS.get(role, '')}{of_all} for the symbol anchor"
    if not chosen.through:
        return message
    times = Counter(how for _, how in chosen.through).most_common()
    ways = ", ".join(f"{how} {most:,}" for how, most in times)
    more = count(len(chosen.through), "use")
    return (
        f"{message.replace('No writes found', 'No assignment found', 1)}, and {more} that may write through a call, an "
        f"address or a part ({ways})"
    )
