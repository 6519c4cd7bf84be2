"""Runs the tasks of `tasks.toml` or `edits.toml` and judges what came of them: `run`, `tables`."""

from __future__ import annotations

import fnmatch
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from mcp_client import started
from report import Table
from workload import GoModule, Tree, code

from tasks.sides import Done, another, ours, script

_HERE = Path(__file__).parent
_TOP = _HERE.parent.parent
_CACHE = _TOP / ".tools" / "bench"


class CodeTree(msgspec.Struct, forbid_unknown_fields=True):
    """Code that tasks are done on: a Go module, or a source package of Debian with the files that are compiled."""

    backend: str
    code: GoModule | None = None
    debian: str = ""
    compile: list[str] = []
    leave: list[str] = []
    flags: list[str] = []


class Task(msgspec.Struct, forbid_unknown_fields=True):
    """One task; `tasks.toml` says what the fields are. `edits` are made by another program before: [file, old, new]."""

    name: str
    tree: str
    has: list[str]
    calls: list[tuple[str, dict[str, Any]]] = []
    script: list[str] = []
    forbidden: list[str] = msgspec.field(default_factory=list, name="not")
    files: list[str] = []
    works: str = ""
    first_right: bool = False
    edits: list[tuple[str, str, str]] = []


class Tasks(msgspec.Struct, forbid_unknown_fields=True):
    """All of `tasks.toml` or `edits.toml`."""

    task: list[Task]


@dataclass(frozen=True)
class Verdict:
    """How a task was done by one side; `right` is None if it has no way to do it."""

    calls: int
    bytes: int
    right: bool | None
    missing: tuple[str, ...] = ()


class Peer(msgspec.Struct, forbid_unknown_fields=True):
    """Another MCP server that does the tasks where it is installed; `peers.toml` says what the fields are."""

    name: str
    program: str
    arguments: list[str]
    before: list[tuple[str, dict[str, Any]]] = []
    task: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    languages: list[str] = []  # those that its servers here have; empty: all

    @property
    def key(self) -> str:
        """Its name without the version."""
        return self.name.rpartition(" ")[0]


class Peers(msgspec.Struct, forbid_unknown_fields=True):
    """All of `peers.toml`."""

    peer: list[Peer]


@dataclass(frozen=True)
class Result:
    """One task on all sides, by the name of the side: ours comes first, then the script, then peers."""

    task: str
    verdicts: dict[str, Verdict]


OURS, SCRIPT = "lsp-mcp", "grep and go"
_QUICK = "cobra"
DAILY, EDITS = "tasks.toml", "edits.toml"


def trees() -> dict[str, CodeTree]:
    """All code, by name."""
    return msgspec.toml.decode((_HERE / "trees.toml").read_bytes(), type=dict[str, CodeTree])


def load(file: str) -> list[Task]:
    """The tasks in a file."""
    return msgspec.toml.decode((_HERE / file).read_bytes(), type=Tasks).task


def installed_peers() -> list[Peer]:
    """The peers whose programs are on the PATH."""
    peers = msgspec.toml.decode((_HERE / "peers.toml").read_bytes(), type=Peers)
    return [peer for peer in peers.peer if shutil.which(peer.program)]


async def run(folder: Path, file: str, *, progress: Callable[[str], None], quick: bool = False) -> list[Result]:
    """Do the tasks in a file, each side in its own copies of the trees below `folder`; if `quick`, those on cobra.

    Raises:
        RuntimeError: the code of a tree cannot be fetched.
    """
    tasks, peers = load(file), installed_peers() if file == DAILY else []
    results = []
    for name, tree in trees().items():
        here = [one for one in tasks if one.tree == name and (name == _QUICK or not quick)]
        if not here:
            continue
        progress(f"fetching {name}")
        source = fetched(name, tree)
        for task in here:
            progress(task.name)
            verdicts = {OURS: await _ours(task, tree, source, folder), SCRIPT: _script(task, tree, source, folder)}
            for peer in peers:
                progress(f"{task.name}: {peer.name}")
                verdicts[peer.name] = await _peer(peer, task, tree, source, folder)
            results.append(Result(task.name, verdicts))
    return sorted(
        results, key=lambda result: [int(word) if word.isdigit() else word for word in re.split(r"(\d+)", result.task)]
    )


async def _ours(task: Task, tree: CodeTree, source: Path, folder: Path) -> Verdict:
    root = copied(source, folder / "ours", tree)
    # One cache for all tasks: an agent works in a tree that is known.
    flags = ("--format", "compact", "--request-timeout", "300", "--ready-timeout", "600")
    async with started(tree.backend, root, folder / f"cache-{task.tree}", *flags) as client:
        if task.edits:
            await client.text("check", {})  # what was wrong before the edit
            _edit(root, task)
        offered = {tool.name for tool in (await client.client.list_tools()).tools}
        if not {tool for tool, _ in task.calls} <= offered:
            return Verdict(0, 0, None)
        done = await ours(client, task.calls, first_right=task.first_right)
    return _judged(task, done, root)


