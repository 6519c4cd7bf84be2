"""Resolve names to symbols: `Names` finds the symbol, or raises an error with candidates."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend, Scope, Use
from lsp_mcp.errors import AnchorError, LspMcpError
from lsp_mcp.features.finding.dependency_symbol import dependency_symbols, symbols_of_package
from lsp_mcp.features.finding.local_types import in_local_types, local_namesakes, not_searched
from lsp_mcp.features.finding.namesakes import with_namesakes
from lsp_mcp.features.finding.text_matches import text_matches
from lsp_mcp.features.finding.unlisted import unlisted
from lsp_mcp.gaps import Gap, hiding, texts
from lsp_mcp.prose import count
from lsp_mcp.requests.asking import ask_each, settled
from lsp_mcp.requests.containers import with_owners
from lsp_mcp.requests.overloads import merged, with_signature
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.promoted import promoted
from lsp_mcp.requests.signatures import split_signature, without_parameters
from lsp_mcp.requests.symbols import FUNCTIONS, MEMBERS, TYPES, Symbol
from lsp_mcp.requests.workspace_symbol import Found, is_called, parts_of, workspace_symbols
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.text import Point
from lsp_mcp.toolsets.addresses import bare_name, name_under_test
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.visible import quoted

Prefer = Literal["any", "types", "functions", "places"]
"""The kind of symbol that a tool prefers among several with one name; `places`: any place, even without a symbol."""

ONLY_ITS_PLACE = "the place of what only one symbol is called"
"""The subject of a remark about a name that can mean only one thing."""

_SEARCHED = 100  # definitions examined for one name
_TRIES = 4  # searches for a name before an error says that things keep changing
_LISTED = 10  # candidates listed in an error
_LIKE = 3  # similar names listed
_ALIKE = 0.6  # similarity of two names; 1: equal
_FARTHER = 0.1  # more than the best match: not listed
_LONGEST_NAME = 1_000  # characters; templates of C++ have long ones
_CODE = 80  # characters of code shown with each

_QUALIFIED = re.compile(r"\w\W+\w")

ToAnchor = Callable[[Path, Point], str]
HandOut = Callable[[Iterable[Place]], None]


class Named(Struct, frozen=True):
    """The symbol of a name, and remarks about it: what it is, and which languages were not searched."""

    backend: Backend
    symbol: Symbol
    remarks: tuple[Gap, ...]


def is_phrase(name: str) -> bool:
    """Whether it is several words, as in a message."""
    return bool(re.search(r"\w\s+\w", name))


class Names:
    """Finds symbols by name; `hand_out` is called with the places that errors list."""

    def __init__(self, sessions: Sessions, anchor: ToAnchor, hand_out: HandOut) -> None:
        self._sessions = sessions
        self._anchor = anchor
        self._hand_out = hand_out

    async def one(self, call: Call, spelled: str, prefer: Prefer = "any") -> Named:
        """The one symbol with that name.

        Among several, types or functions win if the tool is about those, or else the only one that is not a member of
        a type. A name that the workspace does not have is searched for in its dependencies.

        Raises:
            AnchorError: no symbol has that name, or several have; the message lists candidates.
        """
        check_name(spelled)
        if not spelled.strip():
            raise AnchorError("symbol_anchor is empty; pass Type.Method, FILE:LINE or go://FILE#LINE:CHAR.")
        spelled = name_under_test(spelled)
        backends, left_out = await self._sessions.ready(call.report)
        for _ in range(_TRIES):
            found, similar, capped, silent = await self._found(backends, spelled)
            if found:
                break
            left_out = [*left_out, *silent]
            for backend in backends:
                if any(gap.about == backend.plugin.name for gap in silent):
                    left_out += await unlisted(backend, spelled.strip(), is_silent=True)
            backends = [backend for backend in backends if all(gap.about != backend.plugin.name for gap in silent)]
            state = [backend.generation for backend in backends]
            unknown = await self._unknown(spelled, similar, backends, left_out, capped=capped)
            # A server that dies may say just before that it knows no such name.
            if state == [await backend.sync() for backend in backends]:
                raise unknown
        else:
            raise AnchorError(f"{unknown}\nFiles or the language server kept changing while this was asked; ask again.")
        found = await _of_one_build(found)
        kept = _preferred(found, prefer)
        if len(kept) > 1:
            raise await self._several(spelled, [symbol for _, symbol in kept], capped)
        backend, symbol = kept[0]
        self._hand_out([symbol.place])
        left = [one for one in found if one not in kept]
        others = f" ({count(len(left), 'other symbol')} of that name)" if left else ""
        parts = parts_of(name_for(backend, spelled))
        local = await local_namesakes(backend, parts, [one.place for _, one in found])
        anchor = self._anchor(symbol.place.path, symbol.place.span.start)
        text = f"{spelled.strip()} is {anchor}{others}{f'; {local}' if local else ''}"
        remark = Gap("resolved", text, hides=False, about="" if left or local else ONLY_ITS_PLACE)
        return Named(backend, symbol, (remark, *silent))

    async def hints(self, spelled: str) -> list[str]:
        """Other places of `spelled`, which is not a symbol of the workspace: in dependencies, in the text."""
        name = spelled.strip()
        said = []
        found = [] if is_phrase(name) else [symbol for _, symbol in await self._in_dependencies(name)]
        if not _QUALIFIED.search(name):
            found = [symbol for symbol in found if symbol.kind not in MEMBERS]
        if found:
            shown = found[:_LIKE]
            self._hand_out(symbol.place for symbol in shown)
            listed = [f"{s.name} {self._anchor(s.place.path, s.place.span.start)}" for s in shown]
            more = [f"and {len(found) - _LIKE} more"] if len(found) > _LIKE else []
            said.append(f"dependencies have {', '.join([*listed, *more])}")
        for backend in self._sessions.backends:
            matches = await text_matches(backend, name)
            if matches.first:
                others = matches.others if is_phrase(name) else ()  # a message is often written at several places
                show = self._sessions.workspace.display_path
                first, *more = [f"{show(one.path)}:{one.span.start.line}" for one in (matches.first, *others)]
                inside = f" (in {matches.first.container})" if matches.first.container else ""
                least = "at least " if matches.least else ""
                if left := matches.total - 1 - len(more):
                    more.append(f"{least}{left:,} more")
                said.append(f"as text: {', '.join([f'{first}{inside}', *more])}")
        return said

    async def in_dependencies(self, backend: Backend, name: str) -> list[Symbol]:
        """The symbols named `name` in dependencies."""
        files = await self._sessions.dependency_files(backend)
        return await dependency_symbols(backend, files, name_for(backend, name)) if files else []

    # --- inside ------------------------------------------------------------------------------------

    async def _found(
        self, backends: Sequence[Backend], spelled: str
    ) -> tuple[list[tuple[Backend, Symbol]], list[Symbol], bool, list[Gap]]:
        """The symbols with that name, others with similar names, whether there may be more, and who did not answer."""
        answers, silent = await ask_each(backends, lambda backend: self._in_backend(backend, spelled))
        found = _without_constructors([(backend, one) for backend, (named, _) in answers for one in named])
        if not found and _QUALIFIED.search(spelled):  # unqualified names match too many symbols there
            found = await self._in_dependencies(spelled)
        similar = [one for _, (_, search) in answers for one in search.symbols]
        return found, similar, any(search.capped for _, (_, search) in answers), silent

    async def _in_backend(self, backend: Backend, spelled: str) -> tuple[Sequence[Symbol], Found]:
        """The symbols of `backend` with that name, and all that its search found."""
        name = name_for(backend, spelled)
        search = await self._search(backend, name)
        named = [one for one in search.symbols if is_called(one, name)]
        _, signature = split_signature(spelled)
        if backend.plugin.symbols.scope_separator and signature and (signature != "()" or len(named) > 1):
            named = await with_signature(backend, named, signature)
        return await merged(backend, named) or await promoted(backend, name), search

    async def _in_dependencies(self, name: str) -> list[tuple[Backend, Symbol]]:
        found = []
        for backend in self._sessions.backends:
            try:
                found += [(backend, symbol) for symbol in await self.in_dependencies(backend, name)]
            except LspMcpError:
                continue  # the question is about the workspace, which has none
        return found

    async def _of_packages(self, name: str) -> list[Symbol] | None:
        """The dependencies in which `name` should be, with their symbols; None if no dependencies were searched."""
        found: list[Symbol] | None = None
        for backend in self._sessions.backends:
            try:
                if files := await self._sessions.dependency_files(backend):
                    found = [*(found or ()), *await symbols_of_package(backend, files, name_for(backend, name))]
            except LspMcpError:
                continue  # the question is about the workspace, which has none
        return found

    async def _search(self, backend: Backend, name: str) -> Found:
        found = (await settled(backend, partial(workspace_symbols, backend, name, _SEARCHED))).value
        symbols, gaps = await with_namesakes(backend, found.symbols, name)
        return replace(found, symbols=symbols, gaps=gaps)

    async def _several(self, name: str, found: list[Symbol], capped: bool) -> AnchorError:
        number = f"at least {len(found)}" if capped else f"{len(found)}"
        listed = await self._listed(found)
        return AnchorError(f"{quoted(name)} names {number} symbols; pass the anchor of one:{listed}")

    async def _unknown(
        self,
        spelled: str,
        similar: list[Symbol],
        backends: Sequence[Backend],
        left_out: Sequence[Gap],
        *,
        capped: bool,
    ) -> AnchorError:
        """The error for an unknown name: similar names, where it occurs as text, and gaps that may hide it."""
        name = spelled.strip()
        words = re.findall(r"\w+", name)[::-1]
        half = len(words[0]) // 2 if words else 0
        for part in dict.fromkeys((*words, *(side for word in words[:1] for side in (word[:half], word[half:])))):
            if len(part) > 1 and part != name:
                for backend in backends:
                    similar += (await self._search(backend, part)).symbols
        elsewhere = await self._of_packages(name) if _QUALIFIED.search(name) else None
        near = nearest(name, (s for s in (*similar, *(elsewhere or ())) if s.kind != "constructor"))
        use = Use(words[0]) if words else None
        gaps = [gap for backend in backends for gap in hiding(await backend.gaps(Scope(use=use)))]
        in_types = list[Gap]()
        for backend in backends:
            parts = parts_of(name_for(backend, name))
            local = await in_local_types(backend, parts, embedded=True)
            in_types += not_searched(backend, parts[-1], [place for place, _ in local.places], unread=local.unread)
        by_syntax = list[Gap]()
        if gaps and words and not in_types:
            owner = words[1] if len(words) > 1 and _QUALIFIED.search(name) else ""
            by_syntax = [gap for one in backends for gap in await unlisted(one, words[0], owner=owner)]
        gaps += in_types
        loads_still = "; ask again" if any(gap.kind == "indexing" for gap in gaps) else ""
        why = "".join(f" ({text})" for text in texts((*by_syntax, *left_out, *gaps)))
        why += " (not everything with that name was looked at)" if capped else ""
        searched = "the workspace" if elsewhere is None else "the workspace or its dependencies"
        said = f"no symbol in {searched} is named {quoted(name)}{why}{loads_still}."
        loads = all(gap.files for gap in gaps)  # a gap without files is about the workspace, and a use of no help
        used_at = await self._used_at(name) if elsewhere is None and loads else ""
        if used_at:  # of what a library or a function declares
            said += f" Pass a use of it, such as {used_at}."
            near = near if not _QUALIFIED.search(name) else []  # what is called alike is something else
        if near:
            said += f" Similar:{await self._listed(near, _LIKE)}"
        hints = [] if near else await self.hints(name)
        if not (near or hints or used_at or by_syntax):
            said = f"{said.removesuffix('.')}, or anything like it."
        return AnchorError("\n".join([said, *(f"{hint[:1].upper()}{hint[1:]}." for hint in hints)]))

    async def _used_at(self, name: str) -> str:
        """Where code has `name`, as an address; empty if nowhere."""
        for backend in self._sessions.backends:
            if use := (await text_matches(backend, name)).use:
                shown = self._sessions.workspace.display_path(use.path)
                return f"{shown}:{use.span.start.line}:{use.text.slice(use.span)}"
        return ""

    async def _listed(self, symbols: Sequence[Symbol], most: int = _LISTED) -> str:
        shown = await with_owners(self._sessions.backends, symbols[:most])
        self._hand_out(symbol.place for symbol in shown)
        listed = (
            f"{self._anchor(s.place.path, s.place.span.start)} {s.kind} {s.name}| {s.place.code[:_CODE]}" for s in shown
        )
        more = [f"and {len(symbols) - most} more"] if len(symbols) > most else []
        return "".join(f"\n{line}" for line in [*listed, *more])


def name_for(backend: Backend, spelled: str) -> str:
    """The name in a caller's text, without preceding keywords of the languages of `backend`."""
    keywords = {word for language in backend.plugin.adapter.languages for word in language.keywords}
    overloads = backend.plugin.symbols.scope_separator
    spelled = name_under_test(spelled)
    return bare_name(split_signature(spelled)[0] if overloads else spelled, keywords)


