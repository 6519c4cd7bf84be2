"""Every call of a function inlined, by the server's own action at each: `inlined`. Nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend, Trial
from lsp_mcp.edits.plan import FileChange
from lsp_mcp.edits.rewriting import change_of
from lsp_mcp.errors import RefusedError
from lsp_mcp.features.editing.symbol_edit import edited
from lsp_mcp.features.renaming.shifts import Shift
from lsp_mcp.requests.code_actions import code_actions, edits_of
from lsp_mcp.requests.declaration import Declaration
from lsp_mcp.requests.edit_plans import plan_of
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.symbol_text import SymbolText
from lsp_mcp.text import Point, Span, Text

INLINE = "refactor.inline"


class Inlined(Struct, frozen=True):
    """The new texts of files, and the places that the server does not inline, with its reason."""

    texts: dict[Path, Text]
    left: list[tuple[Place, str]]


async def inlined(
    backend: Backend, trial: Trial, calls: Sequence[Place], declared: SymbolText, *, delete: bool
) -> Inlined:
    """The texts with all `calls` of the function `declared` inlined, and its declaration deleted if that is wanted.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    texts: dict[Path, Text] = {}
    places: dict[Path, list[tuple[Point, Place]]] = {}
    for call in sorted(calls, key=lambda one: one.span):
        texts[call.path] = call.text
        places.setdefault(call.path, []).append((call.span.start, call))
    span = declared.declared.span
    left: list[tuple[Place, str]] = []
    for path in sorted(places):
        waiting = places[path]
        while waiting:  # the last one first, so that the others stay where they are
            point, place = waiting.pop()
            try:
                change = await _change(backend, path, texts[path], point)
            except RefusedError as error:
                left.append((place, str(error)))
                continue
            shift = Shift(change)
            waiting = [(shift.to_after(one), of) for one, of in waiting]
            if path == declared.path:
                span = Span(shift.to_after(span.start), shift.to_after(span.end))
            texts[path] = Text(change.after)
            trial.show(path, texts[path])
    if delete and not left:
        path = declared.path
        text = texts.get(path, declared.declared.text)
        language = backend.plugin.language_of(path)
        texts[path] = Text(edited(Declaration(text, span, None, span), "delete", "", language, nested=False))
        trial.show(path, texts[path])
    return Inlined(texts, left)


async def _change(backend: Backend, path: Path, text: Text, point: Point) -> FileChange:
    """The change of `path` that inlines the call at `point`. Raises `RefusedError`: the server's reason."""
    actions = await code_actions(backend, path, text, Span(point, point), only=[INLINE])
    usable = [one for one in actions if not one.disabled and one.kind.startswith(INLINE)]
    if not usable:
        raise RefusedError(next((str(one.disabled) for one in actions if one.disabled), "is not a call to inline"))
    plan = await plan_of(backend, await edits_of(backend, usable[0], {}, backend.root))
    changes = [step for step in plan.steps if isinstance(step, FileChange)]
    if len(changes) != 1 or changes[0].path != path or changes[0].before != text:
        raise RefusedError("inlining it would change other files")
    return changes[0]


def changes_of(befores: dict[Path, Text], afters: dict[Path, Text]) -> list[FileChange]:
    """The changes from the old to the new texts."""
    found = (change_of(path, befores[path], after.content) for path, after in sorted(afters.items()))
    return [one for one in found if one]
