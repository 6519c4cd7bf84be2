"""What `cls(x=1)` names is known by the class around it: basedpyright says nothing about that."""

from __future__ import annotations

from pathlib import Path

from languages.served import ask, write

PROJECT = {"pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n'}


def references(root: Path, symbol: str) -> str:
    return ask(
        "basedpyright", root, "find_symbol_references_by_anchor", symbol_anchor=symbol, include_code=False, wait=True
    )


MONEY = """\
from dataclasses import dataclass


@dataclass
class Money:
    amount: int

    @classmethod
    def zero(cls) -> "Money":
        return cls(amount=0)

    def more(self) -> "Money":
        return type(self)(amount=1) or self.__class__(amount=2)


class Cart:
    def __init__(self, amount: int) -> None:
        self.size = amount

    @classmethod
    def empty(cls) -> "Cart":
        return cls(amount=0)
"""


def test_a_field_of_a_dataclass_is_named_in_calls_of_its_class(tmp_path: Path) -> None:
    write(tmp_path, PROJECT | {"shop.py": MONEY})
    answer = references(tmp_path, "Money.amount")
    assert "Found 4 references" in answer
    assert "6:5 10:20 13:27 13:55" in answer
    assert "status: complete" in answer


def test_a_rename_of_a_parameter_changes_the_calls_of_its_class(tmp_path: Path) -> None:
    write(tmp_path, PROJECT | {"shop.py": MONEY})
    ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor="shop.py:17:24", new_name="count")
    before, after = MONEY.split("class Cart")
    assert (tmp_path / "shop.py").read_text() == before + "class Cart" + after.replace("amount", "count")


def test_a_field_that_the_constructor_may_get_from_a_base_stays_unverified(tmp_path: Path) -> None:
    base = "class Base:\n    def __init__(self, amount: int) -> None: ...\n"
    derived = "\n\nclass Row(Base):\n    amount: int\n\n    @classmethod\n    def make(cls): return cls(amount=1)\n"
    write(tmp_path, PROJECT | {"shop.py": base + derived})
    assert "unverified: 1 occurrence of amount" in references(tmp_path, "Row.amount")
