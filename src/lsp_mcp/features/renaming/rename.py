"""textDocument/prepareRename and textDocument/rename: a rename as an `EditPlan` (LSP 3.17)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Backend
from lsp_mcp.edits.plan import EditPlan, FileChange, Step, TextChange, in_order
from lsp_mcp.edits.rewriting import by_word, without_prefix
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.evidence.definitions import Definitions, Meaning, Site
from lsp_mcp.evidence.explainers.in_function import kind_before
from lsp_mcp.evidence.namesakes import of_namesakes, own_references
from lsp_mcp.evidence.through_objects import is_through_object
from lsp_mcp.features.editing.moving import in_its_folder, named_by_path, with_data, with_moves
from lsp_mcp.features.renaming.by_name import found_by_name
from lsp_mcp.features.renaming.in_examples import read_examples
from lsp_mcp.features.renaming.in_macro_strings import in_macro_strings
from lsp_mcp.features.renaming.mentions import Mentions, mentions, told, unoutlined
from lsp_mcp.features.renaming.named_after import (
    Renamed,
    known_by_name,
    named_after,
    no_longer_run,
    renamed_along,
    renamed_symbol,
)
from lsp_mcp.features.renaming.same_scope import in_its_scope
from lsp_mcp.features.renaming.shared_calls import Home, home_of, scope_of, shared_calls
from lsp_mcp.features.renaming.shared_members import shared_members
from lsp_mcp.features.types.aliased_bases import without_aliased_bases
from lsp_mcp.features.types.outdated_relations import mistrust_related
from lsp_mcp.features.types.overrides import Overrides, overrides
from lsp_mcp.gaps import Gap, news
from lsp_mcp.prose import count
from lsp_mcp.protocol.lsp import TextDocumentPositionParams, WorkspaceEdit
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.edit_plans import asked_rename, plan_of
from lsp_mcp.requests.keywords import without_keywords
from lsp_mcp.requests.other_builds import add_edits, renamed_in_other_builds
from lsp_mcp.requests.own_builds import renamed_in_own_builds
from lsp_mcp.requests.places import Place, by_file, last_word, position_params, text_or_none
from lsp_mcp.requests.reexports import declared, renamed_through_exports
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.requests.workspace_symbol import is_named, workspace_symbols
from lsp_mcp.syntax.imports import given_names, has_aliases, names_module
from lsp_mcp.text import Point, Span, Text
from lsp_mcp.uris import uri_path
from lsp_mcp.words.visibility import Symbol as Seen

_MOST_NAMES = 10_000  # searched for clashes


class Doubt(Struct, frozen=True):
    """A place that a rename may get wrong, and how: `place` …"""

    place: Place
    what: str
    by: str = ""  # the word used there for the symbol

    @property
    def site(self) -> Site:
        """Where it begins."""
        return self.place.path, self.place.span.start


class Renaming(Struct, frozen=True):
    """The changes of a rename, and the doubts that its caller should see first."""

    plan: EditPlan
    doubts: tuple[Doubt, ...] = ()
    searched: frozenset[Path] = frozenset()  # files excluded from the build that were searched in their own builds
    notice: Gap | None = None  # lost with the old name
    family: Overrides = Overrides()  # methods that must keep sharing its name
    apart: frozenset[Site] = frozenset()  # declarations of other symbols, see `evidence.namesakes`
    gaps: tuple[Gap, ...] = ()
    mentioned: tuple[tuple[Place, str], ...] = ()  # places outside the server's code that may mean it, see `mentions`
    of_module: bool = False  # the name is one that an import gives a whole module

    def joined_by(self, places: Iterable[Place], new_name: str, by_macros: Collection[Site] = ()) -> Renaming:
        """The rename extended by `new_name` at `places`, which the plan does not touch.

        If these are in definitions of macros, the uses `by_macros` are renamed with them.
        """
        places = tuple(places)
        left = by_file(places)
        steps: list[Step] = []
        for step in self.plan.steps:
            more = left.pop(step.path, []) if isinstance(step, FileChange) else []
            steps.append(_extended(step, more, new_name) if isinstance(step, FileChange) and more else step)
        new = [_extended(FileChange(p, m[0].text, "", ()), m, new_name) for p, m in sorted(left.items())]
        # A server's edit may also rename a file: until then it has its old name.
        doubts = tuple(one for one in self.doubts if not one.by or one.site not in by_macros)
        if self._keeps_name(new_name):
            doubts += tuple(Doubt(place, "may be what keeps its name elsewhere") for place in places)
        if self.of_module:
            doubts += tuple(Doubt(place, "may be a name that the module itself has") for place in places)
        return replace(self, plan=replace(self.plan, steps=tuple(in_order((*new, *steps)))), doubts=doubts)

    def _keeps_name(self, new_name: str) -> bool:
        """Whether the plan writes both names somewhere, `{ old: new }`: of a module that keeps the old one."""
        changes = (change for step in self.plan.steps if isinstance(step, FileChange) for change in step.changes)
        return any(
            one.old_text and one.new_text != new_name and re.search(rf"\b{re.escape(one.old_text)}\b", one.new_text)
            for one in changes
        )

    @property
    def family_sites(self) -> frozenset[Site]:
        """The declarations and definitions of all methods of its family."""
        return frozenset((one.place.path, one.place.span.start) for one in self.family.methods)

    @property
    def sites(self) -> frozenset[Site]:
        """The places where the plan changes text, and those where the symbol is used under another word."""
        changes = (step for step in self.plan.steps if isinstance(step, FileChange))
        changed = {(step.path, change.span.start) for step in changes for change in step.changes}
        return frozenset(changed | {doubt.site for doubt in self.doubts if doubt.by})


def _extended(step: FileChange, places: Iterable[Place], new_name: str) -> FileChange:
    added = (TextChange(place.span, place.text.slice(place.span), new_name) for place in places)
    return step.with_changes((*step.changes, *added))


async def rename(
    backend: Backend, path: Path, identifier: Span, new_name: str, *, prepare: bool = True, again: bool = True
) -> Renaming:
    """The changes for renaming the symbol at `identifier` of `path` to `new_name`; nothing is written.

    `prepare`: ask the server first whether this can be renamed, if it supports that. `again`: ask once more if it
    left out uses that it knows afterwards (basedpyright 1.40 reads files for the one question that it missed in the
    other). An edit that would replace a word other than the old name is left out, with a doubt.

    Raises:
        RefusedError: the server's reason why it cannot be renamed, or not to that name.
        EditError: the server's edit cannot be carried out safely.
        PathError, UnavailableError: see `backend.Documents.open` and `Backend.request`.
    """
    path, identifier = await declared(backend, path, identifier)
    text = await backend.documents.open(path)
    await _refuse_generated(backend, path, identifier.start)
    family = await overrides(backend, path, identifier.start)  # first, because it makes the server read more files
    shared = await shared_members(backend, path, identifier.start, text.slice(identifier), new_name)
    family = shared.family if shared.is_member else family
    at = position_params(path, text, identifier.start, backend.encoding)
    prefix = await _kept_prefix(backend, at, text, identifier, new_name, prepare=prepare)
    edit = await with_moves(
        backend, await renamed_through_exports(backend, at, text.slice(identifier), prefix + new_name)
    )
    await _with_family(backend, family, text.slice(identifier), new_name, edit)
    searched = await _renamed_elsewhere(backend, path, identifier.start, new_name, edit)
    renamed = await renamed_symbol(backend, path, identifier.start)
    together = [renamed] if renamed else []
    if renamed and renamed.owner:
        together += await renamed_along(backend, renamed, await plan_of(backend, [edit]))
    left_behind = [doubt for one in together for doubt in await _take_along(backend, one, new_name, edit)]
    plan = await _as_plan(backend, edit, prefix, path, text.slice(identifier))
    namesakes = await of_namesakes(
        backend, Definitions(backend), _places(plan), (path, identifier.start), family.twin_sites
    )
    mixed = tuple(namesakes.gaps(backend, text.slice(identifier), _places(plan)))
    plan = _without(plan, namesakes.has)
    plan, strangers = _without_strangers(plan, text.slice(identifier), new_name)
    _refuse_others_alone(backend, plan, strangers)
    strangers = await _unproven(backend, strangers, (path, identifier.start))
    await mistrust_related(backend, path, identifier.start, {place.path for place in _places(plan)})
    if backend.plugin.goes_by_mtime:
        for stranger in strangers:
            backend.coverage.mistrust(stranger.place.path, text.slice(identifier))
    strangers += [*left_behind, *await _taken(backend, renamed, Place(path, identifier, text), new_name)]
    plan = _confirming(plan, known_by_name(backend.plugin.renaming, together, new_name))
    plan = _confirming(plan, _starting(backend, renamed, new_name))
    plan, gaps = await _with_strings(backend, plan, mixed)
    for place, package in await named_by_path(backend, plan):
        plan = Renaming(plan).joined_by([place], package).plan
    named = Mentions()
    if mentioned := renamed or await unoutlined(backend, path, identifier.start):
        found = await mentions(backend, mentioned)
        named = found.made_into(_places(plan), backend.plugin.renaming.line_directive)
        plan = Renaming(plan).joined_by((place for place, _ in named.surely), new_name).plan
    plan = _confirming(plan, shared.outside)
    if renamed:
        plan = _confirming(plan, *await found_by_name(backend, renamed, new_name, Renaming(plan).sites))
    notice = _not_run(backend, renamed, new_name)
    if not backend.plugin.adapter.rename.check:
        return Renaming(plan, tuple(strangers), searched, notice, family, namesakes.sites, gaps, named.may)
    missed = await _missed(backend, path, identifier, plan, text.slice(identifier), family)
    if again and any(one.by == text.slice(identifier) for one in missed):
        return await rename(backend, path, identifier, new_name, prepare=prepare, again=False)
    home = (await home_of(backend, path, identifier, text.slice(identifier))).outside(namesakes.others)
    doubtful = await _shared(backend, home, plan, text.slice(identifier), new_name)
    clashes = [Doubt(one, f"{new_name} is there already") for one in shared.taken]
    if not shared.is_member:
        clashes = await _clashes(backend, Definitions(backend), home, new_name)
    strangers += [*missed, *doubtful, *clashes]
    return Renaming(
        plan, tuple(strangers), searched, notice, family, namesakes.sites, gaps, named.may,
        await _names_module(backend, path, text, text.slice(identifier)),
    )  # fmt: skip


async def _names_module(backend: Backend, path: Path, text: Text, name: str) -> bool:
    language = backend.plugin.language_of(path)
    return language is not None and await asyncio.to_thread(names_module, text, language.id, name)


async def with_mentioned(backend: Backend, renaming: Renaming, new_name: str) -> tuple[EditPlan, list[Gap]]:
    """The plan of `renaming`, settled, with the mentions that mean the symbol; others that may must be confirmed, and
    those that only people read are news.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    named = await read_examples(backend, renaming.mentioned, renaming.sites)
    plan = renaming.joined_by(named.same, new_name).plan
    prose = {rule.what for rule in backend.plugin.mentions if rule.is_prose}
    told_only = [one for one in named.may if one[1] in prose]
    may = [one for one in named.may if one[1] not in prose]
    told_of = []
    if told_only:
        files = tuple(dict.fromkeys(place.path for place, _ in told_only))
        text = f"not renamed: {_word_of(told_only)} in {told(backend, told_only)}"
        told_of = [news("elsewhere", text, files=files)]
    if not may:
        return plan, told_of
    kept = f"{_word_of(may)} stays as it is in {told(backend, may)}"
    return replace(plan, confirmations=(*plan.confirmations, kept)), told_of


