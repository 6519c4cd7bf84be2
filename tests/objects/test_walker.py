"""The laws of `Walker`: positions are converted where LSP has some, in their documents, and come back unchanged."""

import copy
import json
import re
from collections.abc import Iterator
from typing import Any, Union, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsprotocol import types as lsp

from lsp_mcp.errors import CallerError, PointError
from lsp_mcp.objects.params import checked_params, request_methods
from lsp_mcp.objects.walker import Walker, documents
from lsp_mcp.text import Base, Json, PositionEncoding, Text
from objects.lsp_objects import (
    CODECS,
    EXTENSIONS,
    HOME,
    OTHER,
    THIRD,
    UNREAD,
    WORLDS,
    OldTypeHierarchyItem,
    World,
    converted,
    hints,
    plain,
    typed,
)

METHODS = sorted(request_methods() - {"initialize", "shutdown"})
PUSHED = (lsp.PublishDiagnosticsParams, lsp.ShowDocumentParams, lsp.ApplyWorkspaceEditParams)  # without a question


def results() -> Iterator[Any]:
    """Every type of a result, each member of a union by itself, and what servers send without a question."""
    for method in METHODS:
        response = lsp.METHOD_TO_TYPES[method][1]
        assert response
        kind = hints(response)["result"]
        yield from get_args(kind) if get_origin(kind) is Union else [kind]
    yield from (*PUSHED, *EXTENSIONS)


# The result of workspace/executeCommand has no type.
RESULTS = {re.sub(r"\w+\.|['<>]|class ", "", str(kind)): kind for kind in results() if kind not in (Any, type(None))}
PARAMS = {method: lsp.METHOD_TO_TYPES[method][2] for method in METHODS}
OWN = {"position", "positions", "range", "ranges"}

few = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


def sent(world: World, value: Any) -> Any:
    """The JSON of a typed object, with positions that a server can mean; a caller's own are in the document."""
    has_document = hasattr(value, "text_document")

    def move(position: Json, document: str | None, path: tuple[str, ...]) -> Json:
        return world.sendable(position, document, inside=has_document and path[0] in OWN)

    return converted(value, plain(value), HOME, move)


def seen(world: World, value: Any, raw: Any) -> tuple[Any, set[str | None]]:
    """What a caller should see of `raw`, and the documents that it has positions in."""
    found: set[str | None] = set()

    def convert(position: Json, document: str | None, _path: tuple[str, ...]) -> Json:
        found.add(document)
        return world.ours(position, document)

    return converted(value, raw, HOME, convert), found


def check(world: World, value: Any) -> Any:
    """Both ways, against the types; returns what the caller sees."""
    raw = sent(world, value)
    expected, where = seen(world, value, raw)
    untouched = copy.deepcopy((raw, expected))
    walker = Walker(world.texts, world.encoding, world.base)
    assert walker.outward(raw, HOME) == expected
    assert walker.inward(expected, HOME) == raw
    assert documents(raw, HOME) == documents(expected, HOME) == where
    assert (raw, expected) == untouched
    return expected


@pytest.mark.parametrize("name", RESULTS)
@given(st.data(), WORLDS)
@few
def test_every_position_of_a_result_is_converted_in_its_document_and_comes_back(
    name: str, data: st.DataObject, world: World
) -> None:
    check(world, data.draw(typed(RESULTS[name])))


@pytest.mark.parametrize("method", METHODS)
@given(st.data(), WORLDS)
@few
def test_every_position_of_params_is_converted_in_its_document_and_the_check_takes_them(
    method: str, data: st.DataObject, world: World
) -> None:
    params = check(world, data.draw(typed(PARAMS[method])))
    assert checked_params(method, params) == params
    assert checked_params(method, floats(params)) == params


def floats(value: Any) -> Any:
    """`value` as a program sends it that has no integers."""
    return json.loads(json.dumps(value), parse_int=float)


# --- by example ------------------------------------------------------------------------------------

UTF_16 = PositionEncoding("utf-16")
EMOJI = Text("😀😀\nx")  # a unit too far by 1 after each


def at(line: int, character: int) -> Json:
    return {"line": line, "character": character}


def stretch(line: int, start: int, end: int) -> Json:
    return {"start": at(line, start), "end": at(line, end)}


def walker(base: Base = 1, **texts: Text | None) -> Walker:
    return Walker({f"file:///{name}": text for name, text in texts.items()}, UTF_16, base)


