"""What reads and writes the fields of a type by their names, because of how the type is declared: `serialized_by`."""

from __future__ import annotations

import re

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.heads import Heads
from lsp_mcp.features.renaming.named_after import Renamed
from lsp_mcp.requests.places import last_word, text_or_none
from lsp_mcp.servers.traits import Serializing

_MOST_FILES = 300  # with the name of a type


async def serialized_by(backend: Backend, renamed: Renamed) -> str:
    """What reads and writes the field `renamed` by its name; empty if nothing is known to."""
    rules, place = backend.plugin.renaming, renamed.symbol.place
    if not rules.serializing or not renamed.owner or renamed.is_local(rules):
        return ""
    heads = Heads(backend)
    if (type_ := await heads.around(place.path, place.span.start)) is None:
        return ""
    text = place.text
    before = text.content[text.point_offset(type_.extent.start) : text.point_offset(place.span.start)]
    own = before + text.content[text.point_offset(place.span.start) :].partition("\n")[0]
    above = await heads.all_above(type_)
    lines = [one.text.line(one.span.start.line) for one in above.outside]
    said = [*[await heads.head(one) for one in (type_, *above.types)], *lines]
    for rule in rules.serializing:
        if (rule.named and re.search(rule.named, own)) or not any(re.search(rule.declared, one) for one in said):
            continue
        if not rule.calls or await _is_called(backend, rule, last_word(renamed.owner)):
            return f"{rule.what} may read and write {renamed.owner}.{renamed.name} by its name"
    return ""


async def _is_called(backend: Backend, rule: Serializing, type_name: str) -> bool:
    """Whether a file with the name of the type makes one of the calls of `rule`."""
    for path in (await backend.words.files_with(type_name)).files[:_MOST_FILES]:
        text = await text_or_none(backend, path)
        if text is not None and re.search(rule.calls, text.content):
            return True
    return False
