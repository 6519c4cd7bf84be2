"""What a local variable is assigned, by the text (`features.renaming.assigned`)."""

from __future__ import annotations

import pytest

from lsp_mcp.features.renaming.assigned import assigned, returned

READING = "(?i)unmarshal|decode"


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("v := one(2)\n", ["one(2)"]),
        ("var v any = one\nv = map[string]any{\n\ta: b,\n}\n", ["one", "map[string]any{\n\ta: b,\n}"]),
        ("v := map[string]any{}\nv[key] = two\nv.x, err = three()\n", ["map[string]any{}", "two", "three()"]),
        ("for _, v := range all(x) {\n\tuse(v.y)\n}\n", ["range all(x)"]),
        ("if v := get(); v == nil {\n}\n", ["get()"]),
        ("var v any\njson.Unmarshal(data, &v)\n", []),
        ("var v any\nkeep(&v)\n", None),
        ("v := map[string]any{}\nfill(v)\n", None),
        ("v := map[string]any{}\njson.Marshal(v)\nlen(v)\n", ["map[string]any{}"]),
        ("use(v)\n", None),
        ("w.v = one\n", None),
    ],
)
def test_what_a_variable_gets_is_found_unless_something_else_may_change_it(body: str, values: list[str] | None) -> None:
    found = assigned(body, (0, len(body)), "v", READING)
    assert (None if found is None else [body[slice(*one)].rstrip() for one in found]) == values


def test_what_a_function_returns_is_found() -> None:
    body = "if x {\n\treturn one, nil\n}\nreturn f(\n\ttwo)\n"
    assert [body[slice(*one)] for one in returned(body, (0, len(body)))] == ["one, nil", "f(\n\ttwo)"]