RANGE, SEEN, SEEN_IN_EMOJI = stretch(0, 2, 4), stretch(1, 3, 5), stretch(1, 2, 3)


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        ({"range": RANGE}, {"range": SEEN}),
        ({"uri": OTHER, "range": RANGE}, {"range": SEEN_IN_EMOJI}),
        ({"textDocument": {"uri": OTHER}, "regions": [RANGE]}, {"regions": [SEEN_IN_EMOJI]}),
        ({"document": {"uri": OTHER}, "range": RANGE}, {"range": SEEN_IN_EMOJI}),
        ({"targetUri": OTHER, "targetRange": RANGE}, {"targetRange": SEEN_IN_EMOJI}),
        ({"targetUri": OTHER, "targetSelectionRange": RANGE}, {"targetSelectionRange": SEEN_IN_EMOJI}),
        ({"targetUri": OTHER, "originSelectionRange": RANGE}, {"originSelectionRange": SEEN}),
        ({"changes": {OTHER: [{"range": RANGE}]}}, {"changes": {OTHER: [{"range": SEEN_IN_EMOJI}]}}),
        ({"relatedDocuments": {OTHER: {"items": [RANGE]}}}, {"relatedDocuments": {OTHER: {"items": [SEEN_IN_EMOJI]}}}),
        ({"changes": [{"range": RANGE}]}, {"changes": [{"range": SEEN}]}),
        ({"from": {"uri": OTHER}, "fromRanges": [RANGE]}, {"fromRanges": [SEEN_IN_EMOJI]}),
        ({"to": {"uri": OTHER}, "fromRanges": [RANGE]}, {"fromRanges": [SEEN]}),
        (
            {"relatedInformation": [{"location": {"uri": OTHER, "range": RANGE}}]},
            {"relatedInformation": [{"location": {"uri": OTHER, "range": SEEN_IN_EMOJI}}]},
        ),
    ],
)
def test_a_range_stands_in_the_document_that_the_nearest_object_names(sent: Json, seen: Json) -> None:
    sides = walker(home=Text("abcdef"), other=EMOJI)
    assert sides.outward([sent], HOME) == [sent | seen]
    assert sides.inward([sent | seen], HOME) == [sent]
    assert documents(sent, HOME) == {OTHER if str(SEEN_IN_EMOJI) in str(seen) else HOME}


@pytest.mark.parametrize(
    "opaque",
    [
        {"data": {"range": stretch(0, 1, 2)}},
        {"title": "x", "command": "x.y", "arguments": [stretch(0, 1, 2)]},
        {"initializationOptions": at(1, 2)},
        {"settings": at(1, 2)},
        {"experimental": at(1, 2)},
        {"edits": [{"start": 0, "deleteCount": 1, "data": [1, 2]}], "data": [0, 5, 1]},
        {"label": "f(x)", "parameters": [{"label": [2, 3]}]},
        {"name": "x", "location": {"uri": OTHER}},
        {"line": "a", "character": "b"},
        {"line": 1.5, "character": True},
    ],
)
def test_what_is_not_a_position_or_belongs_to_the_server_is_left_alone(opaque: Json) -> None:
    assert walker().outward(opaque, HOME) == opaque
    assert walker().outward([{"x": opaque}], HOME) == [{"x": opaque}]


def test_arguments_that_belong_to_no_command_are_converted() -> None:
    assert walker().outward({"arguments": [at(0, 0)]}, HOME) == {"arguments": [at(1, 1)]}


def test_a_position_keeps_what_else_it_says() -> None:
    position = {**at(0, 4), "offset": 4, "uri": "file:///emoji", "near": at(0, 2)}
    expected = {**position, **at(1, 3), "near": at(1, 2)}
    assert walker(emoji=EMOJI).outward(position, None) == expected
    assert walker(emoji=EMOJI).inward(expected, None) == position


def test_a_folding_range_without_characters_gets_none() -> None:
    fold = {"startLine": 0, "endLine": 1, "startCharacter": None, "kind": "comment"}
    assert walker(home=EMOJI).outward(fold, HOME) == fold | {"startLine": 1, "endLine": 2}


@pytest.mark.parametrize("home", [None, UNREAD, "file:///missing"])
@pytest.mark.parametrize("base", [0, 1])
def test_without_its_text_a_position_is_moved_by_the_base_only(home: str | None, base: Base) -> None:
    sides = walker(base, unread=None, emoji=EMOJI)
    params = {"textDocument": {"uri": home}, "position": at(base + 7, base + 4)}
    assert sides.inward(params, home)["position"] == at(7, 4)
    assert sides.outward(stretch(7, 4, 2**31), home)["start"] == at(base + 7, base + 4)
    assert documents(params, home) == ({home} if home else set())


def test_a_syntax_tree_may_be_deeper_than_the_stack() -> None:
    tree: Json = {"range": stretch(0, 0, 1)}
    for _ in range(5_000):
        tree = {"children": [tree]}
    seen = walker().outward(tree, HOME)
    while "children" in seen:
        seen = seen["children"][0]
    assert seen == {"range": stretch(1, 1, 2)}


