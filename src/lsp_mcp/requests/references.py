"""textDocument/references: every use of a symbol, its declaration included (LSP 3.17)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.gaps import Gap
from lsp_mcp.protocol.lsp import Location
from lsp_mcp.requests.generic_members import generic_member_uses
from lsp_mcp.requests.keywords import without_keywords
from lsp_mcp.requests.other_builds import uses_in_other_builds
from lsp_mcp.requests.places import Locator, Place, distinct_by_file, in_reading_order, position_params
from lsp_mcp.text import Point
from lsp_mcp.uris import uri_path


class References(Struct, frozen=True):
    """All places by file and line, and the number dropped because their file is gone."""

    places: tuple[Place, ...]
    dropped: int
    gaps: tuple[Gap, ...] = ()
    searched: frozenset[Path] = frozenset()  # files excluded from the build that were searched in their own builds
    pending: frozenset[Path] = frozenset()  # such files that there was no time to search
    # Declarations of other symbols, and files that mean these, see `evidence.namesakes`.
    apart: frozenset[tuple[Path, Point]] = frozenset()
    strange: frozenset[Path] = frozenset()

    @property
    def sites(self) -> frozenset[tuple[Path, Point]]:
        """The starts of the places."""
        return frozenset((place.path, place.span.start) for place in self.places)

    def joined_by(self, more: Iterable[Place], root: Path) -> References:
        """The references with `more` places; those below `root` come first."""
        return replace(self, places=tuple(in_reading_order((*self.places, *more), root)))


async def references(backend: Backend, path: Path, point: Point) -> References:
    """The uses of the symbol at `point` of `path`.

    Raises:
        PathError: the file cannot be read, or is in no language of this server.
        PointError: the point is outside the file.
        RefusedError, UnavailableError: see `Backend.request`.
    """
    text = await backend.documents.open(path)
    params = position_params(path, text, point, backend.encoding) | {"context": {"includeDeclaration": True}}
    listed = await backend.request("textDocument/references", params)
    budget.present().answered()
    more = await generic_member_uses(backend, path, point)
    result: list[Location] = [*(listed or []), *more.locations]
    other = await uses_in_other_builds(backend, path, point, result)
    result += other.locations
    found: list[Place] = []
    dropped = 0
    locator = Locator(backend)
    identifier = text.identifier_at(point) if backend.plugin.goes_by_mtime else None
    name = text.slice(identifier) if identifier else ""
    for locations in distinct_by_file(result, backend.root):
        if backend.plugin.adapter.is_generated(uri_path(locations[0]["uri"])):
            continue
        places = await locator.places(locations, name)
        found += await without_keywords(backend, [place for place in places if place])
        dropped += places.count(None)
    return References(tuple(found), dropped, more.gaps, frozenset(other.searched), other.pending)