def nearest(name: str, symbols: Iterable[Symbol]) -> list[Symbol]:
    """The symbols with names similar to `name`, most similar first."""
    wanted = re.findall(r"\w+", without_parameters(name.casefold()))
    ranked: dict[tuple[Path, Point], tuple[float, int, Symbol]] = {}
    for symbol in symbols:
        own = re.findall(r"\w+", symbol.name.casefold())[-len(wanted) :]
        alike = difflib.SequenceMatcher(None, ".".join(wanted), ".".join(own)).ratio()
        # Members of one type would match by that type's name alone.
        last = difflib.SequenceMatcher(None, wanted[-1], own[-1]).ratio() if wanted and own else 0
        if last >= _ALIKE <= alike:
            place = symbol.place.path, symbol.place.span.start
            ranked.setdefault(place, (-alike, len(symbol.name), symbol))
    found = sorted(ranked.values(), key=lambda one: one[:2])
    return [symbol for worse, _, symbol in found if worse - found[0][0] <= _FARTHER]


def check_name(name: str) -> None:
    """Refuse to search for an impossible name, because each of its words might be searched.

    Raises:
        AnchorError: the name is too long.
    """
    if len(name) > _LONGEST_NAME:
        raise AnchorError(f"{quoted(name)} is too long for a symbol's name; pass at most {_LONGEST_NAME} characters.")


