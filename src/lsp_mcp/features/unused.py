"""Unused declarations in some files: those without references except their own."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field

from lsp_mcp.backend import Backend
from lsp_mcp.errors import RefusedError
from lsp_mcp.features.containers import TYPES, Container, Containers
from lsp_mcp.features.impact import is_exported, is_test
from lsp_mcp.features.implementations import implementations
from lsp_mcp.features.places import Place, last_word
from lsp_mcp.features.references import references
from lsp_mcp.features.refusals import note
from lsp_mcp.waiting import phase

_AT_ONCE = 8  # symbols asked about
_JUDGED = frozenset({"function", "method", "variable", "constant", "type_alias"}) | TYPES


class Unused(Struct):
    """`unused` symbols have no use, `by_tests` only uses in tests, in the order of the files.

    `asked` is the number of symbols asked about, `left_out` the number of others; `exported` ones may be used by other
    code, and `implicit` ones by the language itself: neither is judged. `unread` files have no outline.
    """

    unused: list[Container] = field(default_factory=list)
    by_tests: list[Container] = field(default_factory=list)
    asked: int = 0
    left_out: int = 0
    exported: int = 0
    implicit: int = 0
    unread: list[Path] = field(default_factory=list)


async def unused(backend: Backend, files: Sequence[Path], most: int) -> Unused:
    """The unused declarations in `files`, of which `most` are asked about.

    Raises:
        RefusedError, UnavailableError: see `Backend.request`.
    """
    told = Unused()
    containers = Containers(backend)
    candidates: list[Container] = []
    for number, path in enumerate(files):
        with phase(lambda number=number: f"outline {number} of {len(files)} files"):  # type: ignore[misc]
            declared = await containers.known(path)
        if not declared:
            told.unread.append(path)
        candidates += _candidates(backend, declared, told)
    told.left_out = max(0, len(candidates) - most)
    asked = candidates[:most]
    done = 0
    room = asyncio.Semaphore(_AT_ONCE)

    async def users(one: Container) -> list[Place] | None:
        nonlocal done
        async with room:
            found = await _users(backend, one)
            done += 1
            return found

    with phase(lambda: f"{done} of {len(asked)} symbols asked about"):
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(users(one)) for one in asked]
    told.asked = len(asked)
    tests = backend.adapter.tests.file_pattern
    for one, task in zip(asked, tasks, strict=True):
        places = task.result()
        if places is None:
            told.implicit += 1
        elif not places:
            told.unused.append(one)
        elif _only_in(tests, places) and not _only_in(tests, [one.place]):
            told.by_tests.append(one)
    return told


def _candidates(backend: Backend, declared: Sequence[Container], told: Unused) -> list[Container]:
    adapter = backend.adapter
    implicit = adapter.tests.implicit_pattern
    found = []
    for one in declared:
        name = last_word(one.name)
        if one.kind not in _JUDGED or is_test(adapter, one.place.path, name):
            continue
        if is_exported(adapter, one):
            told.exported += 1
        elif implicit and re.search(implicit, one.place.text.line(one.place.span.start.line)):
            told.implicit += 1
        else:
            found.append(one)
    return found


def _only_in(pattern: str, places: Sequence[Place]) -> bool:
    return bool(pattern) and all(re.search(pattern, place.path.name) for place in places)


async def _users(backend: Backend, one: Container) -> list[Place] | None:
    """The uses of `one` outside itself; None for an unused method that a caller of an interface may mean."""
    found = await references(backend, one.place.path, one.place.span.start)
    own = one.place.path
    uses = [use for use in found.places if use.path != own or not one.holds(use.span.start)]
    if uses or one.kind != "method":
        return uses
    try:
        above = await implementations(backend, one.place.path, one.place.span.start, below=False)
    except RefusedError as error:
        note(own, error)
        return uses
    return None if above.above else uses
