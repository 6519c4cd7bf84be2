"""`FakeWorkspace`: a folder of text files, and the scripted server of `fake_server.py` that answers for them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fakes.bounded import gone
from lsp_mcp.adapters import Adapter, Changes, read_adapter
from lsp_mcp.disk.feed import FeedHub
from lsp_mcp.disk.files import Files
from lsp_mcp.lsp.coverage import SessionPlugin
from lsp_mcp.lsp.session import Session, SessionOptions
from lsp_mcp.servers.clangd.plugin import ClangdPlugin
from lsp_mcp.servers.gopls.plugin import GoplsPlugin
from lsp_mcp.workspace import Workspace

SERVER = Path(__file__).with_name("fake_server.py")
Action = list[Any]
Message = dict[str, Any]

ADAPTER = """
name = "fake"
title = "the fake server"
command = {command}

[[languages]]
id = "plaintext"
name = "Text"
scheme = "txt"
extensions = [".txt"]
"""


class FakeWorkspace:
    """A workspace root, and next to it the folder with the fake server's script and log."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.root.mkdir()
        self.folder = folder / "fake"
        self.folder.mkdir()
        self.script({})

    @property
    def command(self) -> tuple[str, ...]:
        return (sys.executable, "-I", "-S", str(SERVER), str(self.folder))

    def script(self, *lives: dict[str, Any]) -> None:
        """What the server does in its first, second … life; the last is for all further ones."""
        (self.folder / "script.json").write_text(json.dumps(lives), "utf-8")

    def program(self, path: Path) -> Path:
        """Make `path` a program that is the fake server, whatever its arguments."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\nexec {' '.join(self.command)}\n", "utf-8")
        path.chmod(0o755)
        return path

    def fifo(self) -> Path:
        """A new named pipe for the action `tell`."""
        path = self.folder / f"fifo{len(list(self.folder.iterdir()))}"
        os.mkfifo(path)
        return path

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def adapter(self, tables: str = "", command: tuple[str, ...] = ()) -> Adapter:
        """The fake server's adapter; `tables` is more TOML."""
        path = self.folder / "fake.toml"
        path.write_text(ADAPTER.format(command=json.dumps(command or self.command)) + tables, "utf-8")
        return read_adapter(path)

    @contextlib.asynccontextmanager
    async def session(
        self, tables: str = "", *, command: tuple[str, ...] = (), ignored: tuple[str, ...] = (), **options: Any
    ) -> AsyncIterator[Session]:
        """A session with the fake server. It is closed at the end, and every process of it must be gone then."""
        hub = FeedHub(self.root, ignored)
        adapter = self.adapter(tables, command)
        session = Session(
            _plugin_for(adapter),
            Workspace(self.root),
            Files(),
            hub.feed(),
            SessionOptions(**options),
        )
        try:
            yield session
            await session.close()
        finally:
            session.kill()
            hub.close()
        for pid in self.pids():
            await gone(pid)

    # --- what the server saw -----------------------------------------------------------------------

    def log(self) -> list[dict[str, Any]]:
        file = self.folder / "log.jsonl"
        return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []

    def pids(self) -> list[int]:
        """The processes of the server, one for each life."""
        return [entry["started"] for entry in self.log() if "started" in entry]

    def spawned(self) -> list[int]:
        """The children that the server started."""
        return [entry["spawned"] for entry in self.log() if "spawned" in entry]

    def received(self, life: int = 1) -> list[Message]:
        """All messages that came in one life, in order."""
        return [entry["message"] for entry in self.log() if entry["life"] == life and "message" in entry]

    def params(self, method: str, life: int = 1) -> list[Any]:
        """The params of every message called `method` in one life."""
        return [message.get("params") for message in self.received(life) if message.get("method") == method]

    def methods(self, life: int = 1) -> list[str]:
        """The names of all requests and notifications in one life, but for the harness's own."""
        names = [message["method"] for message in self.received(life) if "method" in message]
        return [name for name in names if not name.startswith("fake/")]


def _plugin_for(adapter: Adapter) -> SessionPlugin:
    """The plug-in with the hooks that the tables of `adapter` are for."""
    if adapter.compilation:
        return ClangdPlugin(adapter)
    is_plain = not (adapter.projects or adapter.diagnostics.syntax_command) and adapter.changes == Changes()
    return SessionPlugin(adapter) if is_plain else GoplsPlugin(adapter)


def do(*actions: Action) -> dict[str, Any]:
    """The params of a `fake/do` request."""
    return {"actions": list(actions)}


def notification(method: str, params: Any) -> Action:
    """The action that sends a notification."""
    return ["send", {"method": method, "params": params}]


def request(identifier: Any, method: str, params: Any) -> Action:
    """The action that sends a request of the server's own."""
    return ["send", {"id": identifier, "method": method, "params": params}]


def replies(messages: list[Message]) -> dict[Any, Message]:
    """The answers among `messages`, by their id."""
    return {message["id"]: message for message in messages if "method" not in message}


def end_process(pid: int) -> None:
    """kill -9, for what a test left behind on purpose."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
