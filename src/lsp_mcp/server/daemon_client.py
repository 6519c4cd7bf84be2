"""A client of a shared daemon, in a program that has several: `DaemonClient`."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import queue
import threading
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR

from lsp_mcp.backend import Report
from lsp_mcp.door.forward import Forwarding
from lsp_mcp.door.request import DaemonRequest
from lsp_mcp.server.plain_messages import VERSIONS

log = logging.getLogger(__name__)

Json = dict[str, Any]


class DaemonClient:
    """One session in the daemon named by `request`, over its own connection.

    As for a session on stdio, a daemon that ended is replaced, questions are repeated, edits are not. For one event
    loop; `close` ends it.
    """

    def __init__(self, request: DaemonRequest, name: str, version: str) -> None:
        """`name` and `version` are those of the program that is served."""
        self._loop = asyncio.get_running_loop()
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Json]] = {}
        self._reports: dict[int, Report] = {}
        self._reporting: set[asyncio.Task[None]] = set()
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        params = {
            "protocolVersion": VERSIONS[-1],
            "capabilities": {},
            "clientInfo": {"name": name, "version": version},
        }
        _, self._introduced = self._ask("initialize", params)
        self._say({"method": "notifications/initialized"})
        forwarding = Forwarding(request, None, None, self)
        threading.Thread(target=forwarding.run, daemon=True).start()

    async def introduced(self) -> Json:
        """The daemon's answer to `initialize`. Raises the errors of `request`."""
        return _result(await asyncio.shield(self._introduced))

    async def request(self, method: str, params: Json, report: Report | None = None) -> Json:
        """The result of a request; cancelling this cancels it in the daemon. `report` receives its progress.

        Raises:
            MCPError: the daemon answers with an error, or no daemon is available.
        """
        number, answer = self._ask(method, params, report)
        try:
            return _result(await answer)
        except asyncio.CancelledError:
            params = {"requestId": number, "reason": "the client has cancelled it"}
            self._say({"method": "notifications/cancelled", "params": params})
            raise
        finally:
            self._answers.pop(number, None)
            self._reports.pop(number, None)

    def close(self) -> None:
        """Disconnect; the daemon ends what is still running. Idempotent."""
        self._lines.put(b"")

    # --- for the forwarding, in its own threads; see `door.forward.Client` ------------------------

    def read(self) -> bytes:
        """See `Client.read`."""
        return self._lines.get()

    def write(self, message: bytes) -> None:
        """See `Client.write`."""
        try:
            self._loop.call_soon_threadsafe(self._on_message, message)
        except RuntimeError:
            raise BrokenPipeError from None  # the loop has ended

    def over(self) -> None:
        """See `Client.over`."""

    # --- inside ------------------------------------------------------------------------------------

    def _ask(self, method: str, params: Json, report: Report | None = None) -> tuple[int, asyncio.Future[Json]]:
        """Send a request; returns its number, and its answer: a JSON-RPC response with `result` or `error`."""
        number = next(self._ids)
        if report:
            self._reports[number] = report
            params = {**params, "_meta": {"progressToken": number}}
        self._answers[number] = self._loop.create_future()
        self._say({"id": number, "method": method, "params": params})
        return number, self._answers[number]

    def _say(self, message: Json) -> None:
        self._lines.put(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _on_message(self, line: bytes) -> None:
        message = json.loads(line)
        if answer := self._answers.pop(message.get("id"), None):
            if not answer.done():  # it was cancelled just now
                answer.set_result(message)
        elif message.get("method") == "notifications/progress":
            task = asyncio.create_task(self._progressed(message["params"]))
            self._reporting.add(task)
            task.add_done_callback(self._reporting.discard)

    async def _progressed(self, params: Json) -> None:
        if report := self._reports.get(params["progressToken"]):
            try:
                await report(params["progress"], params.get("total"), params.get("message", ""))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                log.info("a client no longer receives the progress of a call")


def _result(answer: Json) -> Json:
    if "result" in answer:
        result: Json = answer["result"]
        return result
    error = answer.get("error", {})
    raise MCPError(error.get("code", INTERNAL_ERROR), error.get("message", ""), error.get("data"))
