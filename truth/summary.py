"""The tables of runs that kept a log (`truth.py --log`), as Markdown: by tree and seed, and by part."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import click
from tables import markdown
from verdicts import Record, Verdict


@click.command(help=__doc__)
@click.argument("logs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(logs: tuple[Path, ...]) -> None:
    """Print both tables."""
    trees = Record(print)
    parts = Record(print)
    counts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for log in logs:
        for line in log.read_text("utf-8").splitlines():
            one = json.loads(line)
            verdict = Verdict[one["verdict"].upper()]
            what = "renames" if one["part"] == "renames" else "questions"
            counts[f"{one['tree']}, seed {one['seed']}, {what}"][verdict] += 1
            parts.counts[one["part"]][verdict] += 1
    trees.counts.update(sorted(counts.items()))
    print(markdown(trees), end="\n\n")
    print(markdown(parts))


if __name__ == "__main__":
    main()
