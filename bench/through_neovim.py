"""`--backend nvim`: lsp-mcp through a Neovim, against the same request made in that Neovim itself. See `run`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import Any

import workload
from mcp_client import McpClient, started
from measures import Progress
from questions import Facts, Question, Questions, named, place_in
from raw_neovim import Answer, RawNeovim
from report import Table

from lsp_mcp.adapters import load_adapter
from lsp_mcp.programs import find_command

BACKEND = "nvim"
TARGET = 3.0  # ms over the request in Neovim
SERVER = "gopls"  # whose workload is asked about
_MORE_BUFFERS = 30  # as a person has them after some hours
_MOST_WARMING = 300  # requests until a server that has just opened files is quiet


@dataclass(frozen=True)
class Task:
    """The same asked in Neovim and of lsp-mcp; `check` counts what both say, and raises if they differ."""

    name: str
    ask: Callable[[RawNeovim], Answer]
    tool: str
    arguments: dict[str, Any]
    check: Callable[[Any, str], int]


@dataclass(frozen=True)
class Through:
    """Milliseconds of one task, medians of the pairs; `more` is the median of the differences to `inside`.

    `least`: the difference of the fastest ones, which a busy machine changes less.
    `inside`: in Neovim itself; `outside`: for a plain client of its socket; `cpu`: what lsp-mcp itself computes.
    """

    task: str
    facts: int
    pairs: int
    buffers: int
    inside: float
    outside: float
    ours: float
    more: float
    least: float
    cpu: float | None


@dataclass(frozen=True)
class Results:
    """Everything that one run measured."""

    neovim: str
    code: str
    through: list[list[Through]]  # with few buffers, with many
    nothing: float  # ms


async def run(folder: Path, *, quick: bool, progress: Progress) -> Results:
    """Measure; `folder` is for the socket.

    Neovim and lsp-mcp are asked in turn, pair by pair, so that a busy machine is as busy for both.
    """
    pairs = 7 if quick else 31
    work, adapter = workload.load(SERVER), load_adapter(SERVER)
    progress("fetching the code to ask about")
    root = workload.code(work)
    with RawNeovim(adapter, find_command(adapter), root, folder) as nvim:
        progress("loading the workspace")
        nvim.enable()
        for outline in work.outlines:
            nvim.open(root / outline)
        tasks = list(_tasks(nvim, work))
        async with started(BACKEND, root, folder / "lsp-mcp", "--socket", nvim.socket) as ours:
            few = [await _through(task, nvim, ours, pairs, progress) for task in tasks]
            progress(f"opening {_MORE_BUFFERS} files")
            for file in sorted((root / "go").glob("*/*.go"))[:_MORE_BUFFERS]:
                nvim.open(file)
            _wait_until_quiet(nvim, tasks[0])
            many = [await _through(task, nvim, ours, pairs, progress) for task in tasks]
            times = [await _milliseconds(ours) for _ in range(10 * pairs)]
        return Results(nvim.version, work.code.title, [few, many], median(times))


def tables(results: Results) -> Iterator[Table]:
    """What `run` found, for people."""
    for through in results.through:
        met = sum(one.more <= TARGET for one in through)
        yield Table(
            f"Through Neovim, {through[0].buffers} files open there, ms (median of {through[0].pairs} pairs)",
            ["", "facts", "in Neovim", "socket", "lsp-mcp", "more", "least", "times", "target", "", "CPU"],
            [_row(one) for one in through],
            f"more: lsp-mcp over in Neovim; {TARGET:+g} ms is met by {met} of {len(through)}.",
        )
    yield Table(
        "A call that does nothing, ms",
        ["", ""],
        [["nothing (MCP alone)", f"{results.nothing:.1f}"]],
        "in Neovim: timed by its own Lua. socket: for a plain client, result included. least: more, of the fastest.",
    )


def _row(one: Through) -> list[str]:
    times = f"{one.inside:.2f}", f"{one.outside:.2f}", f"{one.ours:.2f}"
    over = f"{one.more:+.2f}", f"{one.least:+.2f}", f"{one.ours / one.inside:.1f}"
    verdict = "met" if one.more <= TARGET else "missed"
    cpu = "" if one.cpu is None else f"{one.cpu:.1f}"
    return [one.task, str(one.facts), *times, *over, f"{TARGET:+g}", verdict, cpu]


async def _through(task: Task, nvim: RawNeovim, ours: McpClient, pairs: int, progress: Progress) -> Through:
    progress(task.name)
    # Both load what they need.
    facts = task.check(task.ask(nvim).result, await ours.text(task.tool, task.arguments))
    raw: list[Answer] = []
    times, cpu = [], []
    for pair in range(pairs):
        if pair % 2:
            raw.append(task.ask(nvim))
        before, start = ours.cpu(), perf_counter()
        answer = await ours.text(task.tool, task.arguments)
        times.append((perf_counter() - start) * 1000)
        if before is not None and (after := ours.cpu()) is not None:
            cpu.append((after - before) * 1000)
        if not pair % 2:
            raw.append(task.ask(nvim))
        task.check(raw[-1].result, answer)
    inside = [one.inside for one in raw]
    return Through(
        task.name,
        facts,
        pairs,
        nvim.loaded,
        median(inside),
        median(one.outside for one in raw),
        median(times),
        median(our - own for our, own in zip(times, inside, strict=True)),
        min(times) - min(inside),
        mean(cpu) if cpu else None,
    )


def _wait_until_quiet(nvim: RawNeovim, task: Task) -> None:
    """Ask until the server is as fast ten times in a row as it can be: it looks at what was opened first."""
    fastest, row = float("inf"), 0
    for _ in range(_MOST_WARMING):
        taken = task.ask(nvim).inside
        fastest = min(fastest, taken)
        row = row + 1 if taken < 2 * fastest else 0
        if row == 10:
            return


async def _milliseconds(ours: McpClient) -> float:
    start = perf_counter()
    await ours.nothing()
    return (perf_counter() - start) * 1000


def _tasks(nvim: RawNeovim, work: workload.Workload) -> Iterator[Task]:
    questions = Questions(nvim)
    files = [nvim.root / file for file in work.outlines]
    few_and_many = [questions.references(symbol) for symbol in work.references[:2]]
    for question in few_and_many:
        if question.file:
            nvim.open(question.file)
        yield _of(_published_references(question, nvim.root), "lsp_references")
    yield from (_of(question, "anchor tool") for question in few_and_many)
    for path, outline in zip(files, map(questions.outline, work.outlines), strict=True):
        yield _of(_published_outline(outline, path), "lsp_document_symbols")
    for path in files:
        yield Task(f"read of {path.name}", partial(RawNeovim.read, path=path), "read", _document(path), _same_lines)


def _of(question: Question, form: str) -> Task:
    ((method, params),) = question.requests
    return Task(
        f"{question.name}, {form}",
        lambda nvim: nvim.ask(method, params),
        question.tool,
        question.arguments,
        # What follows the JSON is a remark on it.
        lambda raw, ours: question.check(raw, json.JSONDecoder().raw_decode(ours)[0]),
    )


def _published_references(question: Question, root: Path) -> Question:
    """The same asked with the Neovim toolset's own tool, whose answers are LSP's."""
    assert question.file
    line, _, character = question.arguments["symbol_anchor"].rpartition("#")[2].partition(":")
    return replace(
        question,
        tool="lsp_references",
        arguments={**_document(question.file), "line": int(line), "character": int(character)},
        our_facts=lambda answer: Facts(_place(one, root) for one in answer),
        may_be_capped=True,
    )


def _published_outline(question: Question, path: Path) -> Question:
    return replace(
        question,
        tool="lsp_document_symbols",
        arguments=_document(path),
        our_facts=lambda answer: Facts(one["name"] for one in named(answer)),
        may_be_capped=True,
    )


def _document(path: Path) -> dict[str, Any]:
    return {"document": {"absolute_path": str(path)}}


def _place(location: dict[str, Any], root: Path) -> tuple[str, int, int]:
    start = location["range"]["start"]
    return place_in(root, location["uri"]), start["line"], start["character"]


def _same_lines(lines: Sequence[str], text: str) -> int:
    if "\n".join(lines) != text:
        raise RuntimeError("read: the answers differ")
    return len(lines)
