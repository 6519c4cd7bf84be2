"""Code that finds a member by its name while the program runs, which no server renames: `found_by_name`.

In Go `x.(interface{ Do() string })`, the encoders of `encoding/json`, templates, and `reflect`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.features.renaming.encoded import encoded_at
from lsp_mcp.features.renaming.named_after import Renamed
from lsp_mcp.features.renaming.serialized import serialized_by
from lsp_mcp.features.renaming.string_mentions import string_mentions
from lsp_mcp.requests.places import text_or_none
from lsp_mcp.text import Text
from lsp_mcp.words.lexing import blanked

_MOST_FILES = 300  # searched for each word
_MOST_BEFORE = 2_000  # characters of a literal type before the name
_NAME = "{name}"


async def found_by_name(
    backend: Backend, renamed: Renamed, new_name: str, changed: Collection[Site], *, strings: bool = True
) -> tuple[str, ...]:
    """What finds the member `renamed`, whose uses are `changed`, by its name, or will by `new_name`; for people.

    With "" as `new_name` it will not be there any more. `strings`: those that look it up count, too.
    """
    if not renamed.owner and not backend.plugin.renaming.looks_up_all:
        return ()
    where = await looked_up(backend, renamed) if strings else ""
    looks_up = f"{where} looks {renamed.name} up in a string" if where else ""
    if renamed.symbol.kind == "method":
        names = (renamed.name, new_name)
        asked = [await _asked_for(backend, renamed, name, changed) if name else "" for name in names]
        said = [
            f"{asked[0]} asks for {renamed.name} while the program runs" if asked[0] else "",
            f"{asked[1]} would find {new_name} while the program runs" if asked[1] else "",
            looks_up,
        ]
    else:
        said = [await _encoded(backend, renamed), await serialized_by(backend, renamed), looks_up]
    return tuple(filter(None, said))


async def _texts(backend: Backend, word: str) -> list[tuple[Path, Text]]:
    files = (await backend.words.files_with(word)).files[:_MOST_FILES]
    return [(path, text) for path in files if (text := await text_or_none(backend, path)) is not None]


async def _asked_for(backend: Backend, renamed: Renamed, name: str, changed: Collection[Site]) -> str:
    """The first unnamed type that has a method called `name` with as many parameters; empty if there is none."""
    if not (pattern := backend.plugin.renaming.literal_type_pattern):
        return ""
    wanted = _parameters(renamed.symbol.detail[renamed.symbol.detail.find("(") :])
    for path, text in await _texts(backend, name):
        code = blanked(text, backend.plugin.language_of(path))
        for span in await backend.words.occurrences(path, text, name):
            start, end = (text.point_offset(point) for point in (span.start, span.end))
            before = code[max(0, start - _MOST_BEFORE) : start]
            if (path, span.start) in changed or not re.search(pattern, before):
                continue
            if _parameters(code[end:].lstrip()) == wanted:
                return _shown(backend, path, span.start.line)
    return ""


def _parameters(signature: str) -> int:
    """How many parameters the list has with which `signature` begins; -1 if it begins with none."""
    depth, found = 0, 0
    for at, character in enumerate(signature):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            return found + bool(signature[1:at].strip()) if signature.startswith("(") else -1
        found += depth == 1 and character == ","
    return -1


async def _encoded(backend: Backend, renamed: Renamed) -> str:
    """The encoder that writes the field by its name."""
    place, rules = renamed.symbol.place, backend.plugin.renaming
    private = backend.plugin.visibility and backend.plugin.visibility.private_names
    if renamed.symbol.kind != "field" or not rules.encoders or (private and re.match(private, renamed.name)):
        return ""
    own = place.text.line(place.span.start.line)
    home = place.text.slice(renamed.home) if renamed.home else own
    for name, encoder in rules.encoders.items():
        named = encoder.tag_pattern.replace(_NAME, name)
        if encoder.tag_pattern and re.search(named, own):
            continue
        said = f"{name} may read and write {renamed.owner}.{renamed.name} by its name"
        if encoder.tag_pattern and re.search(named, home):
            return said
        if at := await encoded_at(backend, name, encoder, renamed.owner, place.path.parent):
            return f"{said}: {_shown(backend, at.path, at.span.start.line)} may get one"
    return ""


async def looked_up(backend: Backend, renamed: Renamed) -> str:
    """File and line of the first string by which the member is looked up, in a template or a call; empty if none is."""
    rules = backend.plugin.renaming
    if not (pattern := rules.look_up_pattern) or renamed.is_local(rules):
        return ""
    for place in await string_mentions(backend, renamed.name):
        start = place.text.point_offset(place.span.start)
        if re.search(pattern, place.text.content[max(0, start - _MOST_BEFORE) : start]):
            return _shown(backend, place.path, place.span.start.line)
    return ""


def _shown(backend: Backend, path: Path, line: int) -> str:
    shown = path.relative_to(backend.root) if path.is_relative_to(backend.root) else path
    return f"{shown}:{line}"
