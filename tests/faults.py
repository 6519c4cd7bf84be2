"""Faults at random moments under load: `make faults` (ARGS="--rounds 20 --seed 3").

In each round three sessions of one workspace ask and rename at once, while a door, the daemon or a language server is
killed or stopped, or the daemon's folder is removed or full. Afterwards each call was answered, each answer is right,
each rename was done once or not at all, nothing runs that should not, and a new session finds a daemon. Exit status 1
at the first round that breaks this; its seed makes it again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

os.environ["LSP_MCP_CACHE"] = tempfile.mkdtemp(prefix="lsp-mcp-faults-")

from mcp_process import Raw, descendants
from shared_daemon import SOURCES, Desk, answer

CLIENTS = 3
CALLS_UNTIL_SETTLED = 10
READS = 3  # of each client in a round
BOUND = 400.0  # seconds for processes to end, beside whatever else runs
MOST_FILES = 40  # in the daemon's folder: sockets, locks and the logs that are kept


class Client:
    """A session, and the function whose name it changes again and again."""

    def __init__(self, desk: Desk, number: int) -> None:
        self.desk = desk
        self.number = number
        self.file = desk.root / f"f{number}.go"
        self.use = desk.root / f"g{number}.go"
        self.name = f"Fn{number}"
        self.file.write_text(f"package shared\n\nfunc {self.name}() {{}}\n")
        self.use.write_text(f"package shared\n\nfunc use{number}() {{ {self.name}() }}\n")
        self.count = 0
        self.wanted: dict[int, str] = {}
        self.begin()

    def begin(self) -> None:
        self.raw = Raw("--workspace-root", str(self.desk.root), env=self.desk.env)
        self.raw.initialize()

    def ask(self) -> None:
        """Send a round's calls."""
        self.wanted = {}
        for number in range(READS):
            self._send("find_symbol_references_by_anchor", symbol_anchor="One", format="compact")
            if number == 1:
                self.count += 1
                new = f"Fn{self.number}x{self.count}"
                self._send("rename_symbol_by_anchor", symbol_anchor=self.name, new_name=new)
                self.wanted[self.raw._id] = new

    def _send(self, name: str, **arguments: Any) -> None:
        self.raw._id += 1
        self.wanted[self.raw._id] = ""
        params = {"name": name, "arguments": arguments}
        self.raw.send({"id": self.raw._id, "method": "tools/call", "params": params})

    def check(self, told: Counter[str]) -> None:
        """Each call has its answer, and what was said is so."""
        while self.wanted:
            message = self.raw.receive()
            if message.get("id") not in self.wanted:
                continue
            new = self.wanted.pop(message["id"])
            assert "result" in message, message
            text = answer(message["result"])
            failed = bool(message["result"].get("isError"))
            if not new:
                told["reads answered" if not failed else f"reads failed: {text[:60]}"] += 1
                assert failed or "Found 2 references" in text, text
                continue
            told["renames done" if not failed else f"renames failed: {text[:60]}"] += 1
            assert failed or self._has(new), f"{new} was said to be written"
            if failed and "not known whether" not in text:
                assert self._has(self.name), f"{text}; but it was written"
        self.settle()

    def settle(self) -> None:
        """Whatever was said: the rename was done whole or not at all.

        The next daemon takes back half of one; one whose door was killed may still be going on.
        """
        latest = f"Fn{self.number}x{self.count}"
        for _ in range(CALLS_UNTIL_SETTLED):
            self.raw.call("find_symbol_references_by_anchor", symbol_anchor="One")
            if self.count and self._has(latest):
                self.name = latest
            if self._has(self.name):
                return
        raise AssertionError((self.file.read_text(), self.use.read_text(), self.name, latest))

    def _has(self, name: str) -> bool:
        return f"func {name}()" in self.file.read_text() and f"{{ {name}() }}" in self.use.read_text()


def kill_door(desk: Desk, clients: list[Client], dice: random.Random) -> None:
    door = dice.choice(clients).raw.process
    door.kill()
    door.wait()


def kill_daemon(desk: Desk, clients: list[Client], dice: random.Random) -> None:
    _send(_daemons(desk), signal.SIGKILL)


def end_daemon(desk: Desk, clients: list[Client], dice: random.Random) -> None:
    _send(_daemons(desk), signal.SIGTERM)


def kill_server(desk: Desk, clients: list[Client], dice: random.Random) -> None:
    _send(_servers(desk), signal.SIGKILL)


