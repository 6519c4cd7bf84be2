"""Two real modules of the Go proxy: what changes in one names the uses in the other, which is not checked out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from asking import skip_without
from mcp_process import GO_ENV, PROGRAM

skip_without("gopls")
if not shutil.which("scip-go"):
    pytest.skip("scip-go: scripts/tools.sh scip_go", allow_module_level=True)

PFLAG, COBRA = "github.com/spf13/pflag@v1.0.6", "github.com/spf13/cobra@v1.9.1"
OLD = "(f *FlagSet) ShorthandLookup(name string) *Flag {"
NEW = "(f *FlagSet) ShorthandLookup(name string, _ bool) *Flag {"


def run(*words: str, cwd: Path) -> str:
    whole = {**os.environ, **GO_ENV}
    done = subprocess.run(words, cwd=cwd, env=whole, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def copied(module: str, to: Path) -> Path:
    """A module of the proxy, writable and without its own place in the module cache."""
    download = ["go", "mod", "download", "-json", module]
    found = subprocess.run(download, cwd=to.parent, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip(f"go: it cannot get {module}")
    shutil.copytree(json.loads(found.stdout)["Dir"], to)
    for path in (to, *to.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)
    return to


def test_a_change_of_an_exported_method_names_its_uses_in_a_module_that_is_not_checked_out(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'index.sqlite3'}"
    user, own = copied(COBRA, tmp_path / "cobra"), copied(PFLAG, tmp_path / "pflag")
    run(PROGRAM, "index", "build", cwd=user)
    where = ("--repository", "github.com/spf13/cobra", "--commit", "v1.9.1", "--root", ".", "--index-store", store)
    run(PROGRAM, "index", "push", "index.scip", *where, cwd=user)
    shutil.rmtree(user)

    settings = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    run("git", "init", "--quiet", cwd=own)
    run("git", "add", ".", cwd=own)
    run("git", *settings, "commit", "--quiet", "--message", "released", cwd=own)
    source = own / "flag.go"
    text = source.read_text()
    assert text.count(OLD) == 1
    source.write_text(text.replace(OLD, NEW))

    said = run(PROGRAM, "call", "find_impact", "--index-store", store, "--format", "compact", cwd=own)
    assert "elsewhere: 5 uses in 1 other repository" in said
    assert "github.com/spf13/cobra: 5 uses of FlagSet.ShorthandLookup" in said and "of version v1.0.6" in said
    for at in ("command.go#667:13", "command.go#1251:16", "command_test.go#1376:27", "completions.go#919:23"):
        assert f"go://github.com/spf13/cobra@v1.9.1/{at}" in said
    assert "elsewhere only 1 indexed repository is known" in said
