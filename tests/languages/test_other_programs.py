"""Files that git and other programs change while a server runs: the next answer knows them, or says that it may not."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from languages.served import served

# In all files the word `greet` is the function of this name.
PROJECTS = {
    "typescript": {
        "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}}',
        "core.ts": "export function greet(n: number) {\n  return n;\n}\n",
        "main.ts": 'import { greet } from "./core";\n\nexport const one = greet(1);\n',
        "lib/index.ts": 'export { greet } from "../core";\n',
        "lib/more.ts": 'import { greet } from ".";\n\nexport const two = greet(2);\n',
    },
    "basedpyright": {
        "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n',
        "core.py": "def greet(n):\n    return n\n",
        "main.py": "from core import greet\n\none = greet(1)\n",
        "lib/__init__.py": "from core import greet as greet\n",
        "lib/more.py": "from lib import greet\n\ntwo = greet(2)\n",
    },
    "rust-analyzer": {
        "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/core.rs": "pub fn greet(n: u32) -> u32 {\n    n\n}\n",
        "src/main.rs": (
            "mod core;\nmod lib;\n\nuse crate::core::greet;\n\nfn main() {\n    greet(1);\n    lib::more::two();\n}\n"
        ),
        "src/lib/mod.rs": "pub mod more;\n\npub use crate::core::greet;\n",
        "src/lib/more.rs": "use super::greet;\n\npub fn two() -> u32 {\n    greet(2)\n}\n",
    },
}
MARK = {"typescript": "//", "basedpyright": "#", "rust-analyzer": "//"}
CORE = {"typescript": "core.ts", "basedpyright": "core.py", "rust-analyzer": "src/core.rs"}
MAIN = {"typescript": "main.ts", "basedpyright": "main.py", "rust-analyzer": "src/main.rs"}
MORE = {"typescript": "lib/more.ts", "basedpyright": "lib/more.py", "rust-analyzer": "src/lib/more.rs"}

Step = Callable[[Path], object]


def write(root: Path, files: Mapping[str, str]) -> None:
    for file, text in files.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)


def git(root: Path, *arguments: str) -> None:
    names = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *names, *arguments], cwd=root, check=True, capture_output=True)


def expected(root: Path) -> set[tuple[str, int]]:
    """The lines with the word in files of the project."""
    found = {
        (path.relative_to(root).as_posix(), number)
        for path in root.rglob("*.*")
        if path.suffix in (".ts", ".py", ".rs") and "target" not in path.parts
        for number, line in enumerate(path.read_text().split("\n"), 1)
        if re.search(r"\bgreet\b", line)
    }
    assert found
    return found


def ask_after(backend: str, root: Path, *steps: Step) -> None:
    """Ask for the uses at once after each step: they are those in the text, or the status says what may be missing."""
    open_workspace = served(backend)

    async def asked() -> None:
        async with open_workspace(root) as call:
            for step in (lambda _: None, *steps):
                step(root)
                arguments = {"symbol_anchor": "greet", "wait": True, "format": "json"}
                said = await asyncio.wait_for(call("find_symbol_references_by_anchor", arguments), 120)
                answer = json.loads(said)
                places = {(one["location"]["file"], one["location"]["line"]) for one in answer["references"]}
                assert places == expected(root), answer["status"]
                assert not any(gap["hides"] for gap in answer["gaps"]), answer["status"]

    asyncio.run(asked())


@pytest.fixture(params=PROJECTS)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """A server, and a project of its language in a repository: on `other` the function is further down and has fewer
    uses."""
    backend, root = request.param, tmp_path.resolve()
    write(root, PROJECTS[backend])
    (root / ".gitignore").write_text("target\n")
    git(root, "init", "-q", "-b", "first")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    git(root, "checkout", "-q", "-b", "other")
    (root / CORE[backend]).write_text(f"{MARK[backend]} one\n{MARK[backend]} two\n{PROJECTS[backend][CORE[backend]]}")
    (root / MORE[backend]).write_text(PROJECTS[backend][MORE[backend]].replace("greet(2)", "2"))
    git(root, "commit", "-q", "-a", "-m", "other")
    git(root, "checkout", "-q", "first")
    return backend, root


def test_another_branch_is_known_at_once_and_so_is_the_way_back(project: tuple[str, Path]) -> None:
    backend, root = project
    ask_after(
        backend,
        root,
        lambda root: git(root, "checkout", "-q", "other"),
        lambda root: git(root, "checkout", "-q", "first"),
        lambda root: git(root, "reset", "-q", "--hard", "other"),
    )


def test_a_change_that_keeps_size_and_time_is_known(project: tuple[str, Path]) -> None:
    backend, root = project

    def change(root: Path) -> None:
        path = root / MORE[backend]
        stat = path.stat()
        path.write_text(path.read_text().replace("greet(2)", "print(2)"))
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    ask_after(backend, root, change, lambda root: git(root, "checkout", "-q", "-f", "other"))


def test_a_file_put_in_the_place_of_another_is_known(project: tuple[str, Path]) -> None:
    backend, root = project

    def replace(root: Path) -> None:
        new = root / f"{MAIN[backend]}.tmp"
        new.write_text(f"{MARK[backend]} above\n{(root / MAIN[backend]).read_text()}")
        new.rename(root / MAIN[backend])

    ask_after(backend, root, replace)


def test_a_folder_that_comes_and_goes_is_known(project: tuple[str, Path]) -> None:
    backend, root = project
    folder = (root / MORE[backend]).parent

    def away(root: Path) -> None:
        folder.rename(root.parent / "away")
        if backend == "rust-analyzer":
            text = PROJECTS[backend][MAIN[backend]]
            (root / MAIN[backend]).write_text(text.replace("mod lib;\n", "").replace("    lib::more::two();\n", ""))

    def back(root: Path) -> None:
        shutil.move(root.parent / "away", folder)
        (root / MAIN[backend]).write_text(PROJECTS[backend][MAIN[backend]])

    ask_after(backend, root, away, back)