def stop_server(desk: Desk, clients: list[Client], dice: random.Random) -> None:
    """For a moment: its answers are late."""
    servers = _servers(desk)
    for number in (signal.SIGSTOP, signal.SIGCONT):
        _send(servers, number)
        time.sleep(dice.random())


def remove_folder(desk: Desk, clients: list[Client], dice: random.Random) -> None:
    shutil.rmtree(desk.home, ignore_errors=True)


def remove_folder_and_kill(desk: Desk, clients: list[Client], dice: random.Random) -> None:
    found = _daemons(desk)
    shutil.rmtree(desk.home, ignore_errors=True)
    _send(found, signal.SIGKILL)


def call_from_many_shells(desk: Desk, clients: list[Client], dice: random.Random) -> None:
    """And the daemon is killed: one of them starts the next."""
    words = ["call", "list_symbols_in_file", "file_path=a.go", "--format", "compact"]
    env = {**os.environ, **desk.env}
    shells = [
        subprocess.Popen([sys.executable, "-m", "lsp_mcp", *words], cwd=desk.root, env=env, stdout=-1, stderr=-1)
        for _ in range(10)
    ]
    kill_daemon(desk, clients, dice)
    for shell in shells:
        out, err = shell.communicate(timeout=BOUND)
        assert b"One" in out or b"ended during this call" in err, (out, err)


FAULTS: tuple[Callable[[Desk, list[Client], random.Random], None], ...] = (
    *(kill_door, kill_daemon, end_daemon, kill_server, stop_server),
    *(remove_folder, remove_folder_and_kill, call_from_many_shells),
)


def _daemons(desk: Desk) -> list[psutil.Process]:
    """Those of the project, also those that no door finds."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if "lsp_mcp.daemon" in line and str(desk.root) in line:
            found.append(process)
    return found


def _servers(desk: Desk) -> list[psutil.Process]:
    """What its daemons have started."""
    found = []
    for daemon in _daemons(desk):
        with contextlib.suppress(psutil.NoSuchProcess):
            found += daemon.children()
    return found


def _send(processes: list[psutil.Process], number: signal.Signals) -> None:
    """A signal to those that have not ended."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def play_round(desk: Desk, clients: list[Client], dice: random.Random, told: Counter[str]) -> str:
    """Let one fault happen; what it was."""
    fault = dice.choice(FAULTS)
    below = []
    for pid in [pid for daemon in _daemons(desk) for pid in (daemon.pid, *descendants(daemon.pid))]:
        with contextlib.suppress(psutil.NoSuchProcess):
            below.append(psutil.Process(pid))
    for client in clients:
        client.ask()
    time.sleep(dice.random() * 0.3)  # at any moment of what follows
    fault(desk, clients, dice)
    for client in clients:
        if client.raw.process.poll() is None:
            client.check(told)
    # What a killed door had asked for may go on until the daemon sees that it is gone.
    for client in clients:
        if client.raw.process.poll() is not None:
            client.raw.kill()
            client.begin()
            client.settle()
    if fault in (kill_daemon, remove_folder_and_kill):
        _, alive = psutil.wait_procs(below, BOUND)
        assert not alive, f"still running: {alive}"
    called = desk.run("call", "find_symbol_references_by_anchor", "symbol_anchor=One", "--format", "compact")
    assert called.returncode == 0 and "Found 2 references" in called.stdout, called
    files = list(desk.home.iterdir())
    assert len(files) <= MOST_FILES, files
    return fault.__name__


def main() -> int:
    """Play the rounds; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="lsp-mcp-faults-"))
    desk = Desk(folder)
    assert SOURCES
    told: Counter[str] = Counter()
    played: Counter[str] = Counter()
    clients = [Client(desk, number) for number in range(CLIENTS)]
    for number in range(options.rounds):
        dice = random.Random(f"{options.seed} {number}")
        try:
            name = play_round(desk, clients, dice, told)
        except BaseException:
            print(f"round {number} of seed {options.seed}; the project is {folder}", file=sys.stderr)
            raise
        played[name] += 1
        print(f"{number + 1}: {name}", flush=True)
    for client in clients:
        client.raw.kill()
    desk.run("daemon", "stop", "--all")
    _, alive = psutil.wait_procs(_daemons(desk), BOUND)
    print(json.dumps({"rounds": played, "told": told}, indent=2))
    assert not list(desk.root.glob(".lsp-mcp-*")), "what an edit keeps while it is made"
    # A daemon whose folder was removed ends by itself when its last client has left.
    assert not alive, f"still running: {alive}"
    assert not [file for file in desk.home.iterdir() if file.suffix in (".sock", ".lock")]
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
