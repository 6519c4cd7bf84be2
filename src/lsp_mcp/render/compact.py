"""Answers as short text: grouped by file, one `line:char| code` per line.

A line with the beginning of an anchor (`go://FILE#`) is the heading of the places in that file: together with a
`line:char` below it, it makes the anchor.

Text of the workspace never begins a line and cannot break one (`visible`): code follows the first `| ` of a line, so
that it cannot be taken for a heading, a place or a status.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from pathlib import Path

from lsp_mcp.edits.plan import CreateFile, DeleteFile, EditPlan, FileChange, RenameFile, Step
from lsp_mcp.features.checking.problems import Delta
from lsp_mcp.features.hierarchy import Node
from lsp_mcp.prose import count
from lsp_mcp.render.answers import (
    AnchorTo,
    Answer,
    CallPath,
    Change,
    Check,
    Definitions,
    FolderMap,
    Hierarchy,
    ImpactReport,
    ImplementationList,
    Offers,
    Outline,
    ReferenceList,
    Rename,
    Sources,
    UnusedList,
    WorkspaceOverview,
)
from lsp_mcp.render.changes import diff_lines, file_line
from lsp_mcp.render.elsewhere import elsewhere_lines
from lsp_mcp.render.folder_map import map_lines
from lsp_mcp.render.impact import impact_lines
from lsp_mcp.render.overview import overview_lines
from lsp_mcp.render.problems import delta_lines
from lsp_mcp.render.source_lines import source_lines
from lsp_mcp.render.uses import bare_places, places_with_code
from lsp_mcp.requests.places import last_word
from lsp_mcp.requests.symbols import FUNCTIONS, Symbol, flat, last_line
from lsp_mcp.text import Point
from lsp_mcp.visible import visible

Shown = Callable[[Path], str]

_MOST_PLACES = 20  # listed unless the caller wants more
_MOST_IN_FILE = 40  # places of one change listed in a file; the others are counted
_MOST_FILES = 100  # files listed for one change


def compact(answer: Answer, shown: Shown, anchor: AnchorTo) -> str:
    """`answer` as text for a model or a terminal."""
    # Sources include their own count.
    first = [] if isinstance(answer, Sources) and answer.sources else [answer.message]
    others = elsewhere_lines(answer.elsewhere) if answer.elsewhere else ()
    lines = [*first, *_body(answer, shown, anchor), *others, f"status: {answer.status}"]
    return "\n".join(map(visible, lines))


def _body(answer: Answer, shown: Shown, anchor: AnchorTo) -> Iterator[str]:
    match answer:
        case Definitions():
            yield from chain.from_iterable(_definition(one, answer.with_code, anchor) for one in answer.symbols)
        case Outline():
            yield from _file(answer, anchor)
        case FolderMap():
            yield from map_lines(answer.files, answer.level, shown, anchor)
        case WorkspaceOverview():
            yield from overview_lines(answer, anchor)
        case ReferenceList():
            if answer.with_code:
                yield from places_with_code(answer.places, anchor, answer.context)
            else:
                yield from bare_places(answer.places, anchor)
        case Check() | Change() | Offers():
            yield from _editing(answer, shown, anchor)
        case Sources():
            yield from source_lines(answer.sources, anchor)
        case Rename():
            yield from _changes(answer.plan, shown, anchor, with_places=answer.with_places)
            if answer.delta:
                yield from _made_wrong(answer.delta, anchor)
        case _:
            yield from _related(answer, shown, anchor)


def _related(answer: Answer, shown: Shown, anchor: AnchorTo) -> Iterator[str]:
    """The related symbols."""
    match answer:
        case Hierarchy():
            for field, nodes in answer.trees.items():
                if several := len(answer.trees) > 1:
                    yield f"{field}:"
                yield from _tree(nodes, "  " * several, answer.with_code, anchor)
        case CallPath():
            yield from _path(answer.nodes, shown)
        case ImplementationList():
            yield from _implementations(answer, anchor)
        case ImpactReport() | UnusedList():
            yield from impact_lines(answer, shown, anchor)


def _editing(answer: Check | Change | Offers, shown: Shown, anchor: AnchorTo) -> Iterator[str]:
    match answer:
        case Check():
            yield from delta_lines(answer.delta, anchor, with_remaining=answer.with_remaining)
        case Change():
            yield from diff_lines(answer.plan, shown, anchor)
            yield from _made_wrong(answer.delta, anchor)
        case Offers():
            yield " · ".join(answer.names)


def _made_wrong(delta: Delta, anchor: AnchorTo) -> Iterator[str]:
    if delta.new:
        yield "new errors:"
    yield from delta_lines(delta, anchor, with_remaining=False)


def _file(answer: Outline, anchor: AnchorTo) -> Iterator[str]:
    if answer.symbols:
        yield anchor(answer.path, None)
    lines = Counter(symbol.place.span.start.line for symbol in flat(answer.symbols))
    for symbol in answer.symbols:
        yield from _outline(symbol, "", answer.with_code, lines)


def _definition(symbol: Symbol, with_code: bool, anchor: AnchorTo) -> Iterator[str]:
    place = symbol.place
    code = f"| {place.code}" if with_code else ""
    yield f"{anchor(place.path, place.span.start)}{_to_end(symbol)} {symbol.kind} {symbol.name}{code}"
    yield from _quoted(symbol.hover, "  ")


def _implementations(answer: ImplementationList, anchor: AnchorTo) -> Iterator[str]:
    """For a single list, the message says what it is; the kind is added if it differs from the symbol's."""
    for field, found in answer.lists.items():
        if len(answer.lists) > 1:
            yield f"{field}:"
        for path, in_file in groupby(found, key=lambda one: one.symbol.place.path):
            yield anchor(path, None)
            for one in in_file:
                of = f" [of {one.of}]" if one.of else ""
                code = f"| {one.symbol.place.code}" if answer.with_code else ""
                kind = "" if one.symbol.kind == answer.kind else f"{one.symbol.kind} "
                yield f"{_at(one.symbol.place.span.start)} {kind}{one.symbol.name}{of}{code}"


