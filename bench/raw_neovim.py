"""The lower bound of the measurements through Neovim: `RawNeovim` starts one, and asks its language client in it.

As in `raw_client`, there is nothing in between: one blocking socket, one msgpack each way.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import msgpack

from lsp_mcp.adapters import Adapter

_TIMEOUT = 120.0  # seconds without a byte from Neovim
_START_TIMEOUT = 20.0  # seconds
_END_TIMEOUT = 5.0  # seconds
_CHUNK = 1 << 20  # bytes per read
_ENABLE = "local name, config = ... vim.lsp.config(name, config) vim.lsp.enable(name)"
_OPEN = "local buffer = vim.fn.bufadd(...) vim.fn.bufload(buffer) vim.bo[buffer].buflisted = true"
_ATTACHED = "local client = vim.lsp.get_clients({ name = ... })[1] return client and client.offset_encoding"
_ASK = """
local channel, name, method, params = ...
local client, begun = vim.lsp.get_clients({ name = name })[1], vim.uv.hrtime()
client:request(method, params, function(err, result)
  local taken = vim.uv.hrtime() - begun
  vim.rpcnotify(channel, 'answered', taken, err or vim.NIL, result == nil and vim.NIL or result)
end)
"""
_READ = """
local begun = vim.uv.hrtime()
local lines = vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, true)
return { vim.uv.hrtime() - begun, lines }
"""


@dataclass(frozen=True)
class Answer:
    """A result, and how many milliseconds it took: in Neovim itself, and for a client of the socket."""

    result: Any
    inside: float
    outside: float


class RawNeovim:
    """A started headless Neovim whose language server is that of `adapter`, with nothing of the user's.

    Raises, from every method:
        RuntimeError: Neovim or the server refused, ended, or was silent for 120 s.
    """

    def __init__(self, adapter: Adapter, command: Sequence[str], root: Path, folder: Path) -> None:
        self.adapter = adapter
        self.root = root
        self.unit = "utf-16"  # what characters are counted in, once the server is attached
        self.socket = str(folder / "nvim.sock")
        self.command = command
        self._unpacker = msgpack.Unpacker(strict_map_key=False, max_buffer_size=1 << 30)
        self._id = 0
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.settimeout(_TIMEOUT)
        try:
            self._process = subprocess.Popen(
                ["nvim", "--headless", "--clean", "-n", "--listen", self.socket],
                cwd=root,
                env={**os.environ, "XDG_STATE_HOME": str(folder), "NVIM_LOG_FILE": str(folder / "log")},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except FileNotFoundError:
            raise RuntimeError("Neovim is not installed; run: make tools") from None

    def __enter__(self) -> Self:
        try:
            _until(self._connected, "Neovim did not start")
            self._channel = self._call("nvim_get_api_info")[0]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()
        self._process.terminate()  # Neovim then ends its servers
        try:
            self._process.wait(_END_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def version(self) -> str:
        """Neovim's."""
        return str(self._lua("return tostring(vim.version())"))

    @property
    def loaded(self) -> int:
        """How many buffers of files are loaded."""
        return int(self._lua("return #vim.fn.getbufinfo({ bufloaded = 1, buflisted = 1 }) - 1"))  # one has no name

    def enable(self) -> None:
        """Have Neovim start the server with the first file of its languages, as a person configures that."""
        settings = self.adapter.settings
        config = {
            "cmd": list(self.command),
            "filetypes": [language.id for language in self.adapter.languages],
            "root_dir": str(self.root),
            "settings": {settings.section: settings.values} if settings.section else {},
        }
        self._lua(_ENABLE, self.adapter.name, config)

    def open(self, path: Path) -> None:
        """Load a file into a listed buffer, and wait until the server is attached."""
        self._lua(_OPEN, str(path))
        _until(lambda: self._lua(_ATTACHED, self.adapter.name), f"{self.adapter.name} was not attached")
        self.unit = self._lua(_ATTACHED, self.adapter.name)

    def request(self, method: str, params: Any) -> Any:
        """The result of one request to the server."""
        return self.ask(method, params).result

    def ask(self, method: str, params: Any) -> Answer:
        """One request to the server."""
        start = time.perf_counter()
        self._send("nvim_exec_lua", _ASK, [self._channel, self.adapter.name, method, params])
        while True:
            match self._message():
                case [1, _, error, _] if error:
                    raise RuntimeError(f"Neovim: {error}")
                case [2, "answered", [nanoseconds, error, result]]:
                    if error:
                        raise RuntimeError(f"{method} was refused: {error}")
                    return Answer(result, nanoseconds / 1e6, (time.perf_counter() - start) * 1000)

    def read(self, path: Path) -> Answer:
        """The lines of a loaded file."""
        start = time.perf_counter()
        nanoseconds, lines = self._lua(_READ, str(path))
        return Answer(lines, nanoseconds / 1e6, (time.perf_counter() - start) * 1000)

    # --- inside ------------------------------------------------------------------------------------

    def _lua(self, code: str, *arguments: Any) -> Any:
        return self._call("nvim_exec_lua", code, arguments)

    def _call(self, method: str, *arguments: Any) -> Any:
        self._send(method, *arguments)
        while True:
            match self._message():
                case [1, self._id, error, result]:
                    if error:
                        raise RuntimeError(f"Neovim: {error}")
                    return result

    def _send(self, method: str, *arguments: Any) -> None:
        self._id += 1
        self._connection.sendall(msgpack.packb([0, self._id, method, arguments]))

    def _message(self) -> Any:
        while True:
            for message in self._unpacker:
                return message
            data = self._connection.recv(_CHUNK)
            if not data:
                raise RuntimeError("Neovim ended")
            self._unpacker.feed(data)

    def _connected(self) -> bool:
        try:
            self._connection.connect(self.socket)
        except OSError:
            return False
        return True


def _until(condition: Callable[[], object], otherwise: str) -> None:
    end = time.monotonic() + _START_TIMEOUT
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{otherwise} within {_START_TIMEOUT:g} s")
        time.sleep(0.02)
