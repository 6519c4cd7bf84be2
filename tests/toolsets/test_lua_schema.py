"""The JSON Schema that clients get of the arguments that a Lua tool declares."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.toolsets.lua import input_schema

Json = dict[str, Any]

KEYWORDS = {"type", "description", "default", "enum", "items", "properties", "required", "additionalProperties"}
TYPES = ["string", "number", "integer", "boolean", "object", "array"]
VALUES = {
    "string": st.text(),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "integer": st.integers(),
    "boolean": st.booleans(),
    "object": st.dictionaries(st.text(), st.integers(), min_size=1),
    "array": st.lists(st.integers(), min_size=1),
}


@st.composite
def declarations(draw: st.DrawFn, depth: int = 3) -> Json:
    """One argument, as a registry lists it."""
    kind = draw(st.sampled_from(TYPES))
    declared: Json = {"type": kind}
    if draw(st.booleans()):
        declared["description"] = draw(st.text())
    if draw(st.booleans()):
        declared["required"] = draw(st.booleans())
    if draw(st.booleans()):
        declared["default"] = draw(VALUES[kind])
    if draw(st.booleans()):
        declared["enum"] = draw(st.lists(VALUES[kind], min_size=1, max_size=3))
    if depth and kind == "array" and draw(st.booleans()):
        declared["items"] = draw(declarations(depth - 1))
    if depth and kind == "object" and draw(st.booleans()):
        declared["properties"] = draw(arguments(depth - 1))
    return declared


def arguments(depth: int = 3) -> st.SearchStrategy[Json]:
    return st.dictionaries(st.text(min_size=1), declarations(depth), max_size=3)


def schemas(schema: Json) -> list[Json]:
    """A schema and all in it."""
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return [schema, *(found for one in inner for found in schemas(one))]


def test_no_arguments_are_an_object_without_any() -> None:
    assert input_schema({}) == {"type": "object", "properties": {}}


@pytest.mark.parametrize("extra", [True, False])
def test_whether_other_arguments_are_taken_is_said_where_the_tool_says_it(extra: bool) -> None:
    assert input_schema({}, extra=extra)["additionalProperties"] is extra
    assert "additionalProperties" not in input_schema({})


def test_required_arguments_come_first_each_group_by_name() -> None:
    args = {
        "b": {"type": "string"},
        "d": {"type": "string", "required": True},
        "a": {"type": "string", "required": False},
        "c": {"type": "string", "required": True},
    }
    schema = input_schema(args)
    assert list(schema["properties"]) == ["c", "d", "a", "b"]
    assert schema["required"] == ["c", "d"]


def test_what_is_false_zero_or_empty_is_a_default_all_the_same() -> None:
    args = {
        "flag": {"type": "boolean", "default": False},
        "count": {"type": "integer", "default": 0},
        "name": {"type": "string", "default": ""},
    }
    properties = input_schema(args)["properties"]
    assert {name: one["default"] for name, one in properties.items()} == {"flag": False, "count": 0, "name": ""}


def test_the_empty_default_of_an_array_is_an_array() -> None:
    # Lua has one empty table: the registry's JSON may say {} for it.
    empty: Any
    for empty in ({}, []):
        assert input_schema({"a": {"type": "array", "default": empty}})["properties"]["a"]["default"] == []
        assert input_schema({"a": {"type": "object", "default": empty}})["properties"]["a"]["default"] == {}


def test_an_object_whose_properties_are_an_empty_table_is_an_object() -> None:
    empty: Any
    for empty in ({}, []):
        (schema,) = input_schema({"a": {"type": "object", "properties": empty}})["properties"].values()
        assert schema["type"] == "object"
        assert schema.get("properties", {}) == {}


def test_no_declared_arguments_may_be_an_empty_list() -> None:
    empty: Any = []
    assert input_schema(empty, extra=None) == {"type": "object", "properties": {}}


def test_an_array_says_what_is_in_it_however_deep() -> None:
    declared = {"type": "array", "items": {"type": "array", "items": {"type": "array"}}}
    (schema,) = input_schema({"a": declared})["properties"].values()
    assert schema == {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {}}}}


def test_items_and_properties_where_they_mean_nothing_are_left_out() -> None:
    declared = {"type": "string", "items": {"type": "string"}, "properties": {"a": {"type": "string"}}}
    assert input_schema({"a": declared})["properties"]["a"] == {"type": "string"}


@given(arguments(), st.sampled_from([None, True, False]))
def test_every_declaration_becomes_a_schema_of_known_keywords(args: Json, extra: bool | None) -> None:
    schema = input_schema(args, extra=extra)
    assert json.loads(json.dumps(schema)) == schema
    for one in schemas(schema):
        assert set(one) <= KEYWORDS
        assert one["type"] in TYPES if one else True
        if one.get("type") == "array":
            assert isinstance(one["items"], dict)
        if "required" in one:
            assert one["required"]
            assert set(one["required"]) <= set(one["properties"])
            assert list(one["properties"])[: len(one["required"])] == one["required"]


@given(arguments())
def test_every_argument_keeps_its_name_type_and_what_is_said_of_it(args: Json) -> None:
    schema = input_schema(args)
    assert set(schema["properties"]) == set(args)
    assert set(schema.get("required", [])) == {name for name, one in args.items() if one.get("required")}
    for name, declared in args.items():
        found = schema["properties"][name]
        for key in ("type", "description", "default", "enum"):
            assert found.get(key) == declared.get(key)
        if declared.get("properties"):
            assert found["properties"] == input_schema(declared["properties"])["properties"]


@given(arguments())
def test_the_declaration_is_left_as_it_is(args: Json) -> None:
    before = json.dumps(args)
    input_schema(args, extra=False)
    assert json.dumps(args) == before
