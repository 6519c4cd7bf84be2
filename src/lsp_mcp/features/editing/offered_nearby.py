"""Where else a server offers an action: `offered_nearby`, for a place where it does not; and our own actions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.errors import LspMcpError
from lsp_mcp.requests.code_actions import Action, code_actions
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.references import references
from lsp_mcp.requests.scope import definition_places, type_definition_places
from lsp_mcp.requests.symbol_text import enclosing_text
from lsp_mcp.syntax.declarations import Declarations, declarations_of
from lsp_mcp.syntax.signatures import signatures_of
from lsp_mcp.text import Point, Span, Text

_MOST_USES = 8  # uses at which to ask
_SIGNATURE = "change_signature (options: add, remove, rename, types, order, result)"
_MOVE = "move (options: package)"
_INLINE = "inline, everywhere"
_INTERFACE = "extract interface (options: name, methods, in)"


async def offered_nearby(
    backend: Backend, path: Path, text: Text, point: Point, is_wanted: Callable[[Sequence[Action]], bool]
) -> Place | None:
    """The first place where the server offers what `is_wanted`: where the symbol at `point` is declared or used, or
    at the name of a declaration around it.
    """
    sites = await _declarations_near(backend, path, point)
    with suppress(LspMcpError):
        uses = (await references(backend, path, point)).places if text.identifier_at(point) else ()
        sites += [(one.path, one.span.start) for one in uses[: _MOST_USES + 1]]
    for file, start in dict.fromkeys(sites):
        if (file, start) == (path, point) or not file.is_relative_to(backend.root):
            continue
        with suppress(LspMcpError):
            there = await backend.documents.open(file)
            if is_wanted(await code_actions(backend, file, there, Span(start, start))):
                return Place(file, Span(start, start), there)
    return None


async def own_nearby(backend: Backend, path: Path, point: Point, action: str) -> Place | None:
    """The first place where one of our own actions is possible whose name begins with `action`: where the symbol at
    `point`, or its type, is declared, or at a declaration around it.
    """
    for file, start in dict.fromkeys(await _declarations_near(backend, path, point, types=True)):
        if not file.is_relative_to(backend.root):
            continue
        with suppress(LspMcpError):
            there = await backend.documents.open(file)
            offered = await own_actions(backend, file, there, [Span(start, start)])
            if any(one.startswith(action) for one in offered):
                return Place(file, Span(start, start), there)
    return None


async def _declarations_near(
    backend: Backend, path: Path, point: Point, *, types: bool = False
) -> list[tuple[Path, Point]]:
    """Where the symbol at `point` is declared, with `types` its type, too, and the declarations around it."""
    sites: list[tuple[Path, Point]] = []
    with suppress(LspMcpError):
        sites += await definition_places(backend, path, point)
    if types:
        with suppress(LspMcpError):
            sites += await type_definition_places(backend, path, point)
    with suppress(LspMcpError):
        around = await enclosing_text(backend, path, Span(point, point))
        for one in (around.symbol, *reversed(around.owners)) if around else ():
            if one:
                sites.append((path, one.place.span.start))
    return sites


async def own_actions(backend: Backend, path: Path, text: Text, spans: Sequence[Span]) -> list[str]:
    """The names of the actions that this program has itself for what is declared at one of `spans`."""
    language = backend.plugin.language_of(path)
    if language is None:
        return []
    starts = {text.point_offset(span.start) for span in spans}
    found: list[str] = []
    read = await signatures_of(text, language.id)
    if read and not starts.isdisjoint(read.functions):
        found.append(_SIGNATURE)
        found += [] if backend.plugin.trial_arguments else [_INLINE]
    packages = backend.plugin.renaming.packages
    declared = await declarations_of(text, language.id) if packages and packages.qualified else None
    names = {name[0] for one in declared.declared if not one.receiver for name in one.names} if declared else set()
    if declared and packages and packages.interface and _declares_type(declared, starts):
        found.append(_INTERFACE)
    return [*found, _MOVE] if not starts.isdisjoint(names) else found


def _declares_type(declared: Declarations, starts: Collection[int]) -> bool:
    """Whether what is declared at one of `starts` has methods in that file."""
    names = {declared.slice(name) for one in declared.declared for name in one.names if name[0] in starts}
    return any(one.receiver in names for one in declared.declared)
