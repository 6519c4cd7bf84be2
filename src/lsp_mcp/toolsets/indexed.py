"""The toolset `code` of `--backend index`: answers from the index store alone, without a server or a checkout."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from lsp_mcp.adapters import shipped_adapters
from lsp_mcp.anchors import encode_file, is_anchor, parse_anchor
from lsp_mcp.errors import ArgumentsError, CallerError, ConfigError, unknown
from lsp_mcp.features.finding.outlines import FileOutline
from lsp_mcp.features.hierarchy import Node
from lsp_mcp.features.types.implementations import Implementation
from lsp_mcp.gaps import Gap, hiding, news
from lsp_mcp.index.patience import asked
from lsp_mcp.index.place import known_store
from lsp_mcp.installed import install_command
from lsp_mcp.prose import count, first_few
from lsp_mcp.render.answers import (
    Answer,
    Definitions,
    FolderMap,
    Hierarchy,
    ImpactReport,
    ImplementationList,
    Outline,
    ReferenceList,
    Source,
    Sources,
)
from lsp_mcp.render.compact import compact
from lsp_mcp.render.document import document
from lsp_mcp.render.elsewhere import OtherPlaces, OtherRepository
from lsp_mcp.render.folder_map import Size, fitting, size_as_text, told_of
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.symbols import KINDS, TYPES, Symbol
from lsp_mcp.text import Point, Span, Text, numbers_point
from lsp_mcp.toolsets.answers import capped, found
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.tool import Call, Tool
from lsp_mcp.visible import quoted

if TYPE_CHECKING:
    from lsp_mcp.index.alone import Basis, Outlined
    from lsp_mcp.index.shelf import Named, Shelf, Spot

Result = TypeVar("Result")

_SHOWN = 5  # indexes named in a status
_MOST_FILES = 200  # of a folder
_MOST_MAP = 10_000  # bytes of its map
_BRIEF = "as indexed"
_READS_BOTH = "read_symbol"  # also beside a server; see `toolsets.elsewhere`
_IN_INDEX = re.compile(r"[^/@][^@]*[^/@]@[^/@]+/.")
_NO_SERVER = "--backend index has no language server and no checkout: {}"
_ALIKE = {  # what an index may call by another kind; scip-go: a method of an interface is a field
    "method": ("method", "field"),
    "property": ("field", "method"),
    "enum_member": ("field",),
    "constructor": ("method",),
    "constant": ("variable", "field"),
    "module": ("namespace",),
    "package": ("namespace",),
}
_CANNOT: Mapping[str, str] = {
    "find_calls": "indexes do not tell calls from other uses; find_symbol_references_by_anchor lists uses by function",
    "find_callers_by_anchor": "indexes do not tell calls from other uses; ask find_symbol_references_by_anchor",
    "find_callees_by_anchor": "indexes do not tell calls from other uses; read_symbol shows the function",
    "check": "it cannot compile",
}


def indexed_tools(context: ToolContext, tools: Sequence[Tool]) -> list[Tool]:
    """`tools` with those of the toolset `code` as the store answers them.

    Those that it cannot answer are not listed, and say why if they are called.
    """
    methods = _methods(context)

    def served(tool: Tool) -> Tool:
        if tool.toolset != "code":
            return tool
        if method := methods.get(tool.name):
            return replace(tool, method=method, docstring=tool.docstring.replace("in the workspace", "in all indexes"))
        return replace(tool, method=_refusing(tool), listed=lambda: False)

    return [served(tool) for tool in tools]


def with_indexed_places(context: ToolContext, tools: Sequence[Tool]) -> list[Tool]:
    """`tools` with those of the toolset `code` answering about places in indexes, too, which answers of others name."""
    methods = _methods(context)
    root = context.sessions.workspace.root

    def served(tool: Tool) -> Tool:
        if tool.toolset != "code" or tool.name == _READS_BOTH:
            return tool
        from_index = methods.get(tool.name)

        async def answer(call: Call, **arguments: Any) -> str:
            places = [one for one in _symbols(arguments) if is_indexed(one, root)]
            if not places:
                return str(await tool.method(call, **arguments))
            if from_index is None:
                repository = parse_anchor(places[0]).file.partition("@")[0]
                raise CallerError(
                    f"{quoted(places[0])} is a place in the index of {repository}, which is read only: "
                    f"{_READS_BOTH} shows it, find_symbol_references_by_anchor lists its uses."
                )
            if len(places) < len(_symbols(arguments)):
                raise CallerError(
                    f"{quoted(places[0])} is in an index; ask about it apart from the workspace's own symbols."
                )
            return str(await from_index(call, **arguments))

        return replace(tool, method=answer)

    return [served(tool) for tool in tools]


def is_indexed(spelled: str, root: Path) -> bool:
    """Whether `spelled` is an anchor of an index, as `go://REPOSITORY@COMMIT/PATH#1:1`, and no file below `root`."""
    if "@" not in spelled or not is_anchor(spelled):
        return False
    file = parse_anchor(spelled).file
    return bool(_IN_INDEX.match(file)) and not os.path.lexists(root / file)


def _symbols(arguments: Mapping[str, Any]) -> list[str]:
    """The symbols and files that a call is about."""
    found: list[str] = []
    for name in ("symbol", "symbols", "symbol_anchor", "file_path", "target"):
        value = arguments.get(name) or ()
        found += [value] if isinstance(value, str) else value
    return found


def _methods(context: ToolContext) -> dict[str, Callable[..., Any]]:
    answers = _Answers(context)
    return {
        "list_symbols_in_file": answers.outline,
        "find_symbol_definitions_by_name": answers.definitions,
        "find_symbol_references_by_anchor": answers.references,
        _READS_BOTH: answers.read,
        "find_implementations": answers.implementations,
        "find_impact": answers.impact,
        "find_type_hierarchy_by_anchor": answers.types,
    }


def _refusing(tool: Tool) -> Callable[..., Any]:
    why = _CANNOT.get(tool.name, "it only reads" if not tool.read_only else "it cannot answer that")

    async def refuse(_: Call, **arguments: object) -> str:
        raise CallerError(f"{tool.name}: {_NO_SERVER.format(why)}.")

    return refuse


class _Answers:
    """The answers, with the parameters of the tools that they are called by."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._texts: dict[str, Text] = {}

    async def definitions(self, call: Call, symbol_name: str, kind: str | None, path: str | None, **more: Any) -> str:
        """`find_symbol_definitions_by_name`."""
        if not symbol_name.strip():
            raise CallerError("symbol_name is empty; pass a name, for example Reader or Reader.Read.")
        if kind is not None and kind not in KINDS:
            raise CallerError(unknown("kind", kind, KINDS))
        kinds = () if kind is None else ("type",) if kind in TYPES else _ALIKE.get(kind, (kind,))
        limit = more["limit"]
        said = await self._asked(lambda alone, shelf: alone.definitions(shelf, symbol_name, kinds, path or "", limit))
        texts = _Texts()
        gaps = [*_of_indexes(said.asked, said.bases), *capped(len(said.symbols), said.total)]
        if said.is_capped:
            gaps.append(Gap("capped", "only some of the symbols with that name were looked at; pass more of the name"))
        if kinds and kinds != (kind,):
            gaps.append(news("setup", f"indexes do not tell whether it is a {kind} or another {' or '.join(kinds)}"))
        return self._rendered(
            call,
            Definitions(
                message=f"{found(said.total, 'symbol definition', gaps)} in {_repositories(said.asked, 'indexed ')}.",
                arguments=call.arguments,
                gaps=gaps,
                symbols=[texts.symbol(one) for one in said.symbols],
                with_code=more["include_code"] and any(one.spot.text is not None for one in said.symbols),
            ),
        )

    async def references(self, call: Call, symbol_anchor: str, role: str, path: str | None, **more: Any) -> str:
        """`find_symbol_references_by_anchor`."""
        if role != "all":
            raise ArgumentsError(f"role={role}: {_NO_SERVER.format('pass role=all, or leave it out')}.")
        offset, limit = more["offset"], more["limit"]
        said = await self._asked(lambda alone, shelf: alone.uses(shelf, symbol_anchor, path or "", offset, limit))
        texts = _Texts()
        has_text = any(spot.text is not None for spot in said.spots)
        gaps = [*_of_indexes(said.asked, said.bases), *_of_symbol(said.chosen.kind, said.is_defined)]
        others = f", but for the first {offset:,}" if offset else ""
        return self._rendered(
            call,
            ReferenceList(
                message=f"{found(said.total, 'reference', gaps)} to {said.chosen.name} in "
                f"{_repositories(len({one.index.repository for one in said.bases}))}{others}.",
                arguments=call.arguments,
                gaps=[*gaps, *capped(len(said.spots), said.total - offset, offset)],
                places=[texts.place(spot) for spot in said.spots],
                with_code=more["include_code"] and has_text,
                context=more["context"] if has_text else 0,
            ),
        )

    async def impact(self, call: Call, symbols: Sequence[str] | None, unused: bool, **more: Any) -> str:
        """`find_impact`: the uses alone."""
        if unused:
            raise ArgumentsError(
                f"unused: {_NO_SERVER.format('a symbol without uses may be used where nothing is indexed')}."
            )
        if not symbols:
            raise ArgumentsError(f"pass symbols: {_NO_SERVER.format('there is no git diff')}.")
        below, limit = more["path"], more["limit"]
        every = [
            await self._asked(lambda alone, shelf, one=one: alone.uses(shelf, one, below, 0, limit))  # type: ignore[misc]
            for one in symbols
        ]
        texts = _Texts()
        bases = [base for said in every for base in said.bases]
        gaps = _of_indexes(every[0].asked, bases)
        for said in every:
            gaps += [gap for gap in _of_symbol(said.chosen.kind, said.is_defined) if gap not in gaps]
        gaps.append(Gap("not_searched", "callers of callers and tests are not followed in indexes", brief="only uses"))
        total = sum(said.total for said in every)
        spots = list(dict.fromkeys(spot for said in every for spot in said.spots))[:limit]
        names = first_few([said.chosen.name for said in every], _SHOWN)
        where = _repositories(len({one.index.repository for one in bases}))
        return self._rendered(
            call,
            ImpactReport(
                message=f"{count(total, 'use')} of {names} in {where}, definitions included.",
                arguments=call.arguments,
                gaps=[*gaps, *capped(len(spots), total)],
                uses=[texts.place(spot) for spot in spots],
                functions=[],
                exported=[],
                through=[],
                tests=[],
                commands=[],
                with_code=more["include_code"] and any(spot.text is not None for spot in spots),
            ),
        )

    async def implementations(self, call: Call, symbol: str, direction: str, **more: Any) -> str:
        """`find_implementations`."""
        below, above = direction != "up", direction != "down"
        said = await self._asked(lambda alone, shelf: alone.related(shelf, symbol, below=below, above=above))
        texts, limit = _Texts(), more["limit"]
        gaps = self._of_relations(said)
        lists: dict[str, Sequence[Implementation]] = {}
        parts = []
        for field, wanted, reached, noun in (
            ("implementations", below, said.below, "implementation"),
            ("above", above, said.above, "base"),
        ):
            if wanted:
                parts.append(count(len(reached), noun))
                gaps += capped(len(reached[:limit]), len(reached))
            if reached:
                lists[field] = [Implementation(texts.symbol(one), of) for one, of in reached[:limit]]
        return self._rendered(
            call,
            ImplementationList(
                message=f"Found {' and '.join(parts)} of {said.chosen.kind} {said.chosen.name}.",
                arguments=call.arguments,
                gaps=gaps,
                kind=said.chosen.kind,
                lists=lists,
                with_code=more["include_code"],
            ),
        )

    async def types(self, call: Call, symbol_anchor: str, direction: str, **more: Any) -> str:
        """`find_type_hierarchy_by_anchor`: below and above a type, by their distance, not as a tree."""
        below, above = direction != "supertypes", direction != "subtypes"
        said = await self._asked(lambda alone, shelf: alone.related(shelf, symbol_anchor, below=below, above=above))
        texts, limit = _Texts(), more["limit"]
        trees = {
            field: [Node(texts.symbol(one)) for one, _ in reached[:limit]]
            for field, wanted, reached in (("supertypes", above, said.above), ("subtypes", below, said.below))
            if wanted
        }
        numbers = " and ".join(count(len(nodes), field.removesuffix("s")) for field, nodes in trees.items())
        gaps = self._of_relations(said)
        for reached in (said.below, said.above):
            gaps += capped(len(reached[:limit]), len(reached))
        return self._rendered(
            call,
            Hierarchy(
                message=f"Found {numbers} of {said.chosen.name}, on all levels.",
                arguments=call.arguments,
                gaps=gaps,
                trees=trees,
                with_code=more["include_code"],
            ),
        )

    async def outline(self, call: Call, file_path: str, offset: int, limit: int, **more: Any) -> str:
        """`list_symbols_in_file`: a file, a repository or a folder in it; `.` lists the repositories."""
        if not file_path.strip(" ./"):
            return await self._every_repository(call)
        said = await self._asked(lambda alone, shelf: alone.outline(shelf, file_path, offset, _MOST_FILES))
        texts = _Texts()
        gaps = _of_indexes(said.asked, said.bases)
        if said.is_folder:
            files = [texts.file(one) for one in said.files]
            level, fits = fitting(files, more["max_bytes"] or _MOST_MAP, _map_size(call))
            symbols = sum(one.total for one in files)
            return self._rendered(
                call,
                FolderMap(
                    message=f"{count(symbols, 'symbol')} in {count(said.total, 'file')}{told_of(level)}.",
                    arguments=call.arguments,
                    gaps=[*gaps, *capped(min(fits, len(files)), max(0, said.total - offset), offset)],
                    files=files[:fits],
                    level=level,
                ),
            )
        one = texts.file(said.files[0])
        every = one.symbols or ()
        shown = every[offset : offset + limit]
        return self._rendered(
            call,
            Outline(
                message=f"Found {count(one.total, 'symbol')} in file.",
                arguments=call.arguments,
                gaps=[*gaps, *capped(len(shown), max(0, len(every) - offset), offset)],
                path=one.path,
                symbols=shown,
                with_code=more["include_code"] and one.lines > 0,
            ),
        )

    async def read(self, call: Call, symbols: Sequence[str], what: str, callees: bool, max_bytes: int) -> str:
        """`read_symbol`."""
        if what not in ("body", "surroundings") or callees:
            asked_for = "callees" if callees else f"what={what}"
            raise ArgumentsError(f"{asked_for}: {_NO_SERVER.format('it reads what=body and what=surroundings')}.")
        sources: list[Source] = []
        texts = _Texts()
        for spelled in symbols:
            try:
                read = await self._asked(lambda alone, shelf, spelled=spelled: alone.reading(shelf, spelled, what))  # type: ignore[misc]
            except CallerError as error:
                if len(symbols) == 1:
                    raise
                sources.append(Source(asked=spelled, problem=str(error)))
                continue
            sources += [texts.source(spelled, one) for one in read]
        kept: list[Source] = []
        left = max_bytes
        for source in sources:
            size = sum(len(line.encode("utf-8", "surrogatepass")) for _, line in source.lines)
            if size > left and kept:
                break
            kept.append(source)
            left -= size
        number = len({one.asked for one in kept if one.place})
        return self._rendered(
            call,
            Sources(
                message=f"Read {count(number, 'symbol')}." if number else "No source found.",
                arguments=call.arguments,
                gaps=[news("setup", "as indexed, read only", brief=_BRIEF), *capped(len(kept), len(sources))],
                sources=kept,
            ),
        )

    # --- inside ------------------------------------------------------------------------------------

    async def _every_repository(self, call: Call) -> str:
        from lsp_mcp.index.elsewhere import age

        every = await self._asked(lambda alone, shelf: alone.repositories(shelf))
        listed = [
            OtherRepository(
                repository=one.repository,
                commit=one.short_commit,
                indexed=age(one),
                version="",
                name=one.tool,
                number=count(one.documents, "file"),
                anchors=(),
                more=0,
                is_exact=True,
            )
            for one in every
        ]
        return self._rendered(
            call,
            FolderMap(
                message="Pass a repository as file_path, or REPOSITORY/FILE.",
                arguments=call.arguments,
                elsewhere=OtherPlaces(_repositories(len(every), "indexed "), listed),
                files=[],
                level=0,
            ),
        )

    async def _asked(self, question: Callable[[Any, Shelf], Result]) -> Result:
        """The result of a question to the store.

        Raises:
            ConfigError: there is no store, or a package for it is missing.
            UnavailableError: it does not answer.
        """
        url = known_store(self._context.settings.index_store)
        if url is None:
            raise ConfigError("there is no index store yet: lsp-mcp index push FILE, or pass --index-store URL.")

        def ask() -> Result:
            from lsp_mcp.index import alone, elsewhere
            from lsp_mcp.index.shelf import Shelf

            return elsewhere.opened(url).read(lambda connection: question(alone, Shelf(connection)))

        try:
            return await asked(url, ask, alone=self._context.settings.from_index)
        except ModuleNotFoundError as error:
            needed = f"an index store needs {error.name}; install it with: {install_command('index')}"
            raise ConfigError(needed) from None

    def _of_relations(self, said: Any) -> list[Gap]:
        gaps = [*_of_indexes(said.asked, said.bases)]
        if said.undefined:
            named = first_few(said.undefined, _SHOWN)
            gaps.append(Gap("not_searched", f"no index defines {named}: what is above it is not known"))
        if said.is_capped:
            gaps.append(Gap("capped", "the hierarchy is larger than was followed"))
        return gaps

    def _rendered(self, call: Call, answer: Answer) -> str:
        gaps, known = self._context.sessions.reported.take(call.client.key, answer.gaps)
        shown = replace(answer, gaps=gaps, known=known)
        call.is_complete = not hiding(answer.gaps)
        if call.format == "compact":
            return compact(shown, str, _anchor)
        return document(shown, str, _anchor, self._context.settings.base)


