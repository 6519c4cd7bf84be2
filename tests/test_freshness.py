"""Whatever wrote the files, the next answer is for what is on disk: real gopls, no sleeps, no stale answer."""

import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.errors import AnchorError, LspMcpError, PathError
from lsp_mcp.evidence.explainers.by_definition import NEVER_TRUSTED

QUESTIONS = 125
skip_without("gopls")


@dataclass
class Model:
    """A Go module whose references are known: each file below uses `lib.Target` a known number of times.

    Its packages come and go with their files; some files are external tests, packages of their own.
    """

    root: Path
    dice: random.Random
    uses: dict[str, int] = field(default_factory=dict)  # by path
    named: str = "ex.com/lib"  # the path that go.mod gives the module; only this one is what `use` imports
    above: int = 0  # comment lines above the definition

    def write(self, name: str, content: str) -> None:
        """In place or by a rename over it, as editors do."""
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        if self.dice.random() < 0.5:
            path.write_text(content)
        else:
            beside = path.with_suffix(".tmp")
            beside.write_text(content)
            beside.replace(path)

    def write_module(self) -> None:
        self.write("go.mod", f"module {self.named}\n\ngo 1.22\n")

    def write_definition(self) -> None:
        self.write("lib.go", "package lib\n\n" + "// more\n" * self.above + "func Target() int { return 1 }\n")

    def write_uses(self, path: str, count: int) -> None:
        self.uses[path] = count
        folder, _, file = path.partition("/")
        package = f"{folder}_test" if file.endswith("_test.go") else folder
        head = f'package {package}\n\nimport "ex.com/lib"\n\nfunc {file[:-3]}() {{\n\t_ = lib.Other\n'
        self.write(path, head + "\t_ = lib.Target()\n" * count + "}\n")

    def new_path(self) -> str:
        folder = self.dice.choice(["use", "more", f"new{self.dice.randrange(1000)}"])
        return f"{folder}/f{self.dice.randrange(10_000)}{self.dice.choice(['', '_test'])}.go"

    def change(self) -> str:
        """Do one thing to the files; what it was."""
        roll, names = self.dice.random(), sorted(self.uses)
        if roll < 0.45:
            self.write_uses(self.dice.choice(names), self.dice.randrange(5))
            return "changed"
        if roll < 0.60:
            self.above = self.dice.randrange(6)
            self.write_definition()
            return "definition moved"
        if roll < 0.75 or len(names) < 3:
            self.write_uses(path := self.new_path(), self.dice.randrange(5))
            return f"created {path}"
        if roll < 0.85:
            path = self.dice.choice(names)
            (self.root / path).unlink()
            del self.uses[path]
            return f"deleted {path}"
        if roll < 0.95:
            old = self.dice.choice(names)
            new = old.replace("/f", "/r") if "/f" in old else old.replace("/r", "/f")
            (self.root / old).rename(self.root / new)
            self.uses[new] = self.uses.pop(old)
            return f"renamed {old}"
        self.named = "ex.com/other" if self.named == "ex.com/lib" else "ex.com/lib"
        self.write_module()
        return f"go.mod is {self.named}"

    def expected(self) -> list[tuple[str, int]]:
        """File and line of every reference, the definition first."""
        found = [("lib.go", 3 + self.above)]
        if self.named == "ex.com/lib":
            found += [(path, 7 + i) for path, count in self.uses.items() for i in range(count)]
        return sorted(found)

    def expected_status(self) -> str:
        """How the status begins: uses whose import leads nowhere are named, for they may be of this function."""
        written = sum(self.uses.values())
        if self.named == "ex.com/lib" or not written:
            return "complete"
        asked = min(written, NEVER_TRUSTED)  # the others are asked about when nobody waits
        return f"unverified: {asked} occurrence{'s' if asked > 1 else ''} of Target in "


@pytest.mark.parametrize("seed", [1, 2])
def test_125_edits_and_questions_in_a_row_get_no_stale_answer(tmp_path: Path, seed: int) -> None:
    model = Model(tmp_path, random.Random(seed))
    model.write_module()
    model.write("other.go", "package lib\n\nconst Other = 1\n")
    model.write_definition()
    for number in range(6):
        model.write_uses(f"use/f{number}.go", number % 4)

    async def question(ask: Ask) -> None:
        anchor = "go://lib.go#3:6"
        stale: list[tuple[object, ...]] = []
        for number in range(QUESTIONS):
            what = model.change()
            try:
                answer = await ask("find_symbol_references_by_anchor", symbol_anchor=anchor)
            except LspMcpError as error:
                stale.append((number, what, str(error)))
                continue
            places = [(r["location"]["file"], r["location"]["line"]) for r in answer["references"]]
            if sorted(places) != model.expected() or not answer["status"].startswith(model.expected_status()):
                stale.append((number, what, answer["status"], places, model.expected(), model.expected_status()))
            anchor = next(r["anchor"] for r in answer["references"] if r["location"]["file"] == "lib.go")
        assert stale == []

    asking("gopls", tmp_path, question)


