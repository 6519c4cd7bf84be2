"""The tool `read_symbol` of the toolset `code`: the source of symbols, whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BeforeValidator, Field

from lsp_mcp.backend import Backend
from lsp_mcp.errors import CallerError, RefusedError
from lsp_mcp.features.calls.calls import Named
from lsp_mcp.features.hierarchy import call_tree
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import count
from lsp_mcp.render.answers import Source, Sources
from lsp_mcp.requests.hover import hover
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.scope import type_definition_places
from lsp_mcp.requests.symbol_text import SymbolText, enclosing_text, symbol_texts, text_at
from lsp_mcp.requests.symbols import FUNCTIONS, Symbol
from lsp_mcp.text import Point, Span
from lsp_mcp.toolsets.answers import AnchorToolset, as_list, without_places
from lsp_mcp.toolsets.by_name import Prefer
from lsp_mcp.toolsets.symbols import SymbolTarget
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool

What = Literal["body", "signature", "type", "surroundings"]

_MOST = 20  # symbols per call
_CALLEES = 50  # listed for one function
_SAID = 1_500  # characters of the hover of a symbol without a declaration
_MOST_COMMENT = 12  # lines of the comment above a signature
_AROUND = 10  # lines shown before and after a place outside declarations


class _Read(Struct, frozen=True):
    """The text read for one symbol."""

    texts: Sequence[SymbolText]
    hover: str = ""
    callees: Sequence[Symbol] = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def places(self) -> list[Place]:
        """Those that are handed out as anchors."""
        own = [Place(one.path, one.name, one.declared.text) for one in self.texts]
        return [*own, *(callee.place for callee in self.callees)]


class ReadingTools(AnchorToolset):
    """The source text of symbols."""

    @tool(title="Read symbols", read_only=True, parses=True)
    async def read_symbol(
        self,
        call: Call,
        symbols: Annotated[
            list[str],
            BeforeValidator(as_list),
            Field(min_length=1, max_length=_MOST, description="Names, anchors or FILE:LINE[:COL]; uses work too"),
        ],
        what: Annotated[
            What, Field(description="type: the definition of its type; surroundings: the enclosing declaration")
        ] = "body",
        callees: Annotated[bool, Field(description="Add the signatures of its callees")] = False,
        max_bytes: Annotated[int, Field(ge=200, le=1_000_000), UNLISTED] = 20_000,
        format: FormatChoice = None,
    ) -> str:
        """Read the full source of symbols, also in dependencies: comment and declaration, with line numbers and a hash
        for edit_symbol."""
        found: list[tuple[str, _Read]] = []
        sources: list[Source] = []
        gaps: dict[Gap, None] = {}
        for spelled in symbols:
            if stored := await self._elsewhere.read(spelled):
                sources.append(stored)
                continue
            try:
                answered = await self._read(call, spelled, what, with_callees=callees)
            except CallerError as error:
                if len(symbols) == 1:
                    raise
                sources.append(Source(asked=spelled, problem=str(error)))
                continue
            found.append((spelled, answered[0]))
            gaps.update(dict.fromkeys(answered[1]))
            sources += [self._source(spelled, one, answered[0], what) for one in answered[0].texts]
        shown, cut = _within(sources, max_bytes)
        capped = [Gap("capped", f"{count(cut, 'line')} left out beyond max_bytes={max_bytes:,}")] if cut else []
        read = len({one.asked for one in sources if one.place})
        return self._render(
            call,
            Sources(
                message=f"Read {count(read, 'symbol')}." if read else "No source found.",
                arguments=call.arguments,
                gaps=[*gaps, *capped],
                sources=shown,
            ),
        )

    # --- inside ------------------------------------------------------------------------------------

    async def _read(self, call: Call, spelled: str, what: What, *, with_callees: bool) -> tuple[_Read, tuple[Gap, ...]]:

        async def ask(target: SymbolTarget) -> _Read:
            backend, path, point = target.backend, target.path, target.identifier.start
            texts = await _texts(backend, path, point, target.identifier, what)
            own = texts[0].symbol if texts else None
            said = ""
            if own is None or (what == "type" and not texts):
                # For a local declaration the server knows the type, which the text may omit.
                said = _beginning(await hover(backend, Place(path, target.identifier, target.text)))
            called: list[Symbol] = []
            missing: tuple[Gap, ...] = ()
            if with_callees and own and own.kind in FUNCTIONS:
                first = texts[0]
                try:
                    tree = await call_tree(backend, first.path, first.name.start, "outgoing", 1, _CALLEES)
                except RefusedError as error:
                    missing = (Gap("not_searched", f"callees not known: {error}"),)
                else:
                    named = Named(backend)
                    called = [await named.symbol(node.symbol) for node in tree.found]
            if not texts and said:
                texts = [await text_at(backend, path, point)]
            if not texts:
                raise RefusedError("it sees no declaration of it")
            return _Read(texts, said, called, missing)

        prefer: Prefer = "places" if what == "surroundings" else "any"
        answered = await self._questions.about_symbol(
            call, spelled, ask, places=lambda read: read.places, reach="file", prefer=prefer
        )
        return answered.value, (*without_places(answered.gaps), *answered.value.gaps)

    def _source(self, asked: str, one: SymbolText, read: _Read, what: What) -> Source:
        shared = ", ".join(symbol.name for symbol in one.shared_with)
        notes = [f"declared with {shared}"] if shared else []
        source = _source(asked, one, read, what, notes)
        if one.path.is_relative_to(self._sessions.workspace.root):
            return source
        return replace(source, hash="", notes=[*notes, "dependency, read only"])  # nothing to guard


async def _texts(backend: Backend, path: Path, point: Point, identifier: Span, what: What) -> list[SymbolText]:
    match what:
        case "type":
            places = await type_definition_places(backend, path, point)
            return [await text_at(backend, *place) for place in dict.fromkeys(places)]
        case "surroundings":
            inside = await enclosing_text(backend, path, identifier)
            return [inside or await text_at(backend, path, point)]
    return await symbol_texts(backend, path, point)


def _source(asked: str, one: SymbolText, read: _Read, what: What, notes: Sequence[str]) -> Source:
    declared, symbol = one.declared, one.symbol
    span = declared.span
    if what == "signature" and declared.body:
        span = Span(span.start, declared.body.start)
    outside = what == "surroundings" and symbol is None
    lines = shown = declared.text.numbered(span, _AROUND if outside else 0)
    first, last = lines[0][0] if outside else span.start.line, lines[-1][0] if outside else declared.span.end.line
    left_out: tuple[int, int] | None = None
    if what == "signature":
        shown, left_out = _briefly(one, read.texts, lines)
    roles = [other.declared.body is not None for other in read.texts]
    role = "" if len(set(roles)) < len(_ROLES) else _ROLES[declared.body is not None]
    is_first = one is read.texts[0]
    return Source(
        asked=asked,
        place=Place(one.path, one.name, declared.text),
        name="outside declarations" if outside else _whole_name(one),
        kind=symbol.kind if symbol else "local" if one.owners and not outside else "place",
        role=role,
        hash=declared.hash if symbol else "",
        lines=shown,
        left_out=left_out,
        first=first,
        last=last,
        hover=read.hover if is_first else "",
        callees=read.callees if is_first else (),
        notes=notes,
    )


def _briefly(
    one: SymbolText, texts: Sequence[SymbolText], lines: list[tuple[int, str]]
) -> tuple[list[tuple[int, str]], tuple[int, int] | None]:
    """The `lines` of a signature without most of a long comment, and which are left out.

    None of them if another of `texts` has the same parameters, and a longer comment or comes first.
    """
    same = [other for other in texts if _parameters(other) == _parameters(one)]
    if max(same, key=_comment_lines) is not one:
        return [], None
    if (comment := _comment_lines(one)) <= _MOST_COMMENT:
        return lines, None
    left_out = lines[_MOST_COMMENT // 2][0], lines[comment - 1][0]
    return [*lines[: _MOST_COMMENT // 2], *lines[comment:]], left_out


def _comment_lines(one: SymbolText) -> int:
    return one.declared.code.start.line - one.declared.span.start.line


def _parameters(one: SymbolText) -> str:
    """What follows the name of a function, however it is divided into lines."""
    end = one.declared.body.start if one.declared.body else one.declared.span.end
    return " ".join(one.declared.text.slice(Span(one.name.end, end)).rstrip(" \t\r\n;{").split())


def _beginning(said: str) -> str:
    """The first paragraphs of what a server says about a symbol: of a package it may be all the documentation."""
    if len(said) <= _SAID:
        return said
    kept = said[: said.rfind("\n\n", 0, _SAID) + 1].rstrip() or said[:_SAID]
    return f"{kept}\n… {len(said) - len(kept):,} characters left out; lsp_request textDocument/hover has all"


_ROLES = {True: "definition", False: "declaration"}


def _whole_name(one: SymbolText) -> str:
    """Its name prefixed with its containers', unless it has them itself."""
    if one.symbol is None:
        text, start = one.declared.text, one.name.start
        # An import has no name of its own: what it imports stands there.
        return text.slice(one.name) or text.slice(Span(start, one.declared.span.end)).partition(" ")[0]
    name = one.symbol.name
    owners = [owner.name for owner in one.owners]
    if owners and name.startswith(("(", f"{owners[-1]}")) and ")." in name:
        owners = owners[:-1]
    separator = "::" if any("::" in part for part in (name, *owners)) or _is_scoped(one) else "."
    return separator.join([*owners, name])


def _is_scoped(one: SymbolText) -> bool:
    return any(owner.kind == "namespace" for owner in one.owners)


def _within(sources: Sequence[Source], most: int) -> tuple[list[Source], int]:
    """The sources with as many of their lines as fit into `most` bytes, and the number of omitted lines.

    Each gets a fair share of the remaining space; the end of a long one is shown too, because it has the return value.
    """
    shown, cut, left = [], 0, most
    for number, source in enumerate(sources):
        share = left // (len(sources) - number)
        size = [len(line.encode("utf-8", "surrogatepass")) for _, line in source.lines]
        if sum(size) <= share:
            left -= sum(size)
            shown.append(source)
            continue
        head, tail, used = 0, len(size), 0
        while head < tail:
            # Three lines at the beginning for one at the end.
            at_end = (head + len(size) - tail) % 4 == 3
            wanted = size[tail - 1] if at_end else size[head]
            if used + wanted > share:
                break
            used += wanted
            head, tail = (head, tail - 1) if at_end else (head + 1, tail)
        left -= used
        cut += tail - head
        gone = source.lines[head][0], source.lines[tail - 1][0]
        shown.append(replace(source, lines=[*source.lines[:head], *source.lines[tail:]], left_out=gone))
    return shown, cut
