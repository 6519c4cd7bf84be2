"""`--backend shared`: five sessions that share a daemon, beside five that do not and five on gopls's own. See `run`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from threading import Thread
from time import perf_counter
from typing import Any

import psutil
from measures import Progress
from questions import Question, Questions
from raw_client import RawClient
from report import Table
from workload import GoRoot, Tree, code, load

from lsp_mcp.adapters import Adapter, load_adapter
from lsp_mcp.programs import find_command

BACKEND = "shared"
SERVER = "gopls"
SESSIONS = 5
FLOOD = 1_000  # calls of one session at once
_PROGRAM = str(Path(sys.executable).with_name("lsp-mcp"))
_MIB = 1024 * 1024


@dataclass(frozen=True)
class Side:
    """Seconds from exec to the first right answer, of the first session and of the next; MiB of all (PSS)."""

    name: str
    first: float
    next: float
    memory: float


@dataclass(frozen=True)
class Results:
    """`call`: seconds of a shell call, from exec to exit; `call_alone` of one that shares nothing.

    `warm`: seconds of a session's repeated question; `beside_flood`: while another session has many calls waiting.
    """

    sides: dict[str, list[Side]]  # by the title of the code
    call: float
    call_alone: float
    warm: float
    beside_flood: float


class _Session:
    """lsp-mcp on stdio, as a client of 2025-11-25 starts it."""

    def __init__(self, root: Path, env: dict[str, str]) -> None:
        words = [_PROGRAM, "--backend", SERVER, "--workspace-root", str(root), "--log-level", "error"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        who = {"name": "bench", "version": "1"}
        self._request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": who})
        self._send({"method": "notifications/initialized"})

    def answer(self, question: Question) -> Any:
        result = self._request("tools/call", {"name": question.tool, "arguments": question.arguments})["result"]
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return json.loads(result["content"][0]["text"])

    def flood(self, question: Question) -> Thread:
        """Ask `FLOOD` times at once. The thread ends with the last answer."""
        params = {"name": question.tool, "arguments": question.arguments}

        def send() -> None:
            for number in range(FLOOD):
                self._send({"id": 2 + number, "method": "tools/call", "params": params})

        def read() -> None:
            assert self.process.stdout
            for _ in range(FLOOD):
                self.process.stdout.readline()

        Thread(target=send, daemon=True).start()
        reading = Thread(target=read, daemon=True)
        reading.start()
        return reading

    def _request(self, method: str, params: Any) -> Any:
        self._send({"id": 1, "method": method, "params": params})
        assert self.process.stdout
        while line := self.process.stdout.readline():
            if (message := json.loads(line)).get("id") == 1:
                return message
        raise RuntimeError("lsp-mcp ended")

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def __enter__(self) -> _Session:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def run(folder: Path, *, quick: bool, progress: Progress) -> Results:
    """Measure in `folder`, which must have a short path: sockets lie in it. The caches of gopls are warm."""
    workload = load(SERVER)
    adapter = load_adapter(SERVER)
    env = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "LSP_MCP_CACHE": str(folder / "cache")}
    folder.chmod(0o700)
    shared, alone = {**env, "LSP_MCP_SHARED": "1"}, {**env, "LSP_MCP_SHARED": "0"}
    trees: list[Tree] = [workload]
    if not quick:
        trees += [tree for tree in workload.trees if isinstance(tree.code, GoRoot)]
    try:
        sides = {tree.code.title: _sides(tree, adapter, folder, shared, alone, progress) for tree in trees}
        root = code(workload)
        with RawClient(adapter, find_command(adapter), root, folder / "raw") as server:
            server.initialize()
            question = Questions(server).about_tree(workload)[0]
        words = ["call", question.tool, *_words(question.arguments), "--backend", SERVER]
        progress("calling from the shell")
        called = _called([*words, "--workspace-root", str(root)], shared, 5 if quick else 15)
        called_alone = _called([*words, "--workspace-root", str(root)], alone, 1 if quick else 3)
        progress("asking beside a flood")
        warm, beside_flood = _flooded(root, shared, question, 10 if quick else 30)
    finally:
        subprocess.run([_PROGRAM, "daemon", "stop", "--all"], env=shared, check=True, capture_output=True)
        for process in _others(_remote(folder), folder)():
            process.kill()
    return Results(sides, called, called_alone, warm, beside_flood)


def _sides(
    tree: Tree, adapter: Adapter, folder: Path, shared: dict[str, str], alone: dict[str, str], progress: Progress
) -> list[Side]:
    root, command, remote = code(tree), find_command(adapter), _remote(folder)

    def raw(*flags: str) -> RawClient:
        return RawClient(adapter, [*command, *flags], root, folder / "raw")

    progress("warming the caches")
    words = [_PROGRAM, "warm", "--backend", SERVER, "--workspace-root", str(root)]
    subprocess.run(words, env=alone, check=True, capture_output=True)
    with raw() as server:
        server.initialize()
        question = Questions(server).about_tree(tree)[0]

    def ask_raw(server: RawClient) -> None:
        server.initialize()
        question.ask(server)

    def ask(session: _Session) -> None:
        question.check(expected, session.answer(question))

    with raw() as server:
        server.initialize()
        expected = question.ask(server)

    ways: list[tuple[str, Callable[[], Any], Callable[[Any], None]]] = [
        (f"{SERVER}, one for each", raw, ask_raw),
        (f"{SERVER} -remote=auto", lambda: raw(remote), ask_raw),
        ("lsp-mcp --no-shared", lambda: _Session(root, alone), ask),
        ("lsp-mcp", lambda: _Session(root, shared), ask),
    ]
    return [_side(*way, others=_others(remote, folder), progress=progress) for way in ways]


def _remote(folder: Path) -> str:
    return f"-remote=auto;{folder.name}"


def _flooded(root: Path, env: dict[str, str], question: Question, times: int) -> tuple[float, float]:
    """See `Results`."""

    def seconds(session: _Session) -> float:
        began = perf_counter()
        session.answer(question)
        return perf_counter() - began

    with _Session(root, env) as one, _Session(root, env) as other:
        one.answer(question)
        seconds(other)
        warm = [seconds(other) for _ in range(times)]
        flood = one.flood(question)
        beside: list[float] = []
        while flood.is_alive() and len(beside) < times:
            beside.append(seconds(other))
        flood.join()
    return median(warm), median(beside)


def _side(
    name: str,
    start: Callable[[], Any],
    ask: Callable[[Any], None],
    *,
    others: Callable[[], Iterable[psutil.Process]],
    progress: Progress,
) -> Side:
    before = {process.pid for process in others()}
    took = []
    with ExitStack() as stack:
        for number in range(SESSIONS):
            progress(f"{name}: session {number + 1}")
            began = perf_counter()
            ask(stack.enter_context(start()))
            took.append(perf_counter() - began)
        below = psutil.Process().children(recursive=True)
        apart = [process for process in others() if process.pid not in before]
        every = {one.pid: one for top in apart for one in (top, *top.children(recursive=True))}
        every.update((process.pid, process) for process in below)
        memory = sum(process.memory_full_info().pss for process in every.values() if process.is_running())
    return Side(name, took[0], median(took[1:]), memory / _MIB)


def _others(remote: str, folder: Path) -> Callable[[], Iterator[psutil.Process]]:
    """Those that sessions share, under any parent process: gopls's daemon and ours."""

    def found() -> Iterator[psutil.Process]:
        for process in psutil.process_iter(["cmdline", "environ"]):
            line = process.info["cmdline"] or []
            is_remote = any(remote.partition("=")[2] in word for word in line) and remote not in line
            ours = "lsp_mcp.daemon" in line and (process.info["environ"] or {}).get("XDG_RUNTIME_DIR") == str(folder)
            if is_remote or ours:
                yield process

    return found


