"""Words in code of macros that end a path which means the same wherever these are called: `absolute_meanings`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from lsp_mcp.backend import Backend, Trial
from lsp_mcp.evidence.definitions import Meaning, Site, Symbol
from lsp_mcp.protocol.lsp import Location
from lsp_mcp.requests.places import Place, by_file, position_params, text_or_none
from lsp_mcp.requests.scope import locations
from lsp_mcp.text import Text
from lsp_mcp.uris import uri_path

_BEFORE = 200  # characters examined before a word


def absolute_paths(backend: Backend, places: Sequence[Place]) -> Mapping[Place, str]:
    """The paths before those of `places` that end one, such as `crate::a` of `$crate::a::word`."""
    pattern = backend.plugin.word_check.absolute_pattern
    return {place: path for place in places if (path := _path_before(place, pattern))} if pattern else {}


async def absolute_meanings(backend: Backend, trial: Trial, paths: Mapping[Place, str]) -> dict[Site, Meaning]:
    """What the places of `paths` mean, all of one name: what the path with it does in the code of their file.

    The server is shown the paths at the end of the file.
    """
    found: dict[Site, Meaning] = {}
    for file, there in by_file(paths).items():
        plain = there[0].text
        name = plain.slice(there[0].span)
        left = dict.fromkeys(paths[place] for place in there)
        for code in backend.plugin.word_check.absolute_codes:
            shown, starts = _with_paths(plain, code, list(left), name)
            trial.show(file, shown)
            for path, start in starts.items():
                if meaning := await _meaning(backend, trial, file, shown, start, name):
                    found |= {place.site: meaning for place in there if paths[place] == path}
                    del left[path]
        trial.show(file, plain)
    return found


# --- inside ------------------------------------------------------------------------------------


def _with_paths(plain: Text, code: str, paths: Sequence[str], name: str) -> tuple[Text, dict[str, int]]:
    """`plain` with `code` for each of `paths` at the end, and where `name` stands in that."""
    content, starts = plain.content, dict[str, int]()
    for number, path in enumerate(paths):
        one = code.format(number=number, path=path, name=name)
        starts[path] = len(content) + one.index(f"{path}::{name}") + len(f"{path}::")
        content += one
    return Text(content), starts


def _path_before(place: Place, pattern: str) -> str:
    end = place.text.point_offset(place.span.start)
    found = re.search(pattern, place.text.content[max(0, end - _BEFORE) : end])
    return re.sub(r"\s", "", found["path"]) if found else ""


async def _meaning(backend: Backend, trial: Trial, file: Path, shown: Text, start: int, name: str) -> Meaning:
    """What stands at an offset of the `shown` text; nothing if its definition does not spell `name`."""
    asked = position_params(file, shown, shown.offset_point(start), trial.encoding)
    listed = locations(await trial.request(backend.plugin.word_check.request, asked))
    sites = [await _site(backend, trial, file, shown, one, name) for one in listed]
    return frozenset(Symbol(frozenset([site]), name=name) for site in sites if site) if all(sites) else frozenset()


async def _site(backend: Backend, trial: Trial, file: Path, shown: Text, location: Location, name: str) -> Site | None:
    path = uri_path(location["uri"])
    text = shown if path == file else await text_or_none(backend, path)
    if text is None:
        return None
    start = text.position_point(location["range"]["start"], trial.encoding)
    span = text.identifier_at(start)
    return (path, start) if span and text.slice(span) == name else None
