"""What variables are assigned, and what functions return (`syntax.values`)."""

from __future__ import annotations

import asyncio
import re

import pytest

from lsp_mcp.syntax.values import Values, values_of
from lsp_mcp.text import Text

READING = re.compile("(?i)unmarshal|decode")
HARMLESS = re.compile("(?i)^len$|marshal")
HEAD = "package a\n\nfunc f() {\n"


def read(body: str) -> tuple[Text, Values]:
    text = Text(f"{HEAD}{body}}}\n")
    values = asyncio.run(values_of(text, "go"))
    assert values
    return text, values


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("v := one(2)\n", ["one(2)"]),
        ("var v any = one\nv = map[string]any{\n\ta: b,\n}\n", ["one", "map[string]any{\n\ta: b,\n}"]),
        ("v := map[string]any{}\nv[key] = two\nv.x, err = three()\n", ["map[string]any{}", "two", "three()"]),
        ("v, w := one, two // not three\n", ["one"]),
        ("for _, v := range all(x) {\n\tuse(v.y)\n}\n", ["all(x)"]),
        ("if v := get(); v == nil {\n}\n", ["get()"]),
        ("switch v := get().(type) {\n}\n", ["get()"]),
        ("select {\ncase v, ok := <-all:\n}\n", ["<-all"]),
        ("var v any\njson.Unmarshal(data, &v)\n", []),
        ("var v any\nkeep(&v)\n", None),
        ("var v any\nkept := &v\n", None),
        ("v := map[string]any{}\nfill(v)\n", None),
        ("var v []any\nlib.Fill[int](v)\n", None),
        ("v := map[string]any{}\njson.Marshal(v)\nlen(v)\n", ["map[string]any{}"]),
        ("v := one\nfill(v)\n", ["one"]),
        ("use(v)\n", None),
        ("w.v = one\n", None),
        ("for v = range all {\n}\n", None),
    ],
)
def test_what_a_variable_gets_is_found_unless_something_else_may_change_it(body: str, values: list[str] | None) -> None:
    text, read_ = read(body)
    found = read_.assigns((len(HEAD), len(text.content)), "v", reading=READING, harmless=HARMLESS)
    assert (None if found is None else [text.content[slice(*one)] for one in found]) == values


def test_what_a_function_returns_is_found() -> None:
    text, values = read("if x {\n\treturn one, nil\n}\nreturn f(\n\ttwo)\n")
    found = values.returns((len(HEAD), len(text.content)))
    assert [text.content[slice(*one)] for one in found] == ["one", "nil", "f(\n\ttwo)"]


def test_a_value_comes_from_the_last_names_in_its_expression() -> None:
    text, values = read("use(a.b(c.D{E: f.g}, any(h), i[j]))\n")
    found = values.named(text.content.index("use") + 4, text.content.index("j]"))
    assert [text.content[slice(*one)] for one in found] == ["b", "D", "E", "g", "h", "i"]
