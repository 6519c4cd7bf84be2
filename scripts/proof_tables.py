"""The figures of the examination in the documents, from truth/results.toml: `with_tables`, `by_tree`, `headline`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from marked import replaced, table

TOP = Path(__file__).resolve().parent.parent
_RESULTS = tomllib.loads((TOP / "truth" / "results.toml").read_text("utf-8"))
_VERDICTS = ["right", "larger by design", "rightly flagged", "flagged though right", "wrong"]
_WRONG = _VERDICTS.index("wrong")
_KINDS = ("questions", "renames")

Run = dict[str, Any]


def with_tables(text: str) -> str:
    """docs/proof.md with its tables."""
    full = [run for run in _RESULTS["runs"] if run.get("full_scale")]
    text = replaced(text, "full scale", _full_scale(full))
    return replaced(text, "check", _check())


def headline() -> str:
    """The sentence of README.md."""
    full = [run for run in _RESULTS["runs"] if run.get("full_scale")]
    questions, renames = (_sum(_counts(run, kind) for run in full) for kind in _KINDS)
    return (
        f"of {sum(questions):,} random questions about real code, judged by go/types and clang, "
        f"{questions[_WRONG]} were answered wrongly without saying so, "
        f"and of {sum(renames):,} renames {renames[_WRONG] or 'none'}"
    )


def by_tree() -> str:
    """docs/reference/proof.md: every row of every run."""
    out = [
        "# Results by tree\n\n"
        "Every published run of the examination that [Proof](../proof.md) describes, with its words for the verdicts. "
        "The tables of single runs show as *counted as wrong* also what was a mistake of the examination; "
        "the first table does not."
        f"{_all_runs().rstrip()}\n"
    ]
    head = ["trees", "part", "seeds", "asked", *_VERDICTS[:-1], "counted as wrong"]
    for run in _RESULTS["runs"]:
        rows = [[trees, part, seeds, *_numbers(counts)] for trees, part, seeds, *counts in run["rows"]]
        out.append(f"## {run['language']}, {run['date']}: {run['title']}{table(head, rows, 3).rstrip()}\n")
        out += [f"Mistakes of the examination: {_joined(run['mistaken'])}.\n"] if "mistaken" in run else []
    return "\n".join(out)


def _full_scale(runs: list[Run]) -> str:
    rows = []
    for kind in _KINDS:
        rows += [[f"{run['language']}, {kind}", run["seeds"], *_numbers(_counts(run, kind))] for run in runs]
        rows.append([f"**all {kind}**", "", *_numbers(_sum(_counts(run, kind) for run in runs))])
    return table(["", "seeds", "asked", *_VERDICTS], rows, 2)


def _all_runs() -> str:
    rows = []
    for run in sorted(_RESULTS["runs"], key=lambda one: one["date"]):
        cells = [str(run["date"]), run["language"], run["title"], run["seeds"]]
        for kind in _KINDS:
            counts = _counts(run, kind)
            cells += [f"{sum(counts):,}", str(counts[_WRONG - 1]), str(counts[_WRONG])]
        rows.append(cells)
    each = ["flagged though right", "wrong"]
    return table(["date", "language", "run", "seeds", "questions", *each, "renames", *each], rows, 4)


def _check() -> str:
    rows = [
        [tree, seed, str(right + flagged + wrong), str(right), str(flagged), str(wrong)]
        for tree, seed, right, flagged, wrong in _RESULTS["check"]["rows"]
    ]
    return table(["tree", "seed", "edits", "right", "flagged", "wrong"], rows, 2)


def _counts(run: Run, kind: str) -> list[int]:
    """The number of each verdict, without what the examination took for wrong by mistake: that was right."""
    none = [0] * len(_VERDICTS)
    counts = _sum([none, *(row[3:] for row in run["rows"] if (row[1] == "renames") == (kind == "renames"))])
    mistaken = run.get("mistaken", {}).get(kind, 0)
    counts[0] += mistaken
    counts[_WRONG] -= mistaken
    if counts[_WRONG] < 0:
        raise ValueError(f"{run['title']}: {mistaken} {kind} are mistaken, but fewer are counted as wrong")
    return counts


def _sum(rows: Iterable[list[int]]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def _numbers(counts: list[int]) -> list[str]:
    return [f"{one:,}" for one in (sum(counts), *counts)]


def _joined(mistaken: dict[str, int]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in mistaken.items())
