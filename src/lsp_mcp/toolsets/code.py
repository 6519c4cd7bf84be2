"""The toolset `code`: symbols by name, file and anchor, for every language server (docs/contracts/code.md)."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import Field

from lsp_mcp.backend import Backend, Reach, Scope, Use
from lsp_mcp.errors import CallerError, PathError, RefusedError, UnavailableError, unknown
from lsp_mcp.features import document_symbol, references, workspace_symbol
from lsp_mcp.features.asking import Answered, answer
from lsp_mcp.features.overrides import Overrides, overrides
from lsp_mcp.features.roles import Role, in_role
from lsp_mcp.features.symbols import KINDS, TYPES, Symbol, flat
from lsp_mcp.gaps import Gap, hiding, news
from lsp_mcp.prose import count, first_few
from lsp_mcp.render.answers import Definitions, Outline, ReferenceList, Rename
from lsp_mcp.toolsets.answers import AnchorToolset, Code, Confirmed, Hover, Limit, SymbolAnchor, capped, dropped, found
from lsp_mcp.toolsets.by_name import check_name, name_for
from lsp_mcp.toolsets.questions import PlacesCheck
from lsp_mcp.toolsets.renaming import ask_rename, told_of_text
from lsp_mcp.toolsets.symbols import SymbolTarget
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool
from lsp_mcp.visible import quoted

_WITH_TASKS = 3  # of the symbols that a name finds: whose tasks are told


class CodeTools(AnchorToolset):
    """The four anchor tools over whatever backends are running."""

    @tool(title="List the symbols in a file", read_only=True)
    async def list_symbols_in_file(
        self,
        call: Call,
        file_path: Annotated[str, Field(description="Path of the file, relative to the workspace root")],
        limit: Limit = 100,
        include_hover: Hover = False,
        include_code: Code = True,
        format: FormatChoice = None,
    ) -> str:
        """List the symbols in a source file as a tree (types with fields and methods), each with its anchor."""
        path = await self._sessions.file(file_path)
        backend = self._sessions.for_path(path)

        async def ask() -> tuple[tuple[Symbol, ...], int]:
            try:
                outline = await document_symbol.document_symbols(backend, path)
            except RefusedError as error:
                why = "".join(f" ({gap.text})" for gap in hiding(await backend.gaps(Scope("file", path))))
                shown = self._sessions.workspace.display_path(path)
                raise RefusedError(f"{backend.name} has no outline of {shown}: {error}{why}", error.code) from None
            symbols, total = document_symbol.first(outline, limit)
            return (await document_symbol.with_hovers(backend, symbols) if include_hover else symbols), total

        # An outline comes from the text alone, whatever the server still has to load.
        reach: Reach = "file" if include_hover else "text"
        report = call.report if include_hover else None
        answered = await answer(backend, ask, lambda _: Scope(reach, path), report=report)
        symbols, total = answered.value
        listed = flat(symbols)
        self._targets.hand_out_readable(symbol.place for symbol in listed)
        message = f"Found {count(total, 'symbol')} in file." if total else "No symbols found in file."
        return self._render(
            call,
            Outline(
                message=message,
                arguments=call.arguments,
                gaps=[*answered.gaps, *capped(len(listed), total)],
                path=path,
                symbols=symbols,
                with_code=include_code,
            ),
        )

    @tool(title="Find definitions by name", read_only=True)
    async def find_symbol_definitions_by_name(
        self,
        call: Call,
        symbol_name: Annotated[str, Field(description="Name or part of one; may be qualified: Type.Method, pkg.Func")],
        kind: Annotated[str | None, Field(description="function, method, type, field …")] = None,
        path: Annotated[str | None, Field(description="Only below this folder or in this file")] = None,
        dependencies: Annotated[bool, Field(description="Search dependencies, too")] = False,
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
        for backend in backends:
            plain = name_for(backend, name)
            answered = await self._search(call, backend, plain, limit, keep, include_hover=include_hover)
            symbols += answered.value.symbols
            total += answered.value.total
            gaps += answered.gaps
            if dependencies:
                theirs, lacking = await self._theirs(backend, plain, keep)
                symbols += theirs
                total += len(theirs)
                gaps += lacking
        symbols = sorted(symbols, key=lambda symbol: workspace_symbol.closeness(symbol.name, name))[:limit]
        if not total or re.search(r"\w\s+\w", name):  # a message or a phrase: names are only like it
            gaps += [news("elsewhere", hint) for hint in await self._targets.names.hints(name)]
        self._targets.hand_out_readable(symbol.place for symbol in symbols)
        for symbol in symbols[:_WITH_TASKS]:
            place = symbol.place
            if identifier := place.text.identifier_at(place.span.start):
                await self._questions.tell_tasks(call, place.path, identifier.start, place.text.slice(identifier))
        where = f"in the {self._sessions.languages} workspace{' and its dependencies' if dependencies else ''}"
        message = f"{found(total, 'symbol definition', gaps)} {where}."
        if any(gap.kind == "capped" for gap in gaps):
            message = message.replace("Found ", "Found at least ", 1)
        return self._render(
            call,
            Definitions(
                message=message,
                arguments=call.arguments,
                gaps=[*gaps, *capped(len(symbols), total)],
                symbols=symbols,
                with_code=include_code,
            ),
        )

    @tool(title="Find references by anchor", read_only=True)
    async def find_symbol_references_by_anchor(
        self,
        call: Call,
        symbol_anchor: SymbolAnchor,
        role: Annotated[Role, Field(description="What they do with it")] = "all",
        path: Annotated[str | None, Field(description="Only below this folder or in this file")] = None,
        offset: Annotated[int, Field(ge=0, description="Leave out so many"), UNLISTED] = 0,
        limit: Limit = 100,
        include_code: Code = True,
        format: FormatChoice = None,
    ) -> str:
        """Find every use of one symbol in the workspace, exactly, its declaration included."""
        keep = self._keep(None, path)

        async def ask(target: SymbolTarget) -> tuple[references.References, Overrides]:
            at = target.backend, target.path, target.identifier.start
            return await references.references(*at), await overrides(*at)

        root = self._sessions.workspace.root
        check = PlacesCheck[tuple[references.References, Overrides]](
            sites=lambda found: found[0].sites,
            joined=lambda found, more: (found[0].joined_by(more, root), found[1]),
            searched=lambda found: found[0].searched,
        )
        answered = await self._questions.about_symbol(
            call, symbol_anchor, ask, places=lambda found: found[0].places[:limit], check=check
        )
        uses, family = answered.value
        gaps = [*answered.gaps, *uses.gaps, *self._told_of(family)]
        if not uses.places and not uses.dropped and not hiding(gaps):
            raise await self._questions.refused(answered.target, RefusedError("it sees no symbol there"))
        target = answered.target
        there = [place for place in uses.places if keep("", place.path)]
        chosen = await in_role(target.backend, target.path, target.identifier.start, there, role)
        if chosen.unknown:
            where = first_few(
                [f"{self._sessions.workspace.display_path(one.path)} {one.span.start.line}" for one in chosen.unknown]
            )
            text = (
                f"of {count(len(chosen.unknown), 'use')} {target.backend.name} does not tell reads from writes: {where}"
            )
            gaps.append(Gap("unverified", text, tuple({one.path for one in chosen.unknown})))
        total, shown = len(chosen.places), chosen.places[offset : offset + limit]
        kind = {"all": "reference", "test": "use"}.get(role, role)
        of_all = f" of {count(len(uses.places), 'use')}" if role != "all" or path else ""
        message = f"{found(total, kind, gaps)}{' in tests' if role == 'test' else ''}{of_all} for the symbol anchor"
        if offset:
            message += f", but for the first {offset:,}"
        return self._render(
            call,
            ReferenceList(
                message=f"{message}.",
                arguments=call.arguments,
                gaps=[*gaps, *dropped(uses.dropped), *capped(len(shown), total - offset)],
                places=list(shown),
                with_code=include_code,
            ),
        )

    @tool(title="Rename by anchor", read_only=False, destructive=True)
    async def rename_symbol_by_anchor(
        self,
        call: Call,
        symbol_anchor: SymbolAnchor,
        new_name: Annotated[str, Field(description="New name, a valid identifier")],
        apply: Annotated[bool, Field(description="false: only preview the edits")] = True,
        allow_partial: Annotated[
            bool, Field(description="Apply even if uses may be missed, as status says"), UNLISTED
        ] = False,
        include_uncompiled: Annotated[
            bool, Field(description="Rename by text in files that cannot be compiled here"), UNLISTED
        ] = False,
        confirmed: Confirmed = False,
        format: FormatChoice = None,
    ) -> str:
        """Rename a symbol in the whole workspace. Writes all files or none; refuses names that clash or are invalid."""
        if not new_name.strip():
            raise CallerError("new_name is empty; pass a valid identifier.")

        asking = partial(self._questions.about_symbol, call, symbol_anchor)
        renamed = await ask_rename(asking, self._targets, new_name)
        by_text = await renamed.by_text(new_name)
        if include_uncompiled:
            renamed = renamed.with_text(by_text, self._targets)
        if apply:
            way_out = (
                f"{'' if include_uncompiled else told_of_text(by_text)}"
                "preview with apply=false, or accept it with allow_partial=true and check those places."
            )
            renamed = await renamed.checked(self._targets, new_name, way_out, allow_partial=allow_partial)
        plan, gaps = renamed.plan, renamed.gaps
        if apply:
            told = self._sessions.remarks(await self._context.apply(self._sessions, plan, confirmed=confirmed))
        else:
            told = [f"confirmed=true is needed to apply it: {what}" for what in plan.confirmations]
        verb = "Successfully renamed symbol to" if apply else "Preview, nothing written: would rename symbol to"
        edits, files = count(plan.edit_count, "edit"), count(len(plan.files), "file")
        return self._render(
            call,
            Rename(
                message=f"{verb} '{new_name}' with {edits} across {files}.",
                arguments=call.arguments,
                gaps=[*gaps, *(news("applied", text) for text in told)],
                plan=plan,
            ),
        )

    # --- inside ------------------------------------------------------------------------------------

    def _keep(self, kind: str | None, path: str | None) -> workspace_symbol.Keep:
        """What `kind` and `path` leave of a name search.

        Raises:
            CallerError: there is no such kind, or no such path.
        """
        if kind is not None and kind not in KINDS:
            raise CallerError(unknown("kind", kind, KINDS))
        below = self._sessions.workspace.root / path if path is not None else None
        if below is not None and not below.exists():
            raise PathError(f"{quoted(path or '')} does not exist in {self._sessions.workspace.root}.")
        wanted = TYPES if kind == "type" else (kind,)

        def keep(of: str, file: Path) -> bool:
            return (kind is None or of in wanted) and (below is None or file.is_relative_to(below.resolve()))

        return keep

    async def _theirs(self, backend: Backend, name: str, keep: workspace_symbol.Keep) -> tuple[list[Symbol], list[Gap]]:
        """What dependencies have by `name`, and why not all of it."""
        if not backend.adapter.workspace.dependency_files_command:
            text = f"dependencies are not searched by name for {backend.name}; a use's definition leads there"
            return [], [Gap("not_searched", text)]
        try:
            found = await self._targets.names.in_dependencies(backend, name)
        except (RefusedError, UnavailableError) as error:
            return [], [Gap("not_searched", f"not searched: dependencies ({error})")]
        return [symbol for symbol in found if keep(symbol.kind, symbol.place.path)], []

    async def _search(
        self, call: Call, backend: Backend, name: str, limit: int, keep: workspace_symbol.Keep, *, include_hover: bool
    ) -> Answered[workspace_symbol.Found]:
        """What one backend finds by `name`, and what makes that incomplete.

        Raises:
            RefusedError: it found nothing because it knows nothing: the workspace cannot be loaded.
        """

        async def ask() -> workspace_symbol.Found:
            return await workspace_symbol.workspace_symbols(backend, name, limit, hover=include_hover, keep=keep)

        # Of a qualified name, the part that a definition spells.
        words = re.findall(r"\w+", name)
        use = Use(words[-1]) if words else None
        answered = await answer(
            backend, ask, lambda found: Scope(use=use, unsearched=found.unsearched), report=call.report
        )
        gaps = [*answered.gaps, *dropped(answered.value.dropped)]
        if answered.value.capped:
            most = backend.adapter.symbols.workspace_symbol_cap
            text = f"{backend.name} gives at most {most} names for one search; there may be more: be more specific"
            gaps.append(Gap("capped", text))
        return Answered(answered.value, tuple(gaps))
