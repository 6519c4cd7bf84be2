"""A checkout can name any folder as a dependency's source: its text is shown only if the user allows it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from asking import skip_without
from shared_daemon import Desk

GO_MOD = """\
module example.com/shared

go 1.23

require example.com/other v0.0.0

replace example.com/other => ../other
"""
USE = """\
package shared

import (
	"fmt"

	"example.com/other"
)

func Use() { fmt.Println(other.Open(1) + other.Key) }
"""
OTHER = 'package other\n\n// Key opens all.\nconst Key = "hunter2"\n\nfunc Open(int) string { return Key }\n'
HIDDEN = "| not shown: outside of the workspace; --allow-dependencies FOLDER allows it\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A project that replaces a module by a folder next to it."""
    skip_without("gopls")
    desk = Desk(tmp_path)
    (desk.root / "go.mod").write_text(GO_MOD)
    (desk.root / "use.go").write_text(USE)
    other = tmp_path / "other"
    other.mkdir()
    (other / "go.mod").write_text("module example.com/other\n\ngo 1.23\n")
    (other / "other.go").write_text(OTHER)
    return desk


def ask(desk: Desk, *words: str) -> str:
    done = desk.run("call", "--no-shared", *words, "--format", "compact")
    return done.stdout + done.stderr


QUESTIONS = [
    ("read_symbol", "symbols=other.Key"),
    ("read_symbol", "symbols=use.go:9:Key"),
    ("find_symbol_definitions_by_name", "symbol_name=Key", "dependencies=true", "include_hover=true"),
    ("find_symbol_references_by_anchor", "symbol_anchor=use.go:9:Key", "context=3"),
]


@pytest.mark.parametrize("words", QUESTIONS, ids=" ".join)
def test_the_text_of_a_replaced_module_is_shown_only_if_its_folder_is_allowed(
    desk: Desk, tmp_path: Path, words: tuple[str, ...]
) -> None:
    said = ask(desk, *words)
    assert "hunter2" not in said and "opens all" not in said
    assert HIDDEN in said and f"{tmp_path}/other/other.go" in said and "status: complete" in said
    allowed = ask(desk, *words, "--allow-dependencies", "../other")
    assert 'const Key = "hunter2"' in allowed and HIDDEN not in allowed


def test_a_file_of_a_replaced_module_is_refused_with_the_flag(desk: Desk, tmp_path: Path) -> None:
    file = f"file_path={tmp_path}/other/other.go"
    assert "or with --allow-dependencies FOLDER to read." in ask(desk, "list_symbols_in_file", file)
    assert "hunter2" in ask(desk, "list_symbols_in_file", file, "--allow-dependencies", str(tmp_path / "other"))


def test_places_in_a_replaced_module_are_found_and_counted_all_the_same(desk: Desk) -> None:
    said = ask(desk, "find_calls", "symbol=Use", "direction=callees")
    assert "other/other.go#6:6 Open" in said and "status: complete" in said
    said = ask(desk, "find_symbol_references_by_anchor", "symbol_anchor=use.go:9:Open")
    assert "Found 2 references" in said and "status: complete" in said


def test_other_folders_of_the_same_checkout_and_the_standard_library_are_shown(desk: Desk, tmp_path: Path) -> None:
    assert "func Println(" in ask(desk, "read_symbol", "symbols=fmt.Println")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert "hunter2" in ask(desk, "read_symbol", "symbols=other.Key")


def test_a_folder_that_does_not_exist_is_refused(desk: Desk) -> None:
    assert "--allow-dependencies nowhere: there is no such folder" in ask(
        desk, "check", "--allow-dependencies", "nowhere"
    )
