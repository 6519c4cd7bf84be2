"""What types declare that a server's search by name does not know, as those inside functions: `in_local_types`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import count
from lsp_mcp.remembered import RememberedOf, kept_in_thread
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.servers.traits import LocalTypes
from lsp_mcp.syntax.local_types import Declared, Kind, declared_locally
from lsp_mcp.text import Span, Text

_MOST_FILES = 500
_BEFORE = 400  # characters examined before a name
_MOST_KEPT = 20_000  # declarations: 6 MB
_KEPT: RememberedOf[Backend, Path, str, list[Declared]] = RememberedOf(_MOST_KEPT)  # the stamp is the text


class InLocalTypes(Struct, frozen=True):
    """What seems to be declared by a name there, with its possible kinds; `unread`: not every file was looked at."""

    places: tuple[tuple[Place, tuple[Kind, ...]], ...] = ()
    unread: bool = False


async def in_local_types(
    backend: Backend, parts: Sequence[str], known: Collection[Place] = (), *, embedded: bool = False
) -> InLocalTypes:
    """The places in the workspace where the name `parts`, as `Type`, `method`, is declared there, by the text.

    Fields that have the name of a type, which they embed, only if `embedded`. Nothing for a server whose search by
    name finds these; none of those that are `known`.
    """
    rules = backend.plugin.symbols.local_types
    if rules is None or not parts or not parts[-1].isidentifier():
        return InLocalTypes()
    *owners, word = parts
    words = await backend.words.files_with(word, seconds=budget.left())
    has = {(place.path, place.span.start) for place in known}
    found: list[tuple[Place, tuple[Kind, ...]]] = []
    kept = _KEPT.for_owner(backend)
    files = sorted(path for path in words.files if path.is_relative_to(backend.root))
    for path in files[:_MOST_FILES]:
        language = backend.plugin.language_of(path)
        if not (language and (text := await text_or_none(backend, path))):
            continue
        spans = [*await backend.words.occurrences(path, text, word)]
        if not any(_may_be_declared(text, span, rules) for span in spans):
            continue
        declared = await kept_in_thread(kept, path, text.content, partial(declared_locally, text, language.id))
        found += [
            (Place(path, one.span, text), one.kinds)
            for one in declared
            if one.name == word
            and (path, one.span.start) not in has
            and (embedded or not one.embedded)
            and any(_is_in(one.around, owners, kind) for kind in one.kinds)
        ]
    return InLocalTypes(tuple(found), bool(words.unknown) or len(files) > _MOST_FILES)


def not_searched(backend: Backend, word: str, places: Sequence[Place], *, unread: bool) -> list[Gap]:
    """That the search by name did not find what is declared at `places`, or, if `unread`, may not have found some."""
    if not places:
        return [Gap("not_read", f"not searched in time for {word}: {_subject(backend)}")] if unread else []
    text = f"not searched: {_subject(backend)}, which may declare {word}, at {_listed(backend, word, places)}"
    return [Gap("not_searched", text, tuple(dict.fromkeys(place.path for place in places)), about=word)]


async def local_namesakes(backend: Backend, parts: Sequence[str], known: Collection[Place]) -> str:
    """A remark that such types may declare the name `parts`, too, beside the `known` places; empty if they don't."""
    places = [place for place, _ in (await in_local_types(backend, parts, known)).places]
    return f"{_subject(backend)} may declare it, too, at {_listed(backend, parts[-1], places)}" if places else ""


def _listed(backend: Backend, word: str, places: Sequence[Place]) -> str:
    first = places[0]
    address = f"{first.path.relative_to(backend.root).as_posix()}:{first.span.start.line}:{word}"
    more = f" and {count(len(places) - 1, 'other place')}" if len(places) > 1 else ""
    return f"{address}{more}"


def _subject(backend: Backend) -> str:
    rules = backend.plugin.symbols.local_types
    return rules.subject if rules else ""


def _may_be_declared(text: Text, span: Span, rules: LocalTypes) -> bool:
    """Whether what is directly beside a word does not tell that it is only used there."""
    content, start, end = text.content, text.point_offset(span.start), text.point_offset(span.end)
    before = content[max(0, start - _BEFORE) : start]
    return bool(re.search(rules.before_pattern, before) and re.compile(rules.after_pattern).match(content, end))


def _is_in(around: Sequence[str], owners: Sequence[str], kind: Kind) -> bool:
    """Whether a name in `around` can be qualified by `owners`; namespaces are not looked at."""
    if not owners:
        return True
    if kind in ("field", "method"):
        return bool(around) and around[-1] == owners[-1]
    return owners[-1] in around
