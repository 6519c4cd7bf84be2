"""Tables for a terminal, for a pipe, and for the README: `Table` knows all three forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table as RichTable


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; the first column is words, the others are figures."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def rich(self) -> RichTable:
        """For a terminal."""
        table = RichTable(title=self.title, title_justify="left", title_style="bold", caption=self.note or None)
        table.caption_justify = "left"
        for index, name in enumerate(self.head):
            table.add_column(name, justify="right" if index else "left")
        for row in self.rows:
            table.add_row(*row)
        return table

    def plain(self) -> str:
        """For a pipe: columns of spaces."""
        lines = [self.head, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.head))]
        body = ["  ".join(_aligned(line, widths)).rstrip() for line in lines]
        return "\n".join([self.title, *(f"  {line}" for line in body), *([f"  {self.note}"] if self.note else [])])

    def markdown(self) -> str:
        """For a README."""
        rule = ["---", *["---:"] * (len(self.head) - 1)]
        lines = [f"| {' | '.join(line)} |" for line in (self.head, rule, *self.rows)]
        return "\n".join([f"**{self.title}**", "", *lines, *(["", self.note] if self.note else [])])


def show(tables: Sequence[Table], *, markdown: bool) -> None:
    """Print the tables in the form that fits stdout."""
    console = Console()
    for table in tables:
        if markdown:
            print(table.markdown(), end="\n\n")
        elif console.is_terminal:
            console.print(table.rich(), end="\n\n")
        else:
            print(table.plain(), end="\n\n")


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *rest = zip(line, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
