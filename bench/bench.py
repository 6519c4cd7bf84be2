"""`make bench`: lsp-mcp compared with its own language server, the same questions in one run. See `main`."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
import measures
import msgspec
import through_neovim
import workload
from mcp_client import McpClient
from measures import Cold, Own, Progress, Sizes, Warm
from questions import Question, Questions
from raw_client import RawClient
from report import Table, show
from rich.console import Console
from sides import Sides
from workload import Peers, Tree, Workload

from lsp_mcp.adapters import Adapter, load_adapter
from lsp_mcp.errors import LspMcpError
from lsp_mcp.programs import find_command

WARM_TARGET = 3.0  # ms over the server alone
MEMORY_TARGET = 90  # MiB
BYTES_TARGET = 90  # per reference, with its line of code
BYTES_ONLY_TARGET = 12  # per reference, places only
TOOLS_TARGET = 4_000  # tokens of the list of tools
INSTRUCTIONS_TARGET = 2_048  # bytes


@dataclass(frozen=True)
class Results:
    """Everything that one run measured."""

    setting: str
    cold_target: float  # times the server alone
    cold: list[Cold]
    warm: list[Warm]
    nothing: tuple[float, float | None]  # ms, of which CPU
    sizes: list[Sizes]
    own: Own
    trees: list[OnTree]


@dataclass(frozen=True)
class OnTree:
    """The warm questions on one tree, and the resources of lsp-mcp there."""

    name: str
    title: str
    warm: list[Warm]
    own: Own


@dataclass(frozen=True)
class Shown:
    """The printed text, and all figures as plain data for programs: seconds, ms, MiB and bytes, unrounded."""

    setting: str
    tables: list[Table]
    figures: dict[str, Any]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--backend",
    default="gopls",
    show_default=True,
    help="The language server, or nvim: through that of a Neovim; or board; tasks, edits, questions: an agent's; or "
    "shared: five sessions.",
)
@click.option("--quick", is_flag=True, help="Few repetitions: a first impression.")
@click.option("--markdown", is_flag=True, help="Print tables for a README.")
@click.option("--json", "file", type=click.Path(path_type=Path), help="Write all figures to this file too.")
@click.option("--large", is_flag=True, help="Random symbols of large trees, in place of all else.")
@click.option("--tree", default="", help="Of large trees, only this one.")
@click.option("--number", default=24, show_default=True, help="How many symbols of each large tree.")
@click.option("--seed", default=1, show_default=True, help="Which symbols.")
def main(
    backend: str, quick: bool, markdown: bool, file: Path | None, large: bool, tree: str, number: int, seed: int
) -> None:
    """Measure lsp-mcp against the same requests sent directly to its language server.

    Times are not asserted. The exit status is 1 if the two ever answer differently.
    """
    try:
        large = large or backend in _only_large()
        shown = _run_large(backend, tree, number, seed) if large else _ways().get(backend, _run)(backend, quick=quick)
    except (RuntimeError, LspMcpError) as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(1)
    if not markdown:
        print(f"{shown.setting}\n")
    show(shown.tables, markdown=markdown)
    if markdown:
        print(f"Measured with {shown.setting}.")
    if file:
        file.write_text(msgspec.json.format(msgspec.json.encode(shown.figures), indent=2).decode() + "\n")


def _ways() -> dict[str, Callable[..., Shown]]:
    return {
        through_neovim.BACKEND: _run_through_neovim,
        "board": _run_board,
        "tasks": _run_tasks,
        "edits": _run_edits,
        "questions": _run_questions,
        "shared": _run_shared,
    }


def _only_large() -> set[str]:
    """The backends whose only workload are random symbols."""
    import large as of_large

    return {tree.backend for tree in of_large.all_trees()} - workload.backends()


def _run_large(backend: str, tree: str, number: int, seed: int) -> Shown:
    import large as of_large

    wanted = of_large.trees(backend, tree)
    with _progress() as progress, tempfile.TemporaryDirectory(prefix="lsp-mcp-bench-") as folder:
        results = [asyncio.run(of_large.run(one, Path(folder) / one.name, number, seed, progress)) for one in wanted]
    setting = ", ".join(
        _version(load_adapter(name), find_command(load_adapter(name))) for name in {one.backend for one in wanted}
    )
    return Shown(_on(f"{setting} on large trees"), [*of_large.tables(results)], of_large.as_data(results))


def _run_board(backend: str, *, quick: bool) -> Shown:
    import board_bench  # optional programs are needed for it

    with _progress() as progress, tempfile.TemporaryDirectory(prefix="lsp-mcp-bench-") as folder:
        results = asyncio.run(board_bench.run(Path(folder), quick=quick, progress=progress))
    return Shown(_on("the board"), board_bench.tables_of(results), {**asdict(results), "backend": backend})


def _run_tasks(backend: str, *, quick: bool) -> Shown:
    from tasks import run as tasks_run
    from tasks import warm

    with _progress() as progress, tempfile.TemporaryDirectory(prefix="lsp-mcp-bench-") as folder:
        results = asyncio.run(tasks_run.run(Path(folder), tasks_run.DAILY, progress=progress, quick=quick))
        times = [] if quick else asyncio.run(warm.run(Path(folder) / "warm", progress=progress))
    figures = {"backend": backend, "tasks": [asdict(result) for result in results], "warm": [asdict(t) for t in times]}
    tables = [*tasks_run.tables(results), *(warm.tables(times) if times else [])]
    return Shown(_on("cobra and leveldb"), tables, figures)


def _run_edits(backend: str, *, quick: bool) -> Shown:
    from tasks import run as tasks_run

    with _progress() as progress, tempfile.TemporaryDirectory(prefix="lsp-mcp-bench-") as folder:
        results = asyncio.run(tasks_run.run(Path(folder), tasks_run.EDITS, progress=progress, quick=quick))
    figures = {"backend": backend, "edits": [asdict(result) for result in results]}
    return Shown(_on("cobra, leveldb and redis"), tasks_run.tables(results), figures)


def _run_questions(backend: str, *, quick: bool) -> Shown:
    from tasks import questions

    with _progress() as progress, tempfile.TemporaryDirectory(prefix="lsp-mcp-bench-") as folder:
        asked = asyncio.run(questions.run(Path(folder), progress=progress, quick=quick))
    figures = {"backend": backend, "questions": msgspec.to_builtins([asdict(one) for one in asked])}
    return Shown(_on("prometheus, x/tools, cobra, redis and leveldb"), questions.tables(asked), figures)


def _run_shared(backend: str, *, quick: bool) -> Shown:
    import shared_bench

    adapter = load_adapter(shared_bench.SERVER)
    # Whatever TMPDIR is: the path of a socket must be short.
    with _progress() as progress, tempfile.TemporaryDirectory(prefix="lsp-mcp-bench-", dir="/tmp") as folder:
        results = shared_bench.run(Path(folder), quick=quick, progress=progress)
    setting = f"{_version(adapter, find_command(adapter))}"
    return Shown(_on(setting), shared_bench.tables(results), {**asdict(results), "backend": backend})


def _run_through_neovim(backend: str, *, quick: bool) -> Shown:
    adapter = load_adapter(through_neovim.SERVER)
    # Whatever TMPDIR is: the path of a socket must be short.
    with _progress() as progress, tempfile.TemporaryDirectory(prefix="lsp-mcp-bench-", dir="/tmp") as folder:
        results = asyncio.run(through_neovim.run(Path(folder), quick=quick, progress=progress))
    setting = f"Neovim {results.neovim} with {_version(adapter, find_command(adapter))} on {results.code}"
    return Shown(_on(setting), [*through_neovim.tables(results)], {**asdict(results), "backend": backend})


def _run(backend: str, *, quick: bool) -> Shown:
    adapter = load_adapter(backend)
    command = find_command(adapter)
    work = workload.load(backend)
    with _progress() as progress, tempfile.TemporaryDirectory(prefix="lsp-mcp-bench-") as cache:
        progress("fetching the code to ask about")
        root = workload.code(work)
        sides = Sides(adapter, command, root, Path(cache) / "warm", waits=bool(work.opened_first))
        results = asyncio.run(_measure(sides, work, quick=quick, progress=progress))
    tables = [*_tables(results), *(_peer_tables(work.peers) if work.peers else ())]
    return Shown(results.setting, tables, _figures(results))


async def _measure(sides: Sides, work: Workload, *, quick: bool, progress: Progress) -> Results:
    runs, pairs = (2, 5) if quick else (7, 31)
    with sides.raw() as raw:
        progress("loading the workspace")
        raw.initialize()
        if work.opened_first:
            raw.open(sides.root / work.opened_first)
            raw.wait_until_loaded()
        first, questions = Questions(raw).references(work.first), Questions(raw).about_tree(work)
        cold = await _cold(sides, first, runs, progress)
        async with sides.ours() as ours:
            warm = await _warm(questions, raw, ours, pairs, progress)
            nothing = await measures.nothing(ours, 10 * pairs)
            sizes = [await measures.sizes(one, raw, ours) for one in questions if one.is_references]
            own = await measures.own(ours)
    trees = [OnTree(work.name, work.code.title, warm, own)]
    trees += [await _on_tree(sides, tree, pairs, progress) for tree in work.trees]
    setting = _setting(sides.adapter, sides.command, work)
    return Results(setting, work.cold_target, cold, warm, nothing, sizes, own, trees)


async def _on_tree(sides: Sides, tree: Tree, pairs: int, progress: Progress) -> OnTree:
    """The same warm questions, with nested projects or many files."""
    progress(f"fetching {tree.code.title}")
    there = replace(sides, root=workload.code(tree), cache=sides.cache.with_name("tree"))
    with there.raw() as raw:
        progress(f"{tree.name}: loading")
        raw.initialize()
        for file in tree.opened:
            raw.open(there.root / file)
        async with there.ours() as ours:
            return OnTree(
                tree.name,
                tree.code.title,
                await _warm(
                    Questions(raw).about_tree(tree), raw, ours, pairs, lambda name: progress(f"{tree.name}: {name}")
                ),
                await measures.own(ours),
            )


async def _warm(
    questions: Sequence[Question], raw: RawClient, ours: McpClient, pairs: int, progress: Progress
) -> list[Warm]:
    warm = []
    for question in questions:
        progress(question.name)
        warm.append(await measures.warm(question, raw, ours, pairs))
    return warm


async def _cold(sides: Sides, first: Question, runs: int, progress: Progress) -> list[Cold]:
    """The first answers of new processes; for a server that keeps an index, without one and with one."""
    apart = replace(sides, cache=sides.cache.with_name("cold"))
    if sides.adapter.name != "clangd":
        return [await measures.cold(apart, first, runs, progress, kept=True, note="")]
    return [
        await measures.cold(apart, first, runs, progress, kept=kept, note=note)
        for kept, note in ((False, ", no index yet"), (True, ", index kept"))
    ]


def _setting(adapter: Adapter, command: Sequence[str], work: Workload) -> str:
    """The subject and conditions of the measurements."""
    return _on(f"{_version(adapter, command)} on {work.code.title}")


def _on(what: str) -> str:
    """`what`, and the machine."""
    return f"{what}; Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


def _version(adapter: Adapter, command: Sequence[str]) -> str:
    if not adapter.version_command:
        return adapter.name
    asking = [command[0], *adapter.version_command[1:]]
    printed = subprocess.run(asking, capture_output=True, text=True, check=False).stdout
    number = re.search(r"v?\d+\.\d+\S*", printed)
    return f"{adapter.name} {number[0]}" if number else adapter.name


def _tables(results: Results) -> Iterator[Table]:
    yield _cold_table(results.cold, results.cold_target)
    yield _warm_table(results.warm, results.nothing)
    yield from _sizes_tables(results.sizes)
    yield _cpu_table(results.trees)
    yield _own_table(results.own)


def _cpu_table(trees: Sequence[OnTree]) -> Table:
    return Table(
        "lsp-mcp's own CPU of a warm call on each tree, ms (MCP included)",
        ["", "hits", "lsp-mcp / server", "CPU", "target", "met"],
        [row for tree in trees for row in _cpu_rows(tree)],
        " ".join(f"{tree.name}: {tree.title}." for tree in trees if tree.name),
    )


def _cpu_rows(tree: OnTree) -> Iterator[list[str]]:
    where = f"{tree.name}: " if tree.name else ""
    for one in tree.warm:
        if one.cpu is not None and (target := one.cpu_target) is not None:
            ratio, cpu = f"{one.ours / one.raw:.1f}", f"{one.cpu:.1f}"
            yield [f"{where}{one.question}", str(one.facts), ratio, cpu, f"{target:.1f}", _met(one.cpu, target)]
    if tree.own.rss is not None:
        yield [f"{where}memory, RSS, MiB", "", "", f"{tree.own.rss:.0f}", f"{MEMORY_TARGET}",
               _met(tree.own.rss, MEMORY_TARGET)]  # fmt: skip


def _met(figure: float, target: float) -> str:
    return "yes" if figure <= target else "no"


def _cold_table(cold: Sequence[Cold], target: float) -> Table:
    initialized = f"{cold[-1].raw_initialized:.2f}", f"{cold[-1].our_initialized:.2f}"
    return Table(
        f"From the start of a new process, s (median of {cold[0].runs})",
        ["", "server", "lsp-mcp", "ratio", "target", "CPU"],
        [["initialize answered", *initialized, "", "", ""], *(_cold_row(one, target) for one in cold)],
    )


def _cold_row(one: Cold, target: float) -> list[str]:
    cpu = "" if one.cpu is None else f"{one.cpu:.2f}"
    return [one.question, f"{one.raw_answered:.2f}", f"{one.our_answered:.2f}", f"{one.ratio:.2f}", f"{target:g}", cpu]


def _warm_table(warm: Sequence[Warm], nothing: tuple[float, float | None]) -> Table:
    alone, cpu = nothing
    return Table(
        f"Warm, file open, ms (median of {warm[0].pairs} pairs)",
        ["", "hits", "server", "lsp-mcp", "more", "target", "CPU"],
        [
            *map(_warm_row, warm),
            ["nothing (MCP alone)", "", "", f"{alone:.1f}", "", "", "" if cpu is None else f"{cpu:.1f}"],
        ],
        "CPU: what lsp-mcp itself computes. rename: a preview, prepareRename and rename. callers, subtypes: one step.",
    )


def _warm_row(one: Warm) -> list[str]:
    times = f"{one.raw:.1f}", f"{one.ours:.1f}", f"{one.difference:+.1f}"
    cpu = "" if one.cpu is None else f"{one.cpu:.1f}"
    return [one.question, str(one.facts), *times, f"{WARM_TARGET:+g}", cpu]


def _sizes_tables(sizes: Sequence[Sizes]) -> Iterator[Table]:
    def answers(s: Sizes) -> tuple[int, ...]:
        return s.raw, s.json, s.compact, s.places_only

    yield Table(
        "Bytes of an answer (bare: compact, without code)",
        ["", "refs", "files", "LSP", "JSON", "compact", "bare"],
        [[s.question, *(f"{n:,}" for n in (s.places, s.files, *answers(s)))] for s in sizes],
    )
    yield Table(
        f"Bytes per reference (targets: compact {BYTES_TARGET}, bare {BYTES_ONLY_TARGET} where files have several)",
        ["", "LSP", "JSON", "compact", "bare"],
        [[s.question, *(f"{n / s.places:.0f}" for n in answers(s))] for s in sizes],
    )


def _own_table(own: Own) -> Table:
    return Table(
        "lsp-mcp itself, without the server",
        ["", "", "target"],
        [
            ["memory, RSS, MiB", _figure(own.rss), f"{MEMORY_TARGET}"],
            ["memory, PSS, MiB", _figure(own.pss), ""],
            ["tools/list, bytes", f"{own.tools_bytes:,}", ""],
            ["tools/list, tokens (bytes / 4)", f"{own.tools_bytes // 4:,}", f"{TOOLS_TARGET:,}"],
            ["instructions, bytes", f"{own.instructions_bytes:,}", f"{INSTRUCTIONS_TARGET:,}"],
        ],
    )


def _peer_tables(peers: Peers) -> Iterator[Table]:
    note = f"{peers.source[0].upper()}{peers.source[1:]}."
    yield Table("Other servers on the same work", peers.head, peers.rows, note)
    yield Table("Other servers, 233 references in 51 files", peers.bytes_head, peers.bytes_rows, note)


def _figure(number: float | None) -> str:
    return "not known here" if number is None else f"{number:.0f}"


def _figures(results: Results) -> dict[str, Any]:
    """Everything as plain data."""
    return {**asdict(results), "cold_ratios": [one.ratio for one in results.cold]}


@contextmanager
def _progress() -> Iterator[Progress]:
    """Shows the present measurement on a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("starting …") as status:
        yield lambda text: status.update(f"{text} …")


if __name__ == "__main__":
    main()
