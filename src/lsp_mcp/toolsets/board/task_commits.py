"""The commits of a task in git: those with its id in their message, and those of its branch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.board import proofs
from lsp_mcp.errors import CallerError
from lsp_mcp.wire.git import PLAIN_DIFF, git_output

MOST_COMMITS = 50
MOST_DIFF = 200_000  # characters
_ID = re.compile(r"[a-z0-9-]{3,40}")
_HASH = re.compile(r"[0-9a-f]{40}")
_COMMIT = "\x01"  # before each commit
_FIELD = "\x02"
_FORMAT = f"--format={_COMMIT}%H{_FIELD}%aI{_FIELD}%an{_FIELD}%s{_FIELD}%B{_FIELD}"


async def commits_of(root: Path, id_: str, branch: str | None) -> list[dict[str, Any]]:
    """`hash`, `at`, `who`, `subject` and `files` of each commit, the newest first; empty without a repository.

    A commit names a task by its id in its message, for instance in the trailer `Task: t-8jp79`.
    """
    if not _ID.fullmatch(id_):
        return []
    log = ("log", _FORMAT, "--name-only", "--no-show-signature", f"--max-count={MOST_COMMITS}")
    printed = await git_output(root, *log, "--all", "--fixed-strings", f"--grep={id_}") or ""
    word = re.compile(rf"(?<![\w-]){re.escape(id_)}(?![\w-])")
    named = _parsed(printed, word)
    if branch and await git_output(root, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"):
        printed = await git_output(root, *log, f"refs/heads/{branch}", "--not", "HEAD", "--") or ""
        known = {one["hash"] for one in named}
        named += [one for one in _parsed(printed) if one["hash"] not in known]
    return sorted(named, key=lambda one: str(one["at"]), reverse=True)[:MOST_COMMITS]


async def diff_of(root: Path, hash_: str) -> str:
    """The changes of a commit, cut if they are too long to read.

    Raises:
        CallerError: there is no such commit.
    """
    printed = None
    if _HASH.fullmatch(hash_):
        printed = await git_output(
            root, "show", *PLAIN_DIFF, "--no-show-signature", "--format=", "--stat", "--patch", hash_
        )
    if printed is None:
        raise CallerError(f"unknown commit {hash_[:40]!r}.")
    return (
        printed if len(printed) <= MOST_DIFF else f"{printed[:MOST_DIFF]}\n… the rest is left out: see git show {hash_}"
    )


async def check_commits(root: Path, proof: Sequence[str]) -> None:
    """Raises CallerError if one of the proofs is a commit that the repository does not have; without one, all count."""
    for commit in proofs.commits(proof):
        known = await git_output(root, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
        if known is None and await git_output(root, "rev-parse", "--git-dir") is not None:
            raise CallerError(f"{commit} is not a commit of {root}; commit or fetch it first.")


def _parsed(printed: str, word: re.Pattern[str] | None = None) -> list[dict[str, Any]]:
    """The commits that a log printed, only those with `word` in their message if one is given."""
    found = []
    for part in printed.split(_COMMIT)[1:]:
        hash_, at, who, subject, message, files = part.split(_FIELD, 5)
        if word and not word.search(message):
            continue
        found.append({"hash": hash_, "at": at, "who": who, "subject": subject, "files": files.strip("\n").splitlines()})
    return found