# --- callers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", sorted(OWN))
@pytest.mark.parametrize(
    ("base", "place", "message"),
    [
        (1, at(3, 1), "line 3 is not in the document, which has 2 lines"),
        (1, at(1, 4), "character 4 is not in line 1, which has 2 characters"),
        (0, at(2, 0), r"line 2 \(counted from 0\) is not in the document, which has 2 lines"),
        (0, at(0, 3), r"character 3 \(counted from 0\) is not in line 0 \(counted from 0\), which has 2 characters"),
    ],
)
def test_a_place_of_the_callers_own_past_the_end_is_refused_with_both_numbers(
    field: str, base: Base, place: Json, message: str
) -> None:
    value: Any = {"start": at(base, base), "end": place} if field.startswith("range") else place
    value = [value] if field.endswith("s") else value
    with pytest.raises(PointError, match=rf"^params\.{field}\S*: {message}"):
        walker(base, home=EMOJI).inward({"textDocument": {"uri": HOME}, field: value}, HOME)


@pytest.mark.parametrize("place", [at(1, 1), at(1, 3), at(2, 2)])
def test_a_place_of_the_callers_own_may_be_at_an_end(place: Json) -> None:
    walker(home=EMOJI).inward({"textDocument": {"uri": HOME}, "position": place}, HOME)


@pytest.mark.parametrize(
    ("params", "home"),
    [
        ({"textDocument": {"uri": HOME}, "context": {"diagnostics": [{"range": stretch(9, 1, 9)}]}}, HOME),
        ({"item": {"uri": HOME, "range": stretch(9, 1, 9)}}, None),
        ({"range": stretch(9, 1, 9), "command": {"command": "x"}}, HOME),
    ],
)
def test_what_came_from_a_server_may_be_past_the_end(params: Json, home: str | None) -> None:
    sides = walker(home=EMOJI)
    assert sides.outward(sides.inward(params, home), home) == params


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"textDocument": {"uri": HOME}, "position": at(-1, 5)}, "params.position.line"),
        ({"textDocument": {"uri": UNREAD}, "ranges": [stretch(5, -1, 5)]}, "params.ranges[0].start.character"),
        ({"item": {"uri": OTHER, "range": stretch(5, 5, -1)}}, "params.item.range.end.character"),
        ([{"startLine": -1, "endLine": 4}], "params[0].startLine"),
    ],
)
def test_a_number_below_the_base_is_refused_with_how_we_count(base: Base, params: Any, field: str) -> None:
    with pytest.raises(CallerError) as caught:
        walker(base).inward(params, HOME)
    assert str(caught.value) == f"{field} is -1; lines and characters count from {base}"


def test_zero_is_below_the_base_of_who_counts_from_one() -> None:
    with pytest.raises(CallerError, match="count from 1"):
        walker().inward({"textDocument": {"uri": HOME}, "position": at(0, 1)}, HOME)


@pytest.mark.parametrize("number", [True, 1.5, "3", None, [1], float("nan"), float("inf")])
def test_a_number_that_is_not_whole_is_refused_by_its_path(number: Any) -> None:
    with pytest.raises(CallerError, match=r"^item\.children\[0\]\.range\.start\.line: expected an integer, got "):
        broken = {"start": {"line": number, "character": 1}, "end": at(1, 1)}
        walker().inward({"children": [{"range": broken}]}, HOME, name="item")


def test_a_whole_number_may_be_written_with_a_fraction_of_zero() -> None:
    back = walker().inward({"position": {"line": 3.0, "character": 1.0}}, HOME)
    assert back == {"position": at(2, 0)}
    assert all(type(number) is int for number in back["position"].values())


def test_the_first_wrong_field_is_named() -> None:
    with pytest.raises(CallerError, match=r"^params\.range\.start\.line"):
        walker().inward({"range": stretch(0, 0, 0)}, HOME)


# --- what the tests rest on ------------------------------------------------------------------------


def test_the_oracle_knows_the_old_type_hierarchy_of_clangd() -> None:
    world = World({HOME: "ab", OTHER: "ab", THIRD: "😀😀"}, UTF_16, 1)
    place = lsp.Range(lsp.Position(0, 2), lsp.Position(0, 4))
    child = OldTypeHierarchyItem("x", THIRD, place, place, None, None, at(0, 0))
    item = OldTypeHierarchyItem("x", OTHER, place, place, None, [child], at(0, 0))
    expected = check(world, item)
    assert expected["range"] == stretch(1, 3, 5)
    assert expected["children"][0]["range"] == stretch(1, 2, 3)
    assert expected["children"][0]["data"] == at(0, 0)


def test_sendable_positions_are_edges_of_characters() -> None:
    world = World({HOME: "a😀b\r"}, PositionEncoding("utf-16", lone_cr_ends_line=False), 1)
    assert [world.sendable(at(0, n), HOME, inside=False)["character"] for n in range(7)] == [0, 1, 1, 3, 4, 5, 6]
    assert world.sendable(at(7, 9), HOME, inside=True) == at(0, 4)
    assert set(CODECS) == {"utf-8", "utf-16", "utf-32"}
