"""A minimal client of the Debug Adapter Protocol for steps: `Bare`, and `begin`.

It takes the adapter's command and launch arguments from lsp-mcp. Framing, requests and events are its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

from lsp_mcp.dap.plan import Plan
from lsp_mcp.dap.process import SOCKET

_BOUND = 60  # seconds for whatever is waited for: a hang


class Bare:
    """One connection to an adapter."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, terminals: list[Any]) -> None:
        self._reader, self._writer, self._terminals = reader, writer, terminals
        self._count = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._stops: asyncio.Queue[Any] = asyncio.Queue()
        self.initialized = asyncio.Event()
        self.child: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read())

    def send(self, command: str, **arguments: Any) -> asyncio.Future[Any]:
        """The future answer of a request."""
        self._count += 1
        answer = self._waiting[self._count] = asyncio.get_running_loop().create_future()
        self._write({"seq": self._count, "type": "request", "command": command, "arguments": arguments})
        return answer

    async def stopped(self) -> int:
        """The thread of the next stop."""
        async with asyncio.timeout(_BOUND):
            return int((await self._stops.get())["threadId"])

    async def step(self, thread: int, wanted: str) -> tuple[int, int]:
        """Step, and ask for the stack and the variables of the scopes that match `wanted`, as the tools do.

        Gives the thread that stands now, and its line.
        """
        await self.send("next", threadId=thread)
        thread = await self.stopped()
        frames = (await self.send("stackTrace", threadId=thread, startFrame=0, levels=20))["stackFrames"]
        scopes = (await self.send("scopes", frameId=frames[0]["id"]))["scopes"]
        shown = [one["variablesReference"] for one in scopes if re.search(wanted, one["name"])]
        await asyncio.gather(*(self.send("variables", variablesReference=one) for one in shown))
        return thread, frames[0]["line"]

    def close(self) -> None:
        """End the connection."""
        self._reading.cancel()
        self._writer.close()

    def _write(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    async def _read(self) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await self._reader.readuntil(b"\r\n\r\n")
                length = int(re.search(rb"Content-Length: (\d+)", head)[1])  # type: ignore[index]
                await self._heard(json.loads(await self._reader.readexactly(length)))

    async def _heard(self, message: dict[str, Any]) -> None:
        match message["type"], message.get("command") or message.get("event"):
            case "response", _:
                answer = self._waiting.pop(message["request_seq"])
                if message["success"]:
                    answer.set_result(message.get("body") or {})
                else:
                    answer.set_exception(RuntimeError(str(message.get("message"))))
            case "event", "stopped":
                self._stops.put_nowait(message["body"])
            case "event", "initialized":
                self.initialized.set()
            case "request", "startDebugging":
                self._reply(message, {})
                self.child.set_result(message["arguments"])
            case "request", "runInTerminal":
                run = message["arguments"]
                env = {**os.environ, **{key: value for key, value in (run.get("env") or {}).items() if value}}
                process = await asyncio.create_subprocess_exec(
                    *run["args"], cwd=run["cwd"], env=env, stdin=-3, stdout=-3, stderr=-3, start_new_session=True
                )
                self._terminals.append(process)
                self._reply(message, {"processId": process.pid})

    def _reply(self, message: dict[str, Any], body: dict[str, Any]) -> None:
        self._write(
            {
                "type": "response",
                "seq": 0,
                "request_seq": message["seq"],
                "success": True,
                "command": message["command"],
            }
            | {"body": body}
        )


@asynccontextmanager
async def begin(plan: Plan, path: Path, line: int) -> AsyncIterator[tuple[Bare, int]]:
    """The program of `plan`, stopped at a line, and the thread that is there; ended at the end."""
    folder = tempfile.TemporaryDirectory(prefix="bare-")
    socket = str(Path(folder.name, "dap")) if SOCKET in plan.command else ""
    process = await asyncio.create_subprocess_exec(
        *(word.replace(SOCKET, socket) for word in plan.command),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=plan.cwd,
        env={**os.environ, **plan.adapter.adapter_env},
        start_new_session=True,
    )
    terminals: list[Any] = []
    bares: list[Bare] = []
    try:
        async with asyncio.timeout(_BOUND):
            assert process.stdin and process.stdout
            port = 0
            if plan.adapter.listening:
                while not (said := re.search(plan.adapter.listening, (await process.stdout.readline()).decode())):
                    pass
                port = 0 if socket else int(said[1])
            request, arguments = plan.request, plan.final_arguments(Path(os.devnull))
            while True:
                if socket:
                    streams = await asyncio.open_unix_connection(socket)
                elif port:
                    streams = await asyncio.open_connection("127.0.0.1", port)
                else:
                    streams = process.stdout, process.stdin
                bare = Bare(*streams, terminals)
                bares.append(bare)
                await bare.send("initialize", adapterID=plan.adapter.types[0], supportsRunInTerminalRequest=True,
                                supportsStartDebuggingRequest=True, pathFormat="path")  # fmt: skip
                launched = bare.send(request, **arguments)
                await bare.initialized.wait()
                await bare.send("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": line}])
                await bare.send("configurationDone")
                stopping = asyncio.create_task(bare.stopped())
                await asyncio.wait({stopping, bare.child}, return_when=asyncio.FIRST_COMPLETED)
                if stopping.done():
                    await launched
                    yielded = bare, stopping.result()
                    break
                stopping.cancel()
                request, arguments = bare.child.result()["request"], bare.child.result()["configuration"]
            await bare.send("setBreakpoints", source={"path": str(path)}, breakpoints=[])
        yield yielded
    finally:
        for bare in bares:
            bare.close()
        for one in [*terminals, process]:
            with contextlib.suppress(psutil.NoSuchProcess):
                root = psutil.Process(one.pid)
                # What it debugs may lead a group of its own.
                for below in [*root.children(recursive=True), root]:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        below.kill()
            await one.wait()
        folder.cleanup()
