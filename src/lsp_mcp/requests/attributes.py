"""What is before a declaration and says what it is for: `attributes`, and which places are in code of tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from lsp_mcp.backend import Backend
from lsp_mcp.errors import RefusedError
from lsp_mcp.requests.containers import Containers
from lsp_mcp.requests.places import Place

_MOST = 12  # lines before a declaration


def attributes(place: Place) -> Iterator[str]:
    """The lines before the declaration at `place` that have its attributes and comments, the nearest first."""
    around = place.text.numbered(place.span, _MOST)
    before = [line.strip() for number, line in around if number < place.span.start.line]
    return takewhile(lambda line: line.startswith(("#", "/", "@", "*")), reversed(before))


async def in_tests(backend: Backend, places: Sequence[Place]) -> list[Place]:
    """Those of `places` in code of tests: in test files, in a test, or in a declaration that is only for tests.

    Raises:
        RefusedError: what a test is is not known for this server.
        UnavailableError: see `Backend.request`.
    """
    tests = backend.plugin.adapter.tests
    if not (tests.file_pattern or tests.name_pattern or tests.attribute_pattern):
        known = f"which uses are tests is not known for {backend.plugin.name}"
        raise RefusedError(f"{known}; pass path= for the folder of tests")
    found = [place for place in places if tests.has(place.path, backend.root)]
    if tests.file_pattern and not tests.attribute_pattern:
        return found
    if tests.name_pattern:
        return [place for place in places if re.search(tests.name_pattern, place.container)]
    marked = "|".join(filter(None, (tests.attribute_pattern, tests.region_pattern)))
    containers = Containers(backend)
    inside = []
    for place in places:
        around = [one for one in await containers.known(place.path) if one.holds(place.span.start)]
        is_test = any(re.search(marked, line) for one in around for line in attributes(one.place))
        inside += [place] if is_test or place in found else []
    return inside
