"""git is run without anything that the configuration of a repository names."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from pathlib import Path

import pytest

from lsp_mcp.wire.git import PLAIN_DIFF, git_output
from mcp_process import BOUND

# What is asked of git: find_impact, the overview of a workspace, the board's commits and anchors, its people.
COMMANDS = [
    ("diff", *PLAIN_DIFF, "--unified=0", "--relative", "HEAD", "--", "."),
    ("ls-files", "--others", "--exclude-standard", "-z", "--", "."),
    ("log", "--max-count=100", "--format=", "--name-only", "--no-renames", "--relative", "-z"),
    ("log", "--format=%H", "--name-only", "--no-show-signature", "--all", "--fixed-strings", "--grep=first"),
    ("show", *PLAIN_DIFF, "--no-show-signature", "--format=", "--stat", "--patch", "HEAD"),
    ("grep", "-n", "-z", "-w", "-I", "-F", "--untracked", "-e", "package", "--"),
    ("rev-parse", "--verify", "--quiet", "HEAD^{commit}"),
    ("config", "--get", "user.name"),
]
SIGNATURE = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n none\n -----END PGP SIGNATURE-----\n"


def known_keys() -> dict[str, str]:
    """Every key of git's configuration, in lower case, and why it runs nothing if it leads to a program."""
    lines = (Path(__file__).parent / "golden" / "git_config.txt").read_text("utf-8").splitlines()
    found = (line.partition(" ! ") for line in lines if not line.startswith("#"))
    return {key.lower(): why for key, _, why in found}


KEYS = known_keys()


class Repository:
    """A repository in which as much as possible would run, and the program that would."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.root.mkdir()
        self.ran = folder / "ran"
        self.program = folder / "program"
        self.program.write_text(f'#!/bin/sh\necho "$@" >>{self.ran}\n')
        self.program.chmod(0o755)
        self.git("init", "-q")
        (self.root / "a.go").write_text("package a\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "first")
        signed = self.git("cat-file", "commit", "HEAD").replace("\n\n", f"\n{SIGNATURE}\n", 1)
        self.git("reset", "-q", self.git("hash-object", "-t", "commit", "-w", "--stdin", told=signed).strip())
        (self.root / ".gitattributes").write_text("*.go filter=e diff=e merge=e\n")
        (self.root / "a.go").write_text("package a\n// y\n")
        (self.root / "new.go").write_text("package a\n")
        for key in ("log.showSignature", "protocol.allow", "protocol.ext.allow", "protocol.file.allow"):
            self.git("config", key, "true" if key.startswith("log") else "always")

    def git(self, *words: str, told: str = "") -> str:
        who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        return subprocess.run(
            ["git", *who, *words], cwd=self.root, input=told, check=True, capture_output=True, text=True
        ).stdout

    def without_a_blob(self) -> None:
        """Make it a partial clone that lacks a file's content."""
        blob = self.git("rev-parse", "HEAD:a.go").strip()
        (self.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
        for key, value in {
            "core.repositoryFormatVersion": "1",
            "extensions.partialClone": "origin",
            "remote.origin.promisor": "true",
            "remote.origin.url": f"ext::{self.program} of the remote",
        }.items():
            self.git("config", key, value)

    def asked(self) -> list[str | None]:
        """What each of the commands prints."""

        async def ask() -> list[str | None]:
            return [await git_output(self.root, *command) for command in COMMANDS]

        return asyncio.run(ask())

    def would_run(self) -> bool:
        """Whether git runs the program if nothing is turned off."""
        for command in (("status",), ("diff", "HEAD"), ("log", "-1"), ("fetch",)):
            subprocess.run(["git", *command], cwd=self.root, capture_output=True, check=False, timeout=BOUND)
        return self.ran.exists()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


RUNNING = sorted(key for key, why in KEYS.items() if why and not key.startswith(("include", "log.", "protocol.")))


@pytest.mark.parametrize("key", RUNNING)
def test_no_key_of_gits_runs_anything(repository: Repository, key: str) -> None:
    key = "remote.origin.uploadpack" if key == "remote.<>.uploadpack" else re.sub(r"<>|\*", "e", key)
    repository.git("config", key, str(repository.program))
    said = repository.asked()
    assert not repository.ran.exists(), repository.ran.read_text()
    assert said[0] and "+// y" in said[0]


@pytest.mark.parametrize(
    "key",
    [
        *("core.fsmonitor", "diff.external", "diff.e.command", "diff.e.textconv", "filter.e.clean", "filter.e.process"),
        "gpg.program",
    ],
)
def test_these_would_run_if_they_were_not_turned_off(repository: Repository, key: str) -> None:
    repository.git("config", key, str(repository.program))
    assert repository.would_run()


def test_a_partial_clone_fetches_nothing_whatever_protocols_it_allows(repository: Repository) -> None:
    repository.without_a_blob()
    said = repository.asked()
    assert (repository.ran.exists(), said[0], said[1]) == (False, None, ".gitattributes\0new.go\0")
    assert repository.would_run()


def test_what_an_included_file_configures_does_not_run_either(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "more").write_text(f'[filter "e"]\n\tclean = {repository.program}\n\trequired = true\n')
    repository.git("config", "include.path", str(tmp_path / "more"))
    assert "+// y" in str(repository.asked()[0])
    assert not repository.ran.exists()
    assert repository.would_run()


def test_the_hooks_in_the_configuration_of_newer_gits_are_turned_off(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.git("config", "hook.mine.event", "post-index-change")
    repository.git("config", "hook.mine.command", str(repository.program))
    words = tmp_path / "bin" / "git"
    words.parent.mkdir()
    words.write_text(
        f'#!/bin/sh\necho "$@" "$GIT_OPTIONAL_LOCKS" >>{tmp_path}/words\nPATH={os.environ["PATH"]} exec git "$@"\n'
    )
    words.chmod(0o755)
    monkeypatch.setenv("PATH", f"{words.parent}{os.pathsep}{os.environ['PATH']}")
    asyncio.run(git_output(repository.root, "status"))
    assert (tmp_path / "words").read_text().splitlines()[-1].endswith("-c hook.mine.enabled=false status 0")


def test_every_key_of_this_git_was_judged() -> None:
    """See tests/golden/git_config.txt, which says what to do about a new one."""
    printed = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True).stdout
    listed = {line.lower() for line in printed.splitlines() if re.fullmatch(r"[\w:*<>-]+(\.[\w:*<>-]+)+", line)}
    assert len(listed) > 500
    assert sorted({re.sub("<[^>]*>", "<>", key) for key in listed} - KEYS.keys()) == []


def test_where_a_filter_cannot_be_turned_off_git_is_not_run(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "config", "filter.a=b.clean", "touch RAN"], cwd=tmp_path, check=True)
    assert asyncio.run(git_output(tmp_path, "status")) is None