def _word_of(mentioned: Sequence[tuple[Place, str]]) -> str:
    word = mentioned[0][0]
    return word.text.slice(word.span)


async def _as_plan(backend: Backend, edit: WorkspaceEdit, prefix: str, path: Path, word: str) -> EditPlan:
    """The plan that the server's edit for `word` of `path` is, without what it should not change."""
    _without_generated(edit, backend.plugin.adapter)
    plan = await plan_of(backend, [edit])
    # Some servers replace whole files (python-lsp-server 1.x).
    steps = (by_word(without_prefix(step, prefix)) if isinstance(step, FileChange) else step for step in plan.steps)
    plan = await _without_keywords(backend, replace(plan, steps=tuple(steps)))
    return with_data(backend, in_its_folder(backend, plan, path, word.removesuffix("_test")))


def _confirming(plan: EditPlan, *said: str) -> EditPlan:
    """`plan`, which also has to be confirmed because of each of `said` that is not empty."""
    return replace(plan, confirmations=(*plan.confirmations, *filter(None, said)))


def _not_run(backend: Backend, renamed: Renamed | None, new_name: str) -> Gap | None:
    """That a test will not be run any more."""
    if renamed is None or not no_longer_run(backend, renamed, new_name):
        return None
    return news("applied", f"{new_name} is not run as a test, as {renamed.name} was")


