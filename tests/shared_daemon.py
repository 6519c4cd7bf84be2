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

from lsp_mcp.edits.apply import apply_plan
from lsp_mcp.edits.plan import EditPlan, FileChange
from lsp_mcp.edits.policy import EditPolicy
from lsp_mcp.text import Text
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


def killed_half_way(desk: Desk) -> None:
    """A rename from the folder above the project was killed: `a.go` has the new name, a file above the old one."""
    files = [desk.root / "a.go", desk.root.parent / "above.go"]
    files[1].write_text("package above\n\nvar One = 1\n")
    pid = os.fork()
    if pid == 0:
        replace = os.replace

        def dies_later(old: Path, new: Path) -> None:
            if Path(new) != files[0]:
                os._exit(9)
            replace(old, new)

        os.replace = dies_later  # type: ignore[assignment]
        try:
            texts = [(path, path.read_text()) for path in files]
            steps = [FileChange(path, Text(text), text.replace("One", "Uno"), ()) for path, text in texts]
            apply_plan(EditPolicy(desk.root.parent).check(EditPlan(tuple(steps))))
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    assert "Uno" in files[0].read_text() and "One" in files[1].read_text()


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
