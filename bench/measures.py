"""The measurements.

The server and lsp-mcp are asked in turn, pair by pair, so that load on the machine affects both equally; the answers of
every pair are compared.
"""

from __future__ import annotations

import json
from asyncio import timeout
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

from mcp_client import McpClient
from questions import Question
from raw_client import RawClient
from sides import Sides

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Cold:
    """Seconds from the start of a process, in the median of the runs."""

    question: str
    runs: int
    raw_initialized: float
    raw_answered: float
    our_initialized: float
    our_answered: float
    cpu: float | None  # seconds of lsp-mcp's own

    @property
    def ratio(self) -> float:
        """The ratio of the time to the first right answer to that of the server alone."""
        return self.our_answered / self.raw_answered


@dataclass(frozen=True)
class Warm:
    """Milliseconds for one question, median of the pairs; `difference` is the median of their differences.

    `cpu` is lsp-mcp's own CPU time for one, including MCP: the steadiest figure on a busy machine.
    """

    question: str
    facts: int
    pairs: int
    raw: float
    ours: float
    difference: float
    cpu: float | None
    tool: str = ""

    @property
    def cpu_target(self) -> float | None:
        """The target for lsp-mcp's own CPU time, in milliseconds; None without a target."""
        match self.tool:
            case "find_symbol_references_by_anchor":
                return 2 + 0.0107 * max(0, self.facts - 26)  # 2 ms for 26 places, 6 ms for 400
            case "list_symbols_in_file":
                return 3 * max(1, self.facts / 145)
            case "find_symbol_definitions_by_name":
                return 3
        return None


@dataclass(frozen=True)
class Sizes:
    """Bytes of one answer with `places` places in `files` files."""

    question: str
    places: int
    files: int
    raw: int
    json: int
    compact: int
    places_only: int


@dataclass(frozen=True)
class Own:
    """The resources of lsp-mcp itself: memory in MiB after all questions, without the server's; bytes of schemas."""

    rss: float | None
    pss: float | None
    tools_bytes: int
    instructions_bytes: int


async def cold(sides: Sides, question: Question, runs: int, progress: Progress, *, kept: bool, note: str) -> Cold:
    """The time of a new process to its first right answer; the first run of each only warms the disk.

    With `kept`, the server's files on disk are those of the run before; `note` is added to the question's name.
    """
    name = f"{question.name}{note}"
    raw_times, our_times, cpu = [], [], []
    for run in range(runs + 1):
        progress(f"{name}, run {run} of {runs}" if run else f"{name}, warming the disk")
        if not kept:
            sides.forget()
        if run % 2:
            raw, raw_answer = _raw_start(sides, question)
            ours, our_cpu, our_answer = await _our_start(sides, question)
        else:
            ours, our_cpu, our_answer = await _our_start(sides, question)
            raw, raw_answer = _raw_start(sides, question)
        question.check(raw_answer, our_answer)
        if run:
            raw_times.append(raw)
            our_times.append(ours)
            cpu.append(our_cpu)
    raw_initialized, raw_answered = map(median, zip(*raw_times, strict=True))
    our_initialized, our_answered = map(median, zip(*our_times, strict=True))
    spent = _median(cpu)
    return Cold(name, runs, raw_initialized, raw_answered, our_initialized, our_answered, spent)


def _raw_start(sides: Sides, question: Question) -> tuple[tuple[float, float], Any]:
    start = perf_counter()
    with sides.raw() as raw:
        raw.initialize()
        initialized = perf_counter()
        if question.file:
            raw.open(question.file)
        if sides.waits:
            raw.wait_until_loaded()
        answer = question.ask(raw)
        return (initialized - start, perf_counter() - start), answer


async def _our_start(sides: Sides, question: Question) -> tuple[tuple[float, float], float | None, Any]:
    start = perf_counter()
    async with sides.ours() as ours:
        initialized = perf_counter()
        answer = await _whole(question, ours)
        return (initialized - start, perf_counter() - start), ours.cpu(), answer


async def _whole(question: Question, ours: McpClient) -> Any:
    """The first answer that was compared with all files: earlier ones say that another one will have more.

    Raises:
        TimeoutError: after two minutes there is none.
    """
    async with timeout(120):
        while True:
            answer = await ours.answer(question.tool, question.arguments)
            if "ask again" not in answer["status"] and all(gap["kind"] != "indexing" for gap in answer["gaps"]):
                return answer


async def warm(question: Question, raw: RawClient, ours: McpClient, pairs: int) -> Warm:
    """The time of one question on both sides, with its file open on both."""
    # Both open the file and load what it needs.
    if question.file:
        raw.open(question.file)
    facts = question.check(question.ask(raw), await _whole(question, ours))
    raw_times, our_times, cpu = [], [], []
    for pair in range(pairs):
        if pair % 2:
            raw_time, raw_answer = _ask_raw(question, raw)
            our_time, our_cpu, our_answer = await _ask_ours(question, ours)
        else:
            our_time, our_cpu, our_answer = await _ask_ours(question, ours)
            raw_time, raw_answer = _ask_raw(question, raw)
        question.check(raw_answer, json.loads(our_answer))
        raw_times.append(raw_time)
        our_times.append(our_time)
        cpu.append(our_cpu)
    differences = [our - raw for our, raw in zip(our_times, raw_times, strict=True)]
    times = median(raw_times), median(our_times), median(differences)
    return Warm(question.name, facts, pairs, *times, _median(cpu), question.tool)


def _median(figures: Sequence[float | None]) -> float | None:
    """The median of `figures`; None where the system doesn't tell them."""
    known = [figure for figure in figures if figure is not None]
    return median(known) if known else None


def _ask_raw(question: Question, raw: RawClient) -> tuple[float, Any]:
    start = perf_counter()
    answer = question.ask(raw)
    return (perf_counter() - start) * 1000, answer


async def _ask_ours(question: Question, ours: McpClient) -> tuple[float, float | None, str]:
    cpu = ours.cpu()
    start = perf_counter()
    answer = await ours.text(question.tool, question.arguments)
    milliseconds = (perf_counter() - start) * 1000
    spent = ours.cpu()
    return milliseconds, None if cpu is None or spent is None else (spent - cpu) * 1000, answer


async def nothing(ours: McpClient, calls: int) -> tuple[float, float | None]:
    """Milliseconds of a call that asks nothing of the server, and those that lsp-mcp computes for it."""
    times = []
    cpu = ours.cpu()
    for _ in range(calls):
        start = perf_counter()
        await ours.nothing()
        times.append((perf_counter() - start) * 1000)
    spent = ours.cpu()
    return median(times), None if cpu is None or spent is None else (spent - cpu) * 1000 / calls


async def sizes(question: Question, raw: RawClient, ours: McpClient) -> Sizes:
    """How many bytes the answer to a question for references has, in each form."""
    answer = question.ask(raw)
    places = question.raw_facts(answer)
    full = await ours.text(question.tool, question.arguments)
    compact = await ours.text(question.tool, {**question.arguments, "format": "compact"})
    only = await ours.text(question.tool, {**question.arguments, "format": "compact", "include_code": False})
    return Sizes(
        question.name, places.total(), len({file for file, *_ in places}),
        raw.answer_size, *(len(text.encode()) for text in (full, compact, only)),
    )  # fmt: skip


async def own(ours: McpClient) -> Own:
    """What the running lsp-mcp needs by itself."""
    instructions = ours.client.instructions or ""
    return Own(*ours.memory(), await ours.tools_size(), len(instructions.encode()))
