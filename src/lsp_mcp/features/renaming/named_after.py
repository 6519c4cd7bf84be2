"""Effects of a rename on code bound to a symbol only by its name: `named_after`, `known_by_name`.

Go's `ExampleBuffer_Write` must match `Buffer.Write`; a type with `String() string` is printed by it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.edits.plan import EditPlan, FileChange
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.prose import first_few
from lsp_mcp.protocol.lsp import TextDocumentPositionParams
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.places import Locator, Place, position_params, text_or_none
from lsp_mcp.requests.promoted import promoters
from lsp_mcp.requests.refusals import note
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.requests.workspace_symbol import is_named, workspace_symbols
from lsp_mcp.servers.traits import Renaming
from lsp_mcp.text import Point, Span

_MOST_TYPES = 100  # of one name


class Renamed(Struct, frozen=True):
    """A symbol to rename; `owner` is the name of its type, empty at the top level of a file, and `home` its extent."""

    symbol: Symbol
    name: str
    owner: str
    home: Span | None = None

    def is_local(self, rules: Renaming) -> bool:
        """Whether it is declared inside a function."""
        return (
            self.home is not None
            and re.match(rules.function_pattern, self.symbol.place.text.slice(self.home)) is not None
        )


class Follower(Struct, frozen=True):
    """A symbol at `place` to rename along, to `new_name`; empty if that name is impossible."""

    place: Place
    new_name: str

    def position(self, backend: Backend) -> TextDocumentPositionParams:
        """The place to ask a server about."""
        return position_params(self.place.path, self.place.text, self.place.span.start, backend.encoding)


async def renamed_symbol(backend: Backend, path: Path, point: Point) -> Renamed | None:
    """The symbol at `point`, if an outline of the workspace has it and the server's renames need completing."""
    rules = backend.plugin.renaming
    if not (rules.followers or rules.known_by_name or rules.serializing or rules.program_start):
        return None
    try:
        declared = await definition_places(backend, path, point)
        files = {file for file, _ in declared}
        if len(files) != 1 or not (file := files.pop()).is_relative_to(backend.root):
            return None
        if not backend.plugin.language_of(file):  # a body in assembler
            return await declared_beside(backend, *declared[0]) if len(declared) == 1 else None
        outline = await document_symbols(backend, file)
    except RefusedError as error:
        note(path, error)
        return None
    return next(
        _at(backend, outline, {start for _, start in declared}), None
    )  # an attribute may be set in several places


async def one_definition(backend: Backend, path: Path, point: Point) -> tuple[Path, Point] | None:
    """Where the symbol at `point` is defined, if that is one place of the workspace. Raises the errors of `request`."""
    places = await definition_places(backend, path, point)
    return places[0] if len(places) == 1 and places[0][0].is_relative_to(backend.root) else None


async def declared_beside(backend: Backend, file: Path, start: Point) -> Renamed | None:
    """The declaration of what is defined at `start` of `file`, which is in another language."""
    text = await text_or_none(backend, file)
    if text is None or not (span := text.identifier_at(start)):
        return None
    for one in (await workspace_symbols(backend, name := text.slice(span), _MOST_TYPES)).symbols:
        if is_named(one.name, name) and one.kind == "function" and one.place.path.parent == file.parent:
            outline = await document_symbols(backend, one.place.path)
            return next(_at(backend, outline, {one.place.span.start}), None)
    return None


async def renamed_along(backend: Backend, renamed: Renamed, plan: EditPlan) -> list[Renamed]:
    """The members of other types that `plan` renames with the member `renamed`: what implements it, or the reverse.

    None for a server that outlines open files only: it would have to parse each file, for members of the same name.
    """
    found: list[Renamed] = []
    if not backend.plugin.documents.outlines_closed:
        return found
    for step in plan.steps:
        if isinstance(step, FileChange):
            starts = {change.span.start for change in step.changes if change.old_text == renamed.name}
            try:
                outline = await document_symbols(backend, step.path, opened=False)
            except (RefusedError, PathError) as error:
                note(step.path, error)
                continue
            found += [
                one for one in _at(backend, outline, starts) if one.owner and one.symbol.place != renamed.symbol.place
            ]
    return found


