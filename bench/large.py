"""`make bench ARGS="--large"`: random symbols of large trees, asked of the server and of lsp-mcp in turns.

Each symbol is asked about once, as nobody asked before; then, when its answer is proven (`wait=true`), again.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
from mcp_client import McpClient, started
from raw_client import RawClient, ServerRefusedError
from report import Table
from workload import Debian, GoModule, GoRoot, code_folder

from lsp_mcp.adapters import Adapter, load_adapter
from lsp_mcp.programs import find_command
from lsp_mcp.uris import uri_path

_HERE = Path(__file__).parent
_KINDS = {5, 6, 8, 9, 10, 11, 12, 14, 23}  # LSP SymbolKind: types, functions, fields and constants
_TRIES = 40  # files looked at for each symbol that is wanted
_SPARE = 2  # symbols chosen for each that is wanted: the server refuses some, as those in files of no package
_SLOWEST = 3  # answers listed of each tree
_AGAIN = 3  # times that a repeated question is asked
_TOOL = "find_symbol_references_by_anchor"
_ALL = 10_000
Json = dict[str, Any]


class LargeTree(msgspec.Struct, forbid_unknown_fields=True):
    """One tree, and the server that answers about it."""

    name: str
    backend: str
    code: GoModule | GoRoot | Debian


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
class OnTree:
    """The symbols of one tree."""

    tree: str
    seed: int
    asked: list[Asked]


@dataclass(frozen=True)
class _Symbol:
    name: str
    file: Path
    position: Json  # LSP


def trees(backend: str, named: str) -> list[LargeTree]:
    """The trees for `backend`, or the one that is `named`."""
    every = msgspec.toml.decode((_HERE / "workloads" / "large.toml").read_bytes(), type=_Trees).trees
    return [tree for tree in every if (tree.name == named if named else tree.backend == backend)]


async def run(tree: LargeTree, cache: Path, number: int, seed: int, progress: Callable[[str], None]) -> OnTree:
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
    return OnTree(tree.name, seed, asked)


async def _asked(raw: RawClient, ours: McpClient, symbol: _Symbol, root: Path) -> Asked:
    raw_first, places = _timed(lambda: _raw_places(raw, symbol))
    first, answer = await _our_time(ours, symbol, root)
    proven, whole = await _our_time(ours, symbol, root, wait=True)
    raw_again = statistics.median(_timed(lambda: _raw_places(raw, symbol))[0] for _ in range(_AGAIN))
    again = statistics.median([(await _our_time(ours, symbol, root))[0] for _ in range(_AGAIN)])
    found = {(one["location"]["file"], one["location"]["line"]) for one in whole["references"]}
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
            found.append(_Symbol(one["name"], path, one["selectionRange"]["start"]))
    return found


def _is_asked(adapter: Adapter, path: Path) -> bool:
    if not path.is_file() or adapter.language_of(path) is None:
        return False
    try:
        return path.read_bytes().isascii() and "testdata" not in path.parts
    except OSError:
        return False


def _can_be_asked(one: Json, lines: Sequence[str]) -> bool:
    at, name = one["selectionRange"]["start"], one["name"].split(".")[-1].split("::")[-1].strip("()*")
    line = lines[at["line"]] if at["line"] < len(lines) else ""
    return one["kind"] in _KINDS and name.isidentifier() and name != "_" and line[at["character"] :].startswith(name)


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


def _most(figures: Sequence[float]) -> float:
    """What 90 % of `figures` are not above."""
    return sorted(figures)[max(0, -(-len(figures) * 9 // 10) - 1)]


def as_data(results: Sequence[OnTree]) -> Json:
    """All figures, for programs."""
    return {"trees": [asdict(one) for one in results]}
