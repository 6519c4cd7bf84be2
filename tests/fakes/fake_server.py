"""A language server that does what a script says, mostly what a real one won't do on demand: die, stall, lie.

Run as `fake_server.py FOLDER`. The folder holds `script.json`, a list of lives: the first start reads the first,
the second start the second, and so on; the last one is for every further start. A life is an object:

    "at_start"   actions before the first message is read
    "rules"      method → actions when a request or notification of that name comes

An action is a list, its name first; `ACTIONS` has them all. A request that no action has answered, held or died
over is answered at the end of its actions: `initialize` with the life's `capabilities`, the others with null.
Requests that need no rule, for tests that decide as they go:

    fake/do        params `{"actions": […]}`: does them
    fake/received  answers with all messages that this life has received so far
    fake/pid       answers with the process id

Messages are handled strictly one after the other. Everything received goes to `log.jsonl` in the folder before
anything is done about it, as `{"life": 1, "message": …}`; `started` and `ended` stand there too.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class Fake:
    """One life of the server."""

    def __init__(self, folder: Path) -> None:
        self.log_file = folder / "log.jsonl"
        self.life = 1 + self.log_text().count('"started"')
        self.log({"started": os.getpid(), "environment": os.environ.get("FAKE", "")})
        lives = json.loads((folder / "script.json").read_text("utf-8"))
        self.script: Json = lives[min(self.life, len(lives)) - 1]
        self.received: list[Json] = []
        self.held: list[Json] = []
        self.open_question = False  # the message at hand still wants an answer

    def run(self) -> None:
        self.do(self.script.get("at_start", []), {})
        while (message := read_message()) is not None:
            self.log({"message": message})
            self.received.append(message)
            if "method" in message:
                self.handle(message)
        self.log({"ended": "its input"})

    def handle(self, message: Json) -> None:
        method, params = message["method"], message.get("params", {})
        self.open_question = "id" in message
        rules = self.script.get("rules", {})
        if method in rules:
            self.do(rules[method], message)
        elif method == "fake/do":
            self.do(params["actions"], message)
        elif method == "fake/received":
            self.answer(message, list(self.received))
        elif method == "fake/pid":
            self.answer(message, os.getpid())
        elif method == "exit":
            self.log({"ended": "exit"})
            sys.exit(0)
        if self.open_question:
            capabilities = {"capabilities": self.script.get("capabilities", {})}
            self.answer(message, capabilities if method == "initialize" else None)

    def do(self, actions: list[list[Any]], message: Json) -> None:
        for name, *arguments in actions:
            ACTIONS[name](self, message, *arguments)

    def answer(self, message: Json, result: Any) -> None:
        self.open_question = False
        send({"id": message["id"], "result": result})

    def answer_for(self, message: Json, results: dict[str, Any]) -> None:
        """Answer by the document that was asked about: `results` by URI."""
        self.answer(message, results[message["params"]["textDocument"]["uri"]])

    def log(self, entry: Json) -> None:
        with self.log_file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"life": self.life, **entry}) + "\n")

    def log_text(self) -> str:
        return self.log_file.read_text("utf-8") if self.log_file.exists() else ""

    # --- actions -----------------------------------------------------------------------------------

    def answer_with(self, message: Json, result: Any) -> None:
        """The result."""
        self.answer(message, result)

    def answer_in_turn(self, message: Json, *results: Any) -> None:
        """The first result for the first message of its method, and so on; the last for all others."""
        number = sum(one.get("method") == message["method"] for one in self.received)
        self.answer(message, results[min(number, len(results)) - 1])

    def answer_params(self, message: Json) -> None:
        """The request's own params as its result."""
        self.answer(message, message["params"])

    def refuse(self, message: Json, code: int, text: str) -> None:
        """An error."""
        self.open_question = False
        send({"id": message["id"], "error": {"code": code, "message": text}})

    def answer_framed(self, message: Json, header: str, result: Any) -> None:
        """The result under another header; `{}` in `header` is the length."""
        self.open_question = False
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        write(header.replace("{}", str(len(body))).encode() + body)

    def answer_body(self, message: Json, body: str) -> None:
        """Any text as the body of a message; ID in it is the request's."""
        self.open_question = False
        write_framed(body.replace("ID", str(message["id"])).encode("utf-8", "surrogateescape"))

    def answer_cancelled(self, message: Json, result: Any) -> None:
        """In a rule for `$/cancelRequest`: the result, for the request that was cancelled."""
        send({"id": message["params"]["id"], "result": result})

    def hold(self, message: Json) -> None:
        """No answer, until `release`."""
        self.open_question = False
        self.held.append(message)

    def release(self, _: Json) -> None:
        """An answer to everything held, the last first: each gets its own params back."""
        while self.held:
            message = self.held.pop()
            send({"id": message["id"], "result": message["params"]})

    def send(self, _: Json, message: Json) -> None:
        """Any message."""
        send(message)

    def raw(self, _: Json, text: str) -> None:
        """Anything on stdout, without a frame."""
        write(text.encode())

    def flood(self, _: Json, count: int, message: Json) -> None:
        """One message many times, in one go."""
        write(framed(message) * count)

    def stderr(self, _: Json, text: str, count: int) -> None:
        """Text on stderr, many times; goes on when all is written."""
        rest = memoryview(text.encode() * count)
        while rest:
            rest = rest[os.write(2, rest) :]

    def exit(self, _: Json, status: int) -> None:
        """Die with a status."""
        os._exit(status)

    def kill(self, _: Json) -> None:
        """Die by SIGKILL."""
        os.kill(os.getpid(), signal.SIGKILL)

    def close(self, _: Json, descriptor: int) -> None:
        """Close stdin (0) or stdout (1), and live on."""
        self.open_question = self.open_question and descriptor != 1
        os.close(descriptor)

    def stall(self, _: Json) -> None:
        """Read, write and do nothing any more, but take signals."""
        while True:
            signal.pause()

    def shut_ears(self, _: Json) -> None:
        """Ignore SIGTERM, SIGINT and SIGHUP."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    def spawn(self, _: Json, command: list[str], own_session: bool) -> None:
        """Start a child that has this process's stdout and stderr; its id goes to the log."""
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=own_session)
        self.log({"spawned": child.pid})

    def wait_for_end_of_input(self, _: Json) -> None:
        """Take no message any more until stdin ends."""
        while os.read(0, 65536):
            pass
        self.log({"ended": "its input"})

    def note(self, _: Json, text: str) -> None:
        """A line in the log."""
        self.log({"note": text})

    def tell(self, _: Json, fifo: str) -> None:
        """A line into a named pipe, for a test that waits for this moment."""
        with Path(fifo).open("w") as pipe:
            pipe.write("told\n")

    def wait_for_file(self, _: Json, name: str) -> None:
        """Stop until there is a file `name` in the folder. A test makes it while nothing else goes on here."""
        folder = os.fsencode(self.log_file.parent)
        libc = ctypes.CDLL(None, use_errno=True)
        watch = libc.inotify_init()
        libc.inotify_add_watch(watch, folder, 0x100)  # IN_CREATE
        while not (self.log_file.parent / name).exists():
            os.read(watch, 4096)
        os.close(watch)

    def in_life(self, message: Json, life: int, actions: list[list[Any]]) -> None:
        """The actions, in one life only."""
        if life == self.life:
            self.do(actions, message)


