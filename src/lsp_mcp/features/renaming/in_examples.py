"""What the code of examples, in comments, means to the server if it is shown as code: `read_examples`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct

from lsp_mcp.adapters import Language
from lsp_mcp.backend import Backend, Trial
from lsp_mcp.errors import LspMcpError
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.requests.places import Place, by_file, position_params, text_or_none
from lsp_mcp.requests.scope import locations
from lsp_mcp.servers.traits import Examples
from lsp_mcp.text import Text
from lsp_mcp.uris import uri_path
from lsp_mcp.waiting import share_of_rest
from lsp_mcp.words.lexing import code_in, occurrences

log = logging.getLogger(__name__)

_MOST_FILES = 40  # shown to the server for one rename
_SHARE = 0.3  # of the time of a call


class Read(Struct, frozen=True):
    """Places in examples that are the `same` symbol, and those that still `may` mean it, each with what it is."""

    same: tuple[Place, ...] = ()
    may: tuple[tuple[Place, str], ...] = ()


async def read_examples(backend: Backend, may: Sequence[tuple[Place, str]], sites: Collection[Site]) -> Read:
    """What the server says about places that `may` mean the symbol at `sites`, as far as they are in examples.

    What it does not say in time stays as it is. All questions that are being answered begin again.
    """
    shown = await _shown(backend, [place for place, _ in may])
    said: dict[Site, bool] = {}
    try:
        async with asyncio.timeout(share_of_rest(_SHARE)):
            for path, (examples, places) in shown.items():
                async with backend.problems.trial() as trial:
                    trial.show(path, examples.text)
                    for place in places:
                        is_same = await _says(backend, trial, examples, place, sites)
                        if is_same is not None:
                            said[place.site] = is_same
    except (TimeoutError, LspMcpError) as error:
        log.info("examples were not read to the end: %s", error)
    known = [(place, what, said.get(place.site)) for place, what in may]
    return Read(
        tuple(place for place, _, is_same in known if is_same),
        tuple((place, what) for place, what, is_same in known if is_same is None),
    )


# --- inside ------------------------------------------------------------------------------------


async def _shown(backend: Backend, places: Sequence[Place]) -> dict[Path, tuple[Examples, list[Place]]]:
    """The files with such places, as they can be shown, and the places that are in examples there."""
    found: dict[Path, tuple[Examples, list[Place]]] = {}
    for path, there in list(by_file(places).items())[:_MOST_FILES]:
        if backend.plugin.language_of(path) is None:
            continue
        text = there[0].text
        if (examples := await asyncio.to_thread(backend.plugin.examples, path, text)) is None:
            continue
        inside = [one for one in there if examples.shown(text.point_offset(one.span.start)) is not None]
        if inside:
            found[path] = examples, inside
    return found


async def _says(
    backend: Backend, trial: Trial, examples: Examples, place: Place, sites: Collection[Site]
) -> bool | None:
    """Whether the word at `place` is the symbol at `sites`; None if the server does not say."""
    name = place.text.slice(place.span)
    offset = examples.shown(place.text.point_offset(place.span.start))
    if offset is None:
        return None
    language = backend.plugin.language_of(place.path)
    start = examples.text.offset_point(offset)
    spans = await asyncio.to_thread(occurrences, examples.text, name, language)
    if not any(span.start == start for span in spans) and not _is_in_braces(examples.text, offset, language):
        return False  # a string or a comment in it, or a part of another word
    at = position_params(place.path, examples.text, start, trial.encoding)
    said = locations(await trial.request(backend.plugin.word_check.request, at))
    meant: list[bool] = []
    for one in said:
        path = uri_path(one["uri"])
        text = examples.text if path == place.path else await text_or_none(backend, path)
        if text is None:
            return None
        point = text.position_point(one["range"]["start"], trial.encoding)
        span = text.identifier_at(point)
        if span is None or text.slice(span) != name:
            return None  # an alias, or what a macro makes
        meant.append((path, point) in sites)
    return meant[0] if meant and len(set(meant)) == 1 else None


def _is_in_braces(text: Text, offset: int, language: Language | None) -> bool:
    """Whether the word at `offset` is in braces of a string, where code may be."""
    code = code_in(text, language)
    if code is None or code.part(offset) != "string" or (around := code.around(offset)) is None:
        return False
    opening, closing = (text.content.rfind(brace, around[0], offset) for brace in "{}")
    return opening > closing
