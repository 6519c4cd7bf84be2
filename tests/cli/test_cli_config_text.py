"""Somebody else's configuration as text: whatever is in it, an entry comes in and nothing goes out."""

import json
import tomllib
from typing import Any

import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.cli.config_text import entry_at, parse, with_entry

PATH = ("mcp", "servers", "lsp-mcp")
ENTRY = {"type": "stdio", "command": "/ü/lsp-mcp", "args": ["--format", "compact"], "on": True}

names = st.sampled_from(["mcp", "servers", "other", "//", "/*", '"', "é", "a b"])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.sampled_from(["", "// no", "/* no */", ',"]}', "\\", "\u2028"])
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=8,
)
servers = st.dictionaries(
    st.sampled_from(["a", "b", "lsp-mcp"]), st.dictionaries(names, values, max_size=2), max_size=3
)
configs = st.one_of(
    st.dictionaries(names, values, max_size=3),
    st.fixed_dictionaries({"mcp": st.fixed_dictionaries({"servers": servers, "x": values}), "other": values}),
)
flags: st.SearchStrategy[bool] = st.booleans()
gaps = st.sampled_from(["", " ", "\n", "\r\n  ", "\t", " // note, [\n", "/* { */", "\n    \n"])


@st.composite
def jsonc(draw: st.DrawFn, config: dict[str, Any]) -> str:
    """`config`, written by somebody careless."""

    def gap() -> str:
        return draw(gaps)

    def written(value: Any) -> str:
        if not isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=draw(flags))
        if isinstance(value, dict):
            parts = [f"{gap()}{json.dumps(key)}{gap()}:{gap()}{written(inner)}{gap()}" for key, inner in value.items()]
        else:
            parts = [f"{gap()}{written(inner)}{gap()}" for inner in value]
        trailing = "," + gap() if draw(flags) and parts else ""
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return opening + (",".join(parts) or gap()) + trailing + closing

    return gap() + written(config) + gap()


def usable(config: dict[str, Any]) -> bool:
    table: Any = config
    for key in PATH:
        if not isinstance(table, dict):
            return False
        table = table.get(key, {})
    return True


def holds_in_order(text: str, part: str) -> bool:
    """Whether `text` is `part` with something put in, but for white space."""
    rest = iter(text)
    return all(character in rest for character in part if not character.isspace())


def with_path(config: dict[str, Any]) -> dict[str, Any]:
    config = json.loads(json.dumps(config))
    config.setdefault("mcp", {}).setdefault("servers", {})["lsp-mcp"] = ENTRY
    return config


@given(st.data())
def test_a_new_entry_only_adds_to_jsonc(data: st.DataObject) -> None:
    config = data.draw(configs.filter(lambda config: usable(config) and entry_at(config, PATH) is None))
    if "lsp-mcp" in config.get("mcp", {}).get("servers", {}):
        return  # there, and null
    text = data.draw(jsonc(config))
    assert parse(text, "jsonc") == config
    after = with_entry(text, "jsonc", PATH, ENTRY)
    assert parse(after, "jsonc") == with_path(config)
    assert holds_in_order(after, text)
    again = with_entry(after, "jsonc", PATH, ENTRY)
    assert parse(again, "jsonc") == with_path(config)


@given(st.data())
def test_a_replaced_entry_is_all_that_changes(data: st.DataObject) -> None:
    config = data.draw(configs.filter(usable))
    config.setdefault("mcp", {}).setdefault("servers", {})["lsp-mcp"] = {"command": "old"}
    text = json.dumps(config, indent=data.draw(st.sampled_from([None, 1, 4, "\t"])))
    after = with_entry(text, "json", PATH, ENTRY)
    wanted = with_path(config)
    assert list(json.loads(after)) == list(wanted)
    assert json.loads(after) == wanted


toml_values = st.recursive(
    st.one_of(st.booleans(), st.integers(-9, 9), st.sampled_from(["", "# no", "'", '"""'])),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(names, inner, max_size=2)),
    max_leaves=6,
)


@given(st.dictionaries(names, toml_values, max_size=3), st.booleans())
def test_a_new_entry_only_adds_to_toml(config: dict[str, Any], servers_too: bool) -> None:
    if not usable(config):
        return
    if servers_too:
        config.setdefault("mcp", {}).setdefault("servers", {})["a"] = {"command": "x"}
    if "lsp-mcp" in config.get("mcp", {}).get("servers", {}):
        return
    text = "# mine\n" + tomlkit.dumps(config) + "# the end"
    after = with_entry(text, "toml", PATH, ENTRY)
    assert after.startswith(text + "\n\n[mcp.servers.lsp-mcp]\n")
    assert tomllib.loads(after) == with_path(config)
