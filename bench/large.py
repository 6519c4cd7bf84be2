"""`make bench ARGS="--large"`: random symbols of large trees, asked of the server and of lsp-mcp in turns.

Each symbol is asked about once, as nobody asked before; then, when its answer is proven (`wait=true`), again. At the
end, one of them is asked about by new processes, until their answers have all that the server finds when it has loaded.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import msgspec
from mcp_client import McpClient, started
from raw_client import RawClient, ServerRefusedError
from report import Table
from sides import Sides
from workload import Debian, GoModule, GoRoot, Package, code_folder

from lsp_mcp.adapters import Adapter, load_adapter
from lsp_mcp.programs import find_command
from lsp_mcp.uris import uri_path

_HERE = Path(__file__).parent
_KINDS = {5, 6, 8, 9, 10, 11, 12, 14, 23}  # LSP SymbolKind: types, functions, fields and constants
_TRIES = 40  # files looked at for each symbol that is wanted
_SPARE = 2  # symbols chosen for each that is wanted: the server refuses some, as those in files of no package
_SLOWEST = 3  # answers listed of each tree
_AGAIN = 3  # times that a repeated question is asked
_STARTS = 3  # of each side
_LONGEST = 300.0  # seconds from a start to the whole answer
_PAUSE = 0.02  # seconds between two questions to a server that has not loaded all
_TOOL = "find_symbol_references_by_anchor"
_ALL = 10_000
Json = dict[str, Any]
Progress = Callable[[str], None]


class LargeTree(msgspec.Struct, forbid_unknown_fields=True):
    """One tree, and the server that answers about it."""

    name: str
    backend: str
    code: GoModule | GoRoot | Debian | Package


class _Trees(msgspec.Struct, forbid_unknown_fields=True):
    trees: list[LargeTree]


@dataclass(frozen=True)
class Asked:
    """One symbol: seconds for the first answer and a repeated one of each side, and until the first one was proven."""

    symbol: str
    at: str
    raw_first: float
    first: float
    proven: float
    raw_again: float
    again: float
    hits: int
    lacks: int  # places of the server's answer that the proven one does not have
    status: str


@dataclass(frozen=True)
class Cold:
    """Seconds from the start of a process to the answer with all `hits` places of the symbol, median of `runs`."""

    symbol: str
    hits: int
    runs: int
    raw: float
    ours: float


@dataclass(frozen=True)
class OnTree:
    """The symbols of one tree."""

    tree: str
    backend: str
    title: str
    lines: int
    seed: int
    asked: list[Asked]
    cold: Cold | None


@dataclass(frozen=True)
class _Symbol:
    name: str
    file: Path
    position: Json  # LSP


def all_trees() -> list[LargeTree]:
    """The trees for all backends."""
    return msgspec.toml.decode((_HERE / "workloads" / "large.toml").read_bytes(), type=_Trees).trees


def trees(backend: str, named: str) -> list[LargeTree]:
    """The trees for `backend`, or the one that is `named`."""
    return [tree for tree in all_trees() if (tree.name == named if named else tree.backend == backend)]


async def run(tree: LargeTree, cache: Path, number: int, seed: int, progress: Progress) -> OnTree:
    """Ask about `number` symbols of `tree`, chosen by `seed`."""
    progress(f"{tree.name}: fetching")
    root, adapter = code_folder(tree.code), load_adapter(tree.backend)
    command = find_command(adapter)
    with RawClient(adapter, command, root, cache / "choice") as chooser:
        progress(f"{tree.name}: choosing symbols")
        chooser.initialize()
        first, *symbols = _symbols(chooser, _SPARE * number + 1, random.Random(seed))
    if (cache / "choice").is_dir():  # both sides begin with the same index
        shutil.copytree(cache / "choice", cache / "server", dirs_exist_ok=True)
    asked: list[Asked] = []
    with RawClient(adapter, command, root, cache / "server") as raw:
        raw.initialize()
        more = ("--ready-timeout", "600", "--request-timeout", "600")
        async with started(adapter.name, root, cache / "lsp-mcp", *more) as ours:
            progress(f"{tree.name}: loading")
            _raw_places(raw, first)
            if adapter.name == "clangd":
                raw.wait_until_loaded()
            await _answer(ours, first, root, wait=True)
            for one in symbols:
                if len(asked) == number:
                    break
                progress(f"{tree.name}: {len(asked) + 1} of {number}, {one.name}")
                with contextlib.suppress(ServerRefusedError):
                    asked.append(await _asked(raw, ours, one, root))
        known: dict[str, tuple[_Symbol, set[tuple[str, int]]]] = {}
        for one in symbols:
            if any(_at(one, root) == each.at for each in asked):
                known[_at(one, root)] = one, {place for place in _raw_places(raw, one) if place[0]}
    cold = None
    if proven := [one for one in asked if not one.lacks]:
        most = max(proven, key=lambda one: one.hits)
        sides = Sides(adapter, command, root, cache, waits=False)
        cold = await _cold(sides, *known[most.at], progress)
    sources = [path for path in root.rglob("*") if path.is_file() and adapter.owns(path, root)]
    lines = sum(path.read_bytes().count(b"\n") for path in sources)
    return OnTree(tree.name, tree.backend, tree.code.title, lines, seed, asked, cold)


async def _cold(sides: Sides, symbol: _Symbol, wanted: set[tuple[str, int]], progress: Progress) -> Cold:
    """New processes, in turns, until their answers have the `wanted` places; the first of each only warms the disk."""
    raw_times, our_times = [], []
    for number in range(_STARTS + 1):
        progress(f"new processes, {number} of {_STARTS}")
        raw_time = _raw_start(sides, symbol, wanted)
        began = perf_counter()
        async with sides.ours() as ours:
            answer = await _answer(ours, symbol, sides.root)
            while not wanted <= _places(answer):
                _check_time(began, f"lsp-mcp with {sides.adapter.name}", symbol)
                answer = await _answer(ours, symbol, sides.root)
            our_time = perf_counter() - began
        if number:
            raw_times.append(raw_time)
            our_times.append(our_time)
    return Cold(symbol.name, len(wanted), _STARTS, statistics.median(raw_times), statistics.median(our_times))


def _raw_start(sides: Sides, symbol: _Symbol, wanted: set[tuple[str, int]]) -> float:
    began = perf_counter()
    with sides.raw() as raw:
        raw.initialize()
        while True:
            with contextlib.suppress(ServerRefusedError):  # while it loads
                if wanted <= _raw_places(raw, symbol):
                    return perf_counter() - began
            _check_time(began, f"{sides.adapter.name} alone", symbol)
            sleep(_PAUSE)  # it says nothing that could be waited for


def _check_time(began: float, side: str, symbol: _Symbol) -> None:
    if perf_counter() - began > _LONGEST:
        raise RuntimeError(f"{side} did not find all of {symbol.name} in {_LONGEST:g} s")


def _places(answer: Json) -> set[tuple[str, int]]:
    return {(one["location"]["file"], one["location"]["line"]) for one in answer["references"]}


async def _asked(raw: RawClient, ours: McpClient, symbol: _Symbol, root: Path) -> Asked:
    raw_first, places = _timed(lambda: _raw_places(raw, symbol))
    first, answer = await _our_time(ours, symbol, root)
    proven, whole = await _our_time(ours, symbol, root, wait=True)
    raw_again = statistics.median(_timed(lambda: _raw_places(raw, symbol))[0] for _ in range(_AGAIN))
    again = statistics.median([(await _our_time(ours, symbol, root))[0] for _ in range(_AGAIN)])
    found = _places(whole)
    lacks = {(file, line) for file, line in places if file} - found
    return Asked(
        symbol.name, _at(symbol, root), raw_first, first, first + proven, raw_again, again, len(found), len(lacks),
        answer["status"],
    )  # fmt: skip


def _timed(ask: Callable[[], Any]) -> tuple[float, Any]:
    began = perf_counter()
    result = ask()
    return perf_counter() - began, result


async def _our_time(ours: McpClient, symbol: _Symbol, root: Path, **more: Any) -> tuple[float, Json]:
    began = perf_counter()
    answer = await _answer(ours, symbol, root, **more)
    return perf_counter() - began, answer


async def _answer(ours: McpClient, symbol: _Symbol, root: Path, **more: Any) -> Json:
    arguments = {"symbol_anchor": _at(symbol, root), "limit": _ALL, "include_code": False, "format": "json", **more}
    return await ours.answer(_TOOL, arguments)


def _at(symbol: _Symbol, root: Path) -> str:
    at = symbol.position
    return f"{symbol.file.relative_to(root)}:{at['line'] + 1}:{at['character'] + 1}"


def _raw_places(raw: RawClient, symbol: _Symbol) -> set[tuple[str, int]]:
    raw.open(symbol.file)
    at = {"textDocument": {"uri": symbol.file.as_uri()}, "position": symbol.position}
    found = raw.request("textDocument/references", {**at, "context": {"includeDeclaration": True}}) or []
    places = ((uri_path(one["uri"]), one["range"]["start"]["line"] + 1) for one in found)
    return {(str(path.relative_to(raw.root)) if path.is_relative_to(raw.root) else "", line) for path, line in places}


def _symbols(raw: RawClient, number: int, chance: random.Random) -> list[_Symbol]:
    """Random symbols, each of a random file; those with characters beyond ASCII on their line are not asked about."""
    files = [path for path in sorted(raw.root.rglob("*")) if _is_asked(raw.adapter, path)]
    found: list[_Symbol] = []
    for path in chance.sample(files, min(len(files), _TRIES * number)):
        if len(found) == number:
            break
        raw.open(path)
        outline = raw.request("textDocument/documentSymbol", {"textDocument": {"uri": path.as_uri()}}) or []
        lines = path.read_text("utf-8").splitlines()
        every = [one for one in _flat(outline) if _can_be_asked(one, lines)]
        if every:
            one = chance.choice(every)
            found.append(_Symbol(one["name"], path, _start(one, lines)))
    return found


def _is_asked(adapter: Adapter, path: Path) -> bool:
    if not path.is_file() or adapter.language_of(path) is None:
        return False
    try:
        return path.read_bytes().isascii() and "testdata" not in path.parts
    except OSError:
        return False


def _can_be_asked(one: Json, lines: Sequence[str]) -> bool:
    at, name = _start(one, lines), _plain(one["name"])
    line = lines[at["line"]] if at["line"] < len(lines) else ""
    return one["kind"] in _KINDS and name.isidentifier() and name != "_" and line[at["character"] :].startswith(name)


def _start(one: Json, lines: Sequence[str]) -> Json:
    """Where the name is; a `SymbolInformation` has only the declaration, of which that is on the first line."""
    if "selectionRange" in one:
        return dict(one["selectionRange"]["start"])
    line = one["location"]["range"]["start"]["line"]
    written = lines[line] if line < len(lines) else ""
    return {"line": line, "character": max(0, written.find(_plain(one["name"])))}


def _plain(name: str) -> str:
    return name.rsplit(".", maxsplit=1)[-1].rsplit("::", maxsplit=1)[-1].strip("()*")


def _flat(symbols: Sequence[Json]) -> Iterator[Json]:
    for one in symbols:
        yield one
        yield from _flat(one.get("children") or ())


def tables(results: Sequence[OnTree]) -> Iterator[Table]:
    """The medians, 90 % and worst of each tree; then its slowest symbols."""
    rows = []
    for one in results:
        for name, raw, ours in (
            ("first", [a.raw_first for a in one.asked], [a.first for a in one.asked]),
            ("proven", [a.raw_first for a in one.asked], [a.proven for a in one.asked]),
            ("again", [a.raw_again for a in one.asked], [a.again for a in one.asked]),
        ):
            figures = (f"{part(side):.3f}" for part in (statistics.median, _most, max) for side in (raw, ours))
            rows.append([f"{one.tree}, {name}", *figures])
    head = ["", "server, median", "lsp-mcp", "server, 90 %", "lsp-mcp", "server, worst", "lsp-mcp"]
    seeds = ", ".join(f"{one.tree} {len(one.asked)} symbols, seed {one.seed}" for one in results)
    yield Table("Random symbols, s", head, rows, f"{seeds}. proven: until nothing is left to compare.")
    yield Table(
        "The server and lsp-mcp, s, and how many times as long lsp-mcp takes (a repeated question: median of all)",
        ["", "lines", "first, server", "lsp-mcp", "ratio", "again, server", "lsp-mcp", "ratio"],
        [
            [f"{one.title}, {one.backend}", f"{one.lines:,}", *_ratio(cold.raw, cold.ours),
             *_ratio(statistics.median(a.raw_again for a in one.asked), statistics.median(a.again for a in one.asked))]
            for one in results if (cold := one.cold)
        ],
        "first: from the start of a process to the answer with all places; both are asked until they have them.",
    )  # fmt: skip
    slow = [
        (one.tree, asked)
        for one in results
        for number, asked in enumerate(sorted(one.asked, key=lambda a: -a.first))
        if number < _SLOWEST or asked.lacks
    ]
    yield Table(
        "The slowest first answers, and all that lack places of the server, s",
        ["", "server", "first", "proven", "again", "hits", "lacks"],
        [
            [f"{tree}: {a.symbol} {a.at}", f"{a.raw_first:.3f}", f"{a.first:.3f}", f"{a.proven:.3f}", f"{a.again:.3f}",
             f"{a.hits}", f"{a.lacks}"]
            for tree, a in slow
        ],
        "lacks: a defect, unless the server counts in places of other symbols with the same name.",
    )  # fmt: skip


def _ratio(raw: float, ours: float) -> list[str]:
    return [f"{raw:.3f}", f"{ours:.3f}", f"{ours / raw:.2f}"]


def _most(figures: Sequence[float]) -> float:
    """What 90 % of `figures` are not above."""
    return sorted(figures)[max(0, -(-len(figures) * 9 // 10) - 1)]


def as_data(results: Sequence[OnTree]) -> Json:
    """All figures, for programs."""
    return {"trees": [asdict(one) for one in results]}
