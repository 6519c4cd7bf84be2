"""What an encoder gets, the types of values and files where it may get anything: `EncoderInput`.

The values that its calls take are followed: through the types of arguments, and through functions whose parameters can
be anything to their callers.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct, field

from lsp_mcp.backend import Backend
from lsp_mcp.errors import LspMcpError
from lsp_mcp.features.renaming.carriers import files_with, types_in
from lsp_mcp.requests.hover import hovers
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.references import references
from lsp_mcp.requests.scope import definition_places, type_definition_places
from lsp_mcp.servers.traits import Encoder, Hovered
from lsp_mcp.syntax.signatures import Called, Function, Signatures, signatures_of
from lsp_mcp.syntax.values import Values, values_of
from lsp_mcp.text import Text
from lsp_mcp.waiting import share_of_rest

_MOST_CALLS = 400  # of an encoder, and of functions that pass values on to it
_SHARE = 0.08  # of a call's remaining time


class Taken(Struct):
    """What an encoder gets: values whose types are made of the `types`, and anything in the files `anything`; each with
    the first place where it gets that.

    A value of one of the types `holders` has others in it that can be anything.
    """

    types: dict[str, Place] = field(default_factory=dict)
    holders: dict[str, Place] = field(default_factory=dict)
    anything: dict[Path, Place] = field(default_factory=dict)
    is_whole: bool = True


async def calling(backend: Backend, name: str, encoder: Encoder) -> list[tuple[Path, Text, int]]:
    """The files that may call the encoder, and where the first one does."""
    pattern = re.compile(encoder.call_pattern.replace("{name}", name))
    files = {path for word in encoder.words or (name,) for path in await files_with(backend, word)}
    texts = [(path, await text_or_none(backend, path)) for path in sorted(files)]
    found = [(path, text, pattern.search(text.content) if text else None) for path, text in texts]
    return [(path, text, call.start()) for path, text, call in found if text and call]


class _Source(Struct, frozen=True):
    """What is known of one file."""

    path: Path
    signatures: Signatures
    values: Values

    def place(self, start: int, end: int) -> Place:
        """The place from one offset to another."""
        text = self.signatures.text
        return Place(self.path, text.offsets_span(start, end), text)

    def arguments(self, call: Called, *, is_read: bool) -> Iterator[_Argument]:
        """The arguments of a call."""
        for one in call.listing.items if call.listing else ():
            yield _Argument(self, one.start, one.end, is_read)


class _Argument(Struct, frozen=True):
    """An expression, between two offsets; `is_read`: it is the argument of a call that writes into it."""

    source: _Source
    start: int
    end: int
    is_read: bool = False


class EncoderInput:
    """Finds what an encoder gets."""

    def __init__(self, backend: Backend, name: str, encoder: Encoder) -> None:
        self._backend, self._name, self._encoder = backend, name, encoder
        rules = backend.plugin.renaming
        self._reading, self._harmless = re.compile(rules.reading_pattern), re.compile(rules.harmless_pattern)
        self._found = Taken()
        # Parameters, local variables and results: where the function is, and the number or the name.
        self._passed: set[tuple[Path, int, int | str]] = set()
        self._sources: dict[Path, _Source | None] = {}
        self._calls = 0

    async def taken(self) -> Taken:
        """All of it, as far as there is time."""
        try:
            async with asyncio.timeout(share_of_rest(_SHARE)):
                for path, text, at in await calling(self._backend, self._name, self._encoder):
                    if (source := await self._source(path, text)) is None:
                        self._found.anything.setdefault(path, Place(path, text.offsets_span(at, at), text))
                        continue
                    calls = self._coding(source)
                    others = await self._of_others(source, calls)
                    for start, (call, is_read) in sorted(calls.items()):
                        if start not in others:
                            await self._follow(source.arguments(call, is_read=is_read))
        except TimeoutError:
            self._found.is_whole = False
        return self._found

    async def _source(self, path: Path, text: Text | None) -> _Source | None:
        """What is known of the file; None for a language in which nothing is."""
        if path not in self._sources:
            language = self._backend.plugin.language_of(path)
            signatures = await signatures_of(text, language.id) if text and language else None
            values = await values_of(text, language.id) if text and language else None
            self._sources[path] = _Source(path, signatures, values) if signatures and values else None
        return self._sources[path]

    def _coding(self, source: _Source) -> dict[int, tuple[Called, bool]]:
        """The calls that may be of the encoder and take values, by their names' places, and if they write there."""
        pattern = re.compile(self._encoder.value_pattern.replace("{name}", self._name))
        found: dict[int, tuple[Called, bool]] = {}
        for call in source.signatures.calls.values():
            called = f"{source.signatures.slice((call.start, call.name[1]))}("
            if said := next((one[0] for one in pattern.finditer(called) if one.end() == len(called)), ""):
                found[call.name[0]] = call, bool(self._reading.search(said))
        return found

    async def _of_others(self, source: _Source, calls: Iterable[int]) -> set[int]:
        """Those of `calls` that are surely of another package than the encoder."""
        coding, found = re.compile(self._backend.plugin.renaming.coding_pattern), {}
        for start in calls:
            call = source.signatures.calls[start]
            name = source.signatures.slice(call.name)
            is_own = source.signatures.slice((call.start, call.name[1])) == f"{self._name}.{name}"
            if coding.fullmatch(name) and not is_own:
                found[start] = source.place(*call.name)
        said = await hovers(self._backend, list(found.values()))
        names = [place.text.slice(place.span) for place in found.values()]
        known = [self._backend.plugin.hovered(text, name) for text, name in zip(said, names, strict=True)]
        return {start for start, one in zip(found, known, strict=True) if self._is_of_another(one)}

    def _is_of_another(self, called: Hovered) -> bool:
        others = self._backend.plugin.renaming.encoders.keys() - {self._name}
        return called.package in others if called.is_method else called.package not in ("", self._name)

    async def _follow(self, arguments: Iterable[_Argument], number: int | None = None) -> None:
        for index, argument in enumerate(arguments):
            if number is None or index == number:
                await self._argument(argument)

    async def _argument(self, argument: _Argument) -> None:
        self._calls += 1
        if self._calls > _MOST_CALLS:
            self._found.is_whole = False
            return
        source = argument.source
        places = [source.place(*one) for one in source.values.named(argument.start, argument.end)]
        for place, said in zip(places, await hovers(self._backend, places), strict=True):
            known = self._backend.plugin.hovered(said, place.text.slice(place.span))
            if known.types:
                for word in known.types:
                    self._found.types.setdefault(word, place)
                await self._type_of(argument, place, known)

    async def _type_of(self, argument: _Argument, place: Place, known: Hovered) -> None:
        """Follow a value that can be anything, or that has such values in it."""
        # What is read into a collection of anything is new, and of no declared type.
        is_open = known.holds_any and not (argument.is_read and known.is_collection)
        try:
            declared = await type_definition_places(self._backend, place.path, place.span.start)
        except LspMcpError:
            declared = []
        for path, start in declared:
            if (text := await text_or_none(self._backend, path)) is None:
                continue
            type_ = (await types_in(self._backend, path)).get(text.point_offset(start))
            if type_ is None or type_.is_interface:
                is_open = True  # a parameter of a function's type, for example
            elif type_.holds_any:
                self._found.holders.setdefault(type_.name, place)
        if (declared and not is_open) or await self._passed_on(argument, place) or not is_open:
            return
        if not await self._assigned(argument, place) and not await self._returned(argument, place):
            self._found.anything.setdefault(place.path, place)

    async def _passed_on(self, argument: _Argument, place: Place) -> bool:
        """Follow a value to the callers, if it is a parameter of the function around it."""
        signatures, word = argument.source.signatures, place.text.slice(place.span)
        for function in signatures.around(place.text.point_offset(place.span.start)):
            for number, parameter in enumerate(function.parameters):
                if parameter.name and signatures.slice(parameter.name) == word:
                    return await self._callers(argument, function, number)
        return False

    async def _assigned(self, argument: _Argument, place: Place) -> bool:
        """Follow a value to what it gets, if it is a variable of the function around it."""
        source, word = argument.source, place.text.slice(place.span)
        at = place.text.point_offset(place.span.start)
        around = [one.body for one in source.signatures.around(at) if one.body]
        if not around:
            return False
        body = around[-1]
        if (key := (source.path, body[0], word)) in self._passed:
            return True
        found = source.values.assigns(body, word, reading=self._reading, harmless=self._harmless)
        if found is None:
            return False
        self._passed.add(key)
        await self._follow(_Argument(source, start, end) for start, end in found)
        return True

    async def _returned(self, argument: _Argument, place: Place) -> bool:
        """Follow the call of a function of the workspace to what it returns."""
        if place.text.point_offset(place.span.start) not in argument.source.signatures.calls:
            return False
        places = await definition_places(self._backend, place.path, place.span.start)
        for path, start in places:
            source = await self._source(path, await text_or_none(self._backend, path))
            function = source.signatures.functions.get(source.signatures.text.point_offset(start)) if source else None
            if source is None or function is None or function.body is None:
                return False
            if (key := (path, function.body[0], "")) not in self._passed:
                self._passed.add(key)
                await self._follow(_Argument(source, start, end) for start, end in source.values.returns(function.body))
        return bool(places)

    async def _callers(self, argument: _Argument, function: Function, number: int) -> bool:
        path, signatures = argument.source.path, argument.source.signatures
        if function.name is None or function.parameters[number].is_rest:
            return False
        if (key := (path, function.name[0], number)) in self._passed:
            return True
        self._passed.add(key)
        try:
            found = await references(self._backend, path, signatures.text.offset_point(function.name[0]))
        except LspMcpError:
            return False
        for place in found.places:
            source = await self._source(place.path, place.text)
            offset = place.text.point_offset(place.span.start)
            if source is None or offset in source.signatures.functions:
                continue
            called = source.signatures.calls.get(offset)
            if called is None or called.listing is None:
                self._found.anything.setdefault(place.path, place)  # passed on as a value
                continue
            await self._follow(source.arguments(called, is_read=argument.is_read), number)
        return True
