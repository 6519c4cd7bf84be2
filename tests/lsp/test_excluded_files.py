"""Which files a build leaves out is asked for once, and again after a change of their folder."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from asking import skip_without
from fakes.bounded import bounded
from lsp_mcp.adapters import load_adapter
from lsp_mcp.lsp.coverage.excluded_files import ExcludedFiles, how_to_build

skip_without("gopls")


@pytest.fixture
def excluded() -> ExcludedFiles:
    projects = load_adapter("gopls").projects
    assert projects
    return ExcludedFiles(projects.excluded_command)


@pytest.fixture
def module(tmp_path: Path) -> Path:
    (tmp_path / "go.mod").write_text("module example.com/left_out\n\ngo 1.23\n")
    for name in ("a.go", "a_plan9.go"):
        (tmp_path / name).write_text("package a\n")
    return tmp_path


@bounded
async def test_a_change_of_a_folder_counts(excluded: ExcludedFiles, module: Path) -> None:
    folders = [module]
    assert await excluded.below(module, folders) == (str(module / "a_plan9.go"),)
    new = module / "b_windows.go"
    new.write_text("package a\n")
    excluded.changed([new])
    assert await excluded.below(module, folders) == (str(module / "a_plan9.go"), str(new))


@bounded
async def test_a_change_that_comes_while_the_command_runs_is_not_lost(excluded: ExcludedFiles, module: Path) -> None:
    folders, gone = [module], module / "a_plan9.go"
    asking = asyncio.create_task(excluded.below(module, folders))
    await asyncio.sleep(0)  # it has begun
    excluded.changed([gone])
    await asking
    gone.unlink()
    assert await excluded.below(module, folders) == ()


@pytest.mark.parametrize(
    ("condition", "tags"),
    [
        ("special", "special"),
        ("special && !other && linux", "special"),
        ("(integration || e2e.slow) && !windows", "integration,e2e.slow"),
        ("windows", ""),
        ("!special && go1.30", ""),
        ("ignore", ""),
        ("cgo && mips64le", ""),
    ],
)
def test_a_file_with_a_tag_of_its_own_says_how_it_is_built(tmp_path: Path, condition: str, tags: str) -> None:
    rules = load_adapter("gopls").projects
    assert rules
    file = tmp_path / "a.go"
    file.write_text(f"// Copyright.\n\n//go:build {condition}\n\npackage a\n")
    hint = how_to_build(rules, [file, tmp_path / "gone.go"])
    assert hint.rpartition("=")[2] == tags
    assert bool(hint) == bool(tags)
