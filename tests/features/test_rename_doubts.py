"""What a server gets wrong when it renames: left out, or named as a doubt."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from fakes.bounded import bounded
from fakes.workspace import FakeWorkspace
from lsp_mcp import budget
from lsp_mcp.errors import RefusedError
from lsp_mcp.features.renaming.rename import Renaming, rename
from lsp_mcp.text import Point, Span

CHECKS = """
[symbols]
scope_separator = "::"

[rename]
check = true
"""


class Renames:
    """A workspace of text files in which `old`, at the beginning of a.txt, is renamed to `new`."""

    def __init__(self, folder: Path) -> None:
        self.fake = FakeWorkspace(folder)
        self.rules: dict[str, Any] = {}

    def write(self, name: str, text: str) -> None:
        self.fake.write(name, text)

    def range(self, name: str, text: str, nth: int = 1) -> dict[str, Any]:
        """Where `text` stands for the nth time in the one line of a file."""
        line = (self.fake.root / name).read_text()
        start = -1
        for _ in range(nth):
            start = line.index(text, start + 1)
        ends = (start, start + len(text))
        return dict(zip(("start", "end"), ({"line": 0, "character": end} for end in ends), strict=True))

    def location(self, name: str, text: str, nth: int = 1) -> dict[str, Any]:
        return {"uri": (self.fake.root / name).as_uri(), "range": self.range(name, text, nth)}

    def edits(self, *ranges: dict[str, Any]) -> None:
        """What the server changes in a.txt."""
        edits = [{"range": range_, "newText": "new"} for range_ in ranges]
        uri = (self.fake.root / "a.txt").as_uri()
        self.rules["textDocument/rename"] = [["answer", {"changes": {uri: edits}}]]

    def answers(self, method: str, result: Iterable[Any]) -> None:
        self.rules[method] = [["answer", list(result)]]

    async def run(self, tables: str = "", span: Span = Span(Point(1, 1), Point(1, 4))) -> tuple[Renaming, list[str]]:  # noqa: B008 (frozen)
        """The renaming, and its doubts as `a.txt 1:5 what`."""
        self.fake.script({"rules": self.rules, "capabilities": {"renameProvider": True}})
        async with self.fake.session(tables) as session:
            await session.sync()
            renaming = await rename(session, self.fake.root / "a.txt", span, "new")
        return renaming, [
            f"{d.place.path.name} {d.place.span.start.line}:{d.place.span.start.character} {d.what}"
            for d in renaming.doubts
        ]

    async def refusal(self) -> str:
        """Why it is not renamed."""
        self.fake.script({"rules": self.rules, "capabilities": {"renameProvider": True}})
        async with self.fake.session() as session:
            await session.sync()
            with pytest.raises(RefusedError) as refused:
                await rename(session, self.fake.root / "a.txt", Span(Point(1, 1), Point(1, 4)), "new")
        return str(refused.value)


@pytest.fixture
def renames(tmp_path: Path) -> Renames:
    return Renames(tmp_path)


@bounded
@pytest.mark.parametrize("tables", ["", CHECKS])
async def test_another_word_is_not_changed_and_the_place_is_a_doubt(renames: Renames, tables: str) -> None:
    renames.write("a.txt", "old Other old\n")
    renames.edits(*(renames.range("a.txt", text, nth) for text, nth in (("old", 1), ("Other", 1), ("old", 2))))
    renaming, doubts = await renames.run(tables)
    (change,) = renaming.plan.steps
    assert change.after == "new Other new\n"  # type: ignore[union-attr]
    assert doubts == ["a.txt 1:5 Other left as it is"]


@bounded
async def test_a_rename_that_would_change_only_other_words_is_refused(renames: Renames) -> None:
    renames.write("a.txt", "old Other\n")
    renames.edits(renames.range("a.txt", "Other"))
    assert await renames.refusal() == "fake would change only other words, such as Other; nothing was changed"


@bounded
async def test_what_is_added_or_written_otherwise_is_none_of_that(renames: Renames) -> None:
    # As gopls names an import, and qualifies a name.
    renames.write("a.txt", "old old\n")
    nothing = renames.range("a.txt", "old", 2)
    nothing = {"start": nothing["start"], "end": nothing["start"]}
    renames.edits(renames.range("a.txt", "old"), nothing)
    renaming, doubts = await renames.run()
    (change,) = renaming.plan.steps
    assert change.after == "new newold\n"  # type: ignore[union-attr]
    assert doubts == []


@bounded
async def test_of_a_place_that_is_not_a_word_every_edit_counts(renames: Renames) -> None:
    # An import's path stands for the package: what is renamed is spelled elsewhere.
    renames.write("a.txt", '"path/old" old\n')
    renames.edits(renames.range("a.txt", "old", 2))
    renaming, doubts = await renames.run(span=Span(Point(1, 1), Point(1, 1)))
    (change,) = renaming.plan.steps
    assert change.after == '"path/old" new\n'  # type: ignore[union-attr]
    assert doubts == []


@bounded
async def test_a_use_in_another_word_is_a_doubt(renames: Renames) -> None:
    renames.write("a.txt", "old MACRO + old\n")
    renames.edits(renames.range("a.txt", "old"), renames.range("a.txt", "old", 2))
    places = (("old", 1), ("MACRO", 1), ("+", 1), ("old", 2))
    renames.answers("textDocument/references", [renames.location("a.txt", text, nth) for text, nth in places])
    _, doubts = await renames.run(CHECKS)
    # An operator is spelled by a sign: no name is missed there.
    assert doubts == ["a.txt 1:5 use by MACRO not renamed"]


@bounded
async def test_a_use_that_the_server_forgot_is_a_doubt(renames: Renames) -> None:
    renames.write("a.txt", "old\n")
    renames.write("b.txt", "old\n")
    renames.edits(renames.range("a.txt", "old"))
    renames.answers("textDocument/references", [renames.location(name, "old") for name in ("a.txt", "b.txt")])
    _, doubts = await renames.run(CHECKS)
    assert doubts == ["b.txt 1:1 use by old not renamed"]


@bounded
async def test_a_server_that_left_out_a_use_and_knows_it_afterwards_is_asked_again(renames: Renames) -> None:
    renames.write("a.txt", "old\n")
    renames.write("b.txt", "old\n")
    edits = {
        (renames.fake.root / name).as_uri(): [{"range": renames.range(name, "old"), "newText": "new"}]
        for name in ("a.txt", "b.txt")
    }
    first = {uri: made for uri, made in edits.items() if uri.endswith("a.txt")}
    renames.rules["textDocument/rename"] = [["answer_in_turn", {"changes": first}, {"changes": edits}]]
    renames.answers("textDocument/references", [renames.location(name, "old") for name in ("a.txt", "b.txt")])
    renaming, doubts = await renames.run(CHECKS)
    assert [step.path.name for step in renaming.plan.steps] == ["a.txt", "b.txt"]  # type: ignore[union-attr]
    assert doubts == []


@bounded
@pytest.mark.parametrize(
    ("container", "doubts"), [("ns::T", ["b.txt 1:1 ns::T::new is there already"]), ("ns", []), ("", [])]
)
async def test_what_has_the_new_name_in_the_same_scope_is_a_doubt(
    renames: Renames, container: str, doubts: list[str]
) -> None:
    renames.write("a.txt", "old\n")
    renames.write("b.txt", "new newer\n")
    renames.edits(renames.range("a.txt", "old"))
    renames.answers("textDocument/definition", [renames.location("a.txt", "old")])
    there = [
        {"name": "old", "kind": 12, "location": renames.location("a.txt", "old"), "containerName": "ns::T"},
        {"name": "new", "kind": 12, "location": renames.location("b.txt", "new"), "containerName": container},
        {"name": "newer", "kind": 12, "location": renames.location("b.txt", "newer"), "containerName": "ns::T"},
    ]
    renames.answers("workspace/symbol", there)
    assert (await renames.run(CHECKS))[1] == doubts


MEANINGS = f"""{CHECKS}
[word_check]
request = "fake/meanings"
"""


def overloaded(renames: Renames) -> None:
    """Two functions `old`, in a.txt and in b.txt; the server says of the words in a.txt that they may mean either."""
    renames.write("a.txt", "old old")
    renames.write("b.txt", "old")
    renames.edits(renames.range("a.txt", "old"), renames.range("a.txt", "old", 2))
    both = [renames.location(name, "old") for name in ("a.txt", "b.txt")]
    renames.answers("textDocument/references", [both[0], renames.location("a.txt", "old", 2)])
    renames.answers("textDocument/definition", both[:1])
    meanings = {both[0]["uri"]: both, both[1]["uri"]: both[1:]}
    renames.rules["fake/meanings"] = [["answer_for", meanings]]
    renames.answers("workspace/symbol", [{"name": "old", "kind": 12, "location": one} for one in both])


@bounded
async def test_a_change_where_an_overload_is_possible_too_is_a_doubt(renames: Renames) -> None:
    overloaded(renames)
    assert (await renames.run(MEANINGS))[1] == ["a.txt 1:1 may mean another old", "a.txt 1:5 may mean another old"]


@bounded
async def test_without_an_overload_no_change_is_asked_about(renames: Renames) -> None:
    overloaded(renames)
    symbol = {"name": "old", "kind": 12, "location": renames.location("a.txt", "old")}
    renames.answers("workspace/symbol", [symbol])
    assert (await renames.run(MEANINGS))[1] == []
    assert "fake/meanings" not in renames.fake.methods()


@bounded
async def test_what_was_not_asked_for_lack_of_time_is_a_doubt(renames: Renames) -> None:
    overloaded(renames)
    with budget.reading(0):
        doubts = (await renames.run(MEANINGS))[1]
    assert doubts == ["a.txt 1:1 not known whether it means another old, as 1 more place"]


@bounded
async def test_a_local_name_has_no_clash_elsewhere(renames: Renames) -> None:
    renames.write("a.txt", "old\n")
    renames.write("b.txt", "new\n")
    renames.edits(renames.range("a.txt", "old"))
    renames.answers("textDocument/definition", [renames.location("a.txt", "old")])
    renames.answers("workspace/symbol", [{"name": "new", "kind": 12, "location": renames.location("b.txt", "new")}])
    assert (await renames.run(CHECKS))[1] == []


@bounded
async def test_nothing_is_looked_for_that_the_adapter_does_not_ask_for(renames: Renames) -> None:
    renames.write("a.txt", "old MACRO\n")
    renames.edits(renames.range("a.txt", "old"))
    renames.answers("textDocument/references", [renames.location("a.txt", "MACRO")])
    assert (await renames.run())[1] == []
    assert "textDocument/references" not in renames.fake.methods()