async def _taken(backend: Backend, renamed: Renamed | None, place: Place, new_name: str) -> list[Doubt]:
    """That what is declared at `place` cannot be meant by `new_name`: inside functions, unless it is a member; or
    anywhere, where a compile command makes that a macro.
    """
    rules, coverage = backend.plugin.renaming, backend.coverage
    if new_name in rules.taken_names and not (renamed and renamed.owner):
        return [Doubt(place, f"{new_name} is something else in each function")]
    macro = rules.macro_flag.replace("{name}", re.escape(new_name))
    # Not if commands are not known, and may have any flag.
    if macro and await coverage.compiles_with(macro) and not await coverage.compiles_with("(?!)"):
        return [Doubt(place, f"a compile command makes {new_name} a macro")]
    return []


def _starting(backend: Backend, renamed: Renamed | None, new_name: str) -> str:
    """That a program would start elsewhere, or nowhere; empty if it would not."""
    start = backend.plugin.renaming.program_start
    if not start or renamed is None or renamed.owner or start not in (renamed.name, new_name):
        return ""
    is_function = renamed.symbol.kind == "function"
    return f"programs start at the function {start}" if is_function else ""


def _refuse_others_alone(backend: Backend, plan: EditPlan, strangers: Sequence[Doubt]) -> None:
    """Raise RefusedError if the server would change `strangers` and nothing else."""
    if strangers and not plan.steps:
        word = strangers[0].place.text.slice(strangers[0].place.span)
        raise RefusedError(f"{backend.plugin.name} would change only other words, such as {word}; nothing was changed")


