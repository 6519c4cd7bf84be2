"""Unused declarations in some files: those without references except their own."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.errors import RefusedError, SilentError
from lsp_mcp.evidence.implied import implied
from lsp_mcp.evidence.namesakes import own_references
from lsp_mcp.evidence.occurrences import Claim
from lsp_mcp.evidence.word_check import WordCheck
from lsp_mcp.features.impact.impact import is_exported, is_test
from lsp_mcp.features.renaming.mentions import mentioned
from lsp_mcp.features.renaming.shared_members import shared_members
from lsp_mcp.features.types.implementations import implementations
from lsp_mcp.gaps import hiding
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.attributes import in_tests
from lsp_mcp.requests.containers import TYPES, Container, Containers
from lsp_mcp.requests.places import Place, last_word, text_or_none
from lsp_mcp.requests.refusals import note
from lsp_mcp.requests.scope import declaration_places, definition_places
from lsp_mcp.text import Point
from lsp_mcp.waiting import dispensable, phase, ungrouped, within

_AT_ONCE = 8  # symbols asked about
_SHARE = 0.8  # of the rest of the call's time for asking; what is known by then is the answer
_BEFORE = 100  # characters before a name
_MOST_DECLARED = 3  # places beyond which a symbol is certainly used: it has fewer other declarations
_MOST_KEPT = 100_000  # symbols and uses of verdicts that are kept
_LOCAL = frozenset({"variable", "constant"})
_UNNAMED = re.compile(r"(?:^|[.:])[<(][^:.]*\Z")  # `<function>`, `T::(anonymous struct)`
_JUDGED = frozenset({"function", "method", "variable", "constant", "type_alias"}) | TYPES


class Unused(Struct):
    """`unused` symbols have no use, `in_headers` neither, but other code may use those, which a header declares;
    `by_tests` only uses in tests; `exported` ones have none in the workspace, but may have elsewhere. All are in the
    order of the files.

    `checked` is the number of symbols checked, `left_out` the number of others, and for `late` ones there was no time;
    `implicit` are the names of others that the language or a framework uses: entry points, tests. The server gave no
    answer about `unanswered` ones, refused one about `refused` ones, by its reason, and `doubted` ones may be used in
    the files `doubts`. `unread` files have no outline.
    """

    unused: list[Container] = field(default_factory=list)
    in_headers: list[Container] = field(default_factory=list)
    by_tests: list[Container] = field(default_factory=list)
    exported: list[Container] = field(default_factory=list)
    checked: int = 0
    left_out: int = 0
    late: int = 0
    implicit: list[str] = field(default_factory=list)
    unanswered: list[Container] = field(default_factory=list)
    refused: dict[str, list[Container]] = field(default_factory=dict)
    doubted: list[Container] = field(default_factory=list)
    doubts: set[Path] = field(default_factory=set)
    unread: list[Path] = field(default_factory=list)


class _Verdict(Struct, frozen=True):
    """The `uses` of a symbol outside itself, as far as is known: it may have others in the files `doubts`.

    `is_implicit`: a caller of an interface may mean it, or something outside the code of the server.
    """

    uses: list[Place]
    is_implicit: bool = False
    is_in_header: bool = False
    doubts: frozenset[Path] = frozenset()


_known: RememberedOf[Backend, tuple[Path, Point], int, _Verdict] = RememberedOf(_MOST_KEPT)
"""What was found out about symbols, until something changes: who asks again gets to the next ones."""


async def unused(backend: Backend, word_check: WordCheck, files: Sequence[Path], most: int) -> Unused:
    """The unused declarations in `files`, of which `most` are asked about; unused ones are compared with the text.

    Raises:
        RefusedError, UnavailableError: see `Backend.request`.
    """
    result = Unused()
    containers = Containers(backend)
    candidates: list[Container] = []
    for number, path in enumerate(files):
        with phase(lambda number=number: f"outline {number} of {len(files)} files"):  # type: ignore[misc]
            declared = await containers.known(path)
        if not declared and (text := await text_or_none(backend, path)) and text.content.strip():
            result.unread.append(path)
        candidates += _candidates(backend, declared, result)
    result.left_out = max(0, len(candidates) - most)
    checked = candidates[:most]
    done = 0
    room = asyncio.Semaphore(_AT_ONCE)

    generation = backend.generation

    async def verdict(one: Container) -> _Verdict | RefusedError | SilentError:
        nonlocal done
        found = await _known_verdict(backend, word_check, one, generation, room)
        done += 1
        return found

    tasks: list[asyncio.Task[_Verdict | RefusedError | SilentError]] = []
    with phase(lambda: f"{done} of {len(checked)} symbols asked about"), suppress(TimeoutError), ungrouped():
        async with asyncio.timeout(_SHARE * within(math.inf)), asyncio.TaskGroup() as group:
            tasks += [group.create_task(verdict(one)) for one in checked]
    for one, task in zip(checked, tasks, strict=True):
        if task.cancelled():
            result.late += 1
            continue
        found = task.result()
        if isinstance(found, SilentError):
            result.unanswered.append(one)
        elif isinstance(found, RefusedError):
            result.refused.setdefault(_reason(backend, found), []).append(one)
        elif found.doubts:
            result.doubted.append(one)
            result.doubts.update(found.doubts)
        elif found.is_implicit:
            result.implicit.append(last_word(one.name))
        elif not found.uses and is_exported(backend, one.name, one.place):
            result.exported.append(one)
        elif not found.uses:
            (result.in_headers if found.is_in_header else result.unused).append(one)
        elif await only_in_tests(backend, found.uses) and not await only_in_tests(backend, [one.place]):
            result.by_tests.append(one)
    refused = sum(map(len, result.refused.values()))
    result.checked = len(checked) - result.late - len(result.unanswered) - refused - len(result.doubted)
    return result


def is_judged(backend: Backend, one: Container) -> bool:
    """Whether it is something that can be unused: not a test, nor what the language or a framework calls."""
    adapter = backend.plugin.adapter
    implicit = adapter.tests.implicit_pattern
    line = one.place.text.line(one.place.span.start.line)
    called = is_test(backend, one.place, last_word(one.name)) or (implicit and re.search(implicit, line))
    return one.kind in _JUDGED and not called


async def sure_uses(backend: Backend, word_check: WordCheck, one: Container) -> list[Place] | None:
    """The uses of `one` outside itself; None if it may have others, or something else may call it."""
    found = await _known_verdict(backend, word_check, one, backend.generation, asyncio.Semaphore())
    if not isinstance(found, _Verdict) or found.doubts or found.is_implicit:
        return None
    return found.uses


async def only_in_tests(backend: Backend, places: Sequence[Place]) -> bool:
    """Whether all of `places` are in code of tests. Raises as `in_tests`, but says no where that is not known."""
    try:
        return len(await in_tests(backend, places)) == len(places)
    except RefusedError:
        return False


def _reason(backend: Backend, refusal: RefusedError) -> str:
    """Why the server answers nothing about a symbol, the same for all in files that the build excludes."""
    pattern = backend.plugin.left_out_refusal
    if pattern and re.search(pattern, str(refusal)):
        return "their file is not in this build"
    return f"{backend.plugin.name} refuses: {refusal}"


def _candidates(backend: Backend, declared: Sequence[Container], result: Unused) -> list[Container]:
    adapter = backend.plugin.adapter
    implicit = adapter.tests.implicit_pattern
    found = []
    implementing = backend.plugin.symbols.implementing_pattern
    interfaces = {one.name for one in declared if one.kind == "interface"}
    outer: Container | None = None  # the last function, before what is in it
    for one in declared:
        name = last_word(one.name)
        is_local = outer is not None and one.kind in _LOCAL and outer.holds(one.place.span.start)
        if one.kind in ("function", "method") and not (outer and outer.holds(one.place.span.start)):
            outer = one
        spelled = one.place.text.slice(one.place.span)
        is_named = spelled in one.name and not _UNNAMED.search(one.name)
        if one.kind not in _JUDGED or is_local or not (spelled and is_named):
            continue
        line = one.place.text.line(one.place.span.start.line)
        end = one.place.text.point_offset(one.place.span.start)
        if re.search(backend.plugin.symbols.tag_pattern, one.place.text.content[max(0, end - _BEFORE) : end]):
            continue  # its other name is judged
        # What an interface asks for says which types implement it, even if nobody calls it.
        asked_for = (one.kind == "method" and one.owner in interfaces) or re.match(implementing, one.owner)
        if asked_for or is_test(backend, one.place, name) or (implicit and re.search(implicit, line)):
            result.implicit.append(name)
        else:
            found.append(one)
    return sorted(found, key=lambda one: is_exported(backend, one.name, one.place))  # stable: those last


async def _known_verdict(
    backend: Backend, word_check: WordCheck, one: Container, generation: int, room: asyncio.Semaphore
) -> _Verdict | RefusedError | SilentError:
    """The verdict on `one`, asked for in a place of `room` unless it is known in this `generation`."""
    known, at = _known.for_owner(backend), (one.place.path, one.place.span.start)
    if found := known.get(at, generation):
        return found
    async with room:
        try:
            with dispensable(), budget.reading():
                found = await _verdict(backend, word_check, one)
        except (RefusedError, SilentError) as error:
            note(one.place.path, error)
            return error
    if not found.doubts:
        known.put(at, generation, found, len(found.uses) + 1)
    return found


async def _verdict(backend: Backend, word_check: WordCheck, one: Container) -> _Verdict:
    path, start = one.place.path, one.place.span.start
    found = await own_references(backend, word_check.definitions, path, start)
    elsewhere = _elsewhere(one, found.places)
    declared = await _declared(backend, one) if len(elsewhere) <= _MOST_DECLARED else []
    uses = [use for use in elsewhere if (use.path, use.span.start) not in declared]
    # What only tests seem to use may be used by code that the server does not understand.
    by_tests = await only_in_tests(backend, uses) and not await only_in_tests(backend, [one.place])
    if (not uses or by_tests) and (name := last_word(one.name)).isidentifier():
        claim = Claim(name, (path, start), {*found.sites, *declared}, searched=found.searched, apart=found.apart)
        text = await word_check.check(claim)
        uses += _elsewhere(one, text.missing)
        is_settled = not await only_in_tests(backend, uses) if by_tests else bool(uses)
        if not is_settled and (doubts := {file for gap in hiding(text.gaps) for file in gap.files}):
            return _Verdict([], doubts=frozenset(doubts))
        if not uses and await implied(backend, word_check.definitions, path, one.place.text, one.place.span):
            return _Verdict([], doubts=frozenset({path}))
    if not uses and await mentioned(backend, path, start):
        return _Verdict(uses, is_implicit=True)
    if uses or one.kind != "method":
        return _Verdict(uses, is_in_header=_is_in_header(backend, declared))
    name = last_word(one.name)
    shared = await shared_members(backend, path, start, name, name)
    if shared.outside or shared.family.beside:  # a call of another one may lead to it
        return _Verdict(uses, is_implicit=True)
    try:
        above = await implementations(backend, path, start, below=False)
    except RefusedError as error:
        if error.code:
            raise
        return _Verdict(uses)  # nothing can be asked about it
    return _Verdict(uses, is_implicit=bool(above.above), is_in_header=_is_in_header(backend, declared))


def _elsewhere(one: Container, places: Sequence[Place]) -> list[Place]:
    """Those of `places` that are not in `one` itself."""
    own = one.place.path
    return [place for place in places if place.path != own or not one.holds(place.span.start)]


async def _declared(backend: Backend, one: Container) -> list[tuple[Path, Point]]:
    """The other declarations of `one`, in languages that have them: a server lists those like uses."""
    if not backend.plugin.compiles_files:
        return []
    at = one.place.path, one.place.span.start
    return [*await declaration_places(backend, *at), *await definition_places(backend, *at)]


def _is_in_header(backend: Backend, declared: Sequence[tuple[Path, Point]]) -> bool:
    """Whether one of the files of `declared` is only included."""
    return any(backend.plugin.is_header(path) for path, _ in declared)
