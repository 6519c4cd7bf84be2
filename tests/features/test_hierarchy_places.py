"""Calls in a hierarchy stand where the server says, or are named as not shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from fakes.bounded import bounded
from fakes.workspace import FakeWorkspace
from lsp_mcp.features.hierarchy import Node, Tree, call_tree, callers_of, dropped_gap
from lsp_mcp.text import Point

TABLES = '\n[symbols]\nscope_separator = "::"\n'


class Calls:
    """A workspace of one-line text files, whose functions are words in them."""

    def __init__(self, folder: Path) -> None:
        self.fake = FakeWorkspace(folder)
        self.rules: dict[str, Any] = {}

    def write(self, name: str, text: str) -> None:
        self.fake.write(name, text)

    def range(self, file: str, text: str) -> dict[str, Any]:
        start = (self.fake.root / file).read_text().index(text)
        ends = (start, start + len(text))
        return dict(zip(("start", "end"), ({"line": 0, "character": end} for end in ends), strict=True))

    def item(self, file: str, name: str, detail: str = "") -> dict[str, Any]:
        range_ = self.range(file, name)
        uri = (self.fake.root / file).as_uri()
        return {"name": name, "kind": 12, "uri": uri, "range": range_, "selectionRange": range_, "detail": detail}

    async def tree(self, direction: Literal["incoming", "outgoing"], calls: list[dict[str, Any]]) -> Tree:
        """The hierarchy of `target`, at the beginning of a.txt."""
        self.rules["textDocument/prepareCallHierarchy"] = [["answer", [self.item("a.txt", "target")]]]
        self.rules[f"callHierarchy/{direction}Calls"] = [["answer", calls]]
        self.fake.script({"rules": self.rules, "capabilities": {"callHierarchyProvider": True}})
        async with self.fake.session(TABLES) as session:
            await session.sync()
            return await call_tree(session, self.fake.root / "a.txt", Point(1, 1), direction, 1, 100)


@pytest.fixture
def calls(tmp_path: Path) -> Calls:
    calls = Calls(tmp_path)
    calls.write("a.txt", "target f other\n")
    calls.write("b.txt", "main target target2 MACRO\n")
    return calls


def children(tree: Tree) -> list[Node]:
    (root,) = tree.roots
    return list(root.children)


def sites(tree: Tree) -> list[list[str]]:
    """The words that the calls of each child stand on."""
    return [[site.text.slice(site.span) for site in child.sites] for child in children(tree)]


@bounded
async def test_calls_that_spell_the_callee_are_shown_and_nothing_more_is_asked(calls: Calls) -> None:
    caller = {"from": calls.item("b.txt", "main"), "fromRanges": [calls.range("b.txt", "target")]}
    tree = await calls.tree("incoming", [caller])
    assert sites(tree) == [["target"]]
    assert tree.unplaced == 0
    assert "textDocument/references" not in calls.fake.methods()


@bounded
async def test_a_call_in_another_word_is_shown_if_it_is_a_reference(calls: Calls) -> None:
    ranges = [calls.range("b.txt", text) for text in ("target", "MACRO")]
    location = {"uri": (calls.fake.root / "b.txt").as_uri(), "range": ranges[1]}
    here = {**location, "range": ranges[0]}
    calls.rules["textDocument/references"] = [["answer", [here, location]]]
    tree = await calls.tree("incoming", [{"from": calls.item("b.txt", "main"), "fromRanges": ranges}])
    assert sites(tree) == [["target", "MACRO"]]
    assert tree.unplaced == 0


@bounded
async def test_calls_that_are_not_there_are_left_out_and_their_function_is_counted(calls: Calls) -> None:
    # clangd 22 takes two functions of the same name for one: the places are in the file of the other.
    ranges = [calls.range("b.txt", text) for text in ("main", "target")]
    location = {"uri": (calls.fake.root / "b.txt").as_uri(), "range": ranges[1]}
    calls.rules["textDocument/references"] = [["answer", [location]]]
    tree = await calls.tree("incoming", [{"from": calls.item("b.txt", "main"), "fromRanges": ranges}])
    assert sites(tree) == [["target"]]
    assert tree.unplaced == 1


@bounded
@pytest.mark.parametrize("far", [{"line": 99, "character": 0}, {"line": 0, "character": 99}])
async def test_a_call_beyond_the_end_of_the_file_is_counted(calls: Calls, far: dict[str, int]) -> None:
    caller = {"from": calls.item("b.txt", "main"), "fromRanges": [{"start": far, "end": far}]}
    tree = await calls.tree("incoming", [caller])
    assert sites(tree) == [[]]
    assert tree.unplaced == 1


@bounded
@pytest.mark.parametrize("direction", ["incoming", "outgoing"])
async def test_a_function_without_a_single_place_is_counted(
    calls: Calls, direction: Literal["incoming", "outgoing"]
) -> None:
    end = "from" if direction == "incoming" else "to"
    tree = await calls.tree(direction, [{end: calls.item("b.txt", "main"), "fromRanges": []}])
    assert sites(tree) == [[]]
    assert tree.unplaced == 1


@bounded
async def test_what_a_function_calls_stands_in_its_own_file_however_it_is_spelled(calls: Calls) -> None:
    callee = {"to": calls.item("b.txt", "main"), "fromRanges": [calls.range("a.txt", "f")]}
    tree = await calls.tree("outgoing", [callee])
    assert sites(tree) == [["f"]]
    assert tree.unplaced == 0


@bounded
async def test_names_are_whole_where_the_server_says_them_in_the_detail(calls: Calls) -> None:
    found = [
        {"from": calls.item("b.txt", name, detail), "fromRanges": [calls.range("b.txt", "target")]}
        for name, detail in (("main", "ns::T::main"), ("target2", "int (int)"), ("MACRO", "other::xMACRO"))
    ]
    tree = await calls.tree("incoming", found)
    assert [child.symbol.name for child in children(tree)] == ["ns::T::main", "target2", "MACRO"]


@bounded
async def test_functions_without_a_hierarchy_are_named_and_do_not_hide_the_callers_of_others(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = calls.fake
    caller = {"from": calls.item("b.txt", "main"), "fromRanges": [calls.range("b.txt", "target")]}
    prepare = [["answer", [calls.item("a.txt", "target")]]]
    rules = {"textDocument/prepareCallHierarchy": prepare, "callHierarchy/incomingCalls": [["answer", [caller]]]}
    fake.script({"rules": rules, "capabilities": {"callHierarchyProvider": True}})
    async with fake.session(TABLES) as session:
        await session.sync()
        request = session.request

        async def nothing_of_other(method: str, params: Any, **more: Any) -> Any:
            is_other = params.get("position") == {"line": 0, "character": 9}
            return None if is_other else await request(method, params, **more)

        monkeypatch.setattr(session, "request", nothing_of_other)
        places = [(fake.root / "a.txt", Point(1, 10)), (fake.root / "a.txt", Point(1, 1))]
        tree = await callers_of(session, places, 1, 100)
    assert [node.symbol.name for node in tree.found] == ["main"]
    assert ["cannot list the callers of other" in gap.text for gap in tree.gaps] == [True]


@bounded
async def test_a_caller_that_cannot_be_shown_is_told_with_its_file(calls: Calls) -> None:
    gone = {**calls.item("b.txt", "main"), "uri": (calls.fake.root / "gone.txt").as_uri()}
    tree = await calls.tree("incoming", [{"from": gone, "fromRanges": [calls.range("b.txt", "target")]}])
    (gap,) = dropped_gap("caller", tree.dropped)
    assert gap.text.startswith("1 caller left out in gone.txt: ")
    assert gap.files == (calls.fake.root / "gone.txt",)
