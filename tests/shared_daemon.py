"""A project whose sessions share a daemon: `Desk`, and what is asked of them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from mcp_process import BOUND, GO_ENV, PROGRAM, Raw

SOURCES = {
    "go.mod": "module example.com/shared\n\ngo 1.23\n",
    "a.go": "package shared\n\nfunc One() {}\n\nfunc Two() { One() }\n",
}
REFERENCES = ("find_symbol_references_by_anchor", {"symbol_anchor": "One", "format": "compact"})


class Desk:
    """A project, and the folder in which its daemons are found."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        for name, text in SOURCES.items():
            (self.root / name).write_text(text)
        # In /tmp: the path of a socket must be short.
        self.runtime = Path(tempfile.mkdtemp(prefix="lsp-mcp-run-", dir="/tmp"))
        weakref.finalize(self, shutil.rmtree, self.runtime, ignore_errors=True)
        self.home = self.runtime / "lsp-mcp"
        # pytest's own variable differs from one moment to the next, and would be another environment.
        self.env = {"LSP_MCP_SHARED": "1", "XDG_RUNTIME_DIR": str(self.runtime), "PYTEST_CURRENT_TEST": ""}

    @contextmanager
    def client(self, *flags: str, **env: str) -> Iterator[Raw]:
        """A session that has been initialized."""
        raw = Raw("--workspace-root", str(self.root), *flags, env={**self.env, **env})
        try:
            raw.initialize()
            yield raw
        finally:
            raw.process.kill()
            raw.process.wait()

    def run(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        """`lsp-mcp WORDS` in the project."""
        return subprocess.run(
            [PROGRAM, *words],
            cwd=self.root,
            env={**os.environ, **GO_ENV, **self.env, **env},
            capture_output=True,
            text=True,
            timeout=BOUND,
            check=False,
        )

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """The same, which goes on."""
        env = {**os.environ, **GO_ENV, **self.env}
        return subprocess.Popen([PROGRAM, *words], cwd=self.root, env=env, stdin=-1, stdout=-1, stderr=-1)

    def status(self) -> list[dict[str, Any]]:
        """What `lsp-mcp daemon status` tells."""
        return json.loads(self.run("daemon", "status", "--json").stdout)

    def daemon(self) -> psutil.Process:
        """The only one."""
        (about,) = self.status()
        return psutil.Process(about["pid"])


class Played:
    """A daemon of which the test says what it answers."""

    def __init__(self, listening: socket.socket) -> None:
        self._connection, _ = listening.accept()
        self._stream = self._connection.makefile("rwb")

    def line(self) -> bytes:
        return self._stream.readline()

    def heard(self) -> dict[str, Any]:
        return json.loads(self.line())

    def say(self, message: dict[str, Any]) -> None:
        self._stream.write(json.dumps(message).encode() + b"\n")
        self._stream.flush()

    def reads_no_more(self) -> None:
        self._connection.shutdown(socket.SHUT_RD)

    def close(self) -> None:
        self._stream.close()
        self._connection.close()


@contextmanager
def played(desk: Desk) -> Iterator[tuple[socket.socket, dict[str, Any]]]:
    """Where doors of the project come to, and the tools that the last daemon listed there."""
    with desk.client() as first:
        tools = first.request("tools/list")["result"]
        (log,) = desk.home.glob("*.log")
    desk.run("daemon", "stop", "--all")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.settimeout(BOUND)
        listening.bind(str(log.with_suffix(".sock")))
        listening.listen()
        yield listening, tools
        if listening.fileno() >= 0:  # else the next daemon may listen there
            log.with_suffix(".sock").unlink()


def answer(result: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in result["content"])


def ask(client: Raw) -> str:
    return answer(client.call(REFERENCES[0], **REFERENCES[1]))
