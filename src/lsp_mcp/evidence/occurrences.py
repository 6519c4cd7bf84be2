"""Occurrences of a symbol's name in code that are not in an answer: `occurrences`, of a `Claim`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Iterable, Sequence, Sized
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.backend import Backend, Scope, Use
from lsp_mcp.evidence.definitions import Definitions, Site, is_misread_alone
from lsp_mcp.evidence.identity import Identity
from lsp_mcp.gaps import Gap, hiding
from lsp_mcp.requests.containers import Containers, function_around
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.syntax.parameters import names_of_arguments
from lsp_mcp.syntax.scopes import declared_around
from lsp_mcp.text import Point, Span, Text
from lsp_mcp.words.lexing import is_for_preprocessor, is_macro_parameter, macro_at
from lsp_mcp.words.lexing import occurrences as occurrences_of
from lsp_mcp.words.visibility import defines_nothing, that_may_define

_READ_AT_ONCE = 8  # files
_MANY = 500  # files
_MOST_MEANT = 50  # places in a file that is read where it is included
Value = TypeVar("Value")


class Claim(Struct, frozen=True):
    """A server's answer about the symbol called `name`, asked at `at`: its places are `sites`.

    `counts` selects the places that the answer should contain. `in_macros`: the definition of a macro whose use
    mentions the symbol counts, too. `apart` are declarations of other symbols to which the server gives its id.
    """

    name: str
    at: Site
    sites: Collection[Site]
    unsearched: frozenset[Path] = (
        frozenset()
    )  # files that were not searched for the answer, see `backend.Coverage.load`
    # Files excluded from the build that the server still reads; None: it does not look at other builds.
    searched: frozenset[Path] | None = None
    pending: frozenset[Path] = frozenset()  # excluded files that were not asked about in time
    family: Collection[Site] = ()  # declarations of other symbols whose places belong to the answer, too
    apart: frozenset[Site] = frozenset()
    counts: Callable[[Place], bool] = lambda place: True
    in_macros: bool = True


async def leftover(backend: Backend, claim: Claim, files: Sequence[Path]) -> list[Path]:
    """Those of `files` that contain the name, even in a comment, at a place that the answer lacks."""
    has: dict[Path, set[Point]] = {}
    for path, point in claim.sites:
        has.setdefault(path, set()).add(point)
    left = []
    for number, path in enumerate(files):
        if number % _READ_AT_ONCE == 0:
            await asyncio.sleep(0)
        there = has.get(path)
        text = await text_or_none(backend, path) if there else None
        if there is None or (text and any(span.start not in there for span in text.words(claim.name))):
            left.append(path)
    return left


async def seeing(
    backend: Backend, claim: Claim, symbol: Identity, left: Sequence[Path]
) -> tuple[list[Path], tuple[Path, Span] | None]:
    """Those of `left` that can mean the symbol, and the range of one of them outside which nothing there can."""
    local = symbol.local
    if local and symbol.is_named_in_calls:
        return list(left), local
    if local and all(file == local[0] and local[1].start <= at < local[1].end for file, at in claim.sites):
        return [path for path in left if path == local[0] or await _is_part_of(backend, path, *local)], local
    visible = await backend.words.that_can_see(left, symbol.seen_as)

    plugin, root, homes = backend.plugin, backend.root, {path.parent for path, _ in (claim.at, *symbol.sites)}

    def counted() -> list[Path]:
        seen = [path for path in left if path in visible]
        apart = {plugin.apart(folder, root) for folder in homes}
        reads_all = any(plugin.ignores(folder, root) for folder in homes)  # what is declared there is used there
        # The same for all files of a folder, except for the file names.
        folders = {path.parent for path in seen}
        folders = {one for one in folders if plugin.apart(one, root) in apart}
        folders = {one for one in folders if reads_all or not plugin.ignores(one, root)}
        return [path for path in seen if path.parent in folders]

    return await in_thread_if_many(counted, left), None


async def _is_part_of(backend: Backend, path: Path, whole: Path, span: Span) -> bool:
    """Whether `path` is included inside of the code at `span` of `whole`."""
    part = await backend.coverage.part_of(path)
    return part is not None and part[0] == whole and span.start.line <= part[1] <= span.end.line


async def in_thread_if_many(work: Callable[[], Value], files: Sized) -> Value:
    """The result of `work` on `files`, in a thread if they are many, to keep the event loop free."""
    return work() if len(files) < _MANY else await asyncio.to_thread(work)


class Occurring(NamedTuple):
    """Places of a name, the files that were not read, and those that are not text."""

    places: list[Place]
    unread: list[Path]
    unreadable: list[Path]


async def occurrences(
    backend: Backend,
    claim: Claim,
    symbol: Identity,
    files: Sequence[Path],
    within: tuple[Path, Span] | None,
    doubted: Collection[Path],
    most: int | None,
) -> Occurring:
    """Places of the name in the code of `files` that could mean the symbol and are not in the answer.

    If there are more than `most`, only the first, and those in `doubted` files.
    """
    has = set(claim.sites)
    rest = await _rest_of_name(backend, claim)
    found: list[Place] = []
    unread: list[Path] = []
    unreadable: list[Path] = []
    for number, path in enumerate(files):
        if not number % _READ_AT_ONCE and budget.left() <= 0:
            budget.cut()
            unread += files[number:]
            break
        if most is not None and len(found) >= most and path not in doubted:
            unread.append(path)
            continue
        if number % _READ_AT_ONCE == 0:
            await asyncio.sleep(0)  # reading a file needs no waiting, and there may be thousands
        text = await text_or_none(backend, path)
        if text is None and path.is_file():
            unreadable.append(path)
        if text:
            there = await backend.words.occurrences(path, text, claim.name)
            spans = [span for span in there if (path, span.start) not in has]
            language = backend.plugin.language_of(path)
            if language and language.name_prefixes:
                spans = [span for span in spans if not _is_end_of(text, span, path, has, language.name_prefixes)]
            if symbol.ids:  # a parameter of a macro has none
                are_others = {span for span in there.in_macros if is_macro_parameter(text, span, language)}
                spans = [span for span in spans if span not in are_others]
            spans = await backend.words.that_can_mean(spans, text, path, symbol.seen_as)
            spans = [span for span in spans if rest.may_follow(text, span)]
            if within:
                spans = await _within(backend, spans, path, text, within, symbol)
            found += filter(claim.counts, [Place(path, span, text) for span in spans])
    return Occurring(found, unread, unreadable)


async def _within(
    backend: Backend, spans: list[Span], path: Path, text: Text, within: tuple[Path, Span], symbol: Identity
) -> list[Span]:
    """Those of `spans` that can mean `symbol`, which nothing outside of `within` can but names of arguments."""
    file, scope = within
    inside = {span for span in spans if path == file and scope.start <= span.start < scope.end}
    if symbol.is_named_in_calls:
        language = backend.plugin.language_of(path)
        outside = [span for span in spans if span not in inside]
        if language and outside:
            inside |= await asyncio.to_thread(names_of_arguments, text, language.id, outside)
    elif path != file:
        return spans  # a part of the file
    return [span for span in spans if span in inside]


def _is_end_of(text: Text, span: Span, path: Path, sites: Collection[Site], prefixes: str) -> bool:
    """Whether the word at `span` ends a name that begins at one of `sites`, as `b` does in `a$b` of JavaScript."""
    content, start = text.content, text.point_offset(span.start)
    first = start
    while first and (content[first - 1] in prefixes or content[first - 1].isalnum() or content[first - 1] == "_"):
        first -= 1
    return any((path, text.offsets_span(one, start).start) in sites for one in range(first, start))


class _Rest(Struct, frozen=True):
    """The part of a name after its first word, such as `==` after `operator`; None if the word is the whole name."""

    pattern: re.Pattern[str] | None = None
    spelled: str | None = None

    def may_follow(self, text: Text, span: Span) -> bool:
        """Whether the word at `span` can begin this name."""
        if self.pattern is None or self.spelled is None:
            return True
        found = self.pattern.match(text.content, text.point_offset(span.end))
        return found is None or _squeezed(found[0]) == self.spelled


async def _rest_of_name(backend: Backend, claim: Claim) -> _Rest:
    pattern = backend.plugin.word_check.longer_names.get(claim.name)
    text = await text_or_none(backend, claim.at[0]) if pattern else None
    if not (pattern and text):
        return _Rest()
    return _rest(pattern, text.content, text.point_offset(claim.at[1]) + len(claim.name))


def _rest(pattern: str, content: str, end: int) -> _Rest:
    """What follows a word that ends at `end`."""
    compiled = re.compile(pattern)
    found = compiled.match(content, end)
    return _Rest(compiled, _squeezed(found[0]) if found else None)


def _squeezed(spelled: str) -> str:
    return re.sub(r"\s+", "", spelled)


async def that_may_declare(
    definitions: Definitions,
    backend: Backend,
    name: str,
    owner: str,
    known: Collection[Site],
    unsearched: frozenset[Path],
) -> Use:
    """Gaps that could hide a declaration called `name`, without files that surely only use the name, or declare what
    is `known`, or members of classes that are not called `owner` (if that is not "").

    Raises:
        UnavailableError: see `Backend.gaps`.
    """
    word, rest = re.findall(r"\w+", name)[-1], _Rest()
    for longer, pattern in backend.plugin.word_check.longer_names.items():
        if found := re.search(rf"\b{longer}\b", name):
            word, rest = longer, _rest(pattern, name, found.end())
    use = Use(word)
    gaps = hiding(await backend.gaps(Scope(use=use, unsearched=unsearched)))
    lines = {gap.files[0]: frozenset(gap.lines) for gap in gaps if gap.lines}
    files = {file for gap in gaps for file in gap.files if not gap.lines}
    if len(files) + len(lines) > _MANY:
        return use
    using: set[Path] = set()
    containers = Containers(backend)
    for path in lines.keys() - files:
        lines[path] = await _declaring(backend, containers, path, word, rest, owner, lines[path])
    using.update(path for path, left in lines.items() if path not in files and not left)
    try:
        async with asyncio.timeout(budget.left()):
            for path in files:
                if await _surely_uses(definitions, backend, path, word, rest, owner, known):
                    using.add(path)
    except TimeoutError:
        budget.cut()
    if not (using or lines):
        return use
    may_declare = (files | lines.keys()) - using
    on_lines = {path: on for path, on in lines.items() if path not in files}
    return replace(use, files=frozenset(may_declare), lines=on_lines)


async def _surely_uses(
    definitions: Definitions,
    backend: Backend,
    path: Path,
    word: str,
    rest: _Rest,
    owner: str,
    known: Collection[Site],
) -> bool:
    """Whether `path` has `word` only where it declares nothing new: see `that_may_declare`."""
    language = backend.plugin.language_of(path)
    text = await text_or_none(backend, path) if language else None
    if not text:
        return False
    counted = partial(_counted, backend, path, text, word, rest, owner, known)
    left = await asyncio.to_thread(that_may_define, text, word, language, counted)
    return left is not None and await _are_declared_elsewhere(definitions, backend, path, text, left, known)


async def _are_declared_elsewhere(
    definitions: Definitions, backend: Backend, path: Path, text: Text, spans: Sequence[Span], known: Collection[Site]
) -> bool:
    """Whether what is at `spans` is `known`, or declared elsewhere, according to a server that reads where `path` is
    included. Definitions and conditions of macros are understood there.
    """
    if not spans:
        return True
    if not await is_misread_alone(backend, path):
        return False
    language = backend.plugin.language_of(path)
    spans = [
        span
        for span in spans
        if not (is_for_preprocessor(text, span, language) or await _is_in_unused(backend, path, text, span))
    ]
    for span in spans[:_MOST_MEANT]:
        meaning = await definitions.where_included((path, span.start))
        sites = frozenset[Site]().union(*(symbol.sites for symbol in meaning))
        if not sites:
            return False
        if (path, span.start) in sites and sites.isdisjoint(known):
            ids = {one.id for one in meaning if one.id and (path, span.start) not in one.defined}
            if not ids or ids.isdisjoint(await _ids_of(definitions, known)):
                return False
    return len(spans) <= _MOST_MEANT


async def _ids_of(definitions: Definitions, known: Collection[Site]) -> set[str]:
    """The server's identifiers of the first of what is `known`: it may be known by its definition elsewhere."""
    return {one.id for site in sorted(known)[:_MOST_MEANT] for one in await definitions.meaning(site)}