def _preferred(found: list[tuple[Backend, Symbol]], prefer: Prefer) -> list[tuple[Backend, Symbol]]:
    wanted = {"types": TYPES, "functions": FUNCTIONS}.get(prefer, ())
    kept = [one for one in found if one[1].kind in wanted] or found
    top = [one for one in kept if one[1].kind not in MEMBERS]
    return top if len(top) == 1 else kept


async def _of_one_build(found: list[tuple[Backend, Symbol]]) -> list[tuple[Backend, Symbol]]:
    """`found` without what only another build has in place of one of them: with its name and kind, in its folder.

    To a reader these are one symbol; whether a server lists them depends on the builds that it has loaded.
    """
    if len(found) < 2:
        return found
    excluded = [one for one in found if await one[0].coverage.excludes(one[1].place.path)]
    built = {_role(symbol) for backend, symbol in found if (backend, symbol) not in excluded}
    return [one for one in found if one not in excluded or _role(one[1]) not in built]


def _role(symbol: Symbol) -> tuple[str, str, Path]:
    return symbol.name, symbol.kind, symbol.place.path.parent


def _without_constructors(found: list[tuple[Backend, Symbol]]) -> list[tuple[Backend, Symbol]]:
    """`found` without constructors and inherited constructors of a type in it, which share its name."""
    types = [symbol.name for _, symbol in found if symbol.kind in TYPES]
    inside = tuple(f"{name}{separator}" for name in types for separator in ("::", "."))
    return [
        (backend, symbol)
        for backend, symbol in found
        if symbol.kind in TYPES or not (types and (symbol.name.startswith(inside) or symbol.kind == "namespace"))
    ]
