"""The tables of runs that kept a log (`truth.py --log`), as Markdown: by tree and seed, and by part.

With `--rows`: their rows for truth/results.toml, from which the published tables are made.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import click
from tables import markdown
from verdicts import Record, Verdict


@click.command(help=__doc__)
@click.argument("logs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--rows", is_flag=True, help="Print rows for truth/results.toml.")
def main(logs: tuple[Path, ...], rows: bool) -> None:
    """Print both tables, or the rows."""
    trees = Record(print)
    parts = Record(print)
    counts: dict[tuple[str, str, str], Counter[Verdict]] = defaultdict(Counter)
    for log in logs:
        for line in log.read_text("utf-8").splitlines():
            one = json.loads(line)
            verdict = Verdict[one["verdict"].upper()]
            what = "renames" if one["part"] == "renames" else "questions"
            counts[one["tree"], what, str(one["seed"])][verdict] += 1
            parts.counts[one["part"]][verdict] += 1
    if rows:
        for key, verdicts in sorted(counts.items()):
            print(_row(key, verdicts))
        return
    trees.counts.update(
        (f"{tree}, seed {seed}, {what}", verdicts) for (tree, what, seed), verdicts in sorted(counts.items())
    )
    print(markdown(trees), end="\n\n")
    print(markdown(parts))


def _row(key: tuple[str, str, str], verdicts: Counter[Verdict]) -> str:
    """A row of results.toml: an answer about another symbol counts as wrong, even if its status says which."""
    wrong = verdicts[Verdict.WRONG] + verdicts[Verdict.HINTED]
    right = [verdicts[one] for one in (Verdict.RIGHT, Verdict.LARGER, Verdict.FLAGGED, Verdict.CAUTIOUS)]
    return f"    {json.dumps(key)[:-1]}, {', '.join(map(str, [*right, wrong]))}],"


if __name__ == "__main__":
    main()
