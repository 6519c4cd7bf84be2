"""Projects below the workspace root, each with its own packages: servers are told where they are."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from languages.served import served

TIMEOUT = 120.0  # seconds for one answer
CARGO = '[package]\nname = "{}"\nversion = "0.1.0"\nedition = "2021"\n'

Ask = Callable[..., dict[str, Any]]


def asked(backend: str, root: Path, files: dict[str, str], questions: Callable[[Ask], None]) -> None:
    """Ask about `files` in `root`."""
    open_workspace = served(backend)
    write(root, files)

    async def answered(call: Awaitable[str]) -> str:
        return await asyncio.wait_for(_awaited(call), TIMEOUT)

    with asyncio.Runner() as runner:

        async def opened() -> Any:
            workspace = open_workspace(root)
            return workspace, await workspace.__aenter__()

        workspace, call = runner.run(opened())
        try:
            questions(
                lambda tool, **arguments: dict(
                    json.loads(runner.run(answered(call(tool, {**arguments, "format": "json"}))))
                )
            )
        finally:
            runner.run(workspace.__aexit__(None, None, None))


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


async def _awaited(call: Awaitable[str]) -> str:
    return await call


def places(answer: dict[str, Any]) -> list[tuple[str, int]]:
    return [(one["location"]["file"], one["location"]["line"]) for one in answer["references"]]


PYTHON = {
    "api/pyproject.toml": '[project]\nname = "api"\nversion = "1"\n',
    "api/src/api/__init__.py": "",
    "api/src/api/models.py": "def shared() -> int:\n    return 1\n",
    "api/tests/test_models.py": "from api.models import shared\nfrom fancy import thing\n\nshared()\nthing()\n",
    "api/.venv/lib/python3.11/site-packages/fancy/__init__.py": "def thing() -> int:\n    return 1\n",
    "worker/pyproject.toml": '[project]\nname = "worker"\nversion = "1"\n',
    "worker/worker/__init__.py": "",
    "worker/worker/jobs.py": "def shared() -> int:\n    return 1\n",
    "worker/run.py": "from worker.jobs import shared\n\nshared()\n",
}


def test_python_projects_in_folders_find_their_packages_and_their_own_code(tmp_path: Path) -> None:
    def questions(ask: Ask) -> None:
        uses = ask("find_symbol_references_by_anchor", symbol_anchor="py://api/src/api/models.py#1:5")
        assert places(uses) == [
            ("api/src/api/models.py", 1),
            ("api/tests/test_models.py", 1),
            ("api/tests/test_models.py", 4),
        ]
        assert uses["status"] == "complete"
        assert ask("check", path="api/tests/test_models.py")["new"] == []

    asked("basedpyright", tmp_path, PYTHON, questions)


def test_a_module_that_two_python_projects_have_is_for_each_its_own(tmp_path: Path) -> None:
    files = {
        **{f"{name}/pyproject.toml": "[project]\n" for name in ("a", "b")},
        **{f"{name}/app/__init__.py": f"def {name}_only() -> int:\n    return 1\n" for name in ("a", "b")},
        **{f"{name}/tests/test_{name}.py": f"from app import {name}_only\n\n{name}_only()\n" for name in ("a", "b")},
    }

    def questions(ask: Ask) -> None:
        for name in ("a", "b"):
            uses = ask("find_symbol_references_by_anchor", symbol_anchor=f"py://{name}/app/__init__.py#1:5")
            test = f"{name}/tests/test_{name}.py"
            assert places(uses) == [(f"{name}/app/__init__.py", 1), (test, 1), (test, 3)]
            assert uses["status"].startswith("complete")

    asked("basedpyright", tmp_path, files, questions)


def test_cargo_workspaces_in_folders_are_loaded(tmp_path: Path) -> None:
    files = {
        "go.mod": "module example.com/a\n",
        **{f"tools/{name}/Cargo.toml": CARGO.format(name) for name in ("one", "two")},
        **{f"tools/{name}/src/lib.rs": "pub fn shared() -> i32 { 1 }\n" for name in ("one", "two")},
        "tools/one/src/main.rs": 'fn main() { println!("{}", one::shared()); }\n',
    }

    def questions(ask: Ask) -> None:
        uses = ask("find_symbol_references_by_anchor", symbol_anchor="rs://tools/one/src/lib.rs#1:8")
        assert places(uses) == [("tools/one/src/lib.rs", 1), ("tools/one/src/main.rs", 1)]
        assert uses["status"] == "complete"
        ask("rename_symbol_by_anchor", symbol_anchor="rs://tools/one/src/lib.rs#1:8", new_name="common")
        assert "one::common()" in (tmp_path / "tools/one/src/main.rs").read_text()
        assert "shared" in (tmp_path / "tools/two/src/lib.rs").read_text()

    asked("rust-analyzer", tmp_path, files, questions)


def test_a_cargo_workspace_that_is_new_is_loaded_and_one_that_is_gone_forgotten(tmp_path: Path) -> None:
    files = {
        "tools/one/Cargo.toml": CARGO.format("one"),
        "tools/one/src/lib.rs": "pub fn shared() -> i32 { 1 }\n",
    }

    def questions(ask: Ask) -> None:
        assert ask("find_symbol_references_by_anchor", symbol_anchor="shared")["status"].startswith("complete")
        write(
            tmp_path,
            {
                "tools/two/Cargo.toml": CARGO.format("two"),
                "tools/two/src/main.rs": 'mod helper;\nfn main() { println!("{}", helper::fresh()); }\n',
                "tools/two/src/helper.rs": "pub fn fresh() -> i32 { 1 }\n",
            },
        )
        uses = ask("find_symbol_references_by_anchor", symbol_anchor="rs://tools/two/src/helper.rs#1:8")
        assert places(uses) == [("tools/two/src/helper.rs", 1), ("tools/two/src/main.rs", 2)]
        assert "restarted" not in uses["status"]
        assert uses["status"].startswith("complete")
        shutil.rmtree(tmp_path / "tools/two")
        assert ask("find_symbol_definitions_by_name", symbol_name="fresh")["definitions"] == []
        assert ask("find_symbol_references_by_anchor", symbol_anchor="shared")["status"].startswith("complete")

    asked("rust-analyzer", tmp_path, files, questions)


def test_a_python_project_that_is_new_finds_its_packages_and_its_own_code(tmp_path: Path) -> None:
    def questions(ask: Ask) -> None:
        known = ask("find_symbol_references_by_anchor", symbol_anchor="py://worker/worker/jobs.py#1:5")
        assert places(known) == [("worker/run.py", 1), ("worker/run.py", 3), ("worker/worker/jobs.py", 1)]
        assert known["status"] == "complete"
        write(tmp_path, {name: text for name, text in PYTHON.items() if name.startswith("api/")})
        uses = ask("find_symbol_references_by_anchor", symbol_anchor="py://api/src/api/models.py#1:5")
        assert [line for _, line in places(uses)] == [1, 1, 4]
        assert uses["status"] == "complete"
        assert ask("check", path="api/tests/test_models.py", all=True)["remaining"] == []

    asked(
        "basedpyright",
        tmp_path,
        {name: text for name, text in PYTHON.items() if name.startswith("worker/")},
        questions,
    )


def test_a_virtual_environment_that_is_new_is_used(tmp_path: Path) -> None:
    def made(folder: str, package: str) -> dict[str, str]:
        return {
            f"{folder}.venv/pyvenv.cfg": "version = 3.11\n",
            f"{folder}.venv/lib/python3.11/site-packages/{package}/__init__.py": "def thing() -> int:\n    return 1\n",
        }

    def questions(ask: Ask) -> None:
        assert len(ask("check", all=True)["new"]) == 2
        write(tmp_path, made("", "fancy"))
        (tmp_path / ".venv/bin").mkdir()
        (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
        assert [one["location"]["file"] for one in ask("check", all=True)["remaining"]] == ["sub/b.py"]
        write(tmp_path, made("sub/", "plain"))
        assert ask("check", all=True)["remaining"] == []

    files = {
        "pyproject.toml": "[project]\n",
        "a.py": "from fancy import thing\n\nthing()\n",
        "sub/pyproject.toml": "[project]\n",
        "sub/b.py": "from plain import thing\n\nthing()\n",
    }
    asked("basedpyright", tmp_path, files, questions)


def test_crates_outside_of_the_workspace_above_them_are_loaded_and_checked(tmp_path: Path) -> None:
    path_of = '\n[dependencies]\nbase = {{ path = "{}" }}\n'.format
    files = {
        "Cargo.toml": CARGO.format("base"),
        "src/lib.rs": "pub fn ground() -> i32 { 1 }\n",
        "xtask/Cargo.toml": CARGO.format("xtask") + path_of(".."),
        "xtask/src/main.rs": 'fn main() { println!("{}", base::ground()); }\n',
        "fuzz/Cargo.toml": CARGO.format("fuzz") + path_of("..") + "\n[workspace]\n",
        "fuzz/src/main.rs": "fn main() { base::ground(); }\n",
    }

    def questions(ask: Ask) -> None:
        uses = ask("find_symbol_references_by_anchor", symbol_anchor="ground")
        assert places(uses) == [("fuzz/src/main.rs", 1), ("src/lib.rs", 1), ("xtask/src/main.rs", 1)]
        assert uses["status"].startswith("complete")
        ask("rename_symbol_by_anchor", symbol_anchor="ground", new_name="floor")
        assert "base::floor()" in (tmp_path / "xtask/src/main.rs").read_text()
        write(tmp_path, {"xtask/src/main.rs": "fn main() { base::floor(1); }\n"})
        checked = ask("check", all=True)
        errors = [*checked["new"], *checked["remaining"]]
        assert [one["location"]["file"] for one in errors] == ["xtask/src/main.rs"]
        assert checked["status"] == "complete"

    asked("rust-analyzer", tmp_path, files, questions)


def test_the_copy_of_a_crate_in_another_workspace_hides_no_uses(tmp_path: Path) -> None:
    library = (
        "macro_rules! make { ($name:ident) => { pub fn $name() -> i32 { 2 } }; }\nmake!(named);\n\n"
        "macro_rules! other { () => { pub fn hidden() -> i32 { 1 } }; }\nother!();\n\n"
        "pub struct Config { pub port: u16 }\n\n"
        "pub trait Visit {\n    fn visit(&self) -> u16;\n}\n\n"
        "impl Visit for Config {\n    fn visit(&self) -> u16 {\n"
        "        let Config { port } = self;\n        *port\n    }\n}\n"
    )
    code = (
        "use base::{hidden, Config, Visit};\n\n"
        "pub fn run() -> i32 {\n    base::named() + hidden() + Config { port: 1 }.visit() as i32\n}\n"
    )
    depends = '\n[dependencies]\nbase = { path = "../base" }\n'
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["base", "near"]\nexclude = ["far"]\nresolver = "2"\n',
        "base/Cargo.toml": CARGO.format("base"),
        "base/src/lib.rs": library,
        **{f"{name}/Cargo.toml": CARGO.format(name) + depends for name in ("near", "far")},
        **{f"{name}/src/lib.rs": code for name in ("near", "far")},
    }

    def questions(ask: Ask) -> None:
        visit = ask("find_symbol_references_by_anchor", symbol_anchor="Visit.visit", wait=True)
        assert places(visit) == [
            ("base/src/lib.rs", 10),
            ("base/src/lib.rs", 14),
            ("far/src/lib.rs", 4),
            ("near/src/lib.rs", 4),
        ]
        called = ask("find_calls", symbol="Visit.visit", wait=True)
        assert len(called["callers"]) == 2
        port = ask("find_symbol_references_by_anchor", symbol_anchor="Config.port", wait=True)
        assert ("base/src/lib.rs", 16) not in places(port)
        for line, word in (("base/src/lib.rs:2", "named"), ("near/src/lib.rs:4", "hidden")):
            uses = ask("find_symbol_references_by_anchor", symbol_anchor=f"{line}:{word}", wait=True)
            assert ("far/src/lib.rs", 4) in places(uses) or "far/src/lib.rs 4" in uses["status"]
        ask("rename_symbol_by_anchor", symbol_anchor="Visit.visit", new_name="look")
        assert ".look()" in (tmp_path / "far/src/lib.rs").read_text()

    asked("rust-analyzer", tmp_path, files, questions)
