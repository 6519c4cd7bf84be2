"""`lsp-mcp` as a process of its own: with a client of the MCP SDK, or message by message."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

from anyio.from_thread import BlockingPortal, start_blocking_portal
from inotify_simple import INotify, flags
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent, Tool

Json = dict[str, Any]
Mode = Literal["auto", "legacy"]
MODES: tuple[Mode, ...] = ("auto", "legacy")

BOUND = 60  # seconds for whatever is waited for: a hang, not a measurement
PROGRAM = str(Path(sys.executable).with_name("lsp-mcp"))
# What a person's own Go settings are must not change the answers, and nothing is fetched.
GO_ENV = {"GOFLAGS": "", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOWORK": "", "GO111MODULE": ""}


class Connected:
    """A running server and its client, for tests that are not coroutines."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client

    def tools(self) -> list[Tool]:
        return self._portal.call(self.client.list_tools).tools

    def call(self, tool: str, /, **arguments: Any) -> CallToolResult:
        return self.start(tool, **arguments).result(BOUND)

    def answer(self, tool: str, /, **arguments: Any) -> str:
        """The text of a call that succeeds."""
        result = self.call(tool, **arguments)
        assert not result.is_error, text(result)
        return text(result)

    def error(self, tool: str, /, **arguments: Any) -> str:
        """The text of a call that fails."""
        result = self.call(tool, **arguments)
        assert result.is_error, text(result)
        return text(result)

    def start(self, tool: str, /, **arguments: Any) -> Future[CallToolResult]:
        """A call that goes on by itself; cancelling the future cancels it."""
        return self._portal.start_task_soon(self.client.call_tool, tool, arguments)


def as_json(arguments: Sequence[str]) -> list[str]:
    """`arguments` of a server whose answers a test reads, as a script would."""
    is_server = not arguments or arguments[0].startswith("-")
    return ["--format", "json", *arguments] if is_server and "--format" not in arguments else list(arguments)


@contextmanager
def connected(*arguments: str, mode: Mode = "auto", env: Mapping[str, str] | None = None) -> Iterator[Connected]:
    """`lsp-mcp ARGUMENTS` on stdio with a client; it has ended at the end. Answers are JSON by default."""
    parameters = StdioServerParameters(
        command=PROGRAM, args=[*as_json(arguments), "--log-level", "error"], env={**os.environ, **GO_ENV, **(env or {})}
    )
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(parameters, mode=mode)) as client:
        yield Connected(portal, client)


def text(result: CallToolResult) -> str:
    """The one text of a result."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


class Raw:
    """`lsp-mcp ARGUMENTS` on stdio, message by message, in the 2025 protocol. Ends by `kill`."""

    def __init__(self, *arguments: str, env: Mapping[str, str] | None = None, **options: Any) -> None:
        self.stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            [PROGRAM, *as_json(arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            env={**os.environ, **GO_ENV, **(env or {})},
            **options,
        )
        self._buffer = b""
        self._id = 0

    def initialize(self) -> Json:
        """The handshake; the server's answer."""
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        result = self.request("initialize", client)
        self.send({"method": "notifications/initialized"})
        return result["result"]

    def request(self, method: str, params: Any = None) -> Json:
        """The response, which has a `result` or an `error`."""
        self._id += 1
        self.send({"id": self._id, "method": method, "params": params or {}})
        while (message := self.receive()).get("id") != self._id:
            pass
        return message

    def call(self, tool: str, /, **arguments: Any) -> Json:
        """The result of a tool as it is on the wire."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})["result"]

    def send(self, message: Json) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def write(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def receive(self) -> Json:
        """The next message: every line on stdout must be one."""
        message: Json = self.receive_any()
        assert message["jsonrpc"] == "2.0", message
        return message

    def receive_any(self) -> Any:
        """The next message, or several as a batch."""
        assert self.process.stdout
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], BOUND)
            data = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            assert data, f"no message came; stderr: {self.said()}"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)

    def rest(self) -> bytes:
        """What stdout has after everything received; the process must have ended."""
        assert self.process.stdout
        return self._buffer + self.process.stdout.read()

    def said(self) -> str:
        """What stderr has until now."""
        self.stderr.seek(0)
        return self.stderr.read().decode("utf-8", "replace")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(BOUND)
        for stream in (self.process.stdin, self.process.stdout, self.stderr):
            assert stream
            stream.close()


@contextmanager
def raw(*arguments: str, **options: Any) -> Iterator[Raw]:
    """A `Raw` server, killed at the end if it has not ended."""
    server = Raw(*arguments, **options)
    try:
        yield server
    finally:
        server.kill()


def descendants(pid: int) -> list[int]:
    """Every process below `pid`."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text("utf-8", "replace")
            except OSError:
                continue  # it has just ended
            parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    below = [pid]
    for one in below:
        below += [child for child, parent in parents.items() if parent == one]
    return below[1:]


class Watched:
    """Processes whose end can be waited for, whatever their parents are by then."""

    def __init__(self, pids: list[int]) -> None:
        self._descriptors: dict[int, int] = {}
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # it has just ended, as a `go list` does
                self._descriptors[pid] = os.pidfd_open(pid)
        self.pids = list(self._descriptors)

    def wait_gone(self) -> None:
        for pid, descriptor in self._descriptors.items():
            ended, _, _ = select.select([descriptor], [], [], BOUND)
            os.close(descriptor)
            assert ended, f"process {pid} still runs"


def wait_until(condition: Callable[[], bool], folder: Path) -> None:
    """Wait for `condition`, which is looked at whenever a file in `folder` changes."""
    with INotify() as inotify:
        inotify.add_watch(folder, flags.MODIFY | flags.CREATE | flags.MOVED_TO)
        end = time.monotonic() + BOUND
        while not condition():
            assert inotify.read(timeout=max(0, int((end - time.monotonic()) * 1000))), "it did not become true"


def without_rights() -> Callable[[], None]:
    """For `preexec_fn`: the program is subject to permission bits, even where the tests run as root.

    It leaves the capabilities that let root read everything (Linux) out of what programs can get.
    """
    import ctypes

    drop = partial(ctypes.CDLL(None).prctl, 24)  # PR_CAPBSET_DROP

    def before_exec() -> None:
        for capability in (1, 2):  # DAC_OVERRIDE, DAC_READ_SEARCH
            drop(capability, 0, 0, 0)

    return before_exec


def end_by(server: Raw, how: Literal["end of input"] | signal.Signals) -> None:
    """Make the server end."""
    if how == "end of input":
        assert server.process.stdin
        server.process.stdin.close()
    else:
        server.process.send_signal(how)
