"""Uses of a symbol that do not spell its name, and that the server does not list: `implied`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Definitions, Site
from lsp_mcp.evidence.identity import sites_of
from lsp_mcp.gaps import Gap
from lsp_mcp.requests.places import text_or_none
from lsp_mcp.servers.traits import Implied
from lsp_mcp.text import Span, Text
from lsp_mcp.words.visibility import Symbol

_MOST_FILES = 300  # in which code is looked for; in more it is taken to be there


async def implied(backend: Backend, definitions: Definitions, path: Path, text: Text, span: Span) -> list[Gap]:
    """The gap for uses of the symbol at `span` of `path` that have no name, if this workspace may have any.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    rules = backend.plugin.word_check
    if not rules.implied:
        return []
    at = path, span.start
    meaning = await definitions.meaning(at)
    sites = sites_of(meaning) or frozenset([at])
    declared = [_from(there, site) for site in sites if (there := await text_or_none(backend, site[0]))]
    if rules.unusable_pattern and any(re.match(rules.unusable_pattern, one) for one in declared):
        return []
    spelled, written = [*declared, _from(text, at)], [one.written for one in meaning]
    meant = [one for one in rules.implied if _is_about(one, spelled, written)]
    name, files = text.slice(span), {path for path, _ in sites}
    found = [one.what for one in meant if await _may_be(backend, one, name, files)]
    if not found:
        return []
    what = ", ".join(dict.fromkeys(found))
    return [Gap("not_searched", f"not counted: uses without its name ({what})", about="implied")]


def _from(text: Text, site: Site) -> str:
    return text.content[text.point_offset(site[1]) :]


def _is_about(one: Implied, spelled: Iterable[str], written: Iterable[str]) -> bool:
    if one.pattern and any(re.match(one.pattern, one_text) for one_text in spelled):
        return True
    return bool(one.written) and any(re.search(one.written, named) for named in written)


async def _may_be(backend: Backend, one: Implied, name: str, declared: Collection[Path]) -> bool:
    """Whether the workspace may have such uses of the symbol `name`, which is `declared` in these files."""
    if one.flags and not await backend.coverage.compiles_with(one.flags):
        return False
    texts = [text for path in declared if (text := await text_or_none(backend, path))] if one.beside else []
    if not all(any(re.search(pattern, text.content) for text in texts) for pattern in one.beside):
        return False
    if not one.words:
        return True
    files: set[Path] = set()
    for word in one.words:
        having = await backend.words.files_with(word, seconds=budget.left())
        if having.unknown:
            return True
        files.update(having.files)
    if not one.code:
        return bool(files)
    seeing = await backend.words.that_can_see(files, Symbol(name, tuple(sorted(declared)), internal=True))
    for number, path in enumerate(sorted(seeing)):
        if number >= _MOST_FILES:
            return True
        text = await text_or_none(backend, path)
        if text and re.search(one.code, text.content):
            return True
    return False
