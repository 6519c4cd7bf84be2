"""A function or a type moved to another file, where files include each other: `Move`, with the new texts of both."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from lsp_mcp.backend import Backend, Trial
from lsp_mcp.errors import RefusedError
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.places import Place, position_params
from lsp_mcp.requests.symbol_text import SymbolText
from lsp_mcp.requests.symbols import FUNCTIONS, Symbol
from lsp_mcp.servers.traits import Headers
from lsp_mcp.text import Span, Text
from lsp_mcp.uris import uri_path
from lsp_mcp.words.lexing import names_in

_TYPES = ("class", "struct", "union", "enum", "interface", "type_alias")
_MOST_NAMES = 400  # in what moves, whose meaning is compared
_BODY = "its body is moved between a header and its source file by action='move function body', without options"


class Move(Struct, frozen=True):
    """The declaration `one` in the file `to`, whose old text is `there`; `code` is its text in that file."""

    one: SymbolText
    to: Path
    there: Text
    code: str
    texts: Mapping[Path, tuple[Text, str]]  # before and after

    async def meanings(self, backend: Backend) -> dict[Span, frozenset[str]]:
        """The symbols that names in the code mean, but for those that move with it; to be asked before a trial.

        Raises:
            RefusedError: these are too many, or the server does not say.
        """
        rules, path, text = backend.plugin.word_check, self.one.path, self.one.declared.text
        code, language = self.one.declared.code, backend.plugin.language_of(path)
        names = names_in(text, code, language)
        if len(names) > _MOST_NAMES:
            raise RefusedError(f"it has more than {_MOST_NAMES:,} names, too many to compare what they mean; move less")
        found = {}
        for name in names:
            said = await backend.request(rules.request, position_params(path, text, name.start, backend.encoding))
            found[name] = _ids(backend, [one for one in _symbols(said) if not self._moves(one, backend)])
        return found

    async def changed(self, backend: Backend, trial: Trial, before: Mapping[Span, frozenset[str]]) -> list[Place]:
        """The names, where they are now, that mean something else in `trial`, which has the texts, than `before`."""
        text, after = self.one.declared.text, Text(self.texts[self.to][1])
        moved_code = text.slice(self.one.declared.code)
        begin = after.content.index(self.code) + self.code.index(moved_code)
        shift = begin - text.point_offset(self.one.declared.code.start)
        found = []
        for name, meant in before.items():
            there = after.offset_point(text.point_offset(name.start) + shift)
            params = position_params(self.to, after, there, trial.encoding)
            said = await trial.request(backend.plugin.word_check.request, params)
            if not meant <= _ids(backend, _symbols(said)):
                found.append(Place(self.one.path, name, text))
        return found

    def _moves(self, symbol: Any, backend: Backend) -> bool:
        """Whether a symbol, as the server describes it, is declared in what moves."""
        span, text = self.one.declared.span, self.one.declared.text
        return any(
            uri_path(there["uri"]) == self.one.path
            and span.start <= text.position_point(there["range"]["start"], backend.encoding) < span.end
            for field in backend.plugin.word_check.location_fields
            if (there := symbol.get(field))
        )


async def moved(
    backend: Backend, texts: Sequence[SymbolText], to: Path, uses: Sequence[Place], *, include_all: bool
) -> Move:
    """The first of `texts`, of one symbol, moved to the file `to`, which need not exist, into the same namespaces.

    `uses` are all of its uses. `include_all`: `to` includes all that its file does.

    Raises:
        RefusedError: it cannot be moved, and why.
    """
    one, *others = texts
    rules, text = backend.plugin.headers, one.declared.text
    if rules is None or one.symbol is None:
        raise RefusedError("nothing is known about moves between files of its language")
    _refuse(backend, rules, one, to)
    own = [use for use in uses if use.path == one.path and not _holds(one, use)]
    if one.symbol.kind in FUNCTIONS:
        left = [use for use in uses if not _holds(one, use) and not any(_holds(other, use) for other in others)]
        _refuse_apart(backend, rules, one, others, to, left)
    there = await backend.documents.text(to) if to.is_file() else Text("")
    language = backend.plugin.language_of(one.path)
    shared, header = "", text.slice(one.declared.header)
    if one.symbol.kind in FUNCTIONS and backend.plugin.is_header(to) and not re.search(rules.shared_pattern, header):
        shared = rules.shared.get(language.id if language else "", "")
        if not shared:
            raise RefusedError("each file that includes the header would define it; only a static function fits there")
    doc = text.slice(Span(one.declared.span.start, one.declared.code.start))
    code = f"{doc}{shared}{text.slice(Span(one.declared.code.start, one.declared.span.end))}"
    names = ["" if owner.name.startswith("(") else owner.name for owner in one.owners]
    place = await _inside(backend, to, there, names) if there.content else None
    if place is None:
        for name in reversed(names):
            code = rules.scope.format(name=name, code=code, space=" " if name else "")
        place = _end(rules, there.content)
    before, behind = there.content[:place].rstrip(), there.content[place:].lstrip("\n")
    start = rules.once if not there.content and backend.plugin.is_header(to) else ""
    parts = (f"{start}{before}".rstrip(), code, behind)
    after = "\n\n".join(part for part in parts if part).rstrip("\n") + "\n"
    included = _headers(rules, text.content)
    if include_all or not there.content:
        headers = [header for header in included if not _is_file(one.path, header, to)]
        lines = [rules.include.format(header=header) for header in headers]
        after = _with_headers(rules, after, lines, keep=there.content)
    rest = _without(text, one.declared.span)
    if backend.plugin.is_header(to) and (own or backend.plugin.is_header(one.path)):
        spelled = _spelled(included, one.path, to, backend.root)
        if not any(_is_file(one.path, header, to) for header in included):
            rest = _with_headers(rules, rest, [rules.include.format(header=f'"{spelled}"')], keep=rest)
    return Move(one, to, there, code, {one.path: (text, rest), to: (there, after)})


def _refuse(backend: Backend, rules: Headers, one: SymbolText, to: Path) -> None:
    text, symbol = one.declared.text, one.symbol
    assert symbol
    is_function = symbol.kind in FUNCTIONS
    if any(owner.kind != "namespace" for owner in one.owners):
        raise RefusedError(f"it is a member of {one.owners[-1].name}{f'; {_BODY}' if is_function else ''}")
    if symbol.kind not in (*FUNCTIONS, *_TYPES):
        raise RefusedError("only functions and types are moved: a variable may be initialized at another time there")
    if one.shared_with or not one.declared.whole_lines:
        raise RefusedError("its lines declare something else, too; edit them")
    if is_function and one.declared.body is None:
        raise RefusedError("it has no body here; move its definition")
    if is_function and backend.plugin.is_header(one.path) and not backend.plugin.is_header(to):
        raise RefusedError(f"files that include its header need it there; {_BODY}")
    before = text.content[: text.point_offset(one.declared.span.start)]
    begins, ends = (len(re.findall(pattern, before)) for pattern in rules.condition_patterns)
    if begins - ends - bool(re.match(rules.guard_pattern, text.content)) > 0:
        raise RefusedError("it is under a condition of the preprocessor; edit the files")


def _refuse_apart(
    backend: Backend, rules: Headers, one: SymbolText, others: Sequence[SymbolText], to: Path, uses: Sequence[Place]
) -> None:
    """Refuse what compiles, but is not linked: files that only see a declaration of what no other file defines."""
    is_shared = re.search(rules.shared_pattern, one.declared.text.slice(one.declared.header))
    if backend.plugin.is_header(to):
        apart = [other.path for other in others if other.path != to]
        why = "files that include only its declaration, in {}, would not find it"
    else:
        apart = [use.path for use in uses if use.path != to] if is_shared else []
        why = "it is static, inline or a template, and {} uses it: each file that uses it must define it"
    if apart:
        raise RefusedError(why.format(apart[0].name))


def _holds(one: SymbolText, use: Place) -> bool:
    return one.path == use.path and one.declared.span.start <= use.span.start < one.declared.span.end


def _ids(backend: Backend, symbols: Sequence[Any]) -> frozenset[str]:
    return frozenset(str(one.get(backend.plugin.word_check.alias_field)) for one in symbols)


def _symbols(result: Any) -> list[Any]:
    return [one for one in result if isinstance(one, dict)] if isinstance(result, list) else []


async def _inside(backend: Backend, path: Path, text: Text, names: Sequence[str]) -> int | None:
    """Where the last of the namespaces with these `names` ends in `text`; None if there is none."""
    if not names:
        return None

    def walk(symbols: Sequence[Symbol], around: tuple[str, ...]) -> Iterator[Symbol]:
        for one in symbols:
            own = (*around, "" if one.name.startswith("(") else one.name)
            if one.kind == "namespace":
                if list(own) == list(names):
                    yield one
                yield from walk(one.children, own)

    found = [one for one in walk(await document_symbols(backend, path), ()) if one.extent]
    if not found or not found[-1].extent:
        return None
    end = text.point_offset(found[-1].extent.end)
    return end - 1 if text.content[end - 1 : end] == "}" else None


def _end(rules: Headers, content: str) -> int:
    """The end of a file, before the end of a condition around all of it."""
    if not re.match(rules.guard_pattern, content):
        return len(content)
    ends = [found.start() for found in re.finditer(rules.condition_patterns[1], content)]
    return ends[-1] if ends else len(content)


def _without(text: Text, span: Span) -> str:
    """`text` without the lines of `span`, and one of the empty lines around them."""
    start, end = text.point_offset(span.start), text.point_offset(span.end)
    before, behind = text.content[:start].rstrip(" \t"), text.content[end:].lstrip(" \t").removeprefix("\n")
    if before.endswith("\n\n") or not before:
        behind = behind.removeprefix("\n")
    return before + behind


def _headers(rules: Headers, content: str) -> list[str]:
    return [found["header"] for found in re.finditer(rules.include_pattern, content)]


def _is_file(source: Path, header: str, file: Path) -> bool:
    """Whether `header`, as `source` includes it, seems to be `file`."""
    inner = header[1:-1]
    return Path(os.path.normpath(source.parent / inner)) == file or (
        "/" in inner and file.as_posix().endswith(f"/{inner}")
    )


def _spelled(included: Sequence[str], source: Path, to: Path, root: Path) -> str:
    """How `source`, which has `included` others, would include `to`: from where it includes these, else its folder."""
    if to.parent == source.parent:
        own = [header[1:-1] for header in included if (source.parent / header[1:-1]).is_file()]
        if own or not any("/" in header for header in included):
            return to.name
    for header in included:
        for folder in (source.parent, *source.parent.parents):
            if folder.is_relative_to(root) and (folder / header[1:-1]).is_file() and to.is_relative_to(folder):
                return to.relative_to(folder).as_posix()
    return Path(os.path.relpath(to, source.parent)).as_posix()


def _with_headers(rules: Headers, content: str, lines: Sequence[str], *, keep: str) -> str:
    """`content` with the `lines` that `keep` does not have, behind its last include, or else at its beginning."""
    known = set(_headers(rules, keep))
    new = [line for line in lines if (_headers(rules, line) or [""])[0] not in known]
    if not new:
        return content
    joined = "\n".join(new)
    if found := [*re.finditer(rules.include_pattern, content)]:
        at = found[-1].end()
        return f"{content[:at]}\n{joined}{content[at:]}"
    guard = re.match(rules.guard_pattern, content)
    at = guard.end() if guard else len(rules.once) if content.startswith(rules.once) else 0
    parts = (content[:at].rstrip(), joined, content[at:].lstrip("\n"))
    return "\n\n".join(part for part in parts if part)