async def _with_strings(backend: Backend, plan: EditPlan, gaps: Sequence[Gap]) -> tuple[EditPlan, tuple[Gap, ...]]:
    """`plan` and `gaps` with the strings that macros make of the names it changes; those of names must be confirmed."""
    names, texts = await in_macro_strings(backend, _places(plan))
    if names:
        plan = replace(
            plan, confirmations=(*plan.confirmations, f"strings that macros make of the name change: {names}")
        )
    told = (news("applied", f"texts that macros make of the code change: {texts}"),) if texts else ()
    return plan, (*gaps, *told)


async def _renamed_elsewhere(
    backend: Backend, path: Path, point: Point, new_name: str, edit: WorkspaceEdit
) -> frozenset[Path]:
    """The files excluded from the build that were searched in builds that have them; `edit` has their changes then."""
    others = frozenset((await renamed_in_other_builds(backend, path, point, new_name, edit)).searched)
    return others | await renamed_in_own_builds(backend, path, point, new_name, edit, others)


async def _refuse_generated(backend: Backend, path: Path, point: Point) -> None:
    """Raise RefusedError if a build tool has generated the declaration, as cgo does for what is declared in C."""
    is_generated = backend.plugin.adapter.is_generated
    try:
        places = await definition_places(backend, path, point)
    except (RefusedError, PathError):  # gopls 0.24, of a function without a body; a file that cannot be read
        return
    if any(is_generated(file) for file, _ in places):
        raise RefusedError("its declaration is generated from another language, in which its uses are not known")


def _without_generated(edit: WorkspaceEdit, adapter: Adapter) -> None:
    """Remove from `edit` what a build tool has generated for its own use."""
    if listed := edit.get("documentChanges"):
        edit["documentChanges"] = [
            one
            for one in listed
            if "textDocument" not in one or not adapter.is_generated(uri_path(one["textDocument"]["uri"]))
        ]
    if by_uri := edit.get("changes"):
        edit["changes"] = {uri: made for uri, made in by_uri.items() if not adapter.is_generated(uri_path(uri))}


async def _with_family(backend: Backend, family: Overrides, name: str, new_name: str, edit: WorkspaceEdit) -> None:
    """Add to `edit` the renames of the methods of `family` that it leaves out: of two overridden, clangd 22 takes one.

    Raises:
        RefusedError: the server refuses to rename one of them, which the message names.
    """
    sites = Renaming(await plan_of(backend, [edit])).sites
    for method in family.methods:
        path, start = method.place.path, method.place.span.start
        if (path, start) in sites or method.place.text.slice(method.place.span) != name:  # a macro makes it
            continue
        try:
            at = position_params(path, await backend.documents.open(path), start, backend.encoding)
            more = await asked_rename(backend, at, new_name)
        except (PathError, RefusedError) as error:
            raise RefusedError(f"{method.name}, which must share its name, cannot be renamed: {error}") from None
        add_edits(edit, more)
        sites = Renaming(await plan_of(backend, [edit])).sites


