"""`lsp-mcp index` from the shell."""

import json
import shutil
import stat
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from index.scip_files import DEFINITION, document, go_symbol, occurrence, write
from lsp_mcp.cli.main import main
from lsp_mcp.index.place import known_store

HELLO = go_symbol("example.com/a", "Hello().")


def index(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["index", *map(str, words)])


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'index.sqlite3'}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "a.scip", document("a.go", occurrence(HELLO, 2, 5, 10, DEFINITION)))


def test_an_index_is_pushed_listed_and_dropped(file: Path, store: str) -> None:
    pushed = index("push", file, "--repository", "example.com/a", "--commit", "abc", "--index-store", store)
    assert "example.com/a abc: 1 document, 1 symbol, 1 occurrence" in pushed.output
    assert "Columns after letters beyond ASCII may be off" in pushed.output

    listed = json.loads(index("list", "--index-store", store, "--json").output)
    assert [(one["repository"], one["commit"], one["packages"]) for one in listed["indexes"]] == [
        ("example.com/a", "abc", ["gomod example.com/a"])
    ]

    dropped = index("drop", "--repository", "example.com/a", "--index-store", store)
    assert dropped.output == "dropped example.com/a abc\nIndexes dropped: 1\n"
    assert index("gc", "--index-store", store).output == "Indexes dropped: 0\n"


def test_wrong_arguments_are_refused_before_anything_is_read(file: Path, store: str, tmp_path: Path) -> None:
    wrong = index("push", file, "--repository", "../a", "--commit", "a b", "--index-store", store)
    assert wrong.exit_code == 2
    assert not (tmp_path / "index.sqlite3").exists()
    assert index("list", "--index-store", "mysql://x").exit_code == 2


def test_with_text_needs_the_sources(file: Path, store: str, tmp_path: Path) -> None:
    at = ("push", file, "--repository", "example.com/a", "--commit", "abc", "--with-text", "--index-store", store)
    lacking = index(*at)
    assert lacking.exit_code == 2
    assert "1 source of 1 could not be read, such as a.go; pass --root" in lacking.output
    (tmp_path / "a.go").write_text("package a\n\nfunc Hello() {}\n")
    assert "with text stored in" in index(*at, "--root", tmp_path).output


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    (root / "go.mod").write_text("module example.com/a\n\ngo 1.21\n")
    (root / "a.go").write_text("package a\n")
    return root


def test_build_says_how_to_get_a_missing_indexer(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    built = index("build", "--backend", "gopls", "--workspace-root", root, "--output", tmp_path / "index.scip")
    assert built.exit_code == 1
    assert "scip-go is not installed; get it with: go install github.com/scip-code/scip-go" in built.output


def test_build_runs_the_indexer_and_keeps_the_old_file_if_it_fails(
    root: Path, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    indexer = programs / "scip-go"
    monkeypatch.setenv("PATH", f"{programs}:{Path(sys.executable).parent}:/usr/bin:/bin")
    output = tmp_path / "index.scip"
    at = ("build", "--backend", "gopls", "--workspace-root", root, "--output", output)

    indexer.write_text(f'#!/bin/sh\ncp {file} "$2"\n')
    indexer.chmod(indexer.stat().st_mode | stat.S_IXUSR)
    assert index(*at).exit_code == 0
    assert output.read_bytes() == file.read_bytes()

    indexer.write_text('#!/bin/sh\necho half > "$2"\necho "cannot load packages" >&2\nexit 3\n')
    failed = index(*at)
    assert failed.exit_code == 1
    assert "scip-go made no index (exit status 3):\ncannot load packages" in failed.output
    assert output.read_bytes() == file.read_bytes()
    assert not [*tmp_path.glob(".*.new")]


def test_build_with_the_real_indexer(root: Path, tmp_path: Path, store: str) -> None:
    if not shutil.which("scip-go"):
        pytest.skip("scip-go: it is not installed")
    assert index("build", "--workspace-root", root, "--output", tmp_path / "index.scip").exit_code == 0
    pushed = index("push", tmp_path / "index.scip", "--repository", "a", "--commit", "abc", "--index-store", store)
    assert pushed.exit_code == 0


def test_without_a_named_store_it_is_a_file_in_the_folder_for_it(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LSP_MCP_INDEX", str(tmp_path / "own"))
    assert known_store(None) is None
    assert index("push", file, "--repository", "example.com/a", "--commit", "abc").exit_code == 0
    assert known_store(None) == f"sqlite:///{tmp_path / 'own' / 'index.sqlite3'}"
