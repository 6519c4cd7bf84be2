"""The identity of a symbol, for comparing it with occurrences of its name: `identity`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.errors import LspMcpError
from lsp_mcp.evidence.definitions import Definitions, Meaning, Site, Symbol
from lsp_mcp.evidence.run_time_exports import exposed_in, exposed_under
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.places import text_or_none
from lsp_mcp.requests.symbols import Symbol as Outlined
from lsp_mcp.requests.symbols import flat
from lsp_mcp.syntax.grammars import has_query
from lsp_mcp.syntax.own_names import OWN_NAMES, own_scope
from lsp_mcp.syntax.parameters import PARAMETERS, is_named_in_calls
from lsp_mcp.text import Point, Span
from lsp_mcp.words import visibility

_FUNCTIONS = ("method", "constructor", "function")
_TYPES = ("class", "struct", "interface", "enum", "type_parameter")
_FIELDS = ("field", "property", "enum_member")
_BEFORE = 500  # characters examined before a parameter
_VALUES = ("variable", "constant", "property", "field")
_MEMBERS = ("method", "constructor", "property", "field", "enum_member")


class Identity(Struct, frozen=True):
    """What tells a symbol called `name` from others of that name.

    `sites` are its definitions and declarations known to a server, `ids` the server's names for it. Outside of `local`,
    a range of a file, no word can mean it, or only one that names an argument (`is_named_in_calls`); if it is
    `internal`, only files that include its declaration can. `aliased`
    are the ids of the symbol that it is another name for. It is `defined` there, if the server says so, and `apart` are
    declarations of other symbols that have one of its ids. A linker joins all that is `linked` by that name.
    """

    name: str
    sites: frozenset[Site]
    role: visibility.Role = "unknown"
    owner: str = ""
    unnamed_owner: bool = False
    overrides: bool = True
    local: tuple[Path, Span] | None = None
    is_named_in_calls: bool = False
    ids: frozenset[str] = frozenset()
    internal: bool = False
    aliased: frozenset[str] = frozenset()
    defined: frozenset[Site] = frozenset()
    apart: frozenset[Site] = frozenset()
    linked: str = ""

    def is_meant_by(self, symbol: Symbol) -> bool:
        """Whether `symbol`, from the server, is this one."""
        if not self.sites.isdisjoint(symbol.sites):
            return True
        is_another = symbol.is_another(self.defined) or not self.apart.isdisjoint(symbol.sites)
        return symbol.id in self.ids and not is_another

    @property
    def files(self) -> frozenset[Path]:
        """Those that declare it."""
        return frozenset(path for path, _ in self.sites)

    @property
    def seen_as(self) -> visibility.Symbol:
        """The facts that decide about its visibility."""
        files = tuple(sorted({path for path, _ in self.sites}))
        owner, unnamed = self.owner, self.unnamed_owner
        return visibility.Symbol(self.name, files, self.role, owner, unnamed, self.overrides, self.internal)


async def identity(
    backend: Backend, definitions: Definitions, name: str, at: Site, listed: Collection[Site] = ()
) -> Identity | None:
    """The identity of the symbol at `at`; None if no declaration spells `name`: then only its own file uses that name.

    Unless a module exports it by that name at one of the places that the server has `listed`.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    meaning = await definitions.meaning(at)
    ids = frozenset(symbol.id for symbol in meaning if symbol.id)
    sites = {site for symbol in meaning for site in symbol.sites}
    if sites and not ids and at not in sites and (field := await _field(backend, name, at)):
        return field  # an embedded field: its definition is the type's, its uses are its own
    for one in () if ids else tuple(sites):
        for other in sites_of(await definitions.meaning(one)):
            # A definition may lead to its declaration and back; an embedded field always leads to its type.
            if one in sites_of(await definitions.meaning(other)):
                sites.add(other)
    spelled = {site for site in sites if await _spells(backend, site, name)}
    if makers := {site for site in sites - spelled if await _is_maker(backend, site)}:
        return Identity(name, frozenset(makers))
    if sites and not spelled:
        exported = await exposed_under(backend, definitions, name, sites, frozenset(listed))
        return Identity(name, exported) if exported else None
    if not spelled:
        return Identity(name, frozenset({at}))
    internal = bool(meaning) and all(symbol.internal for symbol in meaning)
    aliased = frozenset[str]().union(*(symbol.aliased for symbol in meaning))
    defined = frozenset[Site]().union(*(symbol.defined for symbol in meaning))
    joined = {symbol.linked for symbol in meaning}
    linked = joined.pop() if len(joined) == 1 else ""
    whole = Identity(
        name, frozenset(spelled), ids=ids, internal=internal, aliased=aliased, defined=defined, linked=linked
    )
    if scope := await _own_scope(backend, spelled, at):
        return replace(whole, role="local", local=(at[0], scope))
    for path, point in sorted(spelled):
        try:
            outline = await document_symbols(backend, path)
        except LspMcpError:
            continue
        if found := await _in_outline(backend, whole, (path, point), outline):
            return found
    return whole


