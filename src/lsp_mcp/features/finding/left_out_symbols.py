"""Definitions by name in files excluded from the server's build, from their outlines: `with_left_out`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from lsp_mcp.backend import Backend, Scope, Use
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.gaps import hiding
from lsp_mcp.requests.containers import Container, Containers
from lsp_mcp.requests.package_clause import package_clause
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.requests.workspace_symbol import Found, Keep, closeness, is_about, parts_of

_MOST_FILES = 100  # whose outlines are requested: a few milliseconds each


async def with_left_out(
    backend: Backend, found: Found, use: Use, query: str, limit: int, keep: Keep
) -> tuple[Found, Use]:
    """`found` for `query` with matching definitions in excluded files, and `use` without the files that were read.

    Only for servers that outline a file from its text alone. If `found` was cut off, the total with these files is
    unknown, so nothing is added.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    is_plain = "/" not in query and found.total == len(found.symbols)
    if not (is_plain and backend.plugin.left_out_refusal and backend.plugin.documents.outlines_closed):
        return found, use
    gaps = hiding(await backend.gaps(Scope(use=use, unsearched=found.unsearched)))
    files = sorted({file for gap in gaps if gap.about == "build" for file in gap.files if file.is_file()})
    if not files:
        return found, use
    has = {(symbol.place.path, symbol.place.span.start) for symbol in found.symbols}
    containers, more = Containers(backend), []
    read: set[Path] = set()
    for path in files[:_MOST_FILES]:
        try:
            declared = await containers.declarations(path)
        except (PathError, RefusedError):
            continue
        read.add(path)
        more += [
            one
            for one in _named(backend, path, declared, query)
            if keep(one.kind, path) and (path, one.place.span.start) not in has
        ]
    every = sorted([*found.symbols, *more], key=lambda one: closeness(one.name, query, one.kind))
    left = frozenset(file for gap in gaps for file in gap.files) - read
    return replace(found, symbols=every[:limit], total=found.total + len(more)), replace(use, files=left)


def _named(backend: Backend, path: Path, declared: Sequence[Container], query: str) -> Iterator[Symbol]:
    """Those of `declared` in `path` whose names contain that of `query`, prefixed with their package."""
    last = parts_of(query)[-1].casefold()
    own = [(parts_of(one.name), one) for one in declared]
    alike = [(parts, one) for parts, one in own if last in parts[-1].casefold()]
    clause = package_clause(backend.plugin, path, alike[0][1].place.text.content) if alike else None
    for parts, one in alike:
        whole = ".".join([clause["name"], *parts] if clause else parts)
        if is_about(whole, query):
            yield Symbol(whole, one.kind, one.place)
