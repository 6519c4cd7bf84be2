"""The table of a run: `table` for people, `figures` as data."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from verdicts import Record, Verdict


def figures(record: Record) -> dict[str, dict[str, int]]:
    """Counts by part and verdict, with the sum of all as `all`."""
    parts = {part: {verdict.value: counts[verdict] for verdict in Verdict} for part, counts in record.counts.items()}
    return {**parts, "all": {verdict.value: _sum(record)[verdict] for verdict in Verdict}}


def table(record: Record, title: str) -> Table:
    """One row for each part, and the sum."""
    shown = Table(
        "part",
        "asked",
        *(verdict.value for verdict in Verdict),
        "true",
        title=title,
        box=SIMPLE_HEAD,
        caption=f"{record.again} of {record.calls} calls were made again: the status said that it was being verified",
    )
    for column in shown.columns[1:]:
        column.justify = "right"
    for part, counts in record.counts.items():
        shown.add_row(part, *_row(counts))
    shown.add_section()
    shown.add_row("all", *_row(_sum(record)))
    return shown


def markdown(record: Record) -> str:
    """The same for a README."""
    head = ["part", "asked", *(verdict.value for verdict in Verdict), "true"]
    rows = [[part, *_row(counts)] for part, counts in record.counts.items()] + [["all", *_row(_sum(record))]]
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rows])


def _sum(record: Record) -> Counter[Verdict]:
    return sum(record.counts.values(), Counter[Verdict]())


def _row(counts: Counter[Verdict]) -> list[str]:
    every = sum(counts.values())
    wrong = counts[Verdict.WRONG] + counts[Verdict.HINTED]
    rate: Any = f"{100 * (every - wrong) / every:.1f} %" if every else "–"
    return [str(every), *(str(counts[verdict]) for verdict in Verdict), rate]
