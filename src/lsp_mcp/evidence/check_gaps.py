"""Gaps and news of an answer compared with the text: added places and unexplained ones."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.gaps import Gap, news
from lsp_mcp.prose import count, first_few
from lsp_mcp.requests.places import Place
from lsp_mcp.syntax.grammars import has_grammar
from lsp_mcp.text import Point, Text
from lsp_mcp.words.workspace_words import FilesWith

_MOST_NAMED = 3  # places or files listed in a gap


def added(backend: Backend, places: Sequence[Place], by_spelling: Collection[Place] = ()) -> list[Gap]:
    """The news that `places` were added to an answer, some of them by spelling (`evidence.explainers.in_function`)."""
    if not places:
        return []
    named = first_few([_shown(place, backend.root) for place in places], _MOST_NAMED)
    text = f"added {count(len(places), 'place')} that {backend.plugin.name} itself left out: {named}"
    if by_spelling:
        which = "" if len(by_spelling) == len(places) else f"{len(by_spelling):,} "
        text += f" ({which}by spelling, as in the rest of the function)"
    return [news("added", text, files=_files(places))]


def unlisted(words: FilesWith) -> list[Gap]:
    """The gap for files that may contain a word and are not indexed yet."""
    return [Gap("unverified", f"not all files are known yet: {words.unknown}")] if words.unknown else []


async def meaningless(backend: Backend, name: str, at: tuple[Path, Point], text: Text | None) -> list[Gap]:
    """The gap for an answer without any place about the symbol `at` a place of `text` that the server does not know."""
    where = _site(*at, backend.root)
    hint = await asyncio.to_thread(backend.plugin.build_hint, [(at[0], text, at[1])]) if text else ""
    about = f"what {name} means at {where}; {hint or 'ask at another use'}"
    said = f"unverified: {backend.plugin.name} does not know {about}"
    return [Gap("unverified", said, about="meaning")]


async def unexplained(backend: Backend, name: str, places: Sequence[Place]) -> list[Gap]:
    """The gap for `places` that the server does not explain."""
    if not places:
        return []
    shown = first_few([_shown(place, backend.root) for place in places], _MOST_NAMED)
    known = [(place.path, place.text, place.span.start) for place in places]
    hint = await asyncio.to_thread(backend.plugin.build_hint, known)
    text = f"unverified: {_number(name, places)} that {backend.plugin.name} does not explain: {shown}"
    text += f"; {hint}" if hint else ""
    return [Gap("unverified", text, _files(places), about="unknown")]


def unproven(name: str, places: Sequence[Place], unread: Collection[Path], pending: Collection[Path]) -> list[Gap]:
    """The one gap for what was not compared in time: `places`, `unread` files, `pending` files of other builds."""
    parts = [_number(name, places)] if places else []
    if unread:
        parts.append(f"{name} in {count(len(unread), 'more file')}")
    if pending:
        names = first_few(sorted({path.name for path in pending}), _MOST_NAMED)
        parts.append(f"{count(len(pending), 'file')} of other builds ({names})")
    if not parts:
        return []
    files = (*_files(places), *unread, *sorted(pending))
    return [Gap("unverified", f"unverified: {', and '.join(parts)}; ask again", files, about="unproven")]


def named_elsewhere(backend: Backend, name: str, files: Sequence[Path]) -> list[Gap]:
    """The gap for `files` that may have the symbol by a `name` that is not the one of its declaration."""
    shown = first_few([str(path.relative_to(backend.root)) for path in sorted(files)], _MOST_NAMED)
    text = (
        f"unverified: {name} is another name of what is declared; uses by it may be in {shown}; ask at the declaration"
    )
    return [Gap("unverified", text, tuple(sorted(files)), about="named")]


def not_text(backend: Backend, name: str, files: Sequence[Path]) -> list[Gap]:
    """The gap for `files` with `name` that are not text."""
    if not files:
        return []
    shown = first_few([path.relative_to(backend.root).as_posix() for path in files], _MOST_NAMED)
    text = f"not UTF-8, so not searched for {name}: {shown}"
    return [Gap("not_searched", text, tuple(files), brief=f"not UTF-8, so not searched for {name}", about=shown)]


def compared_without_grammar(backend: Backend, places: Iterable[Place]) -> list[Gap]:
    """The news that some of `places` are maybe in comments or strings: nothing tells, in their language."""
    languages = {language for place in places if (language := backend.plugin.language_of(place.path))}
    names = sorted(language.name for language in languages if not has_grammar(language.id))
    return [news("setup", f"words were compared without a grammar of {' and '.join(names)}")] if names else []


def without(known: Sequence[Gap], gaps: Iterable[Gap]) -> list[Gap]:
    """Those of `gaps` that share no file with any of `known`."""
    files = {file for gap in known for file in gap.files}
    return [gap for gap in gaps if files.isdisjoint(gap.files)]


def lines_of(places: Iterable[Place], *, except_in: Collection[Path] = ()) -> dict[Path, frozenset[int]]:
    """The lines of `places` by file, without the files in `except_in`."""
    found: dict[Path, set[int]] = {}
    for place in places:
        if place.path not in except_in:
            found.setdefault(place.path, set()).add(place.span.start.line)
    return {path: frozenset(lines) for path, lines in found.items()}


def _files(places: Iterable[Place]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(place.path for place in places))


def _shown(place: Place, root: Path) -> str:
    return _site(place.path, place.span.start, root)


def _site(path: Path, point: Point, root: Path) -> str:
    return f"{path.relative_to(root) if path.is_relative_to(root) else path} {point.line}:{point.character}"


def _number(name: str, places: Sequence[Place]) -> str:
    files = _files(places)
    where = f" in {count(len(files), 'file')}" if len(files) > 1 else ""
    return f"{count(len(places), 'occurrence')} of {name}{where}"