async def _own_scope(backend: Backend, sites: Collection[Site], at: Site) -> Span | None:
    """The code that alone can use the name declared at one of `sites`, if that has `at`, where that names no member.

    None if a module exports a function of that name by that name: TypeScript 7.0 takes the one for the other.
    """
    path, point = at
    text, language = await text_or_none(backend, path), backend.plugin.language_of(path)
    if text is None or language is None or not has_query(language.id, OWN_NAMES):
        return None
    if text.content[: text.point_offset(point)].endswith("."):
        return None
    exported = await exposed_in(backend, path, text)
    for one in {start for file, start in sites if file == path} - exported.keys():
        scope = await asyncio.to_thread(own_scope, text, language.id, one)
        if scope and scope.start <= point < scope.end:
            return scope
    return None


async def _in_outline(backend: Backend, whole: Identity, site: Site, outline: Collection[Outlined]) -> Identity | None:
    """`whole` with what the outline of its file says about its declaration at a `site`; None if it says nothing."""
    path, point = site
    listed, above = _listed(outline, point), _around(outline, point)
    function = _declaring(listed) if listed else next((s for s in above if s.kind in _FUNCTIONS), None)
    if function and (scope := function.extent) and all(_is_in(one, path, scope) for one in whole.sites):
        named = await _is_named_in_calls(backend, path, point)
        return replace(whole, role="local", local=(path, scope), is_named_in_calls=named)
    if listed:
        return _outlined(whole, listed)
    if len(whole.sites) > 1:
        return None
    if above and await _is_own_parameter(backend, path, point, above[-1]):
        return replace(whole, role="local", local=(path, above[-1].extent or above[-1].place.span))
    after = await _parameter_scope(backend, path, point, outline)
    return replace(whole, role="local", local=(path, after)) if after else None


def sites_of(meaning: Meaning) -> frozenset[Site]:
    """All declarations and definitions of the symbols that it may be."""
    return frozenset(site for symbol in meaning for site in symbol.sites)


async def _field(backend: Backend, name: str, at: Site) -> Identity | None:
    """The field that is declared at `at`, or None."""
    try:
        above = _listed(await document_symbols(backend, at[0]), at[1])
    except LspMcpError:
        return None
    if not above or above[-1].kind != "field":
        return None
    return _outlined(Identity(name, frozenset({at})), above)


async def _spells(backend: Backend, site: Site, name: str) -> bool:
    path, point = site
    text = await text_or_none(backend, path)
    return text is not None and text.content.startswith(name, text.point_offset(point))


async def _is_maker(backend: Backend, site: Site) -> bool:
    """Whether a call of a macro stands at `site`: what it makes by a name of its own is used elsewhere, too."""
    path, point = site
    text = await text_or_none(backend, path)
    pattern = re.compile(backend.plugin.word_check.maker_pattern)
    return text is not None and pattern.match(text.content, text.point_offset(point)) is not None


async def is_parameter(backend: Backend, site: Site) -> bool:
    """Whether a parameter of a template is declared at `site`."""
    path, point = site
    pattern, text = backend.plugin.word_check.parameter_pattern, await text_or_none(backend, path)
    if not (pattern and text):
        return False
    start = text.point_offset(point)
    return bool(re.search(pattern, text.content[max(0, start - _BEFORE) : start]))


