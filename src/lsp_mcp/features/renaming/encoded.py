"""Where an encoder may get values of a type, and so read and write their fields by name: `encoded_at`.

The values that calls of the encoder take are followed: through the types of arguments, the fields of these types, and
through functions whose parameters can be anything to their callers.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.errors import LspMcpError
from lsp_mcp.features.renaming.assigned import assigned, returned
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.hover import hovers
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.references import references
from lsp_mcp.requests.scope import definition_places, type_definition_places
from lsp_mcp.servers.traits import Encoder
from lsp_mcp.syntax.declarations import declarations_of
from lsp_mcp.syntax.signatures import Function, Signatures, signatures_of
from lsp_mcp.text import Text
from lsp_mcp.waiting import share_of_rest
from lsp_mcp.words.lexing import blanked

_MOST_FILES = 300  # searched for one word
_MOST_CALLS = 400  # of an encoder, and of functions that pass values on to it
_MOST_TYPES = 300  # that have a field of the type, or of one that has
_SHARE = 0.08  # of a call's remaining time
_MOST_KEPT = 20_000  # types
_WORD = re.compile(r"[^\W\d]\w*")
_VALUE = re.compile(r"[^\W\d]\w*(?!\w|\s*\.(?!\.))")
_HEAD = 80  # characters before the arguments of a call
_IN_PARENTHESES = re.compile(r"\([^()]*\)")  # in a type: what functions and methods take
_COMMENT = re.compile(r"//.*")  # in a hover
_FENCE = re.compile(r"```\w*\n(.*?)```", re.S)


class _Taken(Struct):
    """What an encoder gets: values whose types are made of the `types`, and anything in the files `anything`; each with
    the first place where it gets that.

    A value of one of the types `holders` has others in it that can be anything.
    """

    types: dict[str, Place] = field(default_factory=dict)
    holders: dict[str, Place] = field(default_factory=dict)
    anything: dict[Path, Place] = field(default_factory=dict)
    is_whole: bool = True


_TAKEN: RememberedOf[Backend, str, int, _Taken] = RememberedOf(_MOST_KEPT)


async def encoded_at(backend: Backend, name: str, encoder: Encoder, type_name: str, home: Path) -> Place | None:
    """Where the encoder called `name` may get a value that has one of the type `type_name`, of the folder `home`, in
    it; None: it gets none.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    kept, generation = _TAKEN.for_owner(backend), backend.generation
    if (taken := kept.get(name, generation)) is None:
        taken = await _Search(backend, name, encoder).taken()
        kept.put(name, generation, taken, 1 + len(taken.types))
    if not taken.is_whole:
        for path, text, at in await _calling(backend, name, encoder):
            taken.anything.setdefault(path, Place(path, text.offsets_span(at, at), text))
    every = [*taken.types.values(), *taken.anything.values()]
    if not every:
        return None
    carriers = await _carriers(backend, type_name, home)
    if carriers is None:
        return every[0]
    if known := [place for word, place in taken.types.items() if word in carriers]:
        return known[0]
    mentioning = await _using(backend, carriers)
    if near := [place for path, place in taken.anything.items() if path in mentioning]:
        return near[0]
    # One file puts a value of the one type into the other.
    holding = [place for word, place in taken.holders.items() if mentioning & await _using(backend, {word: None})]
    return holding[0] if holding else None


async def _files(backend: Backend, name: str, home: Path | None) -> list[Path]:
    """The files that may mean a type called `name`; only those in `home`, if others can't name it."""
    private = backend.plugin.visibility and backend.plugin.visibility.private_names
    files = (await backend.words.files_with(name)).files
    if home and private and re.match(private, name):
        files = tuple(path for path in files if path.parent == home)
    return list(files[:_MOST_FILES])


async def _using(backend: Backend, types: Mapping[str, Path | None]) -> set[Path]:
    """The files that have one of these names more often than they declare it."""
    found: set[Path] = set()
    for name, home in sorted(types.items()):
        for path in await _files(backend, name, home):
            text, language = await text_or_none(backend, path), backend.plugin.language_of(path)
            if path in found or text is None or language is None:
                continue
            known = await declarations_of(text, language.id)
            declared = [known.slice(one) for part in known.declared for one in part.names] if known else []
            if len((await backend.words.occurrences(path, text, name)).spans) > declared.count(name):
                found.add(path)
    return found


