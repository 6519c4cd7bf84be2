"""`make bench`: lsp-mcp against its own language server, the same questions in one run. See `main`."""

from __future__ import annotations

import asyncio
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import measures
import msgspec
import workload
from mcp_client import started
from measures import Cold, Own, Progress, Sizes, Warm
from questions import Questions
from raw_client import RawClient
from report import Table, show
from rich.console import Console
from workload import Peers, Workload

from lsp_mcp.adapters import Adapter, load_adapter
from lsp_mcp.errors import LspMcpError
from lsp_mcp.lsp.programs import find_command

COLD_TARGET = 1.3  # times the server alone
WARM_TARGET = 3.0  # ms over the server alone
MEMORY_TARGET = 100  # MiB
BYTES_TARGET = 90  # per reference, with its line of code
BYTES_ONLY_TARGET = 12  # per reference, places only
TOOLS_TARGET = 4_000  # tokens of the list of tools
INSTRUCTIONS_TARGET = 2_048  # bytes


@dataclass(frozen=True)
class Results:
    """Everything that one run measured."""

    setting: str
    cold: Cold
    warm: list[Warm]
    nothing: float  # ms
    sizes: list[Sizes]
    own: Own


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--backend", default="gopls", show_default=True, help="The language server.")
@click.option("--quick", is_flag=True, help="Few repetitions: a first impression.")
@click.option("--markdown", is_flag=True, help="Print tables for a README.")
@click.option("--json", "file", type=click.Path(path_type=Path), help="Write all figures to this file too.")
def main(backend: str, quick: bool, markdown: bool, file: Path | None) -> None:
    """Measure lsp-mcp against the same requests sent straight to its language server.

    Nothing is asserted of times. The exit status is 1 if the two ever answer differently.
    """
    try:
        results, peers = _run(backend, quick=quick)
    except (RuntimeError, LspMcpError) as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(1)
    if not markdown:
        print(f"{results.setting}\n")
    show([*_tables(results), *_peer_tables(peers)], markdown=markdown)
    if markdown:
        print(f"Measured with {results.setting}.")
    if file:
        file.write_text(msgspec.json.format(msgspec.json.encode(_figures(results)), indent=2).decode() + "\n")


def _run(backend: str, *, quick: bool) -> tuple[Results, Peers]:
    adapter = load_adapter(backend)
    command = find_command(adapter)
    asked = workload.load(backend)
    with _progress() as progress:
        progress("fetching the code to ask about")
        root = workload.code(asked)
        results = asyncio.run(_measure(adapter, command, root, asked, quick=quick, progress=progress))
    return results, asked.peers


async def _measure(
    adapter: Adapter, command: Sequence[str], root: Path, asked: Workload, *, quick: bool, progress: Progress
) -> Results:
    runs, pairs = (2, 5) if quick else (7, 31)
    with RawClient(adapter, command, root) as raw:
        progress("loading the workspace")
        raw.initialize()
        questions = Questions(asked, raw)
        cold = await measures.cold(adapter, command, root, questions.first, runs, progress)
        async with started(adapter.name, root) as ours:
            warm = []
            for question in questions.all:
                progress(question.name)
                warm.append(await measures.warm(question, raw, ours, pairs))
            nothing = await measures.nothing(ours, 10 * pairs)
            sizes = [await measures.sizes(one, raw, ours) for one in questions.all if one.is_references]
            own = await measures.own(ours)
    return Results(_setting(adapter, command, asked), cold, warm, nothing, sizes, own)


def _setting(adapter: Adapter, command: Sequence[str], asked: Workload) -> str:
    """On what all this was measured."""
    return (
        f"{_version(adapter, command)} on {asked.module} {asked.version}; Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    )


def _version(adapter: Adapter, command: Sequence[str]) -> str:
    if not adapter.version_command:
        return adapter.name
    asking = [command[0], *adapter.version_command[1:]]
    printed = subprocess.run(asking, capture_output=True, text=True, check=False).stdout
    return printed.split("\n")[0].rpartition("/")[2]


def _tables(results: Results) -> Iterator[Table]:
    yield _cold_table(results.cold)
    yield _warm_table(results.warm, results.nothing)
    yield from _sizes_tables(results.sizes)
    yield _own_table(results.own)


def _cold_table(cold: Cold) -> Table:
    initialized = f"{cold.raw_initialized:.2f}", f"{cold.our_initialized:.2f}"
    answered = f"{cold.raw_answered:.2f}", f"{cold.our_answered:.2f}"
    cpu = "" if cold.cpu is None else f"{cold.cpu:.2f}"
    return Table(
        f"From the start of a new process, s (median of {cold.runs})",
        ["", "server", "lsp-mcp", "ratio", "target", "CPU"],
        [
            ["initialize answered", *initialized, "", "", ""],
            [cold.question, *answered, f"{cold.ratio:.2f}", f"{COLD_TARGET:g}", cpu],
        ],
    )


def _warm_table(warm: Sequence[Warm], nothing: float) -> Table:
    return Table(
        f"Warm, file open, ms (median of {warm[0].pairs} pairs)",
        ["", "hits", "server", "lsp-mcp", "more", "target", "CPU"],
        [*map(_warm_row, warm), ["nothing (MCP alone)", "", "", f"{nothing:.1f}", "", "", ""]],
        "CPU: what lsp-mcp itself computes. rename: a preview, prepareRename and rename.",
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
    """Everything as plain data, for programs: seconds, ms, MiB and bytes, unrounded."""
    return {**asdict(results), "cold_ratio": results.cold.ratio}


@contextmanager
def _progress() -> Iterator[Progress]:
    """Says on a terminal what is being measured."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("starting …") as status:
        yield lambda text: status.update(f"{text} …")


if __name__ == "__main__":
    main()
