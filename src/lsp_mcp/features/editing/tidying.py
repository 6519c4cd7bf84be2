"""Formatting new text and organizing its imports before it is written: `tidied`."""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.backend import Backend, Trial
from lsp_mcp.edits.plan import FileChange
from lsp_mcp.edits.rewriting import with_edits
from lsp_mcp.errors import RefusedError
from lsp_mcp.gaps import Gap, news
from lsp_mcp.protocol.lsp import TextEdit
from lsp_mcp.requests.code_actions import code_actions, edits_of
from lsp_mcp.requests.edit_plans import plan_of
from lsp_mcp.syntax.declarations import declarations_of
from lsp_mcp.text import Text
from lsp_mcp.uris import path_uri

_IMPORTS = "source.organizeImports"
_OPTIONS = {"tabSize": 4, "insertSpaces": True, "trimFinalNewlines": False}


async def tidied(backend: Backend, trial: Trial, path: Path, before: Text, after: Text) -> tuple[Text, list[Gap]]:
    """`after`, with its changes since `before` formatted and its imports organized, as far as the server supports that.

    The server is shown the result; the news list what it could not do.
    """
    gaps: list[Gap] = []
    trial.show(path, after)
    if _formats(backend, path):
        try:
            after = with_edits(path, after, await _formatting(backend, path, before, after), backend.encoding)
            trial.show(path, after)
        except RefusedError as error:
            gaps.append(news("applied", f"not formatted: {error}"))
    organized = await _organized(backend, path, after)
    if before.content and not set(after.lines()) <= set(organized.lines()):
        # gopls 0.24 replaces imports of packages whose names are not the ends of their paths.
        trial.show(path, before)
        if (was := await _organized(backend, path, before)) != before:
            gaps.append(
                news(
                    "applied",
                    f"imports not organized: {backend.plugin.name} would change others than those of this edit",
                )
            )
            organized = await _with_new_imports(backend, path, after, organized, was)
    trial.show(path, organized)
    return organized, gaps


async def _organized(backend: Backend, path: Path, text: Text) -> Text:
    """`text`, which the server has, with its imports organized."""
    whole = text.offsets_span(0, len(text.content))
    for action in (await code_actions(backend, path, text, whole, only=[_IMPORTS]))[:1]:
        plan = await plan_of(backend, await edits_of(backend, action, {}, backend.root))
        for step in plan.steps:
            if isinstance(step, FileChange) and step.path == path:
                text = Text(step.after)
    return text


async def _with_new_imports(backend: Backend, path: Path, after: Text, organized: Text, was: Text) -> Text:
    """`after` with the imports that `organized` has, and neither it nor `was`, the organized text before the edit."""
    packages, language = backend.plugin.renaming.packages, backend.plugin.language_of(path)
    if not (packages and packages.import_clause and language):
        return after
    read, wanted, known = [await declarations_of(text, language.id) for text in (after, organized, was)]
    if not (read and wanted and known):
        return after
    specs = {name: spec for name, spec in wanted.imports.items() if name not in known.imports}
    lines, content = read.import_lines(specs, packages.import_clause), after.content
    return Text(content[: read.import_at] + lines + content[read.import_at :]) if lines else after


async def formatting(backend: Backend, path: Path, text: Text) -> list[TextEdit]:
    """The edits (LSP `TextEdit`) that format all of `path`. Raises the errors of `Backend.request`."""
    options = {**_OPTIONS, **({"insertSpaces": False} if "\n\t" in text.content else {})}
    params = {"textDocument": {"uri": path_uri(path)}, "options": options}
    return await backend.request("textDocument/formatting", params) or []


async def _formatting(backend: Backend, path: Path, before: Text, after: Text) -> list[TextEdit]:
    """The formatting edits that touch new lines, and those that touch the lines of one that does."""
    start = _same(before.content, after.content)
    same = _same(before.content[start:][::-1], after.content[start:][::-1])
    first = after.content.rfind("\n", 0, start) + len("\n")
    end = after.content.find("\n", len(after.content) - same)
    last = len(after.content) if end < 0 else end
    kept: list[TextEdit] = []
    left = [
        (edit, offsets)
        for edit in await formatting(backend, path, after)
        if (offsets := after.range_offsets(edit["range"], backend.encoding))
    ]
    while touching := [one for one in left if one[1][0] <= last and one[1][1] >= first]:
        left = [one for one in left if one not in touching]
        # Half of what sorts lines would lose some: gofmt sorts imports up to the next empty line.
        if any(_is_moving(after, *one) for one in touching):
            block = after.content.rfind("\n\n", 0, first), after.content.find("\n\n", last) % (len(after.content) + 1)
            sorting = [one for one in left if block[0] < one[1][0] <= block[1] and _is_moving(after, *one)]
            left = [one for one in left if one not in sorting]
            kept += [edit for edit, _ in sorting]
        kept += [edit for edit, _ in touching]
        # Half of what joins or splits lines would leave a form that is nobody's.
        first = min(first, *(after.content.rfind("\n", 0, start) + len("\n") for _, (start, _) in touching))
        ends = [after.content.find("\n", end) for _, (_, end) in touching]
        last = max(last, *(len(after.content) if end < 0 else end for end in ends))
    return kept


def _is_moving(text: Text, edit: TextEdit, offsets: tuple[int, int]) -> bool:
    """Whether an edit of `text` changes more than white space."""
    return edit["newText"].split() != text.content[slice(*offsets)].split()


def _same(one: str, other: str) -> int:
    """The length of their common prefix."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))


def _formats(backend: Backend, path: Path) -> bool:
    """Whether the server formats files, in a project that has a configuration for it."""
    if not backend.capabilities.get("documentFormattingProvider"):
        return False
    styles = backend.plugin.adapter.actions.style_files
    folders = [path.parent, *path.parent.parents]
    return not styles or any((folder / name).is_file() for folder in folders for name in styles)
