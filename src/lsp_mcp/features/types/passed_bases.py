"""Types that have a parameter of their template as a base, as `struct Mixin : T`: `passed_bases`."""

from __future__ import annotations

import re

from lsp_mcp.backend import Backend
from lsp_mcp.features.types.base_clauses import BaseClauses
from lsp_mcp.gaps import Gap
from lsp_mcp.requests.containers import Container
from lsp_mcp.requests.places import last_word, text_or_none
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.requests.workspace_symbol import is_named, workspace_symbols

_MOST = 1_000  # symbols of one name


async def passed_bases(backend: Backend, type_: Symbol, method: Container) -> list[Gap]:
    """The gap for what `method`, of `type_` or a type below it, may override in the argument of a template.

    None if `type_` has no such base, or nothing else has the method's name and the text does not say that it overrides.
    """
    rules, place = backend.plugin.hierarchy, type_.place
    text = await text_or_none(backend, place.path) if rules else None
    if not rules or not text:
        return []
    name = last_word(type_.name.partition("<")[0])
    if name not in (await BaseClauses(backend).statements(place.path, text)).mixins:
        return []
    own = method.place.text.slice(method.place.span)
    declared = method.place.text.content[method.place.text.point_offset(method.place.span.end) :]
    if not re.match(rules.override_pattern, declared):
        named = (await workspace_symbols(backend, own, _MOST)).symbols
        if all(one.kind != "method" or one.name == method.name or not is_named(one.name, own) for one in named):
            return []
    why = f"{name} has a parameter of its template as a base: which methods {own} overrides depends on the arguments"
    return [Gap("unverified", why, (place.path,), about=own)]