ACTIONS: dict[str, Callable[..., None]] = {
    "answer": Fake.answer_with,
    "answer_in_turn": Fake.answer_in_turn,
    "answer_params": Fake.answer_params,
    "answer_for": Fake.answer_for,
    "answer_framed": Fake.answer_framed,
    "answer_body": Fake.answer_body,
    "answer_cancelled": Fake.answer_cancelled,
    "refuse": Fake.refuse,
    "hold": Fake.hold,
    "release": Fake.release,
    "send": Fake.send,
    "raw": Fake.raw,
    "flood": Fake.flood,
    "stderr": Fake.stderr,
    "exit": Fake.exit,
    "kill": Fake.kill,
    "close": Fake.close,
    "stall": Fake.stall,
    "shut_ears": Fake.shut_ears,
    "spawn": Fake.spawn,
    "wait_for_end_of_input": Fake.wait_for_end_of_input,
    "note": Fake.note,
    "tell": Fake.tell,
    "wait_for_file": Fake.wait_for_file,
    "in_life": Fake.in_life,
}


def read_message() -> Json | None:
    """The next message, or None at the end of stdin."""
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    if not length:
        return None
    return json.loads(sys.stdin.buffer.read(length))


def send(message: Json) -> None:
    write(framed(message))


def framed(message: Json) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def write_framed(body: bytes) -> None:
    write(b"Content-Length: %d\r\n\r\n" % len(body) + body)


def write(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]


if __name__ == "__main__":
    Fake(Path(sys.argv[1])).run()