async def _carriers(backend: Backend, type_name: str, home: Path) -> dict[str, Path | None] | None:
    """The names of the types that have a value of `type_name` in them, itself among them, with a folder of each; None:
    too many.
    """
    pattern = backend.plugin.visibility.type_pattern if backend.plugin.visibility else ""
    found: dict[str, Path | None] = {type_name: home}
    todo = [type_name]
    while todo:
        word = todo.pop()
        for path in await _files(backend, word, found[word]):
            new = await _declared_with(backend, path, word, pattern) - found.keys()
            found |= dict.fromkeys(new, path.parent)
            todo += new
            if len(found) > _MOST_TYPES:
                return None
    return found


async def _declared_with(backend: Backend, path: Path, word: str, pattern: str) -> set[str]:
    """The types that `path` declares with `word` in them."""
    text, language = await text_or_none(backend, path), backend.plugin.language_of(path)
    known = await declarations_of(text, language.id) if text and language else None
    if known is None:
        return set()
    found: set[str] = set()
    code = blanked(text, language) if text else ""
    for one in known.declared:
        part = f"{one.keyword} {code[slice(*one.span)]}"
        head, brace, fields = part.partition("{")
        fields = re.sub(backend.plugin.renaming.field_name_pattern, "", brace + _IN_PARENTHESES.sub(" ", fields))
        if re.search(rf"\b{re.escape(word)}\b", head + fields):
            names = (known.slice(name) for name in one.names)
            found.update(name for name in names if re.match(pattern.replace("{name}", re.escape(name)), part.strip()))
    return found


async def _calling(backend: Backend, name: str, encoder: Encoder) -> list[tuple[Path, Text, int]]:
    """The files with calls of the encoder, and where the first one is."""
    pattern = re.compile(encoder.call_pattern.replace("{name}", name))
    having = [(await backend.words.files_with(word)).files for word in encoder.words or (name,)]
    files = sorted({path for files in having for path in files})[:_MOST_FILES]
    texts = [(path, await text_or_none(backend, path)) for path in files]
    found = [(path, text, pattern.search(text.content) if text else None) for path, text in texts]
    return [(path, text, call.start()) for path, text, call in found if text and call]


class _Argument(Struct, frozen=True):
    """An argument, between two offsets of a text; of a call that writes into it, if it `is_read`."""

    path: Path
    signatures: Signatures
    start: int
    end: int
    is_read: bool


