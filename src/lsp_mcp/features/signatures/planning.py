"""A change of parameters, planned: `planned`, with each place that cannot be changed rightly as an obstacle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.edits.plan import EditPlan, FileChange
from lsp_mcp.edits.rewriting import change_of
from lsp_mcp.errors import CallerError, ElsewhereError, RefusedError
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.features.renaming.mentions import mentioned
from lsp_mcp.features.signatures.rewriting import CannotError, Rewriting
from lsp_mcp.features.signatures.uses import Uses
from lsp_mcp.features.signatures.wanted import Added, SignatureOptions, Wanted, arranged
from lsp_mcp.requests.edit_plans import asked_rename, plan_of
from lsp_mcp.requests.places import Place, position_params
from lsp_mcp.requests.references import references
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.syntax.signatures import Function, Parameter, Signatures, signatures_of
from lsp_mcp.text import Text
from lsp_mcp.words.lexing import macro_at

_AS_VALUE = "uses it as a value, or in a way that is not understood"
AskUses = Callable[[Path, int, Text], Awaitable[Uses]]
"""Called with the place of a function's name; returns its uses, proven. Raises `RefusedError`."""


class Obstacle(Struct, frozen=True):
    """A place that cannot be changed rightly, and why: `place` …"""

    place: Place
    why: str


class Planned(Struct, frozen=True):
    """The changes, and what is in their way; `declarations` and `calls` are how many there are of each."""

    plan: EditPlan
    obstacles: tuple[Obstacle, ...] = ()
    declarations: int = 0
    calls: int = 0
    threaded: tuple[str, ...] = ()  # functions that get the parameter because they call
    not_threaded: tuple[str, ...] = ()  # functions that do not, and why
    is_silent: bool = False  # it is a constructor, and calls without its name may compile, although they are wrong


class _Spot(Struct, frozen=True):
    """A place with what was read there, at `offset` of its text."""

    place: Place
    offset: int
    read: Signatures

    @property
    def site(self) -> Site:
        return self.place.path, self.place.span.start

    @property
    def function(self) -> Function:
        return self.read.functions[self.offset]


class _Member(Struct):
    """One function with its family, and what it becomes."""

    uses: Uses
    wanted: Wanted
    rest: int | None
    has_defaults: bool
    is_constructor: bool
    declared: list[_Spot]
    calls: list[_Spot]
    obstacles: list[Obstacle]


async def planned(backend: Backend, options: SignatureOptions, uses: Uses, ask: AskUses) -> Planned:
    """The change of the function with these `uses`; `ask` finds those of callers that get a parameter, too.

    Raises:
        CallerError: the options do not fit the function.
        RefusedError: it is not a function, or its parameters are not known.
        UnavailableError: see `Backend.request`.
    """
    return await _Planner(backend, ask).plan(options, uses)


