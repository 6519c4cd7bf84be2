"""Where Python uses a symbol by its name, or without it, outside of what its server lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from languages.served import ask, write
from lsp_mcp.errors import LspMcpError

PROJECT = {"pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n\n[project.scripts]\nsample = "shop:main"\n'}


def references(root: Path, files: dict[str, str], symbol: str) -> str:
    write(root, PROJECT | files)
    return ask(
        "basedpyright", root, "find_symbol_references_by_anchor", symbol_anchor=symbol, include_code=False, wait=True
    )


def refusal(root: Path, files: dict[str, str], symbol: str) -> str:
    """Why a rename is not carried out."""
    write(root, PROJECT | files)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    with pytest.raises(LspMcpError, match="must be confirmed first") as refused:
        ask("basedpyright", root, "rename_symbol_by_anchor", symbol_anchor=symbol, new_name="another")
    assert {path: path.read_bytes() for path in before} == before
    return str(refused.value)


WILDCARD = {
    "words.py": "def _(text: str) -> str:\n    return text\n",
    "use.py": (
        "from words import _\n\n\ndef use(item: object) -> str:\n    match item:\n        case [_, 1]:\n"
        "            return ''\n        case _:\n            return _('x')\n"
    ),
}


def test_a_wildcard_is_not_a_use_of_a_function_that_is_called_like_it(tmp_path: Path) -> None:
    answer = references(tmp_path, WILDCARD, "words.py:1:5")
    assert "Found 3 references" in answer
    assert "status: complete" in answer
    ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor="words.py:1:5", new_name="translated")
    assert (tmp_path / "use.py").read_text() == WILDCARD["use.py"].replace(" _\n", " translated\n", 1).replace(
        "_('x')", "translated('x')"
    )


def test_uses_without_its_name_are_a_gap_of_a_method_that_python_calls_by_itself(tmp_path: Path) -> None:
    files = {
        "shop.py": "class Cart:\n    def __init__(self, size: int) -> None: ...\n    def __len__(self) -> int: ...\n",
        "use.py": "import shop\n\nprint(len(shop.Cart(1)))\n",
    }
    assert "uses without its name (where objects are made: ask about the class)" in references(
        tmp_path, files, "Cart.__init__"
    )
    assert "uses without its name (where Python calls it by itself)" in references(tmp_path, files, "Cart.__len__")
    assert "Cart would not implement what Python calls without __len__" in refusal(tmp_path, files, "Cart.__len__")


NOTEBOOK = {
    "shop.py": "def total() -> int:\n    return 1\n",
    "use.py": "from shop import total\n\ntotal()\n",
    "a.ipynb": (
        '{"cells": [{"cell_type": "code", "source": ["from shop import total\\n", "total()\\n"], "metadata": {},\n'
        ' "outputs": [], "execution_count": null}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n'
    ),
}


def test_uses_in_notebooks_are_named_and_must_be_confirmed(tmp_path: Path) -> None:
    answer = references(tmp_path, NOTEBOOK, "total")
    assert "Found 3 references" in answer
    assert "not counted: total in a.ipynb:1 (a notebook)" in answer
    assert "total stays as it is in a.ipynb:1 (a notebook)" in refusal(tmp_path, NOTEBOOK, "total")


FIXTURES = {
    "tests/conftest.py": (
        "import pytest\n\n\n@pytest.fixture(scope='session')\ndef card():\n    return 1\n\n\n@pytest.fixture\n"
        "def deck(card):\n    return [card]\n"
    ),
    "tests/test_cards.py": (
        "import pytest\n\n\ndef test_one(deck, card):\n    assert card in deck\n\n\n@pytest.mark.usefixtures('card')\n"
        "def test_two():\n    pass\n\n\ndef helper(card):\n    return card\n"
    ),
}
FILLED = "card {} tests/conftest.py:10 (a parameter that pytest fills), tests/test_cards.py:4,8 (a parameter that"


def test_parameters_that_pytest_fills_are_named_for_a_fixture_and_must_be_confirmed(tmp_path: Path) -> None:
    assert f"not counted: {FILLED.format('in')}" in references(tmp_path, FIXTURES, "tests/conftest.py:5:5")
    assert FILLED.format("stays as it is in") in refusal(tmp_path, FIXTURES, "tests/conftest.py:5:5")


def test_a_parameter_that_pytest_fills_is_renamed_alone_only_if_that_is_confirmed(tmp_path: Path) -> None:
    said = refusal(tmp_path, FIXTURES, "tests/test_cards.py:4:20")
    assert "card stays as it is in tests/conftest.py:5 (a fixture of pytest)" in said
    ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor="tests/test_cards.py:13:12", new_name="two")
    assert "def helper(two):\n    return two\n" in (tmp_path / "tests/test_cards.py").read_text()


KEYS = {
    "shop.py": (
        "import enum\nfrom typing import TypedDict\n\n\nclass Row(TypedDict):\n    amount: int\n\n\n"
        "class Color(enum.Enum):\n    RED = 'r'\n\n\nclass Item:\n    def __init__(self) -> None:\n"
        "        self.price = 1\n        self.sold = False\n\n    def sell(self) -> None:\n"
        "        self.sold = True\n\n\n"
        "def main() -> None: ...\n"
    ),
    "use.py": (
        "from shop import Color, Item, Row\n\nrow: Row = {'amount': 1}\nprint(Color['RED'], getattr(Item(), 'price'))\n"
        "setattr(Item(), 'sold', True)\n"
    ),
    "test_shop.py": "from unittest import mock\n\n\n@mock.patch('shop.main')\ndef test_main(_main): ...\n",
}


@pytest.mark.parametrize(
    ("symbol", "said"),
    [
        ("Row.amount", "amount stays as it is in use.py:3 (a key)"),
        ("Color.RED", "RED stays as it is in use.py:4 (a key)"),
        ("shop.py:15:14", "use.py:4 looks price up in a string"),
        ("shop.py:16:14", "use.py:5 looks sold up in a string"),
        ("main", "main stays as it is in pyproject.toml:6 (an entry point)"),
        ("main", "test_shop.py:4 looks main up in a string"),
    ],
)
def test_a_rename_of_what_is_looked_up_by_a_string_must_be_confirmed(tmp_path: Path, symbol: str, said: str) -> None:
    assert said in refusal(tmp_path, KEYS, symbol)


SERIALIZED = {
    "api.py": (
        "import pydantic\nfrom dataclasses import asdict, dataclass\n\n\nclass Base(pydantic.BaseModel):\n"
        "    first: int\n\n\nclass User(Base):\n    login: str\n\n    def hi(self) -> str:\n        return self.login\n"
        "\n\n@dataclass\nclass Row:\n    amount: int\n\n\ndef dump(row: Row) -> object:\n    return asdict(row)\n"
    ),
    "plain.py": "from dataclasses import dataclass\n\n\n@dataclass\nclass Point:\n    left: int\n",
}


@pytest.mark.parametrize(
    ("symbol", "said"),
    [
        ("Base.first", "pydantic may read and write Base.first by its name"),
        ("User.login", "pydantic may read and write User.login by its name"),
        ("Row.amount", "asdict may read and write Row.amount by its name"),
    ],
)
def test_a_rename_of_a_field_that_is_written_by_its_name_must_be_confirmed(
    tmp_path: Path, symbol: str, said: str
) -> None:
    assert said in refusal(tmp_path, SERIALIZED, symbol)


@pytest.mark.parametrize("symbol", ["User.hi", "Row", "Point.left"])
def test_a_rename_of_what_is_not_a_field_or_of_a_type_that_nothing_writes_needs_no_confirmation(
    tmp_path: Path, symbol: str
) -> None:
    write(tmp_path, PROJECT | SERIALIZED)
    answer = ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor=symbol, new_name="another")
    assert "status: complete" in answer


def test_strings_that_a_rename_changes_are_not_said_to_stay(tmp_path: Path) -> None:
    text = "class Pair:\n    __slots__ = ('first',)\n\n    def __init__(self) -> None:\n        self.first = 1\n"
    write(tmp_path, PROJECT | {"pair.py": text})
    answer = ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor="pair.py:5:14", new_name="one")
    assert (tmp_path / "pair.py").read_text() == text.replace("first", "one")
    assert "not renamed" not in answer


def test_a_call_is_listed_once_and_an_empty_file_is_not_unread(tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": "",
        "shop/disk.py": (
            "class Disk:\n    def save(self):\n        return 1\n\n    @classmethod\n    def build(cls):\n"
            "        return cls()\n\n\ndef main():\n    return Disk.build().save()\n"
        ),
    }
    write(tmp_path, files)
    calls = ask("basedpyright", tmp_path, "find_calls", symbol="Disk.save", wait=True)
    assert "main calls at 11:25\n" in calls
    unused = ask("basedpyright", tmp_path, "find_impact", unused=True, path="shop", wait=True)
    assert "nothing declared" not in unused


SLOTS = {
    "shop.py": (
        'class Cart:\n    __slots__ = ("size", "rows")\n\n    def __init__(self, size: int) -> None:\n'
        "        self.size = size\n        self.rows: list[int] = []\n\n\n"
        'class Row:\n    __slots__ = "size"\n\n    def __init__(self) -> None:\n        self.size = 1\n'
    )
}


def test_a_name_in_slots_is_the_attribute_of_its_class(tmp_path: Path) -> None:
    answer = references(tmp_path, SLOTS, "shop.py:5:14")
    assert "Found 2 references" in answer
    assert "py://shop.py# 2:19 5:14" in answer
    assert "status: complete" in answer
    ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor="shop.py:13:14", new_name="count")
    assert (tmp_path / "shop.py").read_text() == (
        SLOTS["shop.py"].replace('__slots__ = "size"', '__slots__ = "count"').replace("self.size = 1", "self.count = 1")
    )


NAMED = {
    "cards.py": (
        "__all__ = 'Card', 'deal'\n__all__ += ['Deck']\n\n\nclass Card:\n    __slots__ = 'suit', 'rank'\n"
        "    __match_args__ = ('suit', 'rank')\n\n    def __init__(self) -> None:\n        self.suit = 1\n"
        "        self.rank = 2\n\n\nclass Deck(Card):\n"
        "    __slots__ = 'rank', 'size'\n\n    def __init__(self) -> None:\n"
        "        self.rank = 3\n        self.size = 4\n\n    def all(self) -> int:\n        return self.rank\n\n\n"
        "def deal() -> Deck:\n    return Deck()\n"
    ),
}


@pytest.mark.parametrize(
    ("symbol", "old"),
    [("cards.py:1:12", "Card"), ("cards.py:2:14", "Deck"), ("deal", "deal"), ("cards.py:6:18", "suit"),
     ("cards.py:7:24", "suit"), ("cards.py:15:18", "rank"), ("cards.py:22:21", "rank")],
)  # fmt: skip
def test_names_in_strings_of_a_module_and_a_class_are_renamed_and_can_be_asked_about(
    tmp_path: Path, symbol: str, old: str
) -> None:
    write(tmp_path, PROJECT | NAMED)
    answer = ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor=symbol, new_name="another")
    assert (tmp_path / "cards.py").read_text() == NAMED["cards.py"].replace(old, "another")
    assert "status: complete" in answer


FORMATTED = {
    "pattern.py": (
        'token = r"\\w+"\ndate = "x"\n\nline = (\n    r"(?P<token>{token})"\n    r":{{date}}".format(**globals())\n)\n'
        'other = f"{date}" + "{date}"\n\n\n'
        'def show(size):\n    width = size + 1\n    return "%(width)d" % locals()\n'
    ),
}


@pytest.mark.parametrize(("at", "line"), [("pattern.py:1:1", 5), ("pattern.py:12:5", 13)])
def test_a_name_by_which_globals_or_locals_fill_a_string_must_be_confirmed(at: str, line: int, tmp_path: Path) -> None:
    said = refusal(tmp_path, FORMATTED, at)
    assert f"stays as it is in pattern.py:{line} (a string that the names in scope fill)" in said


def test_a_name_in_a_string_that_is_filled_with_values_is_no_such_use(tmp_path: Path) -> None:
    write(tmp_path, PROJECT | FORMATTED)
    answer = ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor="pattern.py:2:1", new_name="day")
    assert "status: complete" in answer