def _words(arguments: dict[str, Any]) -> list[str]:
    return [f"{name}={value}" for name, value in arguments.items()]


def _called(words: Sequence[str], env: dict[str, str], times: int) -> float:
    took = []
    for _ in range(times):
        began = perf_counter()
        subprocess.run([_PROGRAM, *words], env=env, check=True, capture_output=True)
        took.append(perf_counter() - began)
    return median(took)


def tables(results: Results) -> list[Table]:
    """For people. Ratios are to `gopls, one for each`."""
    found = []
    for title, sides in results.sides.items():
        base = sides[0]
        rows = [
            [
                side.name,
                *(f"{side.first:.2f}", f"{side.first / base.first:.2f}"),
                *(f"{side.next:.2f}", f"{side.next / base.first:.2f}"),
                *(f"{side.memory:.0f}", f"{side.memory / base.memory:.2f}"),
            ]
            for side in sides
        ]
        found.append(
            Table(
                f"{SESSIONS} sessions on {title}: from exec to the first references, s; memory (PSS), MiB",
                ["", "first", "ratio", "the next", "ratio", "memory", "ratio"],
                rows,
                f"Ratios: to {base.name}. The caches on disk are warm.",
            )
        )
    return [
        *found,
        Table(
            "A call from the shell, from exec to exit, s",
            ["", "lsp-mcp call", "--no-shared"],
            [["references", f"{results.call:.2f}", f"{results.call_alone:.2f}"]],
        ),
        Table(
            f"A repeated question of one session while another has {FLOOD:,} calls waiting, ms",
            ["", "without them", "with them", "target"],
            [["references", f"{results.warm * 1000:.0f}", f"{results.beside_flood * 1000:.0f}", "100"]],
        ),
    ]
