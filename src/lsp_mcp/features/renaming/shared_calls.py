"""Calls that may mean one or another overload: `shared_calls`, of a function at `home_of`.

Which overload a call means whose arguments depend on the parameters of a template, only an instance decides. A server
lists it as a use of each.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Definitions, Site, Symbol
from lsp_mcp.remembered import Remembered
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.requests.symbols import Symbol as Named
from lsp_mcp.requests.workspace_symbol import is_named, workspace_symbols
from lsp_mcp.text import Span, Text

_MOST_NAMES = 10_000  # searched for overloads
_MOST_ASKED = 3_000  # places
_CALLED = re.compile(r"\s*[<(]")
_OVERLOADED = ("function", "method")
_TEMPLATES: Remembered[Path, int, bool] = Remembered(5_000)  # files


class Home(Struct, frozen=True):
    """The `scopes` where the symbol called `name` is defined, at `sites`, and whether other functions there have its
    name.
    """

    name: str
    sites: frozenset[Site]
    scopes: frozenset[str]
    is_overloaded: bool

    def outside(self, files: Collection[Path]) -> Home:
        """What is declared in other files than these."""
        return replace(self, sites=frozenset(site for site in self.sites if site[0] not in files))


class Shared(Struct, frozen=True):
    """Places that mean an overload, too, and places of which that is `unknown`."""

    shared: tuple[Place, ...] = ()
    unknown: tuple[Place, ...] = ()


async def home_of(backend: Backend, path: Path, identifier: Span, name: str) -> Home:
    """The scopes of the symbol at `identifier` of `path`, and whether it is overloaded there.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    # A server may return a declaration as the definition.
    definitions = {(path, identifier.start), *await definition_places(backend, path, identifier.start)}
    named = (await workspace_symbols(backend, name, _MOST_NAMES)).symbols
    separator = backend.plugin.symbols.scope_separator
    own = [symbol for symbol in named if _site(symbol) in definitions]
    scopes = frozenset(scope_of(symbol.name, separator) for symbol in own)
    is_overloaded = any(
        symbol.kind in _OVERLOADED
        and is_named(symbol.name, name)
        and scope_of(symbol.name, separator) in scopes
        and _site(symbol) not in definitions
        for symbol in named
    )
    return Home(name, frozenset(definitions), scopes, is_overloaded)


async def shared_calls(
    backend: Backend, definitions: Definitions, home: Home, asked: Sequence[Place], places: Collection[Place],
) -> Shared:  # fmt: skip
    """Those of `asked` that mean an overload of the symbol, too, as far as the `budget` allows.

    All `places` of it are known.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    if not home.is_overloaded:
        return Shared()
    sites = home.sites.union((place.path, place.span.start) for place in places)
    await definitions.learn(asked[:_MOST_ASKED])
    shared: list[Place] = []
    unknown: list[Place] = []
    overloads: dict[Symbol, bool] = {}
    for place in asked:
        meaning = definitions.known((place.path, place.span.start))
        # What is declared at one of the places, such as a `using`, belongs to the symbol.
        others = {
            one
            for one in meaning or ()
            if len(meaning or ()) > 1 and one.name in ("", home.name) and one.sites.isdisjoint(sites)
        }
        for one in others - overloads.keys():
            overloads[one] = not await _forwards(definitions, one)
        if meaning is None:
            unknown.append(place)
        elif any(overloads[one] for one in others):
            shared.append(place)
    return Shared(tuple(shared), tuple(unknown))


async def shared_uses(backend: Backend, definitions: Definitions, at: Place, places: Sequence[Place]) -> Shared:
    """Those of `places`, all uses of the symbol at `at`, that may mean an overload of it, if the `budget` allows.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    pattern = backend.plugin.word_check.template_pattern
    name = at.text.slice(at.span)
    if not pattern or not any(_CALLED.match(one.text.content, one.text.point_offset(one.span.end)) for one in places):
        return Shared()
    texts = {place.path: place.text for place in places}
    having = {path for path, text in texts.items() if _may_have_templates(path, text, pattern)}
    asked = [place for place in places if place.path in having and place.text.slice(place.span) == name]
    if not asked:
        return Shared()
    home = await home_of(backend, at.path, at.span, name)
    return await shared_calls(backend, definitions, home, asked, places)


def _may_have_templates(path: Path, text: Text, pattern: str) -> bool:
    """Whether `pattern` is found in the text of `path`; cached, since a question looks at all files with a use."""
    if (known := _TEMPLATES.get(path, hash(text.content))) is None:
        known = re.search(pattern, text.content) is not None
        _TEMPLATES.put(path, hash(text.content), known, 1)
    return known


async def _forwards(definitions: Definitions, symbol: Symbol) -> bool:
    """Whether the symbol is another's name, such as a `using`: where it is declared, it means that one, too."""
    return any([len(await definitions.meaning(site)) > 1 for site in symbol.sites])


def scope_of(name: str, separator: str) -> str:
    """What qualifies a name: `ns` of `ns::f`."""
    return name.rpartition(separator)[0] if separator else ""


def _site(symbol: Named) -> Site:
    return symbol.place.path, symbol.place.span.start
