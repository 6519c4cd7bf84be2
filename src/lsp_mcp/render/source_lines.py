"""The text of declarations in compact answers: `source_lines`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from lsp_mcp.render.answers import AnchorTo, Source


def source_lines(sources: Sequence[Source], anchor: AnchorTo) -> Iterator[str]:
    """Each source: a line with its anchor, kind, name, lines and hash, and its lines with their numbers."""
    for source in sources:
        yield from _source(source, anchor)


def _source(source: Source, anchor: AnchorTo) -> Iterator[str]:
    if source.place is None:
        first, *more = source.problem.split("\n")
        yield first if first.startswith(source.asked) else f"{source.asked}: {first}"
        yield from (f"  {line}" for line in more)
        return
    where = anchor(source.place.path, source.place.span.start)
    notes = "".join(f", {note}" for note in (source.role, *source.notes) if note)
    hash_ = f" hash={source.hash}" if source.hash else ""
    lines = f"{source.first}-{source.last}" if source.last > source.first else f"{source.first}"
    yield f"{where} {source.kind} {source.name} [{lines}]{hash_}{notes}"
    for number, line in source.lines:
        if source.left_out and number > source.left_out[1]:
            yield _left_out(source.left_out)
            source = replace(source, left_out=None)
        yield f"{number}| {line}".rstrip(" ")
    if source.left_out:
        yield _left_out(source.left_out)
    yield from (f"  | {line}".rstrip() for line in source.hover.split("\n") if line.strip())
    if source.callees:
        yield "  calls:"
    for callee in source.callees:
        place = callee.place
        yield f"  {anchor(place.path, place.span.start)} {callee.kind} {callee.name}| {place.code}"


def _left_out(lines: tuple[int, int]) -> str:
    return f"… lines {lines[0]}-{lines[1]} left out"