async def _is_in_unused(backend: Backend, path: Path, text: Text, span: Span) -> bool:
    """Whether `span` is in the definition of a macro that nothing else uses, in this file or in others."""
    macro = macro_at(text, span, backend.plugin.language_of(path))
    if macro is None or macro == span:
        return False
    name = text.slice(macro)
    having = await backend.words.files_with(name)
    if having.unknown or len(having.files) > _MOST_MEANT:
        return False
    for other in {path, *having.files}:
        there = text if other == path else await text_or_none(backend, other)
        if there is None or await _uses_macro(backend, other, there, name):
            return False
    return True


async def _uses_macro(backend: Backend, path: Path, text: Text, name: str) -> bool:
    """Whether `text` uses the macro `name`: not only in its own definition, or in conditions."""
    language = backend.plugin.language_of(path)
    for use in await backend.words.occurrences(path, text, name):
        around = macro_at(text, use, language)
        is_own = around is not None and text.slice(around) == name
        if not (is_own or is_for_preprocessor(text, use, language)):
            return True
    return False


def _counted(
    backend: Backend, path: Path, text: Text, name: str, rest: _Rest, owner: str, known: Collection[Site], word: str
) -> list[Span]:
    """The places of `word` in `text` that `rest` may follow; not `known` ones, nor those in classes of other names.

    With an `owner` nothing counts that is only called like `name`.
    """
    if owner and word != name:
        return []
    spans = [
        span
        for span in occurrences_of(text, word, backend.plugin.language_of(path))
        if (path, span.start) not in known and rest.may_follow(text, span)
    ]
    return [span for span in spans if not _is_elsewhere(backend, Place(path, span, text), owner)]


