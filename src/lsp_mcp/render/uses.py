"""Places in code as short text: by file, and by containing function or type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from lsp_mcp.render.answers import AnchorTo
from lsp_mcp.requests.places import Place

_LENGTH = 200  # characters shown of the line around a place


def bare_places(places: Sequence[Place], anchor: AnchorTo) -> Iterator[str]:
    """The places file by file, one line each."""
    for path, in_file in groupby(places, key=lambda place: place.path):
        numbers = " ".join(f"{place.span.start.line}:{place.span.start.character}" for place in in_file)
        yield f"{anchor(path, None)} {numbers}"


def places_with_code(places: Sequence[Place], anchor: AnchorTo, context: int = 0) -> Iterator[str]:
    """The places by file, below their containers if those have several lines; several on one line share its code.

    With `context`, that many lines before and after them are shown, too.
    """
    for path, in_file in groupby(places, key=lambda place: place.path):
        yield anchor(path, None)
        for heading, group in groupby(in_file, key=_heading):
            yield from [f"in {heading}"] if heading else []
            indent = " " if heading else ""
            yield from (f"{indent}{line}" for line in _lines(list(group), context))


def _heading(place: Place) -> str:
    if not place.around:
        return place.container
    first, last = place.around.start.line, place.around.end.line
    return f"{place.container} {first}-{last}" if first < last else ""


def _lines(places: Sequence[Place], context: int) -> Iterator[str]:
    """The lines of `places`, all in one file, with those around them, each once."""
    by_line = {line: list(group) for line, group in groupby(places, key=lambda place: place.span.start.line)}
    shown = 0
    for line, on_line in by_line.items():
        characters = ",".join(str(place.span.start.character) for place in on_line)
        if not context:
            yield f"{line}:{characters}| {on_line[0].code}"
            continue
        for number, code in on_line[0].text.numbered(on_line[0].span, context):
            if number <= shown:
                continue
            shown = number
            at = (
                f":{','.join(str(place.span.start.character) for place in by_line[number])}"
                if number in by_line
                else ""
            )
            yield f"{number}{at}| {code[:_LENGTH]}".rstrip()