def _outline(symbol: Symbol, indent: str, with_code: bool, lines: Mapping[int, int]) -> Iterator[str]:
    """A symbol and those inside it; `lines` are the numbers of symbols by line: of one alone the code has the name."""
    place = symbol.place
    code = f"| {place.code}" if with_code else ""
    is_shown = lines[place.span.start.line] == 1 and last_word(symbol.name) in re.findall(r"\w+", code)
    name = "" if is_shown else f" {symbol.name}"
    yield f"{indent}{_at(place.span.start)}{_to_end(symbol)} {symbol.kind}{name}{code}"
    yield from _quoted(symbol.hover, f"{indent}  ")
    for child in symbol.children:
        yield from _outline(child, f"{indent}  ", with_code, lines)


def _tree(nodes: Sequence[Node], indent: str, with_code: bool, anchor: AnchorTo) -> Iterator[str]:
    """The nodes of one level by file, each with its own below it."""
    if any(node.children for node in nodes):
        for node in nodes:
            place = node.symbol.place
            yield f"{indent}{anchor(place.path, None)}{_node(node, with_code)}"
            yield from _tree(node.children, f"{indent}  ", with_code, anchor)
        return
    for path, in_file in groupby(nodes, key=lambda node: node.symbol.place.path):
        first, *more = [_node(node, with_code) for node in in_file]
        if not more:
            yield f"{indent}{anchor(path, None)}{first}"
            continue
        yield f"{indent}{anchor(path, None)}"
        yield from (f"{indent} {line}" for line in (first, *more))