class _Planner:
    def __init__(self, backend: Backend, ask: AskUses) -> None:
        self._backend = backend
        self._ask = ask
        self._read: dict[tuple[Path, Text], Signatures | None] = {}
        self._members: list[_Member] = []
        self._by_site: dict[Site, _Member] = {}
        self._rewritings: dict[Path, Rewriting] = {}
        self._threaded: list[str] = []
        self._not_threaded: dict[str, str] = {}
        self._refused: dict[Site, str] = {}
        self._obstacles: list[Obstacle] = []
        self._dropped: list[Place] = []

    async def plan(self, options: SignatureOptions, uses: Uses) -> Planned:
        first = await self._member(options, uses)
        self._add(first)
        for member in self._members:  # grows
            self._obstacles += member.obstacles
            for spot in member.calls:
                await self._call(member, spot)
        for member in self._members:
            for spot in member.declared:
                await self._declaration(member, spot)
        steps = [
            change_of(path, one.signatures.text, one.text)
            for path, one in sorted(self._rewritings.items())
            if not one.is_empty
        ]
        return Planned(
            EditPlan(tuple(filter(None, steps)), await self._confirmations(first)),
            tuple(self._obstacles),
            sum(len(one.declared) for one in self._members),
            sum(len(one.calls) for one in self._members),
            tuple(self._threaded),
            tuple(f"{name}: {why}" for name, why in self._not_threaded.items()),
            first.is_constructor and not first.wanted.keeps_calls and first.wanted.keeps_number,
        )

    # --- reading -----------------------------------------------------------------------------------

    async def _signatures(self, path: Path, text: Text) -> Signatures:
        if (path, text) not in self._read:
            language = self._backend.plugin.language_of(path)
            self._read[path, text] = await signatures_of(text, language.id) if language else None
        if (found := self._read[path, text]) is None:
            raise RefusedError(f"the parameters of functions in {path.name} are not known: there is no grammar for it")
        return found

    async def _member(self, options: SignatureOptions, uses: Uses) -> _Member:
        declared: list[_Spot] = []
        calls: list[_Spot] = []
        others: list[tuple[Place, str]] = []
        mentioned: list[Place] = []
        for place in uses.places:
            offset = place.text.point_offset(place.span.start)
            spot = _Spot(place, offset, await self._signatures(place.path, place.text))
            if (place.path, place.span.start) in uses.by_macros:
                others.append((place, "uses it by a macro"))
            elif offset in spot.read.functions and not _is_constructed(spot, uses.name):
                declared.append(spot)
            elif offset in spot.read.calls:
                calls.append(spot)
            elif offset in spot.read.mentions:
                mentioned.append(place)
            else:
                language = self._backend.plugin.language_of(place.path)
                is_in_macro = macro_at(place.text, place.span, language) is not None
                others.append((place, "is in the definition of a macro" if is_in_macro else _AS_VALUE))
        own = [one for one in declared if one.site in uses.own] or declared
        is_type = any(why == _AS_VALUE and (place.path, place.span.start) in uses.own for place, why in others)
        if not own or is_type:
            there = f" Pass {_shown(self._backend, own[0].place)} for the function that it has." if own else ""
            raise ElsewhereError(
                f"{uses.name} is not a function or method: only these have parameters.{there}", "change_signature"
            )
        functions = [one.function for one in [*own, *declared]]
        size = len(functions[0].parameters)
        names = [
            next((name for one in [*own, *declared] if (name := _name(one, number))), "") for number in range(size)
        ]
        rest = next((number for number, one in enumerate(functions[0].parameters) if one.is_rest), None)
        wanted = arranged(options, names, rest)
        obstacles = [] if wanted.is_compatible else [Obstacle(*one) for one in others]
        obstacles += [Obstacle(one, f"may mean another {uses.name}") for one in uses.unclear]
        is_constructor = own[0].read.must_return and all(one.result is None for one in functions)
        if is_constructor and not wanted.keeps_calls:
            why = "lets another class inherit the constructor, whose calls do not name it"
            obstacles += [Obstacle(place, why) for place in mentioned]
        has_defaults = any(parameter.default for one in functions for parameter in one.parameters)
        return _Member(uses, wanted, rest, has_defaults, is_constructor, declared, calls, obstacles)

    def _add(self, member: _Member) -> None:
        self._members.append(member)
        self._by_site |= {spot.site: member for spot in member.declared}

    def _rewriting(self, spot: _Spot) -> Rewriting:
        found = self._rewritings.setdefault(spot.place.path, Rewriting(spot.read))
        if found.signatures.text != spot.place.text:
            raise RefusedError(f"{spot.place.path.name} has changed since it was read; ask again")
        return found

    # --- calls -------------------------------------------------------------------------------------

    async def _call(self, member: _Member, spot: _Spot) -> None:
        wanted = member.wanted
        given: dict[str, str] = {}
        for added in wanted.added:
            passed = self._own(spot, added)
            if passed is None:
                passed = await self._of_caller(spot, added) if added.caller_parameter else added.argument
            if passed is not None:
                given[added.name] = passed
            elif not added.default and not self._is_rest(added):
                why = f"needs an argument for {added.name}: pass argument, an expression, in options"
                self._obstacles.append(Obstacle(spot.place, why))
                return
        if member.rest is not None and await self._passes_receiver(member, spot):
            self._obstacles.append(Obstacle(spot.place, "passes what the method belongs to as its first argument"))
            return
        called = spot.read.calls[spot.offset]
        if member.has_defaults and spot.read.slice(called.name) != member.uses.name:
            why = f"calls {member.uses.name} by another name: which of its arguments are whose is not known"
            self._obstacles.append(Obstacle(spot.place, why))
            return
        try:
            self._rewriting(spot).call(spot.offset, wanted, member.rest, given, has_defaults=member.has_defaults)
        except CannotError as error:
            self._obstacles.append(Obstacle(spot.place, str(error)))
            return
        listing = spot.read.calls[spot.offset].listing
        for index in wanted.removed:
            items = listing.items[index : None if index == member.rest else index + 1] if listing else ()
            if any(one.start <= offset < one.end for offset in spot.read.calls for one in items):
                self._dropped.append(spot.place)

    async def _passes_receiver(self, member: _Member, spot: _Spot) -> bool:
        """Whether a call `T.Method(t, 1)` has more parameters than its method: without a limit nothing else tells."""
        called, backend = spot.read.calls[spot.offset], self._backend
        if called.start == called.name[0] or called.listing is None or backend.plugin.compiles_files:
            return False
        text = await backend.documents.open(spot.place.path)
        if text.content != spot.place.text.content:
            raise RefusedError(f"{spot.place.path.name} has changed since it was read; ask again")
        point = text.offset_point(called.listing.start)
        params = position_params(spot.place.path, text, point, backend.encoding)
        said = await backend.request("textDocument/signatureHelp", params) or {}
        return any(len(one.get("parameters", ())) > member.wanted.before for one in said.get("signatures", ()))

    def _is_rest(self, added: Added) -> bool:
        return added.type.startswith("...")

    def _own(self, spot: _Spot, added: Added) -> str | None:
        """The name of the added parameter in the calling function, if that gets it too, as in a recursion."""
        for function in spot.read.around(spot.offset):
            if function.name:
                around = self._by_site.get(_site(spot, function))
                has = around and any((one.name, one.type) == (added.name, added.type) for one in around.wanted.added)
                is_named = added.caller_parameter or not function.parameters or function.parameters[0].name
                return added.name if has and is_named else None
        return None

    async def _of_caller(self, spot: _Spot, added: Added) -> str | None:
        """What a call passes for `added`: a parameter of the function around it, if need be a new one."""
        for function in spot.read.around(spot.offset):
            for number, one in enumerate(function.parameters):
                name = spot.read.slice(one.name) if one.name else "_"
                if name != "_" and _same(_type_of(spot.read, one), added.type):
                    around = self._by_site.get(_site(spot, function)) if function.name else None
                    if around and number in around.wanted.removed:
                        continue
                    return (around.wanted.renamed.get(number) if around else None) or name
            if function.name:
                return await self._threaded_through(spot, function, added)
        return added.argument

    async def _threaded_through(self, spot: _Spot, function: Function, added: Added) -> str | None:
        assert function.name
        site = _site(spot, function)
        name = spot.read.slice(function.name)
        if around := self._by_site.get(site):
            has = any(one.name == added.name for one in around.wanted.added)
            return added.name if has else added.argument
        if added.depth < 1 or site in self._refused:
            return added.argument
        try:
            uses = await self._ask(spot.place.path, function.name[0], spot.place.text)
            if uses.outside:
                raise RefusedError("it implements a method outside of the workspace")
            member = await self._member(SignatureOptions(add=[replace(added, depth=added.depth - 1)]), uses)
            if member.obstacles:
                raise RefusedError(f"{member.obstacles[0].place.path.name} {member.obstacles[0].why}")
            if not member.calls:  # such as a test
                self._refused[site] = ""
                return added.argument
            if any(_has(one, added.name) for one in member.declared):
                raise RefusedError(f"it has another {added.name}")
        except (RefusedError, CallerError) as error:
            self._refused[site] = str(error)
            self._not_threaded[name] = str(error)
            return added.argument
        self._add(member)
        self._threaded.append(name)
        return added.name

    # --- declarations ------------------------------------------------------------------------------

    async def _declaration(self, member: _Member, spot: _Spot) -> None:
        wanted, function = member.wanted, spot.function
        has_prototype = any(not one.function.body for one in member.declared)
        try:
            rewriting = self._rewriting(spot)
            rewriting.declaration(function, wanted, with_defaults=not (function.body and has_prototype))
        except CannotError as error:
            self._obstacles.append(Obstacle(spot.place, str(error)))
            return
        if not function.body:
            return
        for index in wanted.removed:
            self._obstacles += await self._uses_in_body(spot, function.parameters[index])
        for added in wanted.added:
            self._obstacles += await self._hidden(spot, added)
        for index, new in wanted.renamed.items():
            if _name(spot, index) == wanted.names[index]:
                await self._rename(rewriting, spot, function.parameters[index], new)

    async def _uses_in_body(self, spot: _Spot, parameter: Parameter) -> list[Obstacle]:
        """The uses of a parameter that the caller removes."""
        if not parameter.name or spot.read.slice(parameter.name) == "_":
            return []
        path, text = spot.place.path, spot.place.text
        found = await references(self._backend, path, text.offset_point(parameter.name[0]))
        declared = text.offset_point(parameter.name[0])
        why = f"uses {spot.read.slice(parameter.name)}, which this removes"
        body = spot.function.body or (0, 0)
        return [
            Obstacle(place, why)
            for place in found.places
            if place.path == path
            and place.span.start != declared
            and body[0] <= text.point_offset(place.span.start) < body[1]
        ]

    async def _hidden(self, spot: _Spot, added: Added) -> list[Obstacle]:
        """The uses, in the body, of another symbol with the name of a new parameter."""
        read, function, path = spot.read, spot.function, spot.place.path
        if not function.body:
            return []
        start, end = function.whole
        for name in read.identifiers:
            if function.body[0] <= name[0] < function.body[1] and read.slice(name) == added.name:
                point = read.text.offset_point(name[0])
                defined = await definition_places(self._backend, path, point)
                is_local = any(file == path and start <= read.text.point_offset(there) < end for file, there in defined)
                if not is_local:
                    place = Place(path, read.text.offsets_span(*name), read.text)
                    return [Obstacle(place, f"uses another {added.name}, which the new parameter would hide")]
        return []

    async def _rename(self, rewriting: Rewriting, spot: _Spot, parameter: Parameter, new: str) -> None:
        """Rename a parameter in the body of its function, as the server does."""
        assert parameter.name
        path, text = spot.place.path, spot.place.text
        params = position_params(path, text, text.offset_point(parameter.name[0]), self._backend.encoding)
        edit = await asked_rename(self._backend, params, new)
        plan = await plan_of(self._backend, [edit]) if edit else EditPlan(())
        listing = spot.function.listing
        for step in plan.steps:
            if not isinstance(step, FileChange) or step.path != path:
                continue
            for change in step.changes:
                start, end = (text.point_offset(point) for point in change.span)
                if listing and not (listing.start <= start < listing.end):
                    rewriting.word(start, end, change.new_text)

    async def _confirmations(self, first: _Member) -> tuple[str, ...]:
        """What a person should agree to."""
        found: list[str] = []
        if self._dropped:
            lines = ", ".join(f"{place.path.name}:{place.span.start.line}" for place in self._dropped[:5])
            found.append(f"calls inside of removed arguments are not made any more ({lines})")
        if first.uses.outside and not first.wanted.is_compatible:
            named = ", ".join(f"{path.parent.name}/{path.name}:{point.line}" for path, point in first.uses.outside[:3])
            found.append(f"{first.uses.name} would no longer be the method that it implements at {named}")
        at = first.declared[0].place
        if not first.wanted.keeps_calls and (where := await mentioned(self._backend, at.path, at.span.start)):
            found.append(f"{first.uses.name} stays as it is in {where}")
        return tuple(found)


