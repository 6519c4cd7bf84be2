"""Private members, names spelled like keywords, and names on the first line of a file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from languages.served import ask, served, write
from lsp_mcp.errors import AnchorError

PRIVATE = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true, "target": "esnext"}}',
    "store.ts": (
        "export class Store {\n  #items: string[] = [];\n  #push(one: string) {\n    this.#items.push(one);\n  }\n"
        "  add(one: string) {\n    this.#push(one);\n  }\n}\n"
    ),
}
KEYWORDS = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true, "target": "esnext"}}',
    "a.ts": "export const made = {\n  object(type: object) {\n    return type;\n  },\n};\n\nexport type A = object;\n",
    "b.ts": 'import type { A } from "./a";\n\nexport function take(one: object): A {\n  return one;\n}\n',
}
FIRST = {
    "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n',
    "a.py": "first = 1\n\n\ndef other():\n    return first\n",
    "b.py": "from a import first\n\nthird = first\n",
}


def answers(backend: str, root: Path, files: dict[str, str], *calls: dict[str, Any]) -> list[dict[str, Any]]:
    for file, text in files.items():
        (root / file).write_text(text)
    open_workspace = served(backend)

    async def asked() -> list[str]:
        async with open_workspace(root) as call:
            return [await asyncio.wait_for(call(one.pop("tool"), {**one, "format": "json"}), 120) for one in calls]

    return [dict(json.loads(answer)) for answer in asyncio.run(asked())]


def lines(answer: dict[str, Any], key: str) -> list[tuple[str, int]]:
    return sorted((one["location"]["file"], one["location"]["line"]) for one in answer[key])


@pytest.mark.parametrize("name", ["#push", "Store.#push", "Store#push", "Store.push"])
def test_a_private_member_is_found_by_any_spelling_of_its_name(name: str, tmp_path: Path) -> None:
    found, uses, calls = answers(
        "typescript",
        tmp_path,
        PRIVATE,
        {"tool": "find_symbol_definitions_by_name", "symbol_name": name},
        {"tool": "find_symbol_references_by_anchor", "symbol_anchor": name, "wait": True},
        {"tool": "find_calls", "symbol": name},
    )
    assert lines(found, "definitions") == [("store.ts", 3)]
    assert lines(uses, "references") == [("store.ts", 3), ("store.ts", 7)]
    assert [one["name"] for one in calls["callers"]] == ["Store.add"]
    assert uses["status"].startswith("complete")


def test_a_private_member_is_renamed_and_keeps_its_mark(tmp_path: Path) -> None:
    anchor = "ts://store.ts#3:3"  # at the mark
    answers(
        "typescript",
        tmp_path,
        PRIVATE,
        {"tool": "rename_symbol_by_anchor", "symbol_anchor": anchor, "new_name": "append"},
    )
    assert (tmp_path / "store.ts").read_text() == PRIVATE["store.ts"].replace("#push", "#append")


def test_keywords_spelled_like_a_symbol_do_not_make_an_answer_doubtful(tmp_path: Path) -> None:
    (uses,) = answers(
        "typescript",
        tmp_path,
        KEYWORDS,
        {"tool": "find_symbol_references_by_anchor", "symbol_anchor": "ts://a.ts#2:3", "wait": True},
    )
    assert lines(uses, "references") == [("a.ts", 2)]
    assert uses["status"] == "complete"


def test_what_the_first_word_of_a_python_file_declares_can_be_asked_about(tmp_path: Path) -> None:
    (uses,) = answers(
        "basedpyright",
        tmp_path,
        FIRST,
        {"tool": "find_symbol_references_by_anchor", "symbol_anchor": "py://a.py#1:1", "wait": True},
    )
    assert lines(uses, "references") == [("a.py", 1), ("a.py", 5), ("b.py", 1), ("b.py", 3)]
    assert uses["status"] == "complete"


def test_what_only_tests_surely_use_is_not_said_to_be_theirs_if_other_code_may_use_it(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n',
        "a.py": "class A:\n    def digest(self):\n        return ''\n\n    def length(self):\n        return 0\n",
        "shown.py": "def show(one):\n    print(one.digest())\n",
        "test_a.py": "from a import A\n\n\ndef test_a():\n    assert A().digest() == '' and A().length() == 0\n",
    }
    (found,) = answers("basedpyright", tmp_path, files, {"tool": "find_impact", "unused": True, "path": "a.py"})
    assert [one["name"] for one in found["used_by_tests_only"]] == ["A", "A.length"]
    assert "A.digest" in found["status"]


def test_members_are_called_after_their_types_in_lists_and_in_errors(tmp_path: Path) -> None:
    files = FIRST | {
        "c.py": "class Box:\n    def send(self): ...\n\n\nclass Bag:\n    class Pocket:\n        def send(self): ...\n"
    }
    found, _ = answers(
        "basedpyright",
        tmp_path,
        files,
        {"tool": "find_symbol_definitions_by_name", "symbol_name": "send"},
        {"tool": "find_calls", "symbol": "Box.send"},
    )
    assert [one["name"] for one in found["definitions"]] == ["Box.send", "Bag.Pocket.send"]
    with pytest.raises(AnchorError, match=r"method Box\.send\|.*\n.*method Bag\.Pocket\.send\|"):
        answers("basedpyright", tmp_path, files, {"tool": "find_calls", "symbol": "send"})


def test_a_class_without_a_name_is_called_after_what_it_is_given_to(tmp_path: Path) -> None:
    files = {
        "package.json": "{}",
        "a.ts": (
            "export interface Router { match(): void }\nexport const made = class implements Router {\n"
            "  match(): void {}\n}\n"
        ),
    }
    write(tmp_path, files)
    found = ask("typescript", tmp_path, "find_implementations", symbol="Router", wait=True)
    assert "literal made\n" in found
