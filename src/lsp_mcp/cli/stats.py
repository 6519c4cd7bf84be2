"""`lsp-mcp stats`: what tools were asked on this machine, how fast and how completely they answered."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import click

from lsp_mcp.cli.help import console
from lsp_mcp.prose import count
from lsp_mcp.usage import DAYS, Sum, is_on, sums, usage_file

_LOCAL = "Only sums are kept, on this machine alone: no code, no names, no paths. Nothing is sent anywhere."
_UNITS = ("B", "KiB", "MiB", "GiB")


def show(*, as_json: bool) -> None:
    """Print the sums for each tool. Raises OSError: they cannot be read."""
    found = sums()
    by_tool: dict[str, list[Sum]] = defaultdict(list)
    for one in found:
        by_tool[one.tool].append(one)
    tools = sorted((_row(tool, of) for tool, of in by_tool.items()), key=lambda row: (-row["calls"], row["tool"]))
    total = _row("", found)
    del total["tool"]
    days = [one.day for one in found]
    if as_json:
        dates = {"first_day": min(days), "last_day": max(days)} if days else {}
        said = {"counting": is_on(), "file": str(usage_file()), **dates, **total, "tools": tools}
        click.echo(json.dumps(said, indent=2))
        return
    shown = console(highlight=False, soft_wrap=True)
    if found:
        shown.print(f"{count(total['calls'], 'call')} from {min(days)} to {max(days)}\n", style="bold")
        shown.print(_table(tools))
        shown.print(f"\n{_saved(total)}")
    else:
        shown.print("No calls yet." if is_on() else "No calls are kept.")
    counting = f"Kept for {DAYS} days: {usage_file()}" if is_on() else "Counting is off; lsp-mcp stats --on goes on"
    shown.print(f"{_LOCAL}\n{counting}", style="dim")


def _row(tool: str, of: Sequence[Sum]) -> dict[str, Any]:
    """The sums of `of` as one."""
    outcomes = {
        outcome: sum(one.number for one in of if one.outcome == outcome)
        for outcome in ("complete", "incomplete", "answered", "failed")
    }
    return {
        "tool": tool,
        "calls": sum(outcomes.values()),
        **outcomes,
        "half_within_s": _within(of, 0.5),
        "most_within_s": _within(of, 0.95),
        "answer_bytes": sum(one.answer_bytes for one in of),
        "code_bytes": sum(one.code_bytes for one in of),
        "file_bytes": sum(one.file_bytes for one in of),
    }


def _within(of: Sequence[Sum], share: float) -> float:
    """The seconds within which that share of the calls ended."""
    needed = share * sum(one.number for one in of)
    for one in sorted(of, key=lambda one: one.seconds):
        needed -= one.number
        if needed <= 0:
            return float(f"{one.seconds:.2g}")
    return 0.0


def _table(rows: Sequence[dict[str, Any]]) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("tool", no_wrap=True)
    for title in ("calls", "half in", "95 % in", "complete", "errors", "size"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        stated = row["complete"] + row["incomplete"]
        table.add_row(
            row["tool"],
            f"{row['calls']:,}",
            _duration(row["half_within_s"]),
            _duration(row["most_within_s"]),
            f"{100 * row['complete'] // stated} %" if stated else "",
            f"{row['failed']:,}" if row["failed"] else "",
            _amount(row["answer_bytes"]),
        )
    return table


def _saved(total: dict[str, int]) -> str:
    """The size of the answers that show code, and of the files with that code."""
    answers, files = total["code_bytes"], total["file_bytes"]
    saved = f"\n{_amount(files - answers)} less than reading whole files." if files > answers else ""
    return f"Answers that show code: {_amount(answers)}; the files, each once in a session: {_amount(files)}.{saved}"


def _duration(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


def _amount(size: float) -> str:
    for unit in _UNITS[:-1]:
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == _UNITS[0] or size >= 10 else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} {_UNITS[-1]}"