def _shown(backend: Backend, place: Place) -> str:
    """The place as callers name it."""
    path = place.path.relative_to(backend.root) if place.path.is_relative_to(backend.root) else place.path
    return f"{path}:{place.span.start.line}:{place.text.slice(place.span)}"


def _is_constructed(spot: _Spot, name: str) -> bool:
    """Whether what looks like declaring a function calls the one of that `name`: `Size size(width, height);`"""
    function = spot.function
    if function.body or not function.name or spot.offset not in spot.read.calls:
        return False
    return spot.read.slice(function.name) != name


def _site(spot: _Spot, function: Function) -> Site:
    assert function.name
    return spot.place.path, spot.place.text.offset_point(function.name[0])


def _has(spot: _Spot, name: str) -> bool:
    """Whether a function has a value of that name, or uses one."""
    start, end = spot.function.whole
    return any(start <= one[0] < end and spot.read.slice(one) == name for one in spot.read.identifiers)


def _name(spot: _Spot, number: int) -> str:
    parameters: Sequence[Parameter] = spot.function.parameters
    name = parameters[number].name if number < len(parameters) else None
    return spot.read.slice(name) if name else ""


def _type_of(read: Signatures, parameter: Parameter) -> str:
    """The type, or all but the name, of one that takes one argument."""
    if parameter.is_rest:
        return ""
    if parameter.type or not parameter.name:
        return read.slice(parameter.type or parameter.span)
    before, behind = read.slice((parameter.span[0], parameter.name[0])), (parameter.name[1], parameter.span[1])
    return before + read.slice(behind).partition("=")[0]


def _same(one: str, other: str) -> bool:
    return "".join(one.split()) == "".join(other.split())
