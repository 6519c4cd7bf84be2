"""The plugin's public functions and tables have LuaCATS types, which name what the code takes."""

import re
from pathlib import Path

import pytest

LUA = Path(__file__).parent.parent.parent / "lua" / "mcp-tools"
TYPES = (LUA / "types.lua").read_text("utf-8")


def fields(name: str) -> set[str]:
    """The fields of a class in types.lua."""
    body = re.search(rf"---@class mcp-tools\.{name}\n((?:---@field .*\n)+)", TYPES)
    assert body, name
    return set(re.findall(r"---@field (\w+)", body[1]))


@pytest.mark.parametrize("module", ["init", "registry", "task"])
def test_a_public_function_has_a_type_for_each_parameter(module: str) -> None:
    code = (LUA / f"{module}.lua").read_text("utf-8")
    functions = re.findall(r"((?:---.*\n)*)function M\.(\w+)\(([^)]*)\)", code)
    assert functions
    for comment, name, parameters in functions:
        typed = re.findall(r"---@param (\w+|\.\.\.)", comment)
        assert typed == [one.strip() for one in parameters.split(",") if one.strip()], name


def test_the_types_have_what_the_code_accepts() -> None:
    config = (LUA / "config.lua").read_text("utf-8")
    for group, name in (("''", "Options"), ("bridge", "BridgeOptions")):
        known = re.search(rf"\n  (?:\[{group}\]|{group}) = \{{ ([^}}]*true) \}},", config)
        assert known
        assert set(re.findall(r"(\w+) = true", known[1])) == fields(name)
    tools = re.search(r"\n  tools = \{ (.*) \},", config)
    assert tools
    assert set(re.findall(r"(\w+) = false", tools[1])) == fields("ToolOptions")
    schema = (LUA / "schema.lua").read_text("utf-8")
    parts = re.search(r"local PARTS = \{(.*)\}", schema)
    assert parts
    assert set(re.findall(r"'(\w+)'", parts[1])) == fields("Argument")
    kinds = re.search(r"local TYPES = \{(.*)\}", schema)
    assert kinds
    alias = re.search(r"---@alias mcp-tools\.ArgumentType (.*)", TYPES)
    assert alias
    assert set(re.findall(r"(\w+) = true", kinds[1])) == set(re.findall(r"'(\w+)'", alias[1]))


def test_the_types_of_a_tool_are_those_of_the_help_file() -> None:
    text = (LUA.parent.parent / "doc" / "mcp-tools.txt").read_text("utf-8")
    section = text.partition("*mcp-tools-fields*\n")[2].partition("*mcp-tools-args*")[0]
    assert set(re.findall(r"^(\w+)", section, re.M)) == fields("Tool")
