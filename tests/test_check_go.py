"""`check` with gopls says of random edits what the compiler says: judged by go/types without gopls."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from asking import Ask, asking, skip_without

sys.path.insert(0, str(Path(__file__).parents[1] / "truth"))
from check_truth import examine

skip_without("gopls")

_TREE = Path(__file__).parent / "fixtures" / "go"
_EDITS = 12


def test_random_edits_of_go_have_the_errors_that_the_compiler_finds(tmp_path: Path) -> None:
    tree = Path(shutil.copytree(_TREE, tmp_path / "tree"))
    told: list[str] = []
    outcomes = examine(tree, "gopls", _EDITS, 1, tmp_path / "cache", told.append)
    assert outcomes == {"right": _EDITS}, told


def test_errors_that_gopls_leaves_out_of_a_file_with_a_syntax_error_are_said_to_be_hidden(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.com/m\n\ngo 1.24\n")
    broken = tmp_path / "a.go"
    broken.write_text('package m\n\nvar number int = "x"\n')

    async def question(ask: Ask) -> None:
        answer = await ask("check", all=True)
        assert (len(answer["new"]), answer["status"]) == (1, "complete")
        broken.write_text('package m\n\nvar number int = "x"\n\nfunc F( {\n')
        for _ in range(2):
            answer = await ask("check", all=True)
            assert [one["location"]["line"] for one in answer["new"] + answer["remaining"]] == [5]
            assert answer["status"] == "the reported errors may hide others in a.go; fix those and check again"
            assert answer["gaps"] == [{"kind": "syntax_error", "hides": True, "files": ["a.go"]}]

    asking("gopls", tmp_path, question)


def test_an_error_in_a_file_that_is_not_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.com/m\n\ngo 1.24\n")
    broken = tmp_path / "a.go"
    broken.write_text("package m\n")

    async def question(ask: Ask) -> None:
        assert (await ask("check"))["new"] == []
        for content in ('var a = "é"'.encode("latin-1"), b'var a = "\0"'):
            broken.write_bytes(b"package m\n\n" + content + b"\n")
            new = (await ask("check"))["new"]
            assert [(one["location"]["file"], one["location"]["line"]) for one in new] == [("a.go", 3)]

    asking("gopls", tmp_path, question)
