"""Asks the questions of `questions.toml` of each side, and judges what it says: `run`, `tables`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from mcp_client import started
from report import Table

from tasks.run import OURS, SCRIPT, CodeTree, Peer, Verdict, copied, fetched, filled, installed_peers, trees
from tasks.sides import Calls, Done, another, ours, script

_HERE = Path(__file__).parent
_FLAGS = ("--format", "compact", "--request-timeout", "300", "--ready-timeout", "600", "--answer-within", "300")


class Kind(msgspec.Struct, forbid_unknown_fields=True):
    """A kind of question: what each side calls to answer one."""

    name: str
    calls: list[tuple[str, dict[str, Any]]]
    script: list[str]
    peers: dict[str, list[tuple[str, dict[str, Any]]]] = {}


class Question(msgspec.Struct, forbid_unknown_fields=True):
    """One question; `questions.toml` says what the fields are."""

    kind: str
    tree: str
    has: list[str]
    forbidden: list[str] = msgspec.field(default_factory=list, name="not")
    symbol: str = ""
    file: str = ""
    text: str = ""
    to: str = ""

    def words(self, root: Path) -> dict[str, str]:
        """What stands for the words in braces of a kind's calls; `line` and `column` are those of the name."""
        name = re.split(r"[.:]+", self.symbol)[-1]
        found = {"symbol": self.symbol, "name": name, "file": self.file, "text": self.text, "to": self.to}
        return {**found, "root": str(root), **(_place(root / self.file, name) if self.file and name else {})}


class Questions(msgspec.Struct, forbid_unknown_fields=True):
    """All of `questions.toml`."""

    kind: list[Kind]
    question: list[Question]


@dataclass
class Asked:
    """One question with the verdicts by side, and what each side said."""

    question: Question
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)


def load() -> Questions:
    """The questions."""
    return msgspec.toml.decode((_HERE / "questions.toml").read_bytes(), type=Questions)


async def run(folder: Path, *, progress: Callable[[str], None], quick: bool = False) -> list[Asked]:
    """Ask everything; each side has one copy of each tree below `folder`, and one process for all questions about it.

    Raises:
        RuntimeError: the code of a tree cannot be fetched.
    """
    questions = load()
    kinds = {one.name: one for one in questions.kind}
    asked: list[Asked] = []
    for name, tree in trees().items():
        if quick and name != "cobra":
            continue
        progress(f"fetching {name}")
        root = copied(fetched(name, tree), folder / name, tree)
        here = [Asked(one) for one in questions.question if one.tree == name]
        flags = (tree.backend, root, folder / f"cache-{name}", *_FLAGS)
        async with started(*flags) as client:
            for one in here:
                progress(f"{name}: {one.question.kind}")
                calls = _calls(kinds[one.question.kind].calls, one.question, root)
                _judge(one, OURS, await ours(client, calls, first_right=False))
        for one in here:
            commands = [_filled(command, one.question, root) for command in kinds[one.question.kind].script]
            _judge(one, SCRIPT, script(root, commands))
        for peer in installed_peers():
            progress(f"{name}: {peer.name}")
            await _ask_peer(peer, tree, root, here, kinds)
        asked += here
    return asked


async def _ask_peer(peer: Peer, tree: CodeTree, root: Path, here: list[Asked], kinds: dict[str, Kind]) -> None:
    language = {"gopls": "go"}.get(tree.backend, "cpp")
    able = [one for one in here if kinds[one.question.kind].peers.get(peer.key)]
    groups = [_calls(kinds[one.question.kind].peers[peer.key], one.question, root) for one in able]
    for one in here:
        one.verdicts[peer.name] = Verdict(0, 0, None)
    if peer.languages and language not in peer.languages:
        return
    command = [shutil.which(peer.program) or peer.program, *filled(peer.arguments, root=root, language=language)]
    before = filled(peer.before, root=root, language=language)
    try:
        done = await another(command, root, before, groups)
    except Exception as error:  # noqa: BLE001 (a peer that does not start has no answers)
        done = [Done(1, [], [f"{type(error).__name__}"]) for _ in groups]
    for one, what in zip(able, done, strict=True):
        _judge(one, peer.name, what)


def _calls(calls: Calls, question: Question, root: Path) -> list[tuple[str, dict[str, Any]]]:
    return [(tool, _filled(arguments, question, root)) for tool, arguments in calls]


def _filled(value: Any, question: Question, root: Path) -> Any:
    if isinstance(value, str):
        words = question.words(root)
        for word in ("line", "column"):
            if value == f"{{{word}}}":
                return int(words.get(word, "1"))
        for word, meant in words.items():
            value = value.replace(f"{{{word}}}", meant)
        return value.replace("}}", "}")
    if isinstance(value, dict):
        return {key: _filled(one, question, root) for key, one in value.items()}
    return [_filled(one, question, root) for one in value] if isinstance(value, list) else value


def _place(file: Path, name: str) -> dict[str, str]:
    """The line and column of what is declared with this `name` in `file`: the first place that looks like it."""
    lines = file.read_text("utf-8", "replace").split("\n") if file.is_file() else []
    for pattern in (rf"^(?:\w.*[\s*&)])?{name}\(", rf"^(?:type|class|struct)\b.*\b{name}\b", rf"\b{name}\b"):
        for number, line in enumerate(lines, 1):
            if re.search(pattern, line) and (found := re.search(rf"\b{name}\b", line)):
                return {"line": str(number), "column": str(found.start() + 1)}
    return {}


def _judge(asked: Asked, side: str, done: Done) -> None:
    said = "\n".join(done.answers)
    missing = [pattern for pattern in asked.question.has if not re.search(pattern, said)]
    wrong = [f"has {pattern}" for pattern in asked.question.forbidden if re.search(pattern, said)]
    asked.said[side] = "\n".join([*done.answers, *done.failed])
    asked.verdicts[side] = Verdict(done.calls, done.bytes, not missing and not wrong, (*missing, *wrong, *done.failed))


def tables(asked: list[Asked]) -> list[Table]:
    """What a person reads: right answers, calls and bytes of each side, by kind."""
    sides = list(dict.fromkeys(side for one in asked for side in one.verdicts))

    def cells(some: list[Asked], side: str) -> tuple[str, str, str]:
        verdicts = [one.verdicts[side] for one in some if one.verdicts[side].right is not None]
        right = sum(one.right is True for one in verdicts)
        if not verdicts:
            return "–", "–", "no way"
        return (
            f"{sum(one.calls for one in verdicts)}",
            f"{sum(one.bytes for one in verdicts):,}",
            f"{right} of {len(some)}",
        )

    kinds = list(dict.fromkeys(one.question.kind for one in asked))
    groups = [(kind, [one for one in asked if one.question.kind == kind]) for kind in kinds] + [("all", asked)]
    rows = [(name, *(cell for side in sides for cell in cells(some, side))) for name, some in groups]
    head = ("kind", *(word for side in sides for word in ("calls", "bytes", side)))
    right = [one for one in asked if one.verdicts[OURS].right]
    shortest = sum(all(v.bytes >= one.verdicts[OURS].bytes for v in one.verdicts.values() if v.right) for one in right)
    below = f"Of its {len(right)} right answers, lsp-mcp has the fewest bytes of all that are right in {shortest}."
    failed = [one for one in asked if not one.verdicts[OURS].right]
    wrong = "".join(f"\n{one.question.kind}, {one.question.tree}: {one.verdicts[OURS].missing}" for one in failed)
    return [Table("Questions about code", head, rows, below + wrong)]
