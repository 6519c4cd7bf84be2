"""The overview of a workspace as short text and as JSON, in at most a number of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lsp_mcp.features.overview.overview import Folder, Overview, grouped
from lsp_mcp.prose import count, first_few
from lsp_mcp.render.answers import AnchorTo, WorkspaceOverview
from lsp_mcp.requests.places import Place
from lsp_mcp.visible import visible

_MOST_FOLDERS = 30  # listed
_MANY = 100  # folders: more are counted in those above them
_DEPTHS = (1_000, 4, 3, 2, 1)
_ROOT = "."  # how the root's folder is called


def fitting_overview(
    found: Overview, depth: int | None, most: int, size: Callable[[Overview, int], int]
) -> tuple[Overview, int]:
    """`found` by folders as deep as fits, and the number of entries in each list: so that `size` is at most `most`.

    With a `depth` folders are counted at that one.
    """
    for one in (depth,) if depth else _DEPTHS:
        by_folder = grouped(found, one)
        if depth or len(by_folder.folders) <= _MANY:
            for number in (5, 3):
                if size(by_folder, number) <= most:
                    return by_folder, number
    return grouped(found, depth or 1), 1


def overview_lines(answer: WorkspaceOverview, anchor: AnchorTo) -> Iterator[str]:
    """A line for each folder, and one for each list."""
    found, most = answer.overview, answer.most
    lists = overview_fields(answer, lambda place: {"anchor": anchor(place.path, place.span.start)})
    if found.entries:
        yield f"entry points: {first_few([anchor(one.path, one.span.start) for one in found.entries], most)}"
    yield "folders, the largest first: files (tests), lines, ← folders that import it, → what it imports"
    listed = _largest(found)
    for one in listed:
        size = f"{one.files:,}{f' ({one.tests:,})' if one.tests else ''}, {one.lines:,}"
        uses = f" → {first_few([name or _ROOT for name in sorted(one.uses)], most)}" if one.uses else ""
        yield f"{one.name or _ROOT} {size}{f' ← {one.used_by}' if one.used_by else ''}{uses}"
    if more := len(found.folders) - len(listed):
        yield f"and {count(more, 'folder')} more"
    if any(one.uses for one in found.folders.values()):
        yield f"layers, the lowest first: {' | '.join(first_few(names, most) for names in lists['layers'])}"
    if lists["circles"]:
        yield f"circles: {first_few([' ↔ '.join(names[:most]) for names in lists['circles']], most)}"
    if lists["most_used"]:
        used = [f"{one['name']} {one['anchor']} {one['uses']:,}" for one in lists["most_used"]]
        yield f"most used (uses): {', '.join(used)}"
    if lists["most_imported"]:
        imported = [f"{one['file']} {one['files']}" for one in lists["most_imported"]]
        yield f"most imported (by files): {', '.join(imported)}"
    if lists["most_changed"]:
        changed = [f"{one['file']} {one['commits']}" for one in lists["most_changed"]]
        yield f"most changed (of the last 500 commits): {', '.join(changed)}"


def overview_fields(answer: WorkspaceOverview, shown: Callable[[Place], dict[str, Any]]) -> dict[str, Any]:
    """The overview as data for JSON; `shown` gives the fields of a place."""
    found, most = answer.overview, answer.most
    return {
        "languages": found.languages,
        "entry_points": [shown(one) for one in found.entries[:most]],
        "folders": [
            {
                "folder": one.name or _ROOT,
                "files": one.files,
                "tests": one.tests,
                "lines": one.lines,
                "imports": [name or _ROOT for name in sorted(one.uses)][:most],
                "imported_by": one.used_by,
            }
            for one in _largest(found)
        ],
        "layers": [[name or _ROOT for name in names][:most] for names in found.layers],
        "circles": [[name or _ROOT for name in names] for names in found.circles[:most]],
        "most_used": [{"name": one.name, "uses": uses, **shown(one.place)} for one, uses in found.used[:most]],
        "most_imported": [{"file": file, "files": times} for file, times in found.imported[:most]],
        "most_changed": [{"file": file, "commits": commits} for file, commits in found.changed[:most]],
    }


def overview_size(answer: WorkspaceOverview, anchor: AnchorTo) -> int:
    """The bytes of its lines."""
    return sum(len(f"{visible(line)}\n".encode("utf-8", "surrogatepass")) for line in overview_lines(answer, anchor))


def _largest(found: Overview) -> list[Folder]:
    return sorted(found.folders.values(), key=lambda one: (-one.lines, one.name))[:_MOST_FOLDERS]
