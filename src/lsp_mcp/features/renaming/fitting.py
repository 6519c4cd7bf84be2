"""Files in which something may no longer fit a type, once a member has another name: `fitting`.

Where a type fits another by its members alone, no use of a member says where that matters.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.disk.files import Signature, content_or_nothing
from lsp_mcp.edits.plan import FileChange
from lsp_mcp.features.renaming.passed_whole import following
from lsp_mcp.gaps import Gap, news
from lsp_mcp.prose import count
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.places import text_or_none
from lsp_mcp.syntax.files import depends_on
from lsp_mcp.syntax.roles import GIVEN, MEMBER, TAKEN, roles_at
from lsp_mcp.text import Text

_MOST_FILES = 5_000  # read
_MOST_KEPT = 100_000  # files, and modules in them: those of `_MOST_FILES`, else each rename reads them all again
_MOST = 100  # tried
_IMPORTED: RememberedOf[Backend, Path, Signature, list[str]] = RememberedOf(_MOST_KEPT)


async def fitting(
    backend: Backend, steps: Collection[FileChange], new_name: str
) -> tuple[Mapping[Path, Text], list[Gap]]:
    """The files that get what `steps` change from others, nearest first, with their texts; and what is left out.

    None if no member gets `new_name`, or if types of this language fit by their names.
    """
    words = backend.plugin.renaming.importing_words
    if not words or not any([await asyncio.to_thread(_renames_member, backend, one, new_name) for one in steps]):
        return {}, []
    named = [await backend.words.files_with(word) for word in words]
    files = sorted({path for found in named for path in found.files})
    imported = await asyncio.to_thread(_imported, backend, files[:_MOST_FILES])
    changed = {step.path for step in steps}
    followed = await asyncio.to_thread(following, changed, imported, backend.root)
    near = [path for path in followed if path not in changed]
    left = max(0, len(files) - _MOST_FILES, len(near) - _MOST)
    found = {path: text for path in near[:_MOST] if (text := await text_or_none(backend, path))}
    return found, [untried(left)] if left else []


def untried(number: int) -> Gap:
    """That a rename was not tried in so many files."""
    return news("applied", f"not tried in {count(number, 'file')} that may depend on it; run check")


# --- inside ------------------------------------------------------------------------------------


def _renames_member(backend: Backend, step: FileChange, new_name: str) -> bool:
    language = backend.plugin.language_of(step.path)
    if language is None:
        return False
    roles = roles_at(step.before, language.id, [one.span for one in step.changes])
    return any(
        found is None or MEMBER in found or (one.new_text.startswith(f"{new_name}:") and found & {GIVEN, TAKEN})
        for one in step.changes
        for found in (roles.get(one.span),)
    )


def _imported(backend: Backend, files: Iterable[Path]) -> dict[Path, list[str]]:
    """Those of `files` that import modules, and which; reads only what has changed."""
    kept = _IMPORTED.for_owner(backend)
    found: dict[Path, list[str]] = {}
    for path in files:
        if (signature := Signature.read(path)) is None:
            continue
        if (modules := kept.get(path, signature)) is None:
            language = backend.plugin.language_of(path)
            content = content_or_nothing(path).decode("utf-8", "replace") if language else ""
            modules = depends_on(Text(content), language.id) if language else []
            kept.put(path, signature, modules, 1 + len(modules))
        if modules:
            found[path] = modules
    return found
