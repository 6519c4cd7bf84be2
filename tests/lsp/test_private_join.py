"""Modules that nobody joined are joined for gopls by a file of ours; what the user has decided counts."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from fakes.bounded import bounded
from lsp_mcp.servers.gopls.private_join import PrivateJoin
from lsp_mcp.servers.gopls.projects import ProjectMap, map_projects
from lsp_mcp.servers.gopls.rules import MODULES as RULES

needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")


def modules(root: Path, **go_mods: str) -> ProjectMap:
    """Modules `example.com/NAME` in folders NAME of `root`, each with these lines more in its go.mod."""
    for name, lines in go_mods.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name / "go.mod").write_text(f"module example.com/{name}\n\ngo 1.23\n{lines}")
        (root / name / "code.go").write_text(f"package {name}\n")
    return map_projects(sorted(root.rglob("go.mod")), RULES, root, Path.read_text)


def joining(root: Path, *, allowed: bool = True, **environment: str) -> PrivateJoin:
    assert RULES.join
    return PrivateJoin(RULES.join, RULES.marker, root, environment, allowed=allowed)


USES_A = "\nrequire example.com/a v0.0.0\n\nreplace example.com/a => ../a\n"


@needs_go
@bounded
async def test_modules_that_use_each_other_are_joined_with_the_newest_version_outside_the_workspace(
    tmp_path: Path,
) -> None:
    projects = modules(tmp_path, a="", b=USES_A.replace("\nrequire", "toolchain go1.23.4\n\nrequire"), alone="")
    (tmp_path / "b" / "go.mod").write_text((tmp_path / "b" / "go.mod").read_text().replace("go 1.23\n", "go 1.24\n"))
    before = sorted(tmp_path.rglob("*"))
    join = joining(tmp_path)
    assert await join.update(projects)
    assert join.folders == {tmp_path / "a", tmp_path / "b"}
    assert join.problem == ""
    file = Path(join.env["GOWORK"])
    assert file.read_text().startswith("go 1.24\n")
    assert not file.is_relative_to(tmp_path)
    assert file.parent.stat().st_mode & 0o077 == 0
    assert sorted(tmp_path.rglob("*")) == before
    assert not await join.update(projects), "nothing has changed"


@needs_go
@bounded
async def test_modules_that_contradict_each_other_stay_apart_and_the_reason_is_told(tmp_path: Path) -> None:
    replaced = "\nrequire example.com/x v0.0.0\n\nreplace example.com/x => ../{}\n"
    uses = "\nrequire example.com/a v0.0.0\n\nrequire example.com/x v0.0.0\n"
    both = "\nreplace example.com/a => ../a\n\nreplace example.com/x => ../{}\n"
    projects = modules(tmp_path, a=replaced.format("one"), b=uses + both.format("two"), one="", two="")
    for name in ("one", "two"):
        (tmp_path / name / "go.mod").write_text("module example.com/x\n\ngo 1.23\n")
    join = joining(tmp_path)
    assert not await join.update(projects)
    assert "conflicting replacements" in join.problem
    assert join.env == {}


@pytest.mark.parametrize(
    "environment",
    [{"GOWORK": "off"}, {"GOWORK": "/elsewhere/go.work"}, {"GOFLAGS": "-v -mod=mod"}, {"GO111MODULE": "off"}],
)
@bounded
async def test_what_the_users_variables_say_is_left_as_it_is(tmp_path: Path, environment: dict[str, Any]) -> None:
    join = joining(tmp_path, **environment)
    assert not await join.update(modules(tmp_path, a="", b=USES_A))
    assert join.env == {}


@bounded
async def test_vendored_modules_a_go_work_and_a_server_that_cannot_be_told_are_left_as_they_are(tmp_path: Path) -> None:
    projects = modules(tmp_path, a="", b=USES_A)
    assert not await joining(tmp_path, allowed=False).update(projects)
    assert not await joining(tmp_path).update(projects.joined_by({tmp_path: frozenset({tmp_path / "a"})}))
    (tmp_path / "b" / "vendor").mkdir()
    (tmp_path / "b" / "vendor" / "modules.txt").write_text("")
    assert not await joining(tmp_path).update(projects)


def test_a_go_work_that_a_variable_names_joins_what_it_names_wherever_it_is(tmp_path: Path) -> None:
    root = tmp_path / "root"
    projects = modules(root, a="", b=USES_A)
    (tmp_path / "go.work").write_text("go 1.23\n\nuse (\n\t./root/a\n\t./root/b\n)\n")
    joined = joining(root, GOWORK=str(tmp_path / "go.work")).by_user()
    assert joined is not None
    a, b = projects.projects
    assert not projects.together(a, b)
    assert projects.joined_by(joined).together(a, b)
    assert projects.joined_by(joined).unseen_dependents(a) == []
    assert joining(root, GOWORK="off").by_user() == {}
    assert joining(root).by_user() is None