async def _take_along(backend: Backend, renamed: Renamed, new_name: str, edit: WorkspaceEdit) -> list[Doubt]:
    """Add to `edit` the renames of symbols named after this one; impossible ones become doubts."""
    doubts: list[Doubt] = []
    for follower in await named_after(backend, renamed, new_name):
        why = f"no such name is possible for {new_name}"
        if follower.new_name:
            try:
                add_edits(edit, await asked_rename(backend, follower.position(backend), follower.new_name))
            except RefusedError as error:
                why = str(error)
            else:
                continue
        doubts.append(Doubt(follower.place, f"is named after {renamed.name} and would keep its name: {why}"))
    return doubts


def _without(plan: EditPlan, is_wrong: Callable[[Place], bool]) -> EditPlan:
    """`plan` without the changes of places that are wrong."""
    steps: list[Step | None] = []
    for step in plan.steps:
        wrong = []
        if isinstance(step, FileChange):
            wrong = [one for one in step.changes if is_wrong(Place(step.path, one.span, step.before))]
        steps.append(step.without(wrong) if isinstance(step, FileChange) and wrong else step)
    return replace(plan, steps=tuple(step for step in steps if step))


def _places(plan: EditPlan) -> list[Place]:
    steps = [step for step in plan.steps if isinstance(step, FileChange)]
    return [Place(step.path, change.span, step.before) for step in steps for change in step.changes]


async def _without_keywords(backend: Backend, plan: EditPlan) -> EditPlan:
    """`plan` without changes of what is part of the syntax."""
    kept = {(place.path, place.span) for place in await without_keywords(backend, _places(plan))}
    return _without(plan, lambda place: (place.path, place.span) not in kept)


def _without_strangers(plan: EditPlan, name: str, new_name: str) -> tuple[EditPlan, list[Doubt]]:
    """`plan` without changes of other words than `name` into `new_name` (clangd 22 does that to `using B::B;`)."""
    doubts: list[Doubt] = []
    steps: list[Step | None] = []
    for step in plan.steps:
        wrong: list[TextChange] = []
        if isinstance(step, FileChange):
            wrong = [c for c in step.changes if name and c.new_text == new_name and c.old_text not in ("", name)]
            doubts += [Doubt(Place(step.path, c.span, step.before), f"{c.old_text} left as it is") for c in wrong]
        steps.append(step.without(wrong) if isinstance(step, FileChange) and wrong else step)
    return replace(plan, steps=tuple(step for step in steps if step)), doubts


async def _unproven(backend: Backend, strangers: list[Doubt], at: Site) -> list[Doubt]:
    """`strangers` without those that an exact server says mean another symbol than the one `at` a place.

    gopls 0.24 renames the type behind an alias, too, if a struct embeds the alias.
    """
    if not strangers or not backend.plugin.word_check.exact:
        return strangers
    own = set(await definition_places(backend, *at))
    theirs = [await definition_places(backend, *one.site) for one in strangers]
    return [one for one, places in zip(strangers, theirs, strict=True) if not places or own.intersection(places)]


async def _missed(
    backend: Backend, path: Path, identifier: Span, plan: EditPlan, name: str, family: Overrides
) -> list[Doubt]:
    """The uses that are not renamed: those under another word, such as a macro's, and mistakes. A name that an import
    gives stays as it is.

    Of two words in one line clangd 22 may rename the wrong one; then that one is listed too.
    """
    definitions, at = Definitions(backend), (path, identifier.start)
    listed = (await own_references(backend, definitions, *at, family.twin_sites)).places
    uses = (await without_aliased_bases(backend, definitions, listed, at)).places
    edits = _places(plan)
    used, edited = ({(place.path, place.span.start) for place in places} for places in (uses, edits))
    missed = [
        use for use in uses if (use.path, use.span.start) not in edited and use.text.slice(use.span).isidentifier()
    ]
    given = await _given_names(backend, [use for use in missed if use.text.slice(use.span) != name])
    missed = [use for use in missed if use.text.slice(use.span) not in given]
    lines = {(use.path, use.span.start.line) for use in missed}
    return [
        *(Doubt(use, f"use by {word} not renamed", word) for use in missed if (word := use.text.slice(use.span))),
        *(
            Doubt(edit, "would be renamed, but is not a use of it")
            for edit in edits
            if (edit.path, edit.span.start) not in used and (edit.path, edit.span.start.line) in lines
        ),
    ]