async def _is_own_parameter(backend: Backend, path: Path, point: Point, declared: Outlined) -> bool:
    """Whether a type parameter of `declared` is declared at `point`."""
    rules, text = backend.plugin.word_check, await text_or_none(backend, path)
    if text is None:
        return False
    pattern, header, end = rules.own_parameter_pattern, rules.header_pattern, declared.place.span.end
    if header and declared.extent and re.search(rf"{header}\Z", text.slice(Span(declared.extent.start, point))):
        return True
    return bool(pattern and end < point and re.fullmatch(pattern, text.slice(Span(end, point))))


async def _parameter_scope(backend: Backend, path: Path, point: Point, outline: Collection[Outlined]) -> Span | None:
    """The scope of the template parameter declared at `point`; None if there is none."""
    text = await text_or_none(backend, path)
    if text is None or not await is_parameter(backend, (path, point)):
        return None
    start = text.point_offset(point)
    declared = min((one for one in flat(tuple(outline)) if one.place.span.start > point), key=_name_start, default=None)
    if declared is None or declared.extent is None:
        return None
    between = text.content[start : text.point_offset(declared.place.span.start)]
    return None if re.search("[;{}]", between) else Span(point, declared.extent.end)


def _name_start(symbol: Outlined) -> Point:
    return symbol.place.span.start


def _is_in(site: Site, path: Path, extent: Span) -> bool:
    return site[0] == path and extent.start <= site[1] < extent.end


def _listed(outline: Collection[Outlined], point: Point) -> list[Outlined]:
    """The symbol that is declared at `point`, and those that it is listed below, the outermost first."""
    for symbol in outline:
        if symbol.place.span.start == point:
            return [symbol]
        if below := _listed(symbol.children, point):
            return [symbol, *below]
    return []


def _around(outline: Collection[Outlined], point: Point) -> list[Outlined]:
    """The symbol with `point` in it that is listed first, and those that it is listed below, the outermost first."""
    for symbol in outline:
        if below := _around(symbol.children, point):
            return [symbol, *below]
        if symbol.extent and symbol.extent.start <= point < symbol.extent.end:
            return [symbol]
    return []


def _declaring(above: list[Outlined]) -> Outlined | None:
    """The function, or the value with a function in it, that the last of `above` is a local variable of, or the like.

    Servers also list there what code adds to a function: `f.x = 1`, `this.x = 1`.
    """
    if len(above) == 1 or (symbol := above[-1]).kind in _MEMBERS:
        return None
    around, at = above[-2], symbol.place.span.start
    is_inside = around.extent and around.extent.start <= at < around.extent.end
    is_added = symbol.place.text.slice(Span(Point(at.line, 1), at)).rstrip().endswith(".")
    return around if is_inside and not is_added and around.kind in (*_FUNCTIONS, *_VALUES) else None


async def _is_named_in_calls(backend: Backend, path: Path, point: Point) -> bool:
    text, language = await text_or_none(backend, path), backend.plugin.language_of(path)
    if text is None or language is None or not has_query(language.id, PARAMETERS):
        return False
    return await asyncio.to_thread(is_named_in_calls, text, language.id, point)


def _outlined(whole: Identity, above: list[Outlined]) -> Identity:
    symbol, owner = above[-1], above[-2] if len(above) > 1 else None
    is_member = symbol.kind in _MEMBERS or (owner is not None and owner.kind in _TYPES)
    role: visibility.Role = "member" if is_member else "type" if symbol.kind in _TYPES else "value"
    name = owner.name if is_member and owner else ""
    words = re.findall(r"\w+", name)
    # `(anonymous struct)` is not a name.
    unnamed = bool(name) and not re.search(r"\w", re.sub(r"\([^()]*\)", "", name))
    overrides = symbol.kind not in _FIELDS
    owned = words[-1] if words and not unnamed else ""
    return replace(whole, role=role, owner=owned, unnamed_owner=unnamed, overrides=overrides)
