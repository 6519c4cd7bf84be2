"""The tool `list_symbols_in_file` of the toolset `code`: a file as a tree, a folder as a map."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec.structs import replace
from pydantic import Field

from lsp_mcp.backend import Backend, Reach, Scope
from lsp_mcp.errors import RefusedError
from lsp_mcp.features.editing.source_files import source_files
from lsp_mcp.features.finding.outlines import FileOutline, outlines
from lsp_mcp.features.overview.overview import Overview, overview
from lsp_mcp.gaps import Gap, hiding, texts
from lsp_mcp.prose import count, first_few
from lsp_mcp.render.answers import FolderMap, Outline, WorkspaceOverview
from lsp_mcp.render.document import document
from lsp_mcp.render.folder_map import Size, fitting, size_as_text, told_of
from lsp_mcp.render.overview import fitting_overview, overview_size
from lsp_mcp.requests import document_symbol
from lsp_mcp.requests.asking import Answered, answer, ask_each
from lsp_mcp.requests.symbols import Symbol, flat
from lsp_mcp.toolsets.answers import AnchorToolset, Code, Hover, Limit, capped
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool

_MOST_FILES = 2_000
_MOST_OF_OVERVIEW = 10_000  # files of one server
_MOST_MAP = 10_000  # bytes
_MOST_OVERVIEW = 5_500  # bytes: 1,500 tokens with the message and the status


class OutlineTools(AnchorToolset):
    """The declarations of files."""

    @tool(title="List symbols of a file or folder", read_only=True, parses=True)
    async def list_symbols_in_file(
        self,
        call: Call,
        file_path: Annotated[str, Field(description="File or folder, relative to the workspace root")],
        limit: Limit = 100,
        offset: Annotated[int, Field(ge=0, description="Skip this many"), UNLISTED] = 0,
        include_hover: Hover = False,
        include_code: Code = True,
        max_bytes: Annotated[
            int | None, Field(ge=50, le=1_000_000, description="Size limit of a folder's map"), UNLISTED
        ] = None,
        depth: Annotated[
            int | None, Field(ge=1, le=50, description="Of the root: depth down to which folders are listed"), UNLISTED
        ] = None,
        format: FormatChoice = None,
    ) -> str:
        """List the symbols in a source file as a tree (types with fields and methods), each with its anchor and last
        line; for a folder, a map of its files' declarations; for ".", the workspace's architecture."""
        await self._sessions.require_backends()
        if self._is_folder(file_path):
            below = self._existing(file_path)
            if below == self._sessions.workspace.root and not offset and max_bytes is None:
                return await self._overview(call, depth)
            return await self._folder(call, below, offset, max_bytes or _MOST_MAP)
        path = await self._file(file_path)
        backend = self._sessions.for_path(path)

        async def ask() -> tuple[tuple[Symbol, ...], int]:
            try:
                outline = await document_symbol.document_symbols(backend, path)
            except RefusedError as error:
                why = "".join(f" ({text})" for text in texts(hiding(await backend.gaps(Scope("file", path)))))
                shown = self._sessions.workspace.display_path(path)
                raise RefusedError(
                    f"{backend.plugin.name} has no outline of {shown}: {error}{why}", error.code
                ) from None
            symbols, total = document_symbol.page(outline, offset, limit)
            return (await document_symbol.with_hovers(backend, symbols) if include_hover else symbols), total

        # An outline depends on the text alone, not on files that the server has yet to load.
        reach: Reach = "file" if include_hover else "text"
        report = call.report if include_hover else None
        answered = await answer(backend, ask, lambda _: Scope(reach, path), report=report)
        symbols, total = answered.value
        self._targets.hand_out_readable(symbol.place for symbol in flat(symbols))
        message = f"Found {count(total, 'symbol')} in file" if total else "No symbols found in file"
        if offset:
            message += f", but for the first {offset:,}"
        left = max(0, total - offset)
        return self._render(
            call,
            Outline(
                message=f"{message}.",
                arguments=call.arguments,
                gaps=[*answered.gaps, *capped(min(limit, left), left, offset)],
                path=path,
                symbols=symbols,
                with_code=include_code,
            ),
        )

    # --- folders -----------------------------------------------------------------------------------

    def _is_folder(self, name: str) -> bool:
        return bool(name.strip()) and os.path.isdir(self._sessions.workspace.root / name)  # noqa: PTH112 (a name that no system takes is not a folder)

    async def _folder(self, call: Call, below: Path, offset: int, most: int) -> str:
        backends, gaps = await self._sessions.ready(call.report)
        files = [
            (backend, path)
            for backend in backends
            for path in await asyncio.to_thread(source_files, below, backend)
            if self._sessions.workspace.holds(path)
        ]
        page = files[offset : offset + _MOST_FILES]
        found: list[FileOutline] = []

        async def ask(backend: Backend) -> Answered[list[FileOutline]]:
            own = [path for of, path in page if of is backend]
            return await answer(backend, lambda: outlines(backend, own), lambda _: Scope("text"), report=call.report)

        answers, silent = await ask_each(backends, ask, last=True)
        gaps += silent
        for backend, answered in answers:
            gaps += answered.gaps
            found += answered.value
            if unknown := [one.path for one in answered.value if one.symbols is None and not one.problem]:
                gaps.append(self._not_outlined(backend, unknown))
            if unreadable := [one for one in answered.value if one.problem]:
                text = "cannot be read: " + first_few([one.problem for one in unreadable])
                gaps.append(Gap("not_searched", text, tuple(one.path for one in unreadable)))
        total = len(files)
        level, parts = fitting(found, most, self._map_size(call))
        where = (
            f"below {self._sessions.workspace.display_path(below)}"
            if below != self._sessions.workspace.root
            else "of the workspace"
        )
        symbols = sum(one.total for one in found)
        read = sum(one.symbols is not None for one in found)
        of_files = count(total, "file") if read == total else f"{read:,} of {count(total, 'file')}"
        message = f"{count(symbols, 'symbol')} in {of_files} {where}{told_of(level)}."
        return self._render(
            call,
            FolderMap(
                message=message,
                arguments=call.arguments,
                gaps=[*gaps, *capped(min(parts, len(found)), max(0, total - offset), offset)],
                files=found[:parts],
                level=level,
            ),
        )

    def _map_size(self, call: Call) -> Size:
        shown, anchor = self._sessions.workspace.display_path, self._targets.anchor
        if call.format == "compact":
            return size_as_text(shown, anchor)

        def size(files: Sequence[FileOutline], level: int) -> int:
            draft = FolderMap(message="", arguments={}, gaps=[], files=files, level=level)
            return len(document(draft, shown, anchor).encode())

        return size

    async def _overview(self, call: Call, depth: int | None) -> str:
        """What the whole workspace consists of."""
        backends, gaps = await self._sessions.ready(call.report)
        root, anchor = self._sessions.workspace.root, self._targets.anchor
        files: dict[Backend, list[Path]] = {}
        for backend in backends:
            inside = await asyncio.to_thread(source_files, root, backend)
            found = [path for path in inside if self._sessions.workspace.holds(path)]
            files[backend] = found[:_MOST_OF_OVERVIEW]
            if len(found) > len(files[backend]):
                text = f"capped at {len(files[backend]):,} of {len(found):,} files of {backend.plugin.name}"
                gaps.append(Gap("capped", f"{text}; pass a folder for the rest"))
            gaps += (await answer(backend, _nothing, lambda _: Scope("text"), report=call.report)).gaps
        whole = await overview(backends, files, root)
        draft = WorkspaceOverview(message="", arguments={}, gaps=[], overview=whole, most=1)

        def size(by_folder: Overview, number: int) -> int:
            shown = replace(draft, overview=by_folder, most=number)
            if call.format == "compact":
                return overview_size(shown, anchor)
            return len(document(shown, self._sessions.workspace.display_path, anchor).encode())

        by_folder, number = fitting_overview(whole, depth, _MOST_OVERVIEW, size)
        if whole.unreadable:
            text = "cannot be read: " + first_few(list(whole.unreadable.values()))
            gaps.append(Gap("not_searched", text, tuple(whole.unreadable)))
        if whole.without_imports:
            text = f"imports are not known for {' and '.join(whole.without_imports)}"
            gaps.append(Gap("not_searched", text, about="imports"))
        if whole.unasked:
            text = f"which declarations are used most is not known: {' '.join(whole.unasked)}"
            gaps.append(Gap("not_searched", text, about="uses"))
        total = count(sum(map(len, files.values())), "source file")
        languages = ", ".join(
            f"{name} {lines:,}" for name, lines in sorted(whole.languages.items(), key=lambda one: -one[1])
        )
        self._targets.hand_out_readable(whole.entries)
        self._targets.hand_out_readable(one.place for one, _ in by_folder.used[:number])
        message = f"{total} in {count(len(whole.folders), 'folder')}; lines: {languages or 'none'}."
        return self._render(
            call,
            WorkspaceOverview(
                message=f"{message} Imports by their spelling.",
                arguments=call.arguments,
                gaps=gaps,
                overview=by_folder,
                most=number,
            ),
        )

    def _not_outlined(self, backend: Backend, files: list[Path]) -> Gap:
        named = first_few([self._sessions.workspace.display_path(path) for path in files])
        server = backend.plugin.name
        text = f"{server} outlines open files only; not opened: {named}; pass one of them, or a smaller folder"
        return Gap("not_searched", text, tuple(files))


async def _nothing() -> None:
    """The question of an overview, whose files are read by themselves."""