def _map_size(call: Call) -> Size:
    """The size of a folder's map in the form of the answer."""
    if call.format == "compact":
        return size_as_text(str, _anchor)

    def size(files: Sequence[FileOutline], level: int) -> int:
        draft = FolderMap(message="", arguments={}, gaps=[], files=files, level=level)
        return len(document(draft, str, _anchor).encode())

    return size


def _repositories(number: int, which: str = "") -> str:
    """`1 indexed repository`, `2 indexed repositories`."""
    return f"{number:,} {which}{'repository' if number == 1 else 'repositories'}"


def _of_indexes(asked_ones: int, bases: Sequence[Basis]) -> list[Gap]:
    """What an answer from these indexes cannot know."""
    from lsp_mcp.index.elsewhere import age

    known = f"{_repositories(asked_ones, 'indexed ')} {'is' if asked_ones == 1 else 'are'}"
    used = {one.index.repository: one for one in bases}
    dated = [f"{name} {one.index.short_commit} ({age(one.index)})" for name, one in used.items()]
    based = f": {first_few(dated, _SHOWN)}" if dated else ""
    gaps = [Gap("not_searched", f"only {known} known, each as of its commit{based}", about=f"{_BRIEF}{based}")]
    versions: dict[str, list[str]] = {}
    for one in bases:
        # The repository that defines it names its own commit, and so does one that replaces the dependency by a folder.
        is_own = one.version in ("", ".") or one.index.commit.startswith(one.version)
        if not is_own and one.index.repository not in versions.setdefault(one.version, []):
            versions[one.version].append(one.index.repository)
    if len(versions) > 1:
        said = "; ".join(f"{version} in {first_few(names, _SHOWN)}" for version, names in versions.items())
        gaps.append(Gap("unverified", f"the repositories use different versions of it: {said}"))
    if inexact := sorted({one.index.repository for one in bases if not one.is_exact}):
        named = first_few(inexact, _SHOWN)
        gaps.append(news("setup", f"columns after letters beyond ASCII may be off in {named}: pushed without --root"))
    return gaps