class _Search:
    """Finds what an encoder takes."""

    def __init__(self, backend: Backend, name: str, encoder: Encoder) -> None:
        self._backend, self._name, self._encoder = backend, name, encoder
        self._found = _Taken()
        # Parameters, local variables and results: where the function is, and the number or the name.
        self._passed: set[tuple[Path, int, int | str]] = set()
        self._calls = 0

    async def taken(self) -> _Taken:
        """All of it, as far as there is time."""
        values = re.compile(self._encoder.value_pattern.replace("{name}", self._name))
        try:
            async with asyncio.timeout(share_of_rest(_SHARE)):
                for path, text, at in await _calling(self._backend, self._name, self._encoder):
                    language = self._backend.plugin.language_of(path)
                    if language is None or (signatures := await signatures_of(text, language.id)) is None:
                        self._found.anything.setdefault(path, Place(path, text.offsets_span(at, at), text))
                        continue
                    reading = re.compile(self._backend.plugin.renaming.reading_pattern)
                    starts = {
                        one.end(): bool(reading.search(one[0])) for one in values.finditer(blanked(text, language))
                    }
                    others = await self._calls_of_others(path, text, starts)
                    for start, is_read in sorted(starts.items()):
                        if start in others:
                            continue
                        await self._follow(_arguments(path, signatures, start, is_read=is_read))
        except TimeoutError:
            self._found.is_whole = False
        return self._found

    async def _calls_of_others(self, path: Path, text: Text, starts: Iterable[int]) -> set[int]:
        """The calls, by where their arguments begin, that are surely of another package than the encoder."""
        rules, found = self._backend.plugin.renaming, {}
        for start in starts:
            head = re.search(rf"(?:\b{self._name}\.)?(?<!\w)(\w+)\s*\(\Z", text.content[max(0, start - _HEAD) : start])
            if head and re.fullmatch(rules.coding_pattern, head[0].rstrip("( ")):
                at = start - len(head[0])
                found[start] = Place(path, text.offsets_span(at, at + len(head[1])), text)
        said = await hovers(self._backend, list(found.values()))
        return {start for start, one in zip(found, said, strict=True) if self._is_of_another(one)}

    def _is_of_another(self, hover: str) -> bool:
        rules = self._backend.plugin.renaming
        if function := re.search(rules.function_package_pattern, hover):
            return function["package"] != self._name
        method = re.search(rules.method_package_pattern, hover)
        return method is not None and method["package"] in rules.encoders.keys() - {self._name}

    async def _follow(self, arguments: Iterable[_Argument], number: int | None = None) -> None:
        for index, argument in enumerate(arguments):
            if number is None or index == number:
                await self._argument(argument)

    async def _argument(self, argument: _Argument) -> None:
        self._calls += 1
        if self._calls > _MOST_CALLS:
            self._found.is_whole = False
            return
        text, path = argument.signatures.text, argument.path
        code = blanked(text, self._backend.plugin.language_of(path))
        # Of `a.b` it gets what `b` is.
        anything = re.compile(self._backend.plugin.renaming.anything_pattern)
        values = _VALUE.finditer(code, argument.start, argument.end)
        words = [(one.start(), one[0]) for one in values if not anything.fullmatch(one[0])]
        places = [Place(path, text.offsets_span(at, at + len(word)), text) for at, word in words]
        for (at, word), place, said in zip(words, places, await hovers(self._backend, places), strict=True):
            found = _FENCE.search(said)
            if of := _type_in(_COMMENT.sub("", found[1]) if found else "", word):
                self._take_types(of, place)
                await self._type_of(argument, at, word, place, of)

    async def _type_of(self, argument: _Argument, at: int, word: str, place: Place, said: str) -> None:
        """Follow a value that can be anything, or that has such values in it."""
        rules = self._backend.plugin.renaming
        # What is read into a collection of anything is new, and of no declared type.
        is_open = bool(re.search(rules.anything_pattern, said)) and not (
            argument.is_read and re.search(rules.collection_pattern, said)
        )
        try:
            declared = await type_definition_places(self._backend, place.path, place.span.start)
        except LspMcpError:
            declared = []
        for path, start in declared:
            text = await text_or_none(self._backend, path)
            language = self._backend.plugin.language_of(path)
            known = await declarations_of(text, language.id) if text and language else None
            if text is None or known is None:
                continue
            offset = text.point_offset(start)
            whole = next((one for one in known.declared if any(name[0] == offset for name in one.names)), None)
            body = known.slice(whole.span) if whole else ""
            name = text.slice(span) if (span := text.identifier_at(start)) else ""
            local = (
                ""
                if whole or language is None
                else _local_types(blanked(text, language), name, rules.local_type_pattern)
            )
            if local and not re.search(rules.anything_pattern, local):
                self._take_types(local, place)
            elif not whole or re.match(rules.interface_pattern.replace("{name}", re.escape(name)), body):
                is_open = True  # an interface, or the parameter of a function's type
            elif re.search(rules.anything_pattern, body):
                self._found.holders.setdefault(name, place)
        is_known = bool(declared) and not is_open
        if is_known or await self._passed_on(argument, at, word) or not is_open:
            return
        if not await self._assigned(argument, at, word) and not await self._returned(argument, at, place):
            self._found.anything.setdefault(argument.path, place)

    def _take_types(self, declared: str, place: Place) -> None:
        for word in _WORD.findall(re.sub(self._backend.plugin.renaming.field_name_pattern, "", declared)):
            self._found.types.setdefault(word, place)

    async def _passed_on(self, argument: _Argument, at: int, word: str) -> bool:
        """Follow `word` to the callers, if it is a parameter of the function around it."""
        signatures = argument.signatures
        for function in signatures.around(at):
            for number, parameter in enumerate(function.parameters):
                if parameter.name and signatures.slice(parameter.name) == word:
                    return await self._callers(argument, function, number)
        return False

    async def _assigned(self, argument: _Argument, at: int, word: str) -> bool:
        """Follow `word` to what it gets, if it is a variable of the function around it."""
        signatures, path = argument.signatures, argument.path
        around = [one.body for one in signatures.around(at) if one.body]
        if not around:
            return False
        body = around[-1]
        if (key := (path, body[0], word)) in self._passed:
            return True
        code = blanked(signatures.text, self._backend.plugin.language_of(path))
        if (found := assigned(code, body, word, self._backend.plugin.renaming.reading_pattern)) is None:
            return False
        self._passed.add(key)
        await self._follow(replace(argument, start=start, end=end, is_read=False) for start, end in found)
        return True

    async def _returned(self, argument: _Argument, at: int, place: Place) -> bool:
        """Follow the call of a function of the workspace to what it returns."""
        if at not in argument.signatures.calls:
            return False
        places = await definition_places(self._backend, place.path, place.span.start)
        for path, start in places:
            text, language = await text_or_none(self._backend, path), self._backend.plugin.language_of(path)
            there = await signatures_of(text, language.id) if text and language else None
            function = there.functions.get(there.text.point_offset(start)) if there else None
            if there is None or function is None or function.body is None:
                return False
            if (key := (path, function.body[0], "")) not in self._passed:
                self._passed.add(key)
                found = returned(blanked(there.text, language), function.body)
                await self._follow(_Argument(path, there, start, end, is_read=False) for start, end in found)
        return bool(places)

    async def _callers(self, argument: _Argument, function: Function, number: int) -> bool:
        path, signatures = argument.path, argument.signatures
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
            language = self._backend.plugin.language_of(place.path)
            there = await signatures_of(place.text, language.id) if language else None
            offset = place.text.point_offset(place.span.start)
            if there is None or offset in there.functions:
                continue
            called = there.calls.get(offset)
            if called is None or called.listing is None:
                self._found.anything.setdefault(place.path, place)  # passed on as a value
                continue
            arguments = _arguments(place.path, there, called.listing.start, is_read=argument.is_read)
            await self._follow(arguments, number)
        return True