async def _given_names(backend: Backend, uses: Iterable[Place]) -> set[str]:
    """The names that imports in the files of `uses` give, and words of the syntax that stand for one, as `default`."""
    texts = {use.path: use.text for use in uses}
    given: set[str] = set()
    for path, text in texts.items():
        if language := backend.plugin.language_of(path):
            given |= await asyncio.to_thread(given_names, text, language.id)
            given |= {*language.keywords} if has_aliases(language.id) else set()
    return given


async def _shared(backend: Backend, home: Home, plan: EditPlan, name: str, new_name: str) -> list[Doubt]:
    """The changes at places that mean an overload, too, or a member of another type."""
    steps = (step for step in plan.steps if isinstance(step, FileChange))
    changed = [
        Place(step.path, change.span, step.before)
        for step in steps
        for change in step.changes
        if change.old_text == name and not re.search(rf"\b{re.escape(name)}\b", change.new_text)  # `{ name: new }`
    ]
    found = await shared_calls(backend, Definitions(backend), home, changed, changed)
    doubts = [Doubt(place, f"may mean another {name}") for place in found.shared]
    if unknown := found.unknown:
        more = f", as {count(len(unknown) - 1, 'more place')}" if len(unknown) > 1 else ""
        doubts.append(Doubt(unknown[0], f"not known whether it means another {name}{more}"))
    through = [place for place in changed if await is_through_object(place, backend.plugin.word_check)]
    if through and (other := await _elsewhere(backend, home, (name, new_name))):
        doubts += [Doubt(place, f"may mean {other}, too, as only a call decides") for place in through]
    return doubts


async def _elsewhere(backend: Backend, home: Home, names: Iterable[str]) -> str:
    """What has one of `names` in another scope than the symbol at `home`; empty if nothing has."""
    separator = backend.plugin.symbols.scope_separator
    for name in names:
        for one in (await workspace_symbols(backend, name, _MOST_NAMES)).symbols:
            scope = scope_of(one.name, separator)
            if scope and is_named(one.name, name) and scope not in home.scopes:
                return one.name
    return ""


async def _clashes(backend: Backend, definitions: Definitions, home: Home, new_name: str) -> list[Doubt]:
    """The symbols that already have the new name in the scope of the renamed symbol."""
    separator = backend.plugin.symbols.scope_separator
    others = (await workspace_symbols(backend, new_name, _MOST_NAMES)).symbols if home.scopes else []
    there = [one for one in others if is_named(one.name, new_name) and scope_of(one.name, separator) in home.scopes]
    if (members := backend.plugin.renaming.overriding) and (mark := members.private_mark):
        there = [one for one in there if mark not in one.name]  # no other code has such a name
    if not separator:
        there = await in_its_scope(backend, home.sites, there)
    return [
        Doubt(one.place, f"{one.name} is there already")
        for one in there
        if not await _is_apart(backend, home, one) and await _may_meet(backend, definitions, home, one)
    ]


async def _is_apart(backend: Backend, home: Home, other: Symbol) -> bool:
    """Whether the symbol at `home` and `other` are in separate name spaces, as C's tags are from all other names."""
    rules, (path, point) = backend.plugin.word_check, min(home.sites)
    text = await text_or_none(backend, path)
    if text is None or not rules.kind_pattern:
        return False
    kinds = kind_before(text, Span(point, point), rules), kind_before(other.place.text, other.place.span, rules)
    if bool(kinds[0]) == bool(kinds[1]):
        return False
    return await _spells_kinds(backend, path) and await _spells_kinds(backend, other.place.path)


async def _spells_kinds(backend: Backend, path: Path) -> bool:
    """Whether each use of a tag in `path` spells its kind: in a header if only sources in such a language have it."""
    plugin = backend.plugin
    if not plugin.is_header(path):
        return bool((language := plugin.language_of(path)) and language.kinds_spelled)
    reached = await backend.words.reached_from([path], seconds=budget.left())
    sources = [plugin.language_of(one) for one in reached.files if not plugin.is_header(one)] if reached else []
    return bool(sources) and all(one and one.kinds_spelled for one in sources)


