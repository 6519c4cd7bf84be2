"""One run: `examine` asks about a tree in all parts of the examination."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from anchored import random_anchors
from freshness import random_freshness
from go_oracle import go_oracle
from golang import Go
from graph import Graph
from language import Language
from python_code import Python
from python_oracle import PythonOracle
from reading import random_callers, random_names, random_references, random_subtypes
from renaming import random_renames
from rust_code import Rust
from session import Session, session
from sources import CACHE, Tree, copied
from typescript import TypeScript
from typescript_oracle import typescript_oracle
from verdicts import Record

# The number of questions of each part; fewer edits for a large tree, which takes long to check.
NUMBERS = {"references": 60, "callers": 20, "subtypes": 10, "names": 20, "renames": 15, "anchors": 40, "freshness": 50}
QUICK = {"references": 20, "callers": 4, "subtypes": 3, "names": 4, "renames": 5, "anchors": 6, "freshness": 6}
_LARGE = {"renames": 0.4, "anchors": 0.3, "freshness": 0.3}
_EDITING = ("renames", "anchors", "freshness")
_CHANGING = ("anchors", "freshness")  # those that read the tree again after each edit
_SYSTEMS = 2  # the oracle checks this many after each edit; it does not read the others then
_TITLES = {
    "references": "references",
    "callers": "callers",
    "subtypes": "subtypes",
    "names": "names",
    "renames": "renames",
    "anchors": "anchors",
    "freshness": "after edits",
}


def examine(
    tree: Tree, record: Record, *, seeds: Sequence[int], parts: Sequence[str], scale: float, quick: bool, folder: Path,
    say: Callable[[str], None],
) -> None:  # fmt: skip
    """Ask about `tree` in all `parts` for each of `seeds`, in copies below `folder`.

    The read-only parts share one copy and one session, for all seeds; each of the others has its own.
    """
    with ExitStack() as stack:
        whole = _language(tree, tree.systems, stack, quick=quick)
        edited = _language(tree, tree.systems[:_SYSTEMS], stack, quick=quick) if tree.systems[_SYSTEMS:] else whole

        published: dict[Language, Graph] = {}  # the oracle's knowledge of the tree before any edit

        def ask(group: Sequence[tuple[int, str]], language: Language, name: str) -> None:
            live, shadow = folder / tree.name / name / tree.name, folder / tree.name / name / "shadow" / tree.name
            copied(tree, live)
            if name != "freshness" and language not in published:
                published[language] = language.graph(live)
                if not any(not symbol.outside for symbol in published[language].symbols.values()):
                    errors = "; ".join(published[language].broken[:3]) or "the oracle has no errors"
                    raise RuntimeError(f"nothing to ask: the oracle knows no symbol of {tree.name}: {errors}")
            with session(tree.backend, live, folder / "cache") as asking:
                for seed, part in group:
                    count = (QUICK if quick else NUMBERS)[part] * scale * (_LARGE.get(part, 1) if tree.size > 2 else 1)
                    rng = random.Random(f"{seed} {tree.name} {part}")
                    questions = _questions(part, asking, language, live, shadow, published.get(language), rng)
                    wanted, asked = max(1, round(count)), 0
                    for answer, outcome, *steps in itertools.islice(questions, wanted):
                        record.add(_TITLES[part], tree.name, seed, answer, outcome, *steps)
                        asked += 1
                    fewer = "" if asked == wanted else f" of {wanted}: no other symbol of this tree can be asked about"
                    say(f"{tree.name}, seed {seed}: {part}, {asked}{fewer}; {record.wrong} wrong until now")
            record.calls += asking.calls
            record.again += asking.again

        parts = [part for part in parts if edited.compares or part not in _CHANGING]
        if reading := [(seed, part) for seed in seeds for part in parts if part not in _EDITING]:
            ask(reading, whole, "reading")
        for seed in seeds:
            for part in parts:
                if part in _EDITING:
                    ask([(seed, part)], edited, part)


def _language(tree: Tree, systems: list[str], stack: ExitStack, *, quick: bool) -> Language:
    if tree.backend == "gopls":
        return Go(stack.enter_context(go_oracle(CACHE, systems)), quick=quick)
    if tree.backend == "typescript":
        return TypeScript(stack.enter_context(typescript_oracle()))
    if tree.backend == "basedpyright":
        one = stack.enter_context(ProcessPoolExecutor(1, multiprocessing.get_context("spawn")))
        return Python(PythonOracle(one, tree.paths, CACHE / "mypy" / tree.name), tree.paths)
    if tree.backend == "rust-analyzer":
        return Rust(CACHE / "rust" / tree.name)
    if find_spec("clang") is None:
        raise RuntimeError("libclang is not installed; run: make env")
    from cpp import Cpp
    from cpp_oracle import CppOracle

    # Processes of their own, and not forked: threads of the client run here.
    executor = stack.enter_context(ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")))
    return Cpp(CppOracle(tree, executor), tree)


def _questions(
    part: str, asking: Session, language: Language, live: Path, shadow: Path, graph: Graph | None, rng: random.Random
) -> Iterator[Any]:
    if part == "freshness":
        return random_freshness(asking, language, live, shadow, rng)
    assert graph
    match part:
        case "references":
            return random_references(asking, graph, rng)
        case "callers":
            return random_callers(asking, graph, rng)
        case "subtypes":
            return random_subtypes(asking, graph, rng)
        case "names":
            return random_names(asking, graph, rng)
        case "renames":
            return random_renames(asking, language, live, shadow, graph, rng)
        case "anchors":
            return random_anchors(asking, language, live, shadow, graph, rng)
    raise ValueError(part)
