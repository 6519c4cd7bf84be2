"""Tables for people and for the README: `Table` knows both forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; the first column is words, the others are figures."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    @property
    def lines(self) -> list[str]:
        """Head and rows in columns, with nothing but spaces between them."""
        every = [self.head, *self.rows]
        widths = [max(len(line[column]) for line in every) for column in range(len(self.head))]
        return ["  ".join(_aligned(line, widths)).rstrip() for line in every]

    def markdown(self) -> str:
        """For a README."""
        rule = ["---", *["---:"] * (len(self.head) - 1)]
        lines = [f"| {' | '.join(line)} |" for line in (self.head, rule, *self.rows)]
        return "\n".join([f"**{self.title}**", "", *lines, *(["", self.note] if self.note else [])])


def show(tables: Sequence[Table], *, markdown: bool) -> None:
    """Print the tables, with some colour on a terminal."""
    console = Console(highlight=False, soft_wrap=True, markup=False)
    for table in tables:
        if markdown:
            print(table.markdown(), end="\n\n")
            continue
        head, *rows = table.lines
        console.print(table.title, style="bold")
        console.print(f"  {head}", style="cyan")
        for row in rows:
            console.print(f"  {row}")
        if table.note:
            console.print(f"  {table.note}", style="dim")
        console.print()


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *rest = zip(line, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