def test_the_outline_and_the_name_search_see_what_another_program_wrote_a_moment_before(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module ex.com/a\n\ngo 1.22\n")
    file = tmp_path / "a.go"

    async def question(ask: Ask) -> None:
        for number in range(40):
            subprocess.run(
                ["sh", "-c", f"printf 'package a\\n\\nfunc F{number}() {{}}\\n' > a.go"], cwd=tmp_path, check=True
            )
            outline = await ask("list_symbols_in_file", file_path="a.go")
            assert [symbol["name"] for symbol in outline["file_symbols"]] == [f"F{number}"]
            found = await ask("find_symbol_definitions_by_name", symbol_name=f"F{number}")
            assert found["definitions"][0]["name"] == f"a.F{number}"
        file.unlink()
        with pytest.raises(PathError, match="does not exist"):
            await ask("list_symbols_in_file", file_path="a.go")

    asking("gopls", tmp_path, question)


def test_a_renamed_folder_takes_its_files_along(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module ex.com/a\n\ngo 1.22\n")
    (tmp_path / "a.go").write_text('package a\n\nimport "ex.com/a/new"\n\nvar X = sub.Target\n')
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "sub.go").write_text("package sub\n\nconst Target = 1\n")

    async def question(ask: Ask) -> None:
        before = await ask("find_symbol_references_by_anchor", symbol_anchor="go://old/sub.go#3:7")
        assert [r["anchor"] for r in before["references"]] == ["go://old/sub.go#3:7"]
        (tmp_path / "old").rename(tmp_path / "new")
        after = await ask("find_symbol_references_by_anchor", symbol_anchor="go://new/sub.go#3:7")
        assert [r["anchor"] for r in after["references"]] == ["go://a.go#5:13", "go://new/sub.go#3:7"]
        with pytest.raises((PathError, AnchorError)):
            await ask("find_symbol_references_by_anchor", symbol_anchor="go://old/sub.go#3:7")

    asking("gopls", tmp_path, question)


def test_a_branch_switch_of_3000_files_is_answered_for_the_new_branch(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.hooksPath=/dev/null"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def write(package: int, file: int, uses: int) -> None:
        path = tmp_path / f"p{package}" / f"f{file}.go"
        path.parent.mkdir(exist_ok=True)
        body = "".join("\t_ = lib.Target\n" for _ in range(uses))
        head = f'package p{package}\n\nimport "ex.com/lib"\n\nfunc F{file}() {{\n\t_ = lib.Other\n'
        path.write_text(head + body + "}\n")

    git("init", "-b", "one")
    (tmp_path / "go.mod").write_text("module ex.com/lib\n\ngo 1.22\n")
    (tmp_path / "lib.go").write_text("package lib\n\nconst (\n\tTarget = 1\n\tOther  = 2\n)\n")
    for package in range(20):
        for file in range(100):
            write(package, file, 1)
    git("add", ".")
    git("commit", "-m", "one")
    git("checkout", "-b", "two")
    for package in range(20):
        for file in range(100):  # 1,000 changed, 1,000 deleted
            write(package, file, 2) if package < 10 else (tmp_path / f"p{package}" / f"f{file}.go").unlink()
    for package in range(20, 30):
        for file in range(100):  # 1,000 created
            write(package, file, 3)
    git("add", ".")
    git("commit", "-m", "two")
    git("checkout", "one")
    totals = {"one": 1 + 2000, "two": 1 + 2 * 1000 + 3 * 1000}

    async def question(ask: Ask) -> None:
        for branch in ("one", "two", "one", "two"):
            git("checkout", branch)
            answer = await ask("find_symbol_references_by_anchor", symbol_anchor="go://lib.go#4:2", limit=10_000)
            assert len(answer["references"]) == totals[branch]
            assert answer["status"] == "complete"

    asking("gopls", tmp_path, question)