def _is_elsewhere(backend: Backend, place: Place, owner: str) -> bool:
    """Whether a word is that of a local of a function, or of a member of a class that is surely not called `owner`."""
    if not backend.plugin.word_check.member_pattern:
        return False
    language = backend.plugin.language_of(place.path)
    declared = declared_around(place.text, place.span, language.id) if language else None
    return declared is not None and (not declared.owner or owner.lower() not in declared.owner.lower())


async def _declaring(
    backend: Backend, containers: Containers, path: Path, word: str, rest: _Rest, owner: str, lines: Collection[int]
) -> frozenset[int]:
    """Those of `lines` of `path` that may declare what `word` begins, for other files.

    Locals of functions don't, nor do classes that are not called `owner`.
    """
    text = await text_or_none(backend, path)
    language = backend.plugin.language_of(path)
    left: set[int] = set()
    for span in await backend.words.occurrences(path, text, word) if text else ():
        if (
            text is None
            or span.start.line not in lines
            or not rest.may_follow(text, span)
            or defines_nothing(text, span, language)
        ):
            continue
        place = Place(path, span, text)
        if await asyncio.to_thread(_is_elsewhere, backend, place, owner):
            continue
        if await function_around(containers, place) is None:
            left.add(span.start.line)
    return frozenset(left)


def in_order(files: Iterable[Path], symbol: Identity, claim: Claim, doubted: Collection[Path]) -> list[Path]:
    """The likeliest first: doubted files, then files near the definition, then files near uses."""
    home = {path.parent for path, _ in symbol.sites}
    near = {path.parent for path, _ in claim.sites}
    return sorted(
        files, key=lambda path: (path not in doubted, path.parent not in home, path.parent not in near, str(path))
    )


def covered(gaps: Iterable[Gap], files: Collection[Path]) -> frozenset[Path]:
    """Those of `files` that one of `gaps` covers, directly or through a folder."""
    about = {file for gap in gaps for file in gap.files}
    if not about:
        return frozenset()
    folders = {folder for folder in {path.parent for path in files} if about.intersection((folder, *folder.parents))}
    return frozenset(path for path in files if path in about or path.parent in folders)