def _of_symbol(kind: str, is_defined: bool) -> list[Gap]:
    gaps = []
    if not is_defined:
        gaps.append(Gap("not_searched", "no index has its definition"))
    if kind == "method":
        text = "calls through an interface or a base are uses of its method there: ask about that, too"
        gaps.append(Gap("not_searched", text, brief="calls through interfaces"))
    return gaps


class _Texts:
    """Makes places of spots; a source whose text is not stored has lines without text."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str | None, int], Text] = {}

    def place(self, spot: Spot) -> Place:
        """The place of `spot`."""
        lines = 0 if spot.text is not None else max(spot.line, spot.around[1] if spot.around else 0)
        key = spot.file, None if spot.text is None else "", lines
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = Text("\n" * lines if spot.text is None else spot.text)
        start = _point(spot.line, spot.start)
        around = Span(_point(spot.around[0], 0), _point(spot.around[1], 0)) if spot.around else None
        return Place(Path(spot.file), Span(start, start), text, spot.container, around)

    def symbol(self, one: Named) -> Symbol:
        """The symbol with its members."""
        extent = Span(_point(one.extent[0], 0), _point(one.extent[1], 0)) if one.extent else None
        children = tuple(self.symbol(child) for child in one.children)
        return Symbol(one.name, one.kind, self.place(one.spot), children=children, extent=extent)

    def file(self, one: Outlined) -> FileOutline:
        """The outline of a file."""
        return FileOutline(Path(one.file), one.lines, tuple(self.symbol(symbol) for symbol in one.symbols))

    def source(self, spelled: str, one: Named) -> Source:
        """The text of a definition, or the problem that there is none."""
        if one.spot.text is None:
            why = "its text was not stored; push the index with --with-text"
            place = str(_anchor(self.place(one.spot).path, _point(one.spot.line, one.spot.start)))
            return Source(asked=spelled, problem=f"{one.kind} {one.name} is at {place}; {why}")
        place_ = self.place(one.spot)
        first, last = one.extent or (one.spot.line, one.spot.line)
        span = Span(_point(first, 0), _point(last, 0))
        return Source(
            asked=spelled,
            place=place_,
            name=one.name,
            kind=one.kind,
            lines=place_.text.numbered(span),
            first=span.start.line,
            last=span.end.line,
            notes=() if one.extent else ("its end is not in the index",),
        )


def _point(line: int, character: int) -> Point:
    return numbers_point({"line": line, "character": character}, 0)


def _anchor(path: Path, point: Point | None) -> str:
    """The anchor of `point` in a file of the store; without a point its beginning up to `#`."""
    beginning = f"{_scheme(path.suffix)}://{encode_file(str(path))}#"
    return beginning if point is None else f"{beginning}{point.line}:{point.character}"


@cache
def _scheme(extension: str) -> str:
    file = Path(f"file{extension}")
    return next((found.scheme for one in shipped_adapters() if (found := one.language_of(file))), "file")
