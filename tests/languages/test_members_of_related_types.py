"""Members that types have in common with types above and below them: they keep sharing their name."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from languages.served import ask, write
from lsp_mcp.errors import LspMcpError
from lsp_mcp.evidence.heads import Heads

# «run» and «size» are members of one family each; `other.run` and `other.size` are not.
PROJECTS = {
    "basedpyright": {
        "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n',
        "base.py": (
            "class Base:\n    def __init__(self) -> None:\n        self.«size» = 1\n\n    def «run»(self) -> int:\n"
            "        return self.«size»\n\n\nclass Mixin:\n    def «run»(self) -> int:\n        return 2\n"
        ),
        "derived.py": (
            "from base import Base as B, Mixin\n\n\nclass Derived(B):\n    __slots__ = ('«size»',)\n\n"
            "    def __init__(self) -> None:\n        super().__init__()\n        self.«size» = 3\n\n"
            "    def «run»(self) -> int:\n        return super().«run»() + self.«size»\n\n\n"
            "class Both(Derived, Mixin):\n    pass\n"
        ),
        "other.py": (
            "class Other:\n    size = 1\n\n    def run(self) -> int:\n        return self.size\n\n"
            "    def start(self) -> int:\n        return 3\n"
        ),
        "use.py": (
            "from base import Base\nfrom derived import Derived\nfrom other import Other\n\n\n"
            "def use(base: Base, derived: Derived, other: Other) -> int:\n"
            "    return base.«run»() + derived.«run»() + base.«size» + derived.«size» + other.run() + other.size\n"
        ),
    },
    "typescript": {
        "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true}}',
        "base.ts": (
            "export class Base {\n  «size» = 1;\n  «run»(): number {\n    return this.«size»;\n  }\n}\n"
            "export interface Mixin {\n  «run»(): number;\n}\n"
        ),
        "derived.ts": (
            "import { Base as B, Mixin } from './base';\n\nexport class Derived extends B implements Mixin {\n"
            "  «size» = 3;\n  «run»(): number {\n    return super.«run»() + this.«size»;\n  }\n}\n"
        ),
        "other.ts": (
            "export class Other {\n  size = 1;\n  run(): number {\n    return this.size;\n  }\n"
            "  start(): number {\n    return 3;\n  }\n}\n"
        ),
        "use.ts": (
            "import { Base } from './base';\nimport { Derived } from './derived';\nimport { Other } from './other';\n\n"
            "export function use(base: Base, derived: Derived, other: Other): number {\n"
            "  return base.«run»() + derived.«run»() + base.«size» + derived.«size» + other.run() + other.size;\n}\n"
        ),
    },
}  # fmt: skip
DERIVED = {"basedpyright": {"run": "derived.py:12:26", "size": "derived.py:9:14"},
           "typescript": {"run": "derived.ts:6:18", "size": "derived.ts:6:33"}}  # fmt: skip


def plain(text: str) -> str:
    return text.replace("«", "").replace("»", "")


def rename(backend: str, root: Path, symbol: str, new_name: str) -> str:
    """What the program says about a rename; the text of an error if it is refused."""
    write(root, {file: plain(text) for file, text in PROJECTS[backend].items()})
    try:
        return ask(backend, root, "rename_symbol_by_anchor", symbol_anchor=symbol, new_name=new_name)
    except LspMcpError as error:
        return str(error)


@pytest.mark.parametrize("at", ["declared above", "used below"])
@pytest.mark.parametrize(("name", "new_name"), [("run", "start"), ("size", "amount")])
@pytest.mark.parametrize("backend", PROJECTS)
def test_a_member_is_renamed_in_all_types_that_share_it_and_in_no_other(
    backend: str, name: str, new_name: str, at: str, tmp_path: Path
) -> None:
    symbol = f"Base.{name}" if at == "declared above" and backend == "typescript" else DERIVED[backend][name]
    if at == "declared above" and backend == "basedpyright":
        symbol = {"run": "Base.run", "size": "base.py:3:14"}[name]
    said = rename(backend, tmp_path, symbol, new_name)
    expected = {file: plain(text.replace(f"«{name}»", new_name)) for file, text in PROJECTS[backend].items()}
    assert {file: (tmp_path / file).read_text() for file in expected} == expected
    assert "status: complete" in said


def test_a_member_is_renamed_in_types_below_however_they_are_written_and_name_the_one_above(tmp_path: Path) -> None:
    run = "    def «run»(self) -> int: ...\n\n\n"
    files = {
        "pyproject.toml": PROJECTS["basedpyright"]["pyproject.toml"],
        "base.py": f"class Base:\n{run}class Other:\n{plain(run)}",
        "decorated.py": (
            "from dataclasses import dataclass\nfrom base import Base\n\n\n"
            f"@dataclass(\n    frozen=True,\n)\n# of\nclass One(Base):\n{run}"
        ),
        "generic.py": f"import base\n\n\nclass Two[T](base.Base):\n{run}",
        "commented.py": f"from base import Base\n\n\nclass Three(\n    Base,  # (the only one\n):\n{run}",
        "assigned.py": f"from base import Base\n\nAssigned = Base  # for others\n\n\nclass Four(Assigned):\n{run}",
        "given.py": "from base import Base as Given, Other as Another\n",
        "five.py": f"from given import Given, Another\n\n\nclass Five(Given):\n{run}class No(Another):\n{plain(run)}",
        "six.py": f"from assigned import Assigned\n\n\nclass Six(Assigned):\n{run}",
    }
    write(tmp_path, {file: plain(text) for file, text in files.items()})
    answer = ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor="Base.run", new_name="start")
    expected = {file: plain(text.replace("«run»", "start")) for file, text in files.items()}
    assert {file: (tmp_path / file).read_text() for file in files} == expected
    assert "status: complete" in answer


def test_a_member_is_renamed_below_all_names_of_a_type_however_many_it_has(tmp_path: Path) -> None:
    run = "    def «run»(self) -> int: ...\n\n\n"
    names = [f"Name{number:02}" for number in range(24)]
    files = {
        "pyproject.toml": PROJECTS["basedpyright"]["pyproject.toml"],
        "base.py": f"class Base:\n{run}" + "".join(f"{name} = Base\n" for name in names),
        "below.py": f"from base import {', '.join(names)}\n\n\n"
        + "".join(f"class Of{name}({name}):\n{run}" for name in names),
    }
    write(tmp_path, {file: plain(text) for file, text in files.items()})
    answer = ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor="Base.run", new_name="start")
    expected = {file: plain(text.replace("«run»", "start")) for file, text in files.items()}
    assert {file: (tmp_path / file).read_text() for file in files} == expected
    assert "status: complete" in answer


@pytest.mark.parametrize("backend", PROJECTS)
def test_a_member_does_not_get_the_name_of_one_in_a_type_above_or_below(backend: str, tmp_path: Path) -> None:
    said = rename(backend, tmp_path, "Base.run", "size")
    assert "was not renamed" in said
    assert {file: (tmp_path / file).read_text() for file in PROJECTS[backend]} == {
        file: plain(text) for file, text in PROJECTS[backend].items()
    }


def test_a_rename_of_a_member_that_overrides_one_of_other_code_must_be_confirmed(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": PROJECTS["basedpyright"]["pyproject.toml"],
        "a.py": (
            "import threading\n\n\nclass Worker(threading.Thread):\n    def run(self) -> None:\n        self.work()\n\n"
            "    def work(self) -> None: ...\n\n\n"
            "class Frozen(dict):\n    def _not(self) -> None: ...\n\n    clear = _not\n"
        ),
    }
    write(tmp_path, files)
    with pytest.raises(LspMcpError, match=r"Worker\.run overrides that of Thread"):
        ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor="Worker.run", new_name="start_it")
    with pytest.raises(LspMcpError, match=r"Frozen\.clear overrides that of MutableMapping"):
        ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor="a.py:14:5", new_name="empty")
    answer = ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor="Worker.work", new_name="labour")
    assert "status: complete" in answer


def test_a_type_inside_of_another_keeps_no_name_from_a_symbol_that_is_used_in_a_type(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": PROJECTS["basedpyright"]["pyproject.toml"],
        "a.py": "Check = int\n",
        "b.py": "from a import Check\n\n\nclass User:\n    def use(self, check: Check) -> None: ...\n",
        "c.py": "class Every:\n    class Shape:\n        pass\n",
    }
    write(tmp_path, files)
    answer = ask("basedpyright", tmp_path, "rename_symbol_by_anchor", symbol_anchor="b.py:5:26", new_name="Shape")
    assert "status: complete" in answer


SET = {
    "pyproject.toml": PROJECTS["basedpyright"]["pyproject.toml"],
    "a.py": "class A:\n    def __init__(self) -> None:\n        self.size = 1\n",
    "b.py": (
        "from a import A\n\n\nclass B(A):\n    def grow(self) -> None:\n        self.size = 2\n\n\n"
        "class C:\n    def __init__(self) -> None:\n        self.size = 3\n\n\n"
        "def use(b: B, c: C) -> int:\n    return b.size + c.size\n"
    ),
}


def uses(root: Path, at: str) -> str:
    tool = "find_symbol_references_by_anchor"
    return ask("basedpyright", root, tool, symbol_anchor=at, include_code=False, wait=True)


def test_an_attribute_that_a_type_below_sets_is_the_one_of_the_type_above_and_not_that_of_another(
    tmp_path: Path,
) -> None:
    write(tmp_path, SET)
    for at in ("a.py:3:14", "b.py:6:14", "b.py:15:14"):
        answer = uses(tmp_path, at)
        assert "Found 3 references" in answer
        assert "status: complete" in answer


def test_an_attribute_is_no_other_symbol_as_long_as_the_types_below_are_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(*_: object) -> NoReturn:
        raise TimeoutError

    monkeypatch.setattr(Heads, "all_below", late)
    write(tmp_path, SET)
    answer = uses(tmp_path, "a.py:3:14")
    assert "status: complete" not in answer
    assert "unverified" in answer


def test_a_private_member_of_another_type_does_not_stop_a_rename_to_its_name(tmp_path: Path) -> None:
    files = {
        "tsconfig.json": '{"compilerOptions": {"allowJs": true, "noEmit": true, "target": "esnext"}}',
        "a.js": "export class A {\n  $$p_d = {};\n  get() { return this.$$p_d }\n}\n",
        "b.js": "export class B {\n  #dpr = 1;\n  get() { return this.#dpr }\n}\n",
    }
    write(tmp_path, files)
    answer = ask("typescript", tmp_path, "rename_symbol_by_anchor", symbol_anchor="a.js:2:5", new_name="dpr")
    assert (tmp_path / "a.js").read_text() == files["a.js"].replace("p_d", "dpr")
    assert "status: complete" in answer


LOCALS = {
    "basedpyright": {
        "pyproject.toml": PROJECTS["basedpyright"]["pyproject.toml"],
        "a.py": (
            "class A:\n    def one(self):\n        out = 1\n        return out\n\n"
            "    def two(self):\n        «out» = 2\n        return «out»\n\n"
            "    def three(self):\n        kept = 3\n\n\n"
            "class B(A):\n    def two(self):\n        out = 4\n        return out\n"
        ),
    },
    "typescript": {
        "tsconfig.json": PROJECTS["typescript"]["tsconfig.json"],
        "a.ts": (
            "export class A {\n  one() { const out = 1; return out; }\n  two() { const «out» = 2; return «out»; }\n"
            "  three = () => { const kept = 3; return kept; };\n}\n\n"
            "export class B extends A {\n  two() { const out = 4; return out; }\n}\n"
        ),
    },
}  # fmt: skip


@pytest.mark.parametrize("new_name", ["result", "kept"])
@pytest.mark.parametrize(("backend", "at"), [("basedpyright", "a.py:7:9"), ("typescript", "a.ts:3:17")])
def test_a_variable_of_a_method_is_not_a_member_and_is_renamed_alone(
    backend: str, at: str, new_name: str, tmp_path: Path
) -> None:
    write(tmp_path, {file: plain(text) for file, text in LOCALS[backend].items()})
    answer = ask(backend, tmp_path, "rename_symbol_by_anchor", symbol_anchor=at, new_name=new_name)
    expected = {file: text.replace("«out»", new_name) for file, text in LOCALS[backend].items()}
    assert {file: (tmp_path / file).read_text() for file in expected} == expected
    assert "status: complete" in answer