def _local_types(code: str, name: str, pattern: str) -> str:
    """What `code` declares as `name` inside functions, and as the types in that; empty if there is no such type."""
    found: dict[str, str] = {}
    todo = [name]
    while todo:
        word = todo.pop()
        bodies = [
            _with_braces(code, one.end()) for one in re.finditer(pattern.replace("{name}", re.escape(word)), code)
        ]
        found[word] = " ".join(bodies)
        todo += {*_WORD.findall(found[word])} - found.keys() if bodies else ()
    return " ".join(filter(None, found.values()))


def _with_braces(code: str, start: int) -> str:
    """The rest of the line at `start`, and what braces in it enclose."""
    depth = 0
    for at in range(start, len(code)):
        depth += (code[at] == "{") - (code[at] == "}")
        if code[at] == "\n" and depth <= 0:
            return code[start:at]
    return code[start:]


def _type_in(declared: str, word: str) -> str:
    """What may be types in a declaration, as a hover shows it, of a value called `word`; empty for a package."""
    kind = declared.partition(" ")[0]
    if kind in ("package", "import", "type"):
        return word if kind == "type" else ""
    if not declared:
        return word  # not known what that is
    if kind != "func":
        return re.sub(rf"\A\w+ {re.escape(word)}\b", "", declared)
    if not (found := re.search(rf"\b{re.escape(word)}(?:\[[^\]]*\])?\(", declared)):
        return declared
    depth = 1
    for at, character in enumerate(declared[found.end() :], found.end()):
        depth += (character == "(") - (character == ")")
        if not depth:
            return declared[at + 1 :]
    return declared


def _arguments(path: Path, signatures: Signatures, start: int, *, is_read: bool) -> Iterator[_Argument]:
    """The arguments of the call whose list begins at `start`."""
    for called in signatures.calls.values():
        if called.listing and called.listing.start == start:
            yield from (_Argument(path, signatures, one.start, one.end, is_read) for one in called.listing.items)
            return