async def _may_meet(backend: Backend, definitions: Definitions, home: Home, other: Symbol) -> bool:
    """Whether a file may see the symbol at `home` and `other`, or a program be linked of both."""
    own, site = sorted(home.sites), (other.place.path, other.place.span.start)
    ours, theirs = await definitions.meaning(own[0]), await definitions.meaning(site)
    if not (ours and theirs):
        return True
    are_alone = [await _is_never_linked(backend, meaning) for meaning in (ours, theirs)]
    if not any(are_alone) and not await _are_of_two_programs(backend, ours, theirs):
        return True
    files = {path for path, _ in (*own, site)}.union(
        *[(await backend.words.files_with(name)).files for name in (home.name, last_word(other.name))]
    )
    seen = [
        await backend.words.that_can_see(files, Seen(name, tuple({path for path, _ in sites}), internal=is_alone))
        for name, sites, is_alone in ((home.name, own, are_alone[0]), (other.name, [site], are_alone[1]))
    ]
    both = seen[0] & seen[1]
    if not any(backend.plugin.is_header(path) for path, _ in (*own, site)):
        # A header sees what is before it: of each source that includes it, but not of two at once.
        both = frozenset(path for path in both if not backend.plugin.is_header(path))
    return bool(both)


async def _is_never_linked(backend: Backend, meaning: Meaning) -> bool:
    """Whether no linker joins what the symbols of `meaning` are with others of their name."""
    pattern = backend.plugin.renaming.linked_type_pattern
    linked = [one for one in meaning if pattern and re.search(pattern, one.written) and not one.internal]
    files = {path for one in linked for path, _ in one.sites}
    return all(one.is_alone for one in meaning) and all([await _spells_kinds(backend, path) for path in files])


async def _are_of_two_programs(backend: Backend, ours: Meaning, theirs: Meaning) -> bool:
    """Whether both are defined in files of which each is the start of a program, so that no program is made of both."""
    start = backend.plugin.renaming.program_start
    files = [{path for one in meaning for path, _ in one.defined} for meaning in (ours, theirs)]
    if not (start and files[0] and files[1] and files[0].isdisjoint(files[1])):
        return False
    try:
        outlines = [await document_symbols(backend, path) for path in sorted(files[0] | files[1])]
    except (PathError, RefusedError):
        return False
    return all(any(one.name == start for one in outline) for outline in outlines)


async def _kept_prefix(
    backend: Backend, at: TextDocumentPositionParams, text: Text, identifier: Span, new_name: str, *, prepare: bool
) -> str:
    """The characters before the word that belong to the name and stay: `--` of `--main` in CSS.

    Raises:
        RefusedError: the server, asked first if it is to `prepare`, says that it cannot be renamed, or `new_name` has
            them, too.
    """
    if not isinstance(provider := backend.capabilities.get("renameProvider"), bool | dict):
        raise RefusedError(f"{backend.plugin.name} cannot rename")
    if prepare and isinstance(provider, dict) and provider.get("prepareProvider"):
        prefix = await _prepare(backend, at, text, identifier)
    else:
        language = backend.plugin.language_of(uri_path(at["textDocument"]["uri"]))
        before = text.content[: text.point_offset(identifier.start)].rpartition("\n")[2]
        rest = before.rstrip(language.name_prefixes) if language and language.name_prefixes else before
        prefix = "" if rest[-1:].isalnum() or rest[-1:] == "_" else before.removeprefix(rest)
    if prefix and new_name.startswith(prefix):
        raise RefusedError(f"{prefix} stays: pass {new_name.removeprefix(prefix)!r} as the new name")
    return prefix


async def _prepare(backend: Backend, at: TextDocumentPositionParams, text: Text, identifier: Span) -> str:
    """Ask whether this can be renamed; the characters before the word that the server counts as part of the name.

    Raises:
        RefusedError: it cannot, with the server's reason.
    """
    prepared = await backend.request("textDocument/prepareRename", at)
    if prepared is None:
        raise RefusedError("it sees no symbol of the workspace there")
    range_ = prepared.get("range") or (prepared if "start" in prepared else None)
    # A server may offer to change something larger, such as a whole signature, which nobody requested.
    if range_ and (span := text.range_span(range_, backend.encoding)) != identifier:
        offered, name = text.slice(span), text.slice(identifier)
        prefix = offered.removesuffix(name)
        language = backend.plugin.language_of(uri_path(at["textDocument"]["uri"]))
        if span.end == identifier.end and language and prefix and not prefix.strip(language.name_prefixes):
            return prefix
        raise RefusedError(f"it would change {offered[:80]!r} instead of that word")
    return ""
