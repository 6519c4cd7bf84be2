"""Renaming, for every tool: one question, one set of refusals (`ask_rename`, `Renamed.checked`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.edits.plan import EditPlan
from lsp_mcp.errors import RefusedError, UnavailableError
from lsp_mcp.features.checking.problems import Problem
from lsp_mcp.features.editing.moving import build_changes
from lsp_mcp.features.renaming import rename
from lsp_mcp.features.renaming.rename_by_text import ByText, changed_by_text
from lsp_mcp.features.renaming.string_mentions import string_mentions
from lsp_mcp.features.renaming.tried import Changed, Tried, can_be_tried, tried
from lsp_mcp.gaps import Gap, hiding, news, texts
from lsp_mcp.prose import count, first_few
from lsp_mcp.requests.places import Place
from lsp_mcp.toolsets.questions import Check, PlacesCheck, SymbolAnswer
from lsp_mcp.toolsets.symbols import SymbolTarget, Targets
from lsp_mcp.waiting import phase

_UNCOMPILED = ("syntax_error", "not_searched", "not_read")  # kinds of gap that a text search can replace
_PLACES = 5  # of changes by text listed for each file
_STRINGS = 3  # files listed with strings that have the name
_LINES = 3  # of each
_ELSEWHERE = 3  # relations listed that a rename makes or ends
_ERRORS = 3  # listed that a rename makes
_CHANGED = 3  # names listed that would mean something else
_DOUBTS = 5  # places listed that a rename may get wrong


class Asking(Protocol):
    """Called with the question about a symbol; returns the answer about the symbol that the caller means."""

    async def __call__(
        self, ask: Callable[[SymbolTarget], Awaitable[rename.Renaming]], /, *, check: Check[rename.Renaming]
    ) -> SymbolAnswer[rename.Renaming]:
        """What `ask` says of it, compared with the text as `check` says."""


class Renamed(Struct, frozen=True):
    """The changes of a rename, not applied yet; `gaps` is what may be wrong with it."""

    target: SymbolTarget
    plan: EditPlan
    gaps: list[Gap]

    async def by_text(self, new_name: str) -> ByText:
        """The plan including changes by text in files that its server could not read."""
        return await changed_by_text(self.target.backend, self.plan, self._unread, self.target.name, new_name)

    @property
    def _unread(self) -> frozenset[Path]:
        """The files that the server could not read whole."""
        files = {file for gap in hiding(self.gaps) if gap.kind in _UNCOMPILED for file in gap.files}
        return frozenset(file for file in files if self.target.backend.plugin.language_of(file))

    def with_text(self, changed: ByText, targets: Targets) -> Renamed:
        """The rename with changes by text, if the caller wants them; the gaps that these close are gone."""
        targets.hand_out_readable(changed.places)
        # Excluded lines in such a file are part of its text.
        kinds, unread = (*_UNCOMPILED, "not_compiled"), self._unread
        kept = [gap for gap in self.gaps if not (gap.kind in kinds and gap.files and unread.issuperset(gap.files))]
        if changed.places:
            server = self.target.backend.plugin.name
            text = f"by its text alone, in files that {server} cannot read: {_by_file(changed.places, targets)}"
            kept.append(news("applied", text))
        return Renamed(self.target, changed.plan, kept)

    async def checked(self, targets: Targets, new_name: str, way_out: str, *, allow_partial: bool = False) -> Renamed:
        """The rename, ready to be written; errors that the server would find after it must be accepted.

        Anything that the server cannot check in time is news, not a reason to refuse: every use is explained, and
        otherwise nothing could be renamed in a workspace that is slow to check.

        Raises:
            RefusedError: uses may be missed, or it causes errors, and the caller does not `allow_partial`.
        """
        if not allow_partial:
            self._refuse_partial(way_out)
        backend, plan = self.target.backend, self.plan
        if not can_be_tried(backend, plan):
            return self
        try:
            with phase(lambda: f"{backend.plugin.name}: checking what the rename breaks"):
                found = await tried(backend, plan, self.target.name, new_name)
                for other in backend.coverage.other_builds() if backend.plugin.word_check.inactive_code else ():
                    found = found.joined_by(await _tried_in_build(other, plan, self.target.name, new_name))
        except (RefusedError, UnavailableError) as error:
            text = f"not tried before it is written, so run check after it ({error})"
            return Renamed(self.target, plan, [*self.gaps, news("applied", text)])
        gaps = [*self.gaps, *found.gaps]
        if found.changed:
            gaps.append(_changed_gap(targets, found.changed))
        if found.errors:
            gaps.append(_errors_gap(targets, found.errors))
        if found.elsewhere and not plan.confirmations:
            plan = replace(plan, confirmations=(first_few(found.elsewhere, _ELSEWHERE),))
        checked = Renamed(self.target, plan, gaps)
        if not allow_partial:
            checked._refuse_partial(way_out)
        return checked

    def _refuse_partial(self, way_out: str) -> None:
        """Refuse a rename while uses may be missed.

        Raises:
            RefusedError: they may; the message ends with `way_out`, the caller's alternative.
        """
        if why := hiding(self.gaps):
            raise RefusedError(
                f"{self.target.name} was not renamed, no file changed, because the result may be wrong: "
                f"{'; '.join(texts(why))}. Fix that, {way_out}"
            )


async def ask_rename(asking: Asking, targets: Targets, new_name: str, *, prepare: bool = True) -> Renamed:
    """The changes for renaming a symbol; `prepare` to ask the server first whether it can.

    Raises:
        RefusedError: the server refuses, or the policy does: the rename, or its preview, would touch files outside the
            workspace root, a dependency's source, or protected files.
        LspMcpError: see `asking`, and `features.renaming.rename.rename`.
    """

    async def ask(target: SymbolTarget) -> rename.Renaming:
        return await rename.rename(target.backend, target.path, target.identifier, new_name, prepare=prepare)

    check = PlacesCheck[rename.Renaming](
        sites=lambda renaming: renaming.sites,
        # The last part of a path.
        joined=lambda renaming, checked: renaming.joined_by(
            checked.missing, new_name.rpartition("/")[2], checked.by_macros
        ),
        thorough=True,
        searched=lambda renaming: renaming.searched,
        family=lambda renaming: renaming.family_sites,
        apart=lambda renaming: renaming.apart,
    )
    answered = await asking(ask, check=check)
    target, renaming = answered.target, answered.value
    plan, told_of = await rename.with_mentioned(target.backend, renaming, new_name.rpartition("/")[2])
    if why := targets.sessions.policy.refusal(plan):
        raise RefusedError(f"{target.name} cannot be renamed: {why}")
    built = [Gap("doubt", text) for text in await build_changes(target.backend, plan)]
    named = await string_mentions(target.backend, target.name)
    strings = _strings_gaps(targets, [one for one in named if (one.path, one.span.start) not in renaming.sites])
    notices = [renaming.notice] if renaming.notice else []
    return Renamed(
        target,
        plan,
        [
            *answered.gaps,
            *renaming.gaps,
            *renaming.family.gaps,
            *_doubts(targets, renaming.doubts),
            *built,
            *told_of,
            *notices,
            *strings,
        ],
    )


async def _tried_in_build(other: Backend, plan: EditPlan, old_name: str, new_name: str) -> Tried:
    """What `plan` would cause in another build; news if that cannot be tried there."""
    try:
        return await tried(other, plan, old_name, new_name)
    except (RefusedError, UnavailableError) as error:
        return Tried(gaps=[news("applied", f"not tried in another build before it is written ({error})")])


def told_of_text(changed: ByText) -> str:
    """How to get the places of `changed` renamed too; empty if there are none."""
    if not changed.places:
        return ""
    files = count(len({place.path for place in changed.places}), "file")
    places = count(len(changed.places), "occurrence")
    return f"rename its {places} in {files} by the text alone too, with include_uncompiled=true, "


def _errors_gap(targets: Targets, errors: Sequence[Problem]) -> Gap:
    """The errors caused by a rename, compared by line: lines stay the same, unlike characters."""
    listed = [
        f"{targets.anchor(one.place.path, None)}{one.place.span.start.line}: {one.message}" for one in errors[:_ERRORS]
    ]
    more = [f"and {len(errors) - _ERRORS:,} more"] if len(errors) > _ERRORS else []
    files = tuple(dict.fromkeys(one.place.path for one in errors))
    return Gap("doubt", f"it makes {count(len(errors), 'new error')}: {'; '.join([*listed, *more])}", files)


def _changed_gap(targets: Targets, changed: Sequence[Changed]) -> Gap:
    """The names that a rename would give another meaning."""
    listed = [f"{targets.anchor(one.place.path, one.place.span.start)}: {one.what}" for one in changed[:_CHANGED]]
    more = [f"and {len(changed) - _CHANGED:,} more such places"] if len(changed) > _CHANGED else []
    targets.hand_out_readable(one.place for one in changed[:_CHANGED])
    files = tuple(dict.fromkeys(one.place.path for one in changed))
    return Gap("doubt", f"it changes what names mean: {'; '.join([*listed, *more])}", files)


def _by_file(places: Sequence[Place], targets: Targets) -> str:
    listed = []
    for path, group in groupby(places, key=lambda place: place.path):
        starts = [f"{place.span.start.line}:{place.span.start.character}" for place in group]
        more = [f"and {len(starts) - _PLACES:,} more"] if len(starts) > _PLACES else []
        listed.append(" ".join([targets.anchor(path, None), *starts[:_PLACES], *more]))
    return ", ".join(listed)


def _strings_gaps(targets: Targets, places: Sequence[Place]) -> list[Gap]:
    """The news that strings contain the name and are not changed."""
    if not places:
        return []
    show = targets.sessions.workspace.display_path
    first = []
    for path, group in groupby(places, key=lambda place: place.path):
        lines = list(dict.fromkeys(place.span.start.line for place in group))
        first.append(f"{show(path)}:{','.join(map(str, lines[:_LINES]))}")
    name = places[0].text.slice(places[0].span)
    text = f"not renamed: {name} in {count(len(places), 'string')} ({first_few(first, _STRINGS)})"
    return [news("elsewhere", text, files=tuple(dict.fromkeys(place.path for place in places)))]


def _doubts(targets: Targets, doubts: Sequence[rename.Doubt]) -> list[Gap]:
    """Places that a rename may get wrong, with their anchors, which can be handed back."""
    targets.hand_out_readable(doubt.place for doubt in doubts)
    if not doubts:
        return []
    listed = [f"{targets.anchor(d.place.path, d.place.span.start)}: {d.what}" for d in doubts[:_DOUBTS]]
    more = [f"and {len(doubts) - _DOUBTS:,} more such places"] if len(doubts) > _DOUBTS else []
    files = tuple(dict.fromkeys(doubt.place.path for doubt in doubts))
    return [Gap("doubt", "; ".join([*listed, *more]), files)]
