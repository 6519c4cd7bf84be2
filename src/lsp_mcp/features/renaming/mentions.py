"""Where a symbol is called by its name in files that its server does not read, or in comments: `mentions`."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.disk.files import Signature, content_or_nothing
from lsp_mcp.errors import RefusedError
from lsp_mcp.features.renaming.by_name import looked_up
from lsp_mcp.features.renaming.made_from import made_from
from lsp_mcp.features.renaming.named_after import Renamed, one_definition, renamed_symbol
from lsp_mcp.prose import first_few
from lsp_mcp.remembered import RememberedOf, kept_in_thread
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.refusals import note
from lsp_mcp.requests.symbols import Symbol, flat
from lsp_mcp.servers.traits import Mention
from lsp_mcp.text import Point, Text
from lsp_mcp.words.index import words_in

_MOST_FILES = 5_000  # files searched for one kind of mention
_MOST_SIZE = 1 << 20  # bytes of a file that is searched
_MOST_KEPT = 2_000_000  # words of such files
_FILES = 3  # listed
PARAMETER = "parameter"  # a kind of symbol that no outline has
_PATHS: RememberedOf[Backend, str, None, list[str]] = RememberedOf(1)
_LISTED: RememberedOf[Backend, tuple[str, Path | None], list[str], list[str]] = RememberedOf(_MOST_KEPT)
_HAVING: RememberedOf[Backend, tuple[str, Path | None, str], tuple[int, list[str]], list[Path]] = RememberedOf(20_000)
_WORDS: RememberedOf[Backend, str, Signature, frozenset[bytes]] = RememberedOf(_MOST_KEPT)


class Mentions(Struct, frozen=True):
    """Places that mean a symbol `surely`, and places that `may` mean it, each with what it is."""

    surely: tuple[tuple[Place, str], ...] = ()
    may: tuple[tuple[Place, str], ...] = ()
    left_out: int = 0  # files that were not searched

    def made_into(self, code: Iterable[Place], directive: str) -> Mentions:
        """These, of which the places surely mean the symbol that its uses in `code` were made from."""
        if not directive or not self.may:
            return self
        lines = made_from(code, directive, [place for place, _ in self.may])
        sure = [one for one in self.may if (one[0].path, one[0].span.start.line) in lines]
        return replace(self, surely=(*self.surely, *sure), may=tuple(one for one in self.may if one not in sure))


async def mentions(backend: Backend, symbol: Renamed) -> Mentions:
    """Where `symbol` is called by its name outside the code that its server reads."""
    rules = [rule for rule in backend.plugin.mentions if await _applies(backend, symbol, rule)]
    surely: dict[tuple[Path, int], tuple[Place, str]] = {}
    may: dict[tuple[Path, int], tuple[Place, str]] = {}
    left_out, paths = 0, _paths(backend) if rules else []
    for rule in rules:
        home = symbol.symbol.place.path.parent if rule.beside else None
        work = partial(_files, paths, rule.files, home)
        files = await kept_in_thread(_LISTED.for_owner(backend), (rule.files, home), paths, work)
        if not files:
            continue
        left_out += max(0, len(files) - _MOST_FILES)
        read = partial(_with_word, backend, files[:_MOST_FILES], symbol.name)
        key = rule.files, home, symbol.name
        for path in await kept_in_thread(_HAVING.for_owner(backend), key, (backend.words.changes(), paths), read):
            if (text := await text_or_none(backend, path)) is None:
                continue
            for place, start in await asyncio.to_thread(places_in, path, text, rule, symbol):
                (surely if rule.is_sure else may)[path, start] = (place, rule.what)
    kept = [one for at, one in sorted(may.items()) if at not in surely]
    return Mentions(tuple(one for _, one in sorted(surely.items())), tuple(kept), left_out)


async def unoutlined(backend: Backend, path: Path, point: Point) -> Renamed | None:
    """What is declared for the name at `point`, if other files may call it by that name though no outline has it: a
    parameter of a function whose body is in another language, or a macro.
    """
    # Only a generator writes the name of a macro into another file.
    has_parameters = any(PARAMETER in rule.kinds for rule in backend.plugin.mentions)
    if not (has_parameters or backend.plugin.renaming.line_directive):
        return None
    try:
        if (declared := await one_definition(backend, path, point)) is None:
            return None
        file, start = declared
        outline = flat(await document_symbols(backend, file))
    except RefusedError as error:
        note(path, error)
        return None
    around = [
        one
        for one in outline
        if one.extent and one.kind in ("function", "method") and one.extent.start < start < one.extent.end
    ]
    if around:
        return _parameter(around, file, start) if has_parameters else None
    if not backend.plugin.renaming.line_directive:
        return None
    text = await text_or_none(backend, file)
    if text is None or not (span := text.identifier_at(start)):
        return None
    return Renamed(Symbol(text.slice(span), "", Place(file, span, text)), text.slice(span), "")


def _parameter(functions: Sequence[Symbol], file: Path, start: Point) -> Renamed | None:
    """What is declared at `start`, if it is a parameter of one of `functions` without a body; its owner is that."""
    for one in functions:
        text = one.place.text
        span = text.identifier_at(start)
        if one.extent and span and not text.slice(one.extent).endswith("}"):
            place = Place(file, span, text)
            owner = re.split(r"\W+", one.name)[-1]
            return Renamed(Symbol(text.slice(span), PARAMETER, place), text.slice(span), owner)
    return None


async def mentioned(backend: Backend, path: Path, point: Point, known: Iterable[Place] = ()) -> str:
    """Where the symbol at `point` of `path` is called by its name outside the code of its server, or is looked up by a
    string; for people.

    Places that are `known` are left out. Empty if there are none.
    """
    rules = backend.plugin.renaming
    if not backend.plugin.mentions:
        return ""
    symbol = await renamed_symbol(backend, path, point) or await unoutlined(backend, path, point)
    if symbol is None:
        return ""
    found = await mentions(backend, symbol)
    # The span of a server may begin with the mark before the name.
    lines = {(place.path, place.span.start.line) for place in known}
    every = [one for one in (*found.surely, *found.may) if (one[0].path, one[0].span.start.line) not in lines]
    is_looked_up = (symbol.owner or rules.looks_up_all) and symbol.symbol.kind != PARAMETER
    where = await looked_up(backend, symbol) if is_looked_up else ""
    return ", ".join(filter(None, [told(backend, every), f"{where} (a string)" if where else ""]))


def told(backend: Backend, found: Iterable[tuple[Place, str]]) -> str:
    """`page.tmpl:1 (a template)`: the files that mention a symbol, and the lines."""
    listed = []
    for (path, what), group in groupby(found, key=lambda one: (one[0].path, one[1])):
        lines = dict.fromkeys(str(place.span.start.line) for place, _ in group)
        shown = path.relative_to(backend.root) if path.is_relative_to(backend.root) else path
        listed.append(f"{shown}:{','.join(lines)} ({what})")
    return first_few(listed, _FILES)


def places_in(path: Path, text: Text, rule: Mention, symbol: Renamed) -> list[tuple[Place, int]]:
    """Where `text` calls `symbol` by its name according to `rule`, with the offsets."""
    content, pattern = text.content, re.compile(_filled(rule.pattern, symbol))
    ranges = [(0, len(content))]
    if rule.within:
        within = re.compile(_filled(rule.within, symbol))
        has_end = "end" in within.groupindex
        ranges = [one.span() for one in within.finditer(content) if not has_end or one["end"] is not None]
    return [
        (Place(path, text.offsets_span(*found.span("name")), text), found.start("name"))
        for start, end in ranges
        for found in pattern.finditer(content, start, end)
    ]


async def _applies(backend: Backend, symbol: Renamed, rule: Mention) -> bool:
    home = symbol.symbol.place
    if rule.kinds and symbol.symbol.kind not in rule.kinds:
        return False
    if rule.is_local != symbol.is_local(backend.plugin.renaming) and PARAMETER not in rule.kinds:
        return False
    private = backend.plugin.visibility and backend.plugin.visibility.private_names
    if rule.exported and private and re.match(private, symbol.name):
        return False
    if not rule.declared:
        return True
    text = await text_or_none(backend, home.path)
    return text is not None and re.search(_filled(rule.declared, symbol), text.content) is not None


def _paths(backend: Backend) -> list[str]:
    """All files below the root; the same list as the last time if they are the same."""
    below, kept = f"{backend.root}{os.sep}", _PATHS.for_owner(backend)
    paths = [path for path in backend.words.paths() if path.startswith(below)]
    if (known := kept.get("", None)) == paths:
        return known
    kept.put("", None, paths, 1)
    return paths


def _files(paths: Iterable[str], pattern: str, home: Path | None) -> list[str]:
    named = re.compile(pattern)
    folder = str(home) if home else None
    return sorted(
        path for path in paths if (folder is None or path.rpartition(os.sep)[0] == folder) and named.search(path)
    )


def _with_word(backend: Backend, files: Sequence[str], name: str) -> list[Path]:
    """Those of `files` with the word `name`; reads only what has changed."""
    known, wanted = _WORDS.for_owner(backend), name.encode()
    found = []
    for path in files:
        signature = Signature.read(path)
        if signature is None or signature.size > _MOST_SIZE:
            continue
        if (words := known.get(path, signature)) is None:
            words = frozenset(words_in(content_or_nothing(path)))
            known.put(path, signature, words, 1 + len(words))
        # A word may have others before or after it, as in `const_Width`.
        if wanted in words or any(wanted in word for word in words):
            found.append(Path(path))
    return found


def _filled(pattern: str, symbol: Renamed) -> str:
    return pattern.replace("{name}", re.escape(symbol.name)).replace("{owner}", re.escape(symbol.owner or "-"))
