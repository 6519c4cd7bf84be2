"""The lower bound of every measurement: `RawClient` asks a language server directly.

It blocks on purpose: a request is one write, followed by reads until the answer is there. Without threads, event loop
or models, its time is the server's, including one JSON text each way.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from lsp_mcp.adapters import Adapter
from lsp_mcp.lsp.process.initialize import initialize_params
from lsp_mcp.servers.registry import plugin_of

_TIMEOUT = 600.0  # seconds without a byte from the server; clangd indexes at the lowest priority
_CHUNK = 1 << 20  # bytes per read


class ServerRefusedError(RuntimeError):
    """The server's error as the answer to a request."""


class RawClient:
    """A started language server; it is offered and configured as lsp-mcp does it, so that both ask the same, but for
    `program_env`: it runs its programs as it does for anybody.

    A server that keeps an index of what is in a compilation database does so in `cache`, as under lsp-mcp.

    Raises, from every method:
        RuntimeError: the server ended, or was silent for 600 s; its subclass `ServerRefusedError` if it refused.
    """

    def __init__(self, adapter: Adapter, command: Sequence[str], root: Path, cache: Path) -> None:
        self.adapter = adapter
        self.root = root
        self.unit = "utf-16"  # what characters are counted in, once `initialize` has agreed on it
        self.answer_size = 0  # bytes of the last answer's body
        if adapter.name == "clangd":
            cache.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / "compile_commands.json", cache)
            command = [*command, f"--compile-commands-dir={cache}"]
        self._process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdin
        assert self._process.stdout
        self._input, self._output = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._buffer = bytearray()
        self._id = 0
        self._open: set[Path] = set()
        self._reloading: set[Any] = set()  # tokens of the progress that tells
        self._loaded = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        self._process.communicate()

    def initialize(self) -> None:
        """Do the handshake."""
        result = self.request("initialize", initialize_params(plugin_of(self.adapter), self.root))
        self.unit = result["capabilities"].get("positionEncoding") or self.unit
        self.notify("initialized", {})

    def open(self, path: Path) -> None:
        """Open a document unless it is open; it stays open."""
        if path in self._open:
            return
        self._open.add(path)
        language = self.adapter.language_of(path)
        assert language
        item = {"uri": path.as_uri(), "languageId": language.id, "version": 1, "text": path.read_text("utf-8")}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def wait_until_loaded(self) -> None:
        """Wait until the progress that the adapter names has begun and ended, for a server that answers before."""
        while not self._loaded:
            self._message()

    def request(self, method: str, params: Any) -> Any:
        """The result of one request; `answer_size` is then the bytes of its answer."""
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        while True:
            message, size = self._message()
            if "method" not in message and message["id"] == self._id:
                if error := message.get("error"):
                    raise ServerRefusedError(f"{method} was refused: {error['message']}")
                self.answer_size = size
                return message["result"]

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    # --- inside ------------------------------------------------------------------------------------

    def _message(self) -> tuple[dict[str, Any], int]:
        """The next message and the bytes of its body; what the server asks is answered."""
        body = self._receive()
        message: dict[str, Any] = json.loads(body)
        if "method" in message and "id" in message:
            self._reply(message)
        elif message.get("method") == "$/progress":
            self._note(message["params"]["token"], message["params"]["value"])
        return message, len(body)

    def _reply(self, message: dict[str, Any]) -> None:
        """Answer a request of the server: its settings, else nothing."""
        result = None
        if message["method"] == "workspace/configuration":
            result = [self.adapter.settings.values for _ in message["params"]["items"]]
        self._send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _note(self, token: Any, progress: dict[str, Any]) -> None:
        if progress["kind"] == "begin" and progress["title"] == self.adapter.ready.progress_title:
            self._reloading.add(token)
        elif progress["kind"] == "end" and token in self._reloading:
            self._loaded = True

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message, separators=(",", ":")).encode()
        data = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        while data:
            data = data[os.write(self._input, data) :]

    def _receive(self) -> bytes:
        """The next message's body."""
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            self._read()
        header = bytes(self._buffer[:end]).lower()
        start = end + 4
        size = int(header.partition(b"content-length:")[2].split(b"\r\n")[0])
        while len(self._buffer) < start + size:
            self._read()
        body = bytes(self._buffer[start : start + size])
        del self._buffer[: start + size]
        return body

    def _read(self) -> None:
        if not select.select([self._output], [], [], _TIMEOUT)[0]:
            raise RuntimeError(f"{self.adapter.name} was silent for {_TIMEOUT:g} s")
        data = os.read(self._output, _CHUNK)
        if not data:
            raise RuntimeError(f"{self.adapter.name} ended")
        self._buffer += data
