"""Which files a build leaves out is asked for once, and again after a change of their folder."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from asking import skip_without
from fakes.bounded import bounded
from lsp_mcp.cache_folders import checkout_folder
from lsp_mcp.servers.gopls.excluded_files import ExcludedFiles, how_to_build
from lsp_mcp.servers.gopls.kept_excluded import KeptExcluded
from lsp_mcp.servers.gopls.rules import MODULES

skip_without("gopls")


@pytest.fixture
def excluded() -> ExcludedFiles:
    return ExcludedFiles(MODULES.excluded_command)


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


@pytest.fixture
def asking(tmp_path_factory: pytest.TempPathFactory) -> Asking:
    return Asking(tmp_path_factory.mktemp("command") / "list", {"settings": "linux"})


@dataclass
class Asking:
    """A command that lists files and notes each run, and what the build is made with."""

    program: Path
    build: dict[str, str]

    async def below(self, module: Path) -> int:
        """How often the command is run by a new session that wants the files of `module`."""
        log = self.program.with_name("log")
        log.write_text("")
        self.program.write_text(f"#!/bin/sh\necho run >> '{log}'\necho '{module}/a_plan9.go'\n")
        self.program.chmod(0o700)

        async def settings(_: Path) -> str:
            return self.build["settings"]

        kept = KeptExcluded(module, settings, [".go"], ["go.mod"])
        session = ExcludedFiles([str(self.program)], kept=kept)
        assert await session.below(module, [module]) == (str(module / "a_plan9.go"),)
        return len(log.read_text().splitlines())


def made_before(*files: Path) -> None:
    """Not just now: such a file may change again without another time."""
    for file in files:
        while time.time_ns() - max(file.stat().st_mtime_ns, file.stat().st_ctime_ns) < 60_000_000:
            time.sleep(0.01)


@bounded
async def test_the_next_session_knows_what_is_left_out_without_asking(asking: Asking, module: Path) -> None:
    made_before(*module.iterdir())
    assert [await asking.below(module) for _ in range(3)] == [1, 0, 0]


@bounded
async def test_what_is_left_out_is_asked_again_after_anything_that_it_follows_from_has_changed(
    asking: Asking, module: Path
) -> None:
    made_before(*module.iterdir())
    assert await asking.below(module) == 1
    asking.build["settings"] = "windows"
    assert [await asking.below(module) for _ in range(2)] == [1, 0]
    for name, text in (("a.go", "//go:build no\n\npackage a\n"), ("c.go", "package a\n"), ("go.mod", "module b\n")):
        (module / name).write_text(text)
        made_before(module / name)
        assert [await asking.below(module) for _ in range(2)] == [1, 0], name
    (module / "c.go").unlink()
    assert await asking.below(module) == 1


@bounded
async def test_what_is_left_out_of_builds_with_other_settings_is_kept_beside_each_other(
    asking: Asking, module: Path
) -> None:
    made_before(*module.iterdir())
    for settings, runs in (("linux", 1), ("windows", 1), ("linux", 0), ("windows", 0)):
        asking.build["settings"] = settings
        assert await asking.below(module) == runs, settings
    for number in range(6):
        asking.build["settings"] = f"other {number}"
        assert await asking.below(module) == 1
    assert len(list(checkout_folder(module).glob("excluded-*"))) == 4, "of the last ones"


@bounded
async def test_of_a_build_that_may_depend_on_more_nothing_is_kept(asking: Asking, module: Path) -> None:
    made_before(*module.iterdir())
    asking.build["settings"] = ""
    assert [await asking.below(module) for _ in range(2)] == [1, 1]


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
    rules = MODULES
    assert rules
    file = tmp_path / "a.go"
    file.write_text(f"// Copyright.\n\n//go:build {condition}\n\npackage a\n")
    hint = how_to_build(rules, [file, tmp_path / "gone.go"])
    assert hint.rpartition("=")[2] == tags
    assert bool(hint) == bool(tags)
