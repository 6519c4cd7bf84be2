"""A rename tried before anything is written: `tried`, the errors that it causes and the names that change meaning.

What the server finds as uses of the renamed symbol in the new texts must be what it found in the old ones. One more:
the new name has captured another symbol, or overrides it. One less: another symbol has captured a use.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace  # noqa: TID251 (Problem is a dataclass)
from pathlib import Path, PurePath

from msgspec import Struct

from lsp_mcp.backend import Backend, Trial
from lsp_mcp.edits.plan import EditPlan, FileChange
from lsp_mcp.errors import LspMcpError, RefusedError, UnavailableError
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.features.checking.checking import problems
from lsp_mcp.features.checking.problems import Problem, compare, known
from lsp_mcp.features.renaming.fitting import fitting, untried
from lsp_mcp.features.renaming.passed_whole import passing_whole
from lsp_mcp.features.renaming.relations import Relations, methods, relations
from lsp_mcp.features.renaming.shifts import Shift, named_in, spelled_out
from lsp_mcp.gaps import Gap, news
from lsp_mcp.requests.places import Place, position_params, text_or_none
from lsp_mcp.requests.scope import locations
from lsp_mcp.syntax.files import depends_on
from lsp_mcp.text import Point, Span, Text
from lsp_mcp.uris import uri_path
from lsp_mcp.waiting import share_of_rest

_PLACE = re.compile(r":\d+:\d+\b")  # of another declaration, in a message
_SHARE = 0.3  # share of a call's remaining time for comparing uses
_MOST_ASKED = 20  # places of which the new meaning is determined


class Changed(Struct, frozen=True):
    """A place, in the text before the rename, where a name would mean something else, and `what`."""

    place: Place
    what: str


class Tried(Struct, frozen=True):
    """What a rename would cause: new `errors`, names that change meaning, and what could not be tried."""

    errors: Sequence[Problem] = ()
    changed: Sequence[Changed] = ()
    gaps: Sequence[Gap] = ()
    elsewhere: Sequence[str] = ()  # what may change for code outside the workspace, and for dynamic checks

    def joined_by(self, other: Tried) -> Tried:
        """This with what it would cause in another build, too."""
        return Tried(
            (*self.errors, *(one for one in other.errors if one not in self.errors)),
            (*self.changed, *(one for one in other.changed if one not in self.changed)),
            (*self.gaps, *(one for one in other.gaps if one not in self.gaps)),
            (*self.elsewhere, *(one for one in other.elsewhere if one not in self.elsewhere)),
        )


class _Seen(Struct, frozen=True):
    """The errors in one state of the texts, and the uses of the renamed symbols, grouped by symbol or family."""

    errors: Sequence[Problem]
    uses: Sequence[frozenset[Site]]
    gaps: Sequence[Gap]
    unread: frozenset[Path]  # files whose uses are not known
    late: frozenset[Path]  # files beside whose errors are not known

    @property
    def all_uses(self) -> frozenset[Site]:
        return frozenset[Site]().union(*self.uses)


def can_be_tried(backend: Backend, plan: EditPlan) -> bool:
    """Whether the server's errors for the texts of `plan` will hold once they are written.

    They won't if files move. If diagnostics don't identify their text, nobody knows when they are complete.
    """
    if not all(isinstance(step, FileChange) for step in plan.steps):
        return False
    whole = backend.plugin.diagnostics.command_covers == "workspace"
    # A server that compiles files reads from disk what a document includes.
    together = bool(backend.plugin.trial_arguments) or not backend.plugin.compiles_files
    return whole or (backend.problems.has_versions and (len(plan.files) == 1 or together))


async def tried(backend: Backend, plan: EditPlan, old_name: str, new_name: str) -> Tried:
    """What `plan`, which renames `old_name`, would cause; nothing is written.

    The old texts are tried in the same way, if the new ones have errors or other uses than the plan.

    Raises:
        UnavailableError: it could not answer in time.
    """
    steps = [step for step in plan.steps if isinstance(step, FileChange) and backend.plugin.language_of(step.path)]
    shifts = {step.path: Shift(step, new_name) for step in steps}
    places = {step.path: await _places(backend, step, old_name, new_name) for step in steps}
    taken = (await backend.words.files_with(new_name)).files
    naming = {*taken, *(await backend.words.files_with(old_name)).files}
    passing, left = (
        await passing_whole(backend, shifts) if taken else ({}, [])
    )  # they have errors without a use of either name
    fits, far = await fitting(backend, steps, new_name)
    left = [*left, *far]
    beside = {path: text for path, text in {**passing, **fits}.items() if path not in shifts}
    after_texts = {path: shift.after for path, shift in shifts.items()}
    # With another text than before, since what has not changed is not read again.
    after_texts |= {path: Text(f"{text.content}\n") for path, text in beside.items()}
    spelled = {step.path: spelled_out(step, old_name, new_name) for step in steps}
    sites = {(path, spelled[path].places[point]) for path, points in places.items() for point in points}
    before: _Seen | None = None
    expected = {(path, shifts[path].to_after(point)) for path, points in places.items() for point in points}
    declared = await methods(backend, places)
    befores = {step.path: step.before for step in steps} | beside
    were = await relations(backend, backend.request, befores.get, backend.encoding, declared)
    async with backend.problems.trial(with_dependents=True) as trial:
        after = await _seen(backend, trial, after_texts, expected, naming, beside)
        wrong = {one.place.path for one in after.errors}
        words_apart = {path: text for path, text in beside.items() if path in wrong}
        words_apart |= {path: one.text for path, one in spelled.items()}
        renamed = [_moved(shifts, site) for site in were]
        are = await relations(backend, trial.request, trial.text, trial.encoding, renamed)
        pairs = {(path, shift.to_after(point)) for path, shift in shifts.items() for point in shift.pairs}
        related, elsewhere = await _related(backend, shifts, were, are, pairs)
        odd = after.all_uses ^ expected
        if not (after.errors or odd or after.unread):
            return Tried((), related, [*after.gaps, *left], elsewhere)
        meant = await _meanings(backend, trial, after, expected)
        if not backend.plugin.trial_arguments:  # the same server: errors that it has told once, it may not tell again
            before = await _seen(backend, trial, words_apart, sites, naming, beside)
    if before is None:  # a trial's own server is shown each document once
        async with backend.problems.trial(with_dependents=True) as trial:
            before = await _seen(backend, trial, words_apart, sites, naming, beside)
    to_after = {path: one.shift for path, one in spelled.items()}
    moved = frozenset(_moved(to_after, site) for site in before.all_uses)
    unread = after.unread | before.unread
    differ = sorted(site for site in after.all_uses ^ moved if site[0] not in unread)
    said = dict(_new_meaning(site, after, expected, meant, shifts, new_name) for site in differ)
    changed = [Changed(await _place(backend, shifts, site), what) for site, what in said.items()]
    same = [_renamed(one, old_name, new_name) for one in after.errors]
    was = known((_renamed(one, old_name, new_name) for one in before.errors), None, (), None)
    new = {id(one) for one in compare(same, None, was).new}
    errors = [one for one, folded in zip(after.errors, same, strict=True) if id(folded) in new]
    if late := {one.place.path for one in errors} & before.late:
        errors = [one for one in errors if one.place.path not in late]
        left = [*left, untried(len(late))]
    return Tried(errors, [*changed, *related], [*after.gaps, *left], elsewhere)


async def _places(backend: Backend, step: FileChange, old_name: str, new_name: str) -> list[Point]:
    """The places in code where `step` renames the symbol."""
    in_code = {span.start for span in await backend.words.occurrences(step.path, step.before, old_name)}
    renamed = [one for one in step.changes if one.old_text == old_name and named_in(one.new_text, new_name)]
    return [one.span.start for one in renamed if one.span.start in in_code]


def _moved(shifts: Mapping[Path, Shift], site: Site) -> Site:
    path, point = site
    return (path, shifts[path].to_after(point)) if path in shifts else site


def _included_first(backend: Backend, texts: Mapping[Path, Text]) -> list[Path]:
    """The files of `texts`, each behind those that it imports by a path.

    A server may parse a file as soon as it is shown, with what it has of the others by then.
    """
    imports: dict[Path, set[str]] = {}
    for path, text in texts.items():
        language = backend.plugin.language_of(path)
        imports[path] = {PurePath(one).name for one in depends_on(text, language.id)} if language else set()
    ordered: dict[Path, None] = {}

    def add(path: Path, inside: frozenset[Path]) -> None:
        for other in texts:
            if other.name in imports[path] and other not in ordered and other not in inside:
                add(other, inside | {other})
        ordered.setdefault(path)

    for path in texts:
        add(path, frozenset({path}))
    return list(ordered)


async def _seen(
    backend: Backend,
    trial: Trial,
    texts: Mapping[Path, Text],
    sites: Collection[Site],
    naming: Collection[Path],
    beside: Collection[Path],
) -> _Seen:
    """The state with these `texts`; of those `beside` the rename, whose server may not read all in time."""
    for path in await asyncio.to_thread(_included_first, backend, texts):
        if path not in beside:
            trial.show(path, texts[path])
    for path in texts:
        if path in beside:
            trial.show(path, texts[path])
    checked = await trial.check(naming)
    late: set[Path] = set()
    for gap in checked.gaps:
        if gap.kind == "not_read":
            if not gap.files or not set(gap.files).issubset(beside):
                raise UnavailableError(gap.text)
            late.update(gap.files)
    is_generated = backend.plugin.adapter.is_generated  # cgo makes it of the files, not of what the server is shown
    # A part of other code, shown alone, has errors of its own; real ones are those of the files that include it.
    parts = {path for path in texts if await backend.coverage.part_of(path)}
    found = await problems(backend, checked, dict(texts))
    errors = [
        one
        for one in found
        if one.severity == "error" and not is_generated(one.place.path) and one.place.path not in parts
    ]
    uses: list[frozenset[Site]] = []
    unread: set[Path] = set()
    gaps = [gap for gap in checked.gaps if gap.about == "dependents" or gap.kind == "not_searched"]
    told = [news("applied", gap.text, files=gap.files) for gap in gaps if gap.files]
    told += [untried(len(late))] if late else []
    try:
        async with asyncio.timeout(share_of_rest(_SHARE)):
            await _collect(backend, trial, sites, uses, unread)
    except TimeoutError:
        unread |= {path for path, _ in sites}
        told.append(news("applied", "not compared in time whether names change their meaning; run check"))
    return _Seen(errors, uses, told, frozenset(unread), frozenset(late))


async def _collect(
    backend: Backend, trial: Trial, sites: Collection[Site], uses: list[frozenset[Site]], unread: set[Path]
) -> None:
    """Add to `uses` what the server lists as uses of the symbols at `sites`, one group for each answer."""
    left = dict.fromkeys(sorted(sites))
    while left:
        site = next(iter(left))
        del left[site]
        path, point = site
        if path in unread or (text := trial.text(path)) is None:
            continue
        params = position_params(path, text, point, trial.encoding) | {"context": {"includeDeclaration": True}}
        try:
            listed = await trial.request("textDocument/references", params) or []
        except RefusedError:
            unread.add(path)
            continue
        group = {found for one in listed if (found := await _site(backend, trial, one)) is not None}
        if group:
            uses.append(frozenset(group))
        for other in group:
            left.pop(other, None)


async def _site(backend: Backend, trial: Trial, location: Mapping[str, object]) -> Site | None:
    """The start of an LSP `Location` in the workspace."""
    path, range_ = uri_path(str(location["uri"])), location["range"]
    text = trial.text(path) or await text_or_none(backend, path)
    if text is None or not isinstance(range_, dict) or not backend.plugin.language_of(path):
        return None  # gone, or in a language that the server reads but is not shown
    return path, text.position_point(range_["start"], trial.encoding)


async def _meanings(
    backend: Backend, trial: Trial, after: _Seen, expected: Collection[Site]
) -> dict[Site, Site | None]:
    """Where the first places are defined that are uses in only one of both, and the others of their groups."""
    odd = after.all_uses ^ frozenset(expected)
    with_odd = {site for group in after.uses if group & odd for site in sorted(group)[:_MOST_ASKED]}
    first = [*sorted(odd)[:_MOST_ASKED], *sorted(with_odd - odd)[:_MOST_ASKED]]
    return {site: await _definition(backend, trial, site) for site in first}


def _new_meaning(
    site: Site,
    after: _Seen,
    expected: Collection[Site],
    meant: Mapping[Site, Site | None],
    shifts: Mapping[Path, Shift],
    new_name: str,
) -> tuple[Site, str]:
    """What would change because `site` is a use in only one of both texts, and where."""
    definition = meant.get(site)
    if site not in after.all_uses:
        if definition is None or definition in expected:
            return site, "would not use the renamed symbol any more"
        return site, f"would mean {_named(definition, shifts, new_name)} instead of the renamed symbol"
    if definition in expected:
        return site, f"{new_name} would mean the renamed symbol here"
    group = next(group for group in after.uses if site in group)
    for use in sorted(group.intersection(expected)):
        if (other := meant.get(use)) and other not in expected:
            return use, f"would mean {_named(other, shifts, new_name)} instead of the renamed symbol"
    return site, f"{new_name} would hide, override or implement the renamed symbol here, or the other way round"


async def _related(
    backend: Backend, shifts: Mapping[Path, Shift], were: Relations, are: Relations, pairs: Collection[Site]
) -> tuple[list[Changed], list[str]]:
    """Methods that would be called through another method of the workspace, and what else is different.

    A lost relation concerns dynamic checks only (`x.(Namer)`): the server refuses what no longer builds. A place of
    `pairs` stands for what it names: `{ new: old }`.
    """
    inside: list[Changed] = []
    outside: list[str] = []
    for site, before in were.items():
        then = _moved(shifts, site)
        if then not in are:
            continue
        moved = {_moved(shifts, one) for one in before}
        for other in sorted(are[then] - moved - {then, *pairs}):  # gopls 0.24 may name a method of an interface itself
            if other[0].is_relative_to(backend.root):
                what = f"would implement, or be implemented by, {_named(other, shifts, '')}"
                inside.append(Changed(await _place(backend, shifts, then), what))
            else:
                outside.append(f"{_line(backend, site)} would implement {_line(backend, other)}")
        back = {_moved(shifts, one): one for one in before}
        outside += [
            f"{_line(backend, site)} would have nothing to do with {_line(backend, back[one])}"
            for one in sorted(moved - are[then])
            if not are[then].intersection(pairs)
        ]
    return inside, outside


def _line(backend: Backend, site: Site) -> str:
    path, point = site
    shown = path.relative_to(backend.root) if path.is_relative_to(backend.root) else f"{path.parent.name}/{path.name}"
    return f"{shown}:{point.line}"


async def _place(backend: Backend, shifts: Mapping[Path, Shift], site: Site) -> Place:
    """The place before the rename of one in the new texts."""
    path, point = site
    shift = shifts.get(path)
    text = (shift.before if shift else await text_or_none(backend, path)) or Text("")
    was = shift.to_before(point) if shift else point
    return Place(path, text.identifier_at(was) or Span(was, was), text)


def _named(meant: Site, shifts: Mapping[Path, Shift], new_name: str) -> str:
    path, point = meant
    was = shifts[path].to_before(point) if path in shifts else point
    where = f"{path.name}:{was.line}:{was.character}"
    return f"{new_name} of {where}" if new_name else where


async def _definition(backend: Backend, trial: Trial, site: Site) -> Site | None:
    path, point = site
    text = trial.text(path) or await text_or_none(backend, path)
    if text is None:
        return None
    try:
        found = await trial.request("textDocument/definition", position_params(path, text, point, trial.encoding))
    except LspMcpError:
        return None
    listed = locations(found)
    return await _site(backend, trial, listed[0]) if listed else None


def _renamed(problem: Problem, old_name: str, new_name: str) -> Problem:
    """`problem` with a message that does not depend on the rename."""
    message = re.sub(rf"\b{re.escape(old_name)}\b", lambda _: new_name, problem.message)
    return replace(problem, message=_PLACE.sub("", message))
