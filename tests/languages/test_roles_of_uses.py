"""What uses are for in languages beside Go, C and C++."""

from __future__ import annotations

from pathlib import Path

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
    assert "ts://a.ts# 2:24 3:3 " in uses(tmp_path, "a.ts:3:3", "write")
