"""Without symbols, find_impact is about what git says is uncommitted, and nothing that a repository names is run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.errors import CallerError

skip_without("gopls")


def git(root: Path, *arguments: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *names, *arguments], cwd=root, check=True, capture_output=True)


def test_uncommitted_changes_lead_to_the_tests_and_run_no_program_of_the_repository(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "go.mod").write_text("module example.com/a\n\ngo 1.23\n")
    (root / "a.go").write_text("package a\n\nfunc one() int { return 1 }\n\nfunc two() int { return 2 }\n")
    (root / "a_test.go").write_text('package a\n\nimport "testing"\n\nfunc TestTwo(t *testing.T) { two() }\n')

    async def without_git(ask: Ask) -> None:
        with pytest.raises(CallerError, match="pass symbols"):
            await ask("find_impact")

    asking("gopls", root, without_git)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "diff.go.textconv", "core.pager", "interactive.diffFilter"):
        git(root, "config", key, str(program))
    (root / ".gitattributes").write_text("*.go diff=go\n")
    hook = root / ".git" / "hooks" / "post-index-change"
    hook.write_text(program.read_text())
    hook.chmod(0o755)

    answers: list[dict[str, Any]] = []

    async def question(ask: Ask) -> None:
        answers.append(await ask("find_impact"))
        (root / "a.go").write_text("package a\n\nfunc one() int { return 1 }\n\nfunc two() int { return 3 }\n")
        (root / "b.go").write_text("package a\n\nfunc Three() int { return two() }\n")
        answers.append(await ask("find_impact"))
        answers.append(await ask("find_impact", path="b.go"))

    asking("gopls", root, question)
    clean, changed, below = answers
    assert clean["message"] == "Nothing that is uncommitted touches a symbol."
    assert changed["message"].startswith("git diff touches 2 symbols. 2 uses of two, Three,")
    assert changed["message"].endswith(" Risk: public: Three.")
    assert [test["name"] for test in changed["tests"]] == ["TestTwo"]
    assert changed["commands"] == ["go test . -run '^(TestTwo)$'"]
    assert [symbol["name"] for symbol in changed["exported"]] == ["Three"]
    assert below["message"].startswith("git diff touches 1 symbol. 0 uses of Three,")
    assert not ran.exists(), json.dumps(changed)
