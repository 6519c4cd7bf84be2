"""The status of an answer is short, and says only what can matter to the question."""

from pathlib import Path
from typing import Any

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.errors import RefusedError
from lsp_mcp.gaps import Gap, news, status

skip_without("gopls")

FILES = {
    "go.mod": "module example.com/status\n\ngo 1.24\n",
    "a.go": "package status\n\nfunc Greet() {}\n\nfunc calls() { Greet() }\n",
    "broken.go": "package status\n\n} Greet()\n",
}
HIDDEN = {"kind": "syntax_error", "hides": True, "files": ["broken.go"]}


def asked(root: Path, question: Any) -> None:
    for name, text in FILES.items():
        (root / name).write_text(text)
    asking("gopls", root, question)


def test_what_a_caller_was_told_is_told_again_in_a_few_words_and_as_data(tmp_path: Path) -> None:
    async def question(ask: Ask) -> None:
        answers = [await ask("find_symbol_references_by_anchor", symbol_anchor="go://a.go#3:6") for _ in range(2)]
        first, second = (answer["status"] for answer in answers)
        assert first.startswith("files with errors may have more uses of Greet: broken.go (expected declaration")
        assert second == "as before: 1 file with errors may have more uses of Greet"
        assert [answer["gaps"] for answer in answers] == [[HIDDEN], [HIDDEN]]

    asked(tmp_path, question)


def test_a_question_about_one_place_does_not_tell_of_other_files(tmp_path: Path) -> None:
    async def question(ask: Ask) -> None:
        at = {"textDocument": {"uri": "a.go"}, "position": {"line": 5, "character": 16}}
        for method in ("textDocument/hover", "textDocument/definition"):
            answer = await ask("lsp_request", method=method, params=at)
            assert answer["result"]
            assert (answer["status"], answer["gaps"]) == ("complete", [])
        params = {**at, "context": {"includeDeclaration": True}}
        assert (await ask("lsp_request", method="textDocument/references", params=params))["gaps"] == [HIDDEN]

    asked(tmp_path, question)


def test_a_rename_that_could_miss_a_use_tells_all_of_the_reason_each_time(tmp_path: Path) -> None:
    async def question(ask: Ask) -> None:
        rename = {"symbol_anchor": "go://a.go#3:6", "new_name": "Hello"}
        for _ in range(2):
            preview = await ask("rename_symbol_by_anchor", **rename, apply=False)
            assert preview["gaps"] == [HIDDEN]
        with pytest.raises(RefusedError, match=r"broken\.go \(expected declaration.*allow_partial=true"):
            await ask("rename_symbol_by_anchor", **rename)
        assert "Hello" not in (tmp_path / "a.go").read_text()

    asked(tmp_path, question)


def test_what_is_so_for_two_reasons_is_said_once() -> None:
    twice = [
        news("applied", "two files were not tried"),
        news("applied", "two files were not tried", files=[Path("a")]),
    ]
    assert status(twice) == "complete; two files were not tried"


def test_gaps_that_differ_only_in_their_place_are_one_sentence() -> None:
    places = ["a.c line 1, 2", "b.c line 3", "c.c line 4", "d.c line 5"]
    gaps = [Gap("not_compiled", f"not searched: {one}, with x", (Path(one),), place=one) for one in places]
    assert status(gaps[:2]) == "not searched: a.c line 1, 2, b.c line 3, with x"
    assert status([*gaps, Gap("indexing", "still indexing")]) == (
        "not searched: a.c line 1, 2, b.c line 3, c.c line 4 and 1 more, with x; still indexing"
    )