async def _peer(peer: Peer, task: Task, tree: CodeTree, source: Path, folder: Path) -> Verdict:
    """A peer's calls after those that it needs `before` any task, which do not count."""
    calls = peer.task.get(task.name.partition(" ")[0], [])
    if not calls:
        return Verdict(0, 0, None)
    root = copied(source, folder / "peer", tree)
    fill = partial(filled, root=root, language={"gopls": "go"}.get(tree.backend, "cpp"))
    done = await another(
        [shutil.which(peer.program) or peer.program, *fill(peer.arguments)],
        root,
        fill(peer.before),
        [fill(calls)],
        edit=lambda: _edit(root, task),
    )
    return _judged(task, done[0], root)


def filled(value: Any, *, root: Path, language: str) -> Any:
    """`value` with the folder of the tree and its language for `{root}` and `{language}`, wherever they stand."""
    if isinstance(value, str):
        return value.replace("{root}", str(root)).replace("{language}", language)
    if isinstance(value, dict):
        return {key: filled(one, root=root, language=language) for key, one in value.items()}
    return [filled(one, root=root, language=language) for one in value] if isinstance(value, (list, tuple)) else value


def _script(task: Task, tree: CodeTree, source: Path, folder: Path) -> Verdict:
    if not task.script:
        return Verdict(0, 0, None)
    root = copied(source, folder / "script", tree)
    _edit(root, task)
    return _judged(task, script(root, task.script), root)


def _judged(task: Task, done: Done, root: Path) -> Verdict:
    said = "\n".join([(root / file).read_text("utf-8") for file in task.files] or done.answers)
    missing = [pattern for pattern in task.has if not re.search(pattern, said)]
    wrong = [f"has {pattern}" for pattern in task.forbidden if re.search(pattern, said)]
    if task.works:
        ran = subprocess.run(task.works, shell=True, cwd=root, capture_output=True, text=True, check=False)
        wrong += [f"{task.works}: {ran.stderr.strip()[:300]}"] if ran.returncode else []
    return Verdict(done.calls, done.bytes, not missing and not wrong, (*missing, *wrong, *done.failed))


def _edit(root: Path, task: Task) -> None:
    for name, old, new in task.edits:
        text = (root / name).read_text("utf-8")
        assert old in text, f"{task.name}: {name} no longer has what is edited"
        (root / name).write_text(text.replace(old, new), "utf-8")


def copied(source: Path, root: Path, tree: CodeTree) -> Path:
    """A fresh copy of `source` at `root`, as a checkout: the same path each time, so that indexes fit."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(source, root)
    if tree.compile:
        files = [
            path
            for pattern in tree.compile
            for path in sorted(root.glob(pattern))
            if not any(fnmatch.fnmatch(path.name, left) for left in tree.leave)
        ]
        commands = [
            {"directory": str(root), "file": str(path), "arguments": ["c++", *tree.flags, str(path)]} for path in files
        ]
        (root / "compile_commands.json").write_text(json.dumps(commands))
    names = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "as published")):
        subprocess.run(["git", *names, *command], cwd=root, check=True, capture_output=True)
    return root


def fetched(name: str, tree: CodeTree) -> Path:
    """The code of a tree, as published. Raises `RuntimeError`: it cannot be fetched."""
    if tree.code:
        return code(Tree(name=name, code=tree.code, references=[], outlines=[], names=[]))
    folder = _CACHE / f"debian-{tree.debian}"
    if not folder.is_dir():
        done = subprocess.run(
            [_TOP / "scripts" / "debian_source.sh", tree.debian, folder], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{tree.debian} is not available from Debian's sources: {done.stderr.strip()[-300:]}")
    return folder


def tables(results: list[Result]) -> list[Table]:
    """What a person reads."""
    sides = list(dict.fromkeys(side for one in results for side in one.verdicts))

    def cells(verdict: Verdict) -> tuple[str, str, str]:
        if verdict.right is None:
            return "–", "–", "no way"
        return f"{verdict.calls}", f"{verdict.bytes:,}", "right" if verdict.right else "wrong"

    rows = [(one.task, *(cell for side in sides for cell in cells(one.verdicts[side]))) for one in results]
    totals = ["all"]
    for side in sides:
        verdicts = [one.verdicts[side] for one in results]
        totals += [f"{sum(one.calls for one in verdicts)}", f"{sum(one.bytes for one in verdicts):,}"]
        totals += [f"{sum(one.right is True for one in verdicts)} of {len(results)}"]
    head = ("task", *(word for side in sides for word in ("calls", "bytes", side)))
    fewest = sum(_is_shortest(one.verdicts, wrong_too=False) for one in results)
    even = sum(_is_shortest(one.verdicts, wrong_too=True) for one in results)
    below = (
        f"lsp-mcp is right with the fewest bytes of all that are right in {fewest} of {len(results)}, and of all, "
        f"also those that are wrong, in {even}."
    )
    return [Table("Daily tasks of an agent", head, [*rows, tuple(totals)], below)]


def _is_shortest(verdicts: dict[str, Verdict], *, wrong_too: bool) -> bool:
    own = verdicts[OURS]
    counted = (True, False) if wrong_too else (True,)
    others = [one.bytes for side, one in verdicts.items() if side != OURS and one.right in counted]
    return own.right is True and all(own.bytes < other for other in others)
