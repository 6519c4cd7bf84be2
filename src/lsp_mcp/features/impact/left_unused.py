"""What a deletion leaves unused: `left_unused`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from lsp_mcp.backend import Backend
from lsp_mcp.errors import LspMcpError
from lsp_mcp.evidence.word_check import WordCheck
from lsp_mcp.features.impact.unused import is_judged, only_in_tests, sure_uses
from lsp_mcp.requests.containers import Container, Containers
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.text import Point, Span, Text
from lsp_mcp.words.lexing import names_in

_MOST = 30  # different names of the deleted code that are looked at


class LeftUnused(Struct):
    """Declarations of the workspace that only the deleted code uses, or `by_tests`, that only that and tests use.

    `late`: not all that the deleted code uses was looked at.
    """

    unused: list[Container] = field(default_factory=list)
    by_tests: list[Container] = field(default_factory=list)
    late: bool = False


async def left_unused(
    backend: Backend, word_check: WordCheck, deleted: Mapping[Path, tuple[Text, Sequence[Span]]]
) -> LeftUnused:
    """What nothing uses once the `deleted` stretches of some files are gone; to be asked before that.

    What is not known for sure, such as a method that an interface may call, is left out.
    """
    result = LeftUnused()
    names = list(_names(backend, deleted))
    result.late = len(names) > _MOST
    used: dict[tuple[Path, Point], Container] = {}
    containers = Containers(backend)
    for path, point in names[:_MOST]:
        try:
            for site in await definition_places(backend, path, point):
                if site in used or not site[0].is_relative_to(backend.root) or _is_in(deleted, *site):
                    continue
                for one in await containers.known(site[0]):
                    if one.place.span.start == site[1] and is_judged(backend, one):
                        used[site] = one
        except LspMcpError:
            continue
    for site in sorted(used, key=lambda site: (str(site[0]), site[1])):
        uses = await sure_uses(backend, word_check, used[site])
        if uses is None:
            continue
        left = [use for use in uses if not _is_in(deleted, use.path, use.span.start)]
        if not left:
            result.unused.append(used[site])
        elif await only_in_tests(backend, left) and not await only_in_tests(backend, [used[site].place]):
            result.by_tests.append(used[site])
    return result


def _names(backend: Backend, deleted: Mapping[Path, tuple[Text, Sequence[Span]]]) -> Iterator[tuple[Path, Point]]:
    """Where the deleted code names something for the first time."""
    seen: set[str] = set()
    for path, (text, spans) in deleted.items():
        language = backend.plugin.language_of(path)
        for span in spans:
            for one in names_in(text, span, language):
                if (name := text.slice(one)) not in seen:
                    seen.add(name)
                    yield path, one.start


def _is_in(deleted: Mapping[Path, tuple[Text, Sequence[Span]]], path: Path, point: Point) -> bool:
    return path in deleted and any(span.start <= point < span.end for span in deleted[path][1])