def _node(node: Node, with_code: bool) -> str:
    """Its place, name and calls; that a function is one goes without saying."""
    symbol, start = node.symbol, node.symbol.place.span.start
    kind = "" if symbol.kind in FUNCTIONS and node.sites else f"{symbol.kind} "
    calls = f" calls at {','.join(_at(site.span.start) for site in node.sites)}" if node.sites else ""
    mark = f" ({node.mark})" if node.mark else ""
    code = f"| {symbol.place.code}" if with_code else ""
    return f"{_at(start)}{_to_end(symbol)} {kind}{symbol.name}{calls}{mark}{code}"


def _path(nodes: Sequence[Node], shown: Shown) -> Iterator[str]:
    """`main a.go:3 > run 9 (5:2) > (*T).Do b.go:7 (11:4)`: a file is named where it changes."""
    parts: list[str] = []
    file: Path | None = None
    for node in nodes:
        place = node.symbol.place
        line = f"{place.span.start.line}" if place.path == file else f"{shown(place.path)}:{place.span.start.line}"
        calls = f" ({','.join(_at(site.span.start) for site in node.sites)})" if node.sites else ""
        parts.append(f"{node.symbol.name} {line}{calls}")
        file = place.path
    yield from [" > ".join(parts)] if parts else []


def _changes(plan: EditPlan, shown: Shown, anchor: AnchorTo, *, with_places: bool) -> Iterator[str]:
    """Equal changes are listed once, with their places; files that move between the same folders share a line.

    Nobody reads thousands of places: of more than 20 only the files are listed, with counts, unless `with_places`; then
    of many in a file, or in many files, the rest is counted.
    """
    counts_only = plan.edit_count > _MOST_PLACES and not with_places
    places: dict[tuple[str, str], dict[Path, list[Point]]] = {}
    for change in (step for step in plan.steps if isinstance(step, FileChange)):
        for one in change.changes:
            places.setdefault((one.old_text, one.new_text), {}).setdefault(change.path, []).append(one.span.start)
    for (old, new), files in places.items():
        yield f"{old!r} → {new!r} {'in (verbose=true lists the places)' if counts_only else 'at'}"
        for path, points in islice(files.items(), _MOST_FILES):
            if counts_only:
                yield f"{anchor(path, points[0])} {count(len(points), 'place')}"
                continue
            more = f" and {len(points) - _MOST_IN_FILE:,} more" if len(points) > _MOST_IN_FILE else ""
            yield f"{anchor(path, None)} {' '.join(map(_at, points[:_MOST_IN_FILE]))}{more}"
        if len(files) > _MOST_FILES:
            yield f"and {len(files) - _MOST_FILES:,} more files (all with format=json)"
    steps: list[CreateFile | RenameFile | DeleteFile] = [
        step for step in plan.steps if not isinstance(step, FileChange)
    ]
    for (old_folder, new_folder), group in groupby(steps, key=_folders):
        together = list(group)
        if old_folder and new_folder and len(together) > 1:
            names = ", ".join(step.new.name for step in together if isinstance(step, RenameFile))
            yield f"moved {shown(old_folder)} → {shown(new_folder)}: {names}"
        else:
            yield from (file_line(step, shown) for step in together)


def _folders(step: Step) -> tuple[Path | None, Path | None]:
    """The old and new folder of a file that keeps its name."""
    is_plain = isinstance(step, RenameFile) and step.old.name == step.new.name
    return (step.old.parent, step.new.parent) if isinstance(step, RenameFile) and is_plain else (None, None)


def _quoted(text: str, indent: str) -> Iterable[str]:
    return (f"{indent}| {line}".rstrip() for line in text.split("\n") if line.strip())


def _to_end(symbol: Symbol) -> str:
    """`-47` for a declaration that ends on a later line than its name."""
    last = last_line(symbol)
    return f"-{last}" if last and last > symbol.place.span.start.line else ""


def _at(point: Point) -> str:
    return f"{point.line}:{point.character}"