async def named_after(backend: Backend, renamed: Renamed, new_name: str) -> list[Follower]:
    """Symbols named after a symbol, and their names when it becomes `new_name`.

    Raises:
        RefusedError, UnavailableError: see `Backend.request`.
    """
    found: dict[Path, list[Follower]] = {}
    for rule in backend.plugin.renaming.followers:
        if ("(?P<owner>" in rule.pattern) != bool(renamed.owner):
            continue
        old, new = (re.compile(_filled(rule.pattern, name)) for name in (renamed.name, new_name))
        locator = Locator(backend)
        query = rule.query.replace("{name}", renamed.name)
        for item in await backend.request("workspace/symbol", {"query": query}) or []:
            word = str(item["name"]).rpartition(".")[2]
            if not (match := old.fullmatch(word)) or not (place := await locator.place(item["location"], word)):
                continue
            if not await _is_about(backend, renamed, place.path.parent, match.groupdict().get("owner", "")):
                continue
            wanted = word[: match.start("name")] + new_name + word[match.end("name") :]
            found.setdefault(place.path, []).append(Follower(place, wanted if new.fullmatch(wanted) else ""))
    return [follower for path in sorted(found) for follower in sorted(found[path], key=lambda one: one.place.span)]


async def _is_about(backend: Backend, renamed: Renamed, folder: Path, owner: str) -> bool:
    """Whether `renamed` is what is called so in `folder`, as a member of its type `owner` if that is not ""."""
    home = renamed.symbol.place.path.parent
    if owner == renamed.owner:
        return folder == home
    types = (await workspace_symbols(backend, owner, _MOST_TYPES)).symbols
    places = [one.place for one in types if is_named(one.name, owner) and one.place.path.parent == folder]
    found = await promoters(backend, places, renamed.name)
    return any(one.owner == renamed.owner and one.may_be_in(home) for one in found)


async def relied_on_by(backend: Backend, path: Path, point: Point, name: str) -> str:
    """What of other code calls the member called `name` at `point` without naming it; empty if nothing is known."""
    rules = backend.plugin.renaming
    if not any(pattern.startswith(f"{name} ") for pattern in rules.known_by_name):
        return ""
    found = await renamed_symbol(backend, path, point)
    return _known(rules, f"{found.name} {found.symbol.detail}") if found and found.owner else ""


def known_by_name(rules: Renaming, renamed: Sequence[Renamed], new_name: str) -> str:
    """What the members `renamed` are to code outside the workspace by their old or new name; empty if nothing."""
    said = []
    for one in renamed:
        lost, gained = (_known(rules, f"{name} {one.symbol.detail}") for name in (one.name, new_name))
        if one.owner and lost:
            said.append(f"{one.owner} would not implement {lost} without {one.name}")
        if one.owner and gained:
            said.append(f"{one.owner} would implement {gained} with {new_name}")
    return first_few(said)


def _known(rules: Renaming, member: str) -> str:
    return next((what for pattern, what in rules.known_by_name.items() if re.fullmatch(pattern, member)), "")


def no_longer_run(backend: Backend, renamed: Renamed, new_name: str) -> bool:
    """Whether `renamed` is a test by its name, and is none when it is called `new_name`."""
    tests = backend.plugin.adapter.tests
    if renamed.owner or (tests.file_pattern and not tests.has(renamed.symbol.place.path, backend.root)):
        return False
    was, becomes = (re.search(tests.function_pattern, name) for name in (renamed.name, new_name))
    return bool(was and not becomes)


def _at(backend: Backend, outline: tuple[Symbol, ...], starts: Collection[Point]) -> Iterator[Renamed]:
    """The symbols of `outline` whose names begin at `starts`."""
    rules = backend.plugin.symbols
    member = re.compile(rules.member_pattern or "(?!)")
    for symbol, owner in _with_owner(outline):
        if symbol.place.span.start in starts:
            named = member.match(symbol.name)
            qualified = symbol.name.rpartition(rules.scope_separator)[0] if rules.scope_separator else ""
            own = named["owner"] if named else qualified or (owner.name if owner else "")
            home = owner.extent if owner else None
            yield Renamed(symbol, symbol.place.text.slice(symbol.place.span), own, home)


def _filled(pattern: str, name: str) -> str:
    return pattern.replace("{name}", re.escape(name))


def _with_owner(symbols: tuple[Symbol, ...], owner: Symbol | None = None) -> Iterator[tuple[Symbol, Symbol | None]]:
    for symbol in symbols:
        yield symbol, owner
        yield from _with_owner(symbol.children, symbol)
