"""What uses are for in languages beside Go, C and C++."""

from __future__ import annotations

from pathlib import Path

import pytest

from languages.served import ask, write

PROJECT = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true, "types": []}}\n',
    "a.ts": (
        "export interface Money { amount: number }\n"
        "export function show({ amount }: Money): Money {\n  amount += 1\n  return { amount }\n}\n"
        "export function set(money: Money) {\n  money.amount = 3\n}\n"
    ),
}


def uses(root: Path, symbol: str, role: str) -> str:
    write(root, PROJECT)
    return ask(
        "typescript", root, "find_symbol_references_by_anchor", symbol_anchor=symbol, role=role, include_code=False
    )


def test_a_property_that_is_taken_into_a_variable_is_read(tmp_path: Path) -> None:
    assert "ts://a.ts# 4:12 7:9\n" in uses(tmp_path, "Money.amount", "write")
    assert "ts://a.ts# 2:24\n" in uses(tmp_path, "Money.amount", "read")
    assert "ts://a.ts# 2:24 3:3\n" in uses(tmp_path, "a.ts:3:3", "write")


SHORT = (
    "export function make() {\n  let a = 1;\n  a = 2;\n  const o = { a, b: a };\n  ({ a } = o);\n  [a] = [3];\n"
    "  return { a };\n}\n"
)


@pytest.mark.parametrize("file", ["a.ts", "a.js"])
def test_a_variable_whose_value_a_property_of_its_name_gets_is_read_there(tmp_path: Path, file: str) -> None:
    write(tmp_path, {"tsconfig.json": '{"compilerOptions": {"allowJs": true, "noEmit": true}}', file: SHORT})
    for role, places in (("read", "4:15 4:21 7:12"), ("write", "2:7 3:3 5:6 6:4")):
        said = ask(
            "typescript", tmp_path, "find_symbol_references_by_anchor", symbol_anchor=f"{file}:2:7", role=role,
            include_code=False,
        )  # fmt: skip
        assert f"# {places}\n" in said
