"""Renames of what files pass on to others: `declared`, `renamed_through_exports`.

Of `export { a } from './m'` TypeScript 7.0 makes `export { b as a } from './m'`, whose importers keep the old name; and
asked about a name that an import brings, it renames that name in the file of the import only.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.errors import RefusedError
from lsp_mcp.protocol.lsp import Location, TextDocumentPositionParams, WorkspaceEdit
from lsp_mcp.requests.edit_plans import asked_rename
from lsp_mcp.requests.other_builds import Key, add_edits, edited, edited_documents, key_of, position_of
from lsp_mcp.requests.places import text_or_none
from lsp_mcp.requests.refusals import note
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.syntax.imports import brings, imported_as, is_imported_at
from lsp_mcp.text import Span, Text
from lsp_mcp.uris import uri_path

_MOST_ASKED = 100  # exports that pass a name on
_MOST_USES = 5_000


async def declared(backend: Backend, path: Path, identifier: Span) -> tuple[Path, Span]:
    """Where the name at `identifier` is declared in another file, if `path` only has it by an import; else that place.

    For a server that gives another name at an import, where it is declared, if it is in one.

    Raises the errors of `definition_places`.
    """
    here = path, identifier
    if backend.plugin.renaming.gives_at_imports:
        return await _imported(backend, path, identifier) or here
    if not backend.plugin.renaming.passed_on:
        return here
    text, language = await backend.documents.open(path), backend.plugin.language_of(path)
    name = text.slice(identifier)
    if language is None or not await asyncio.to_thread(_brings, text, language.id, identifier):
        return here
    places = await definition_places(backend, path, identifier.start)
    files = {file for file, _ in places}  # one for all overloads
    if len(files) != 1 or path in files or not places[0][0].is_relative_to(backend.root):
        return here
    file, start = places[0]
    there = await text_or_none(backend, file)
    span = there.identifier_at(start, language.name_prefixes) if there else None
    return (file, span) if there and span and span.start >= start and there.slice(span) == name else here


async def _imported(backend: Backend, path: Path, identifier: Span) -> tuple[Path, Span] | None:
    """Where the symbol of the workspace is declared that the import at `identifier` means; None if it is in none."""
    text, language = await backend.documents.open(path), backend.plugin.language_of(path)
    if language is None or not await asyncio.to_thread(is_imported_at, text, language.id, identifier):
        return None
    places = await definition_places(backend, path, identifier.start)
    if len(places) != 1 or not places[0][0].is_relative_to(backend.root):
        return None
    file, start = places[0]
    there = await text_or_none(backend, file)
    span = there.identifier_at(start) if there else None
    return (file, span) if there and span and there.slice(span) == text.slice(identifier) else None


def _brings(text: Text, language_id: str, identifier: Span) -> bool:
    """Whether an import or export brings the name at `identifier`, and does not give it, as `{ default as f }` does."""
    name, start = text.slice(identifier), text.point_offset(identifier.start)
    aliases = imported_as(text, language_id).items()
    is_given = any(at == start and not text.content[:behind].endswith(name) for behind, at in aliases)
    return not is_given and brings(text, language_id, name)


async def renamed_through_exports(
    backend: Backend, at: TextDocumentPositionParams, name: str, new_name: str
) -> WorkspaceEdit:
    """The server's edit that renames the symbol `name` at a place, also where exports pass it on, and for those who
    import it there.

    Raises the errors of `Backend.request`.
    """
    edit = await asked_rename(backend, at, new_name)
    if not (passed_on := backend.plugin.renaming.passed_on):
        return edit
    both = passed_on.format(name=new_name, given=name)
    asked: set[Key] = set()
    while left := [one for one in _written(edit, both) if key_of(one) not in asked][: _MOST_ASKED - len(asked)]:
        for one in left:
            asked.add(key_of(one))
            add_edits(edit, await asked_rename(backend, position_of(one), new_name))
    for document, changes in edited_documents(edit):
        there = {key_of(Location(uri=document["uri"], range=one["range"])): one for one in changes}
        changes[:] = [{**one, "newText": new_name} if key in asked else one for key, one in there.items()]
    await _with_importers(backend, at, name, new_name, edit)
    return edit


async def _with_importers(
    backend: Backend, at: TextDocumentPositionParams, name: str, new_name: str, edit: WorkspaceEdit
) -> None:
    """Add to `edit` the variables called `name` that files have what they import in, with their uses.

    TypeScript 7.0 renames those of `import name from './m'`, but of `const name = require('./m')` only if it is asked
    there. They are among the uses of what the module exports.
    """
    listed = await backend.request("textDocument/references", {**at, "context": {"includeDeclaration": True}}) or []
    uses = {key_of(one): one for one in listed}
    done = {key_of(one) for one in edited(edit)}
    for key, one in list(uses.items())[:_MOST_USES]:
        if key in done or not await _spells(backend, one, name):
            continue
        try:
            more = await asked_rename(backend, position_of(one), new_name)
        except RefusedError as error:  # it is left to the comparison with the text
            note(uri_path(one["uri"]), error)
            continue
        found = {key_of(change) for change in edited(more)}
        texts = {change["newText"] for _, changes in edited_documents(more) for change in changes}
        if texts == {new_name} and found <= uses.keys():
            add_edits(edit, more)
        done |= {key, *found}
    for document, changes in edited_documents(edit):
        there = {}
        for change in changes:
            key = key_of(Location(uri=document["uri"], range=change["range"]))
            # Asked at an import of what several files declare, it gives that another name there: `name as new_name`.
            if key not in there or change["newText"] == new_name:
                there[key] = change
        changes[:] = there.values()


async def _spells(backend: Backend, location: Location, name: str) -> bool:
    text = await text_or_none(backend, uri_path(location["uri"]))
    return text is not None and text.slice(text.range_span(location["range"], backend.encoding)) == name


def _written(edit: WorkspaceEdit, text: str) -> list[Location]:
    """Where `edit` writes this text."""
    return [
        Location(uri=document["uri"], range=one["range"])
        for document, changes in edited_documents(edit)
        for one in changes
        if one["newText"] == text
    ]
