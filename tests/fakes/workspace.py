"""`FakeWorkspace`: a folder of text files, and the scripted server of `fake_server.py` that answers for them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec

from fakes.bounded import gone
from lsp_mcp.adapters import Adapter, Ready, Rename
from lsp_mcp.disk.feed import FeedHub
from lsp_mcp.disk.files import Files
from lsp_mcp.lsp.coverage import Coverage, Parts, SessionPlugin
from lsp_mcp.lsp.reloading.reloading import Reloading
from lsp_mcp.lsp.session import Session, SessionOptions
from lsp_mcp.servers import traits
from lsp_mcp.servers.clangd.plugin import ClangdPlugin
from lsp_mcp.servers.clangd.rules import Compilation
from lsp_mcp.servers.gopls.package_requests import PackageRequests
from lsp_mcp.servers.gopls.plugin import GoplsPlugin
from lsp_mcp.servers.gopls.rules import Changes, Projects
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


TRAITS: dict[str, Any] = {
    "documents": traits.Documents,
    "reports": traits.Reports,
    "inactive_regions": traits.InactiveRegions,
    "diagnostics": traits.Diagnostics,
    "symbols": traits.Symbols,
    "word_check": traits.WordCheck,
    "renaming": traits.Renaming,
}


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
        return self.plugin(tables, command).adapter

    def plugin(self, tables: str = "", command: tuple[str, ...] = ()) -> SessionPlugin:
        """The fake server's adapter with the plug-in that the other tables of `tables` are rules of."""
        facts = tomllib.loads(ADAPTER.format(command=json.dumps(command or self.command)) + tables)
        given = facts.keys() & {"projects", "compilation", "changes"}
        rules = {name: facts.pop(name) for name in given}
        said = {name: facts.pop(name) for name in TRAITS if name in facts}
        for name, trait, own in (("rename", "renaming", Rename), ("ready", "reports", Ready)):
            if name in facts:
                moved = facts[name].keys() - own.__struct_fields__
                said[trait] = {field: facts[name].pop(field) for field in moved}
        plugin = _plugin_for(msgspec.convert(facts, Adapter), rules)
        for name, trait in TRAITS.items():
            setattr(plugin, name, msgspec.convert(said.get(name, {}), trait))
        plugin.visibility = plugin.hierarchy = None
        return plugin

    @contextlib.asynccontextmanager
    async def session(
        self, tables: str = "", *, command: tuple[str, ...] = (), ignored: tuple[str, ...] = (), **options: Any
    ) -> AsyncIterator[Session]:
        """A session with the fake server. It is closed at the end, and every process of it must be gone then."""
        hub = FeedHub(self.root, ignored)
        session = Session(
            self.plugin(tables, command),
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


class Loading(SessionPlugin):
    """A server that is made to load what changed, by requests."""

    def __init__(self, adapter: Adapter, changes: Changes) -> None:
        super().__init__(adapter)
        self.changes = changes

    def reloading(self, coverage: Coverage, parts: Parts) -> Reloading:
        return PackageRequests(self.adapter, self.changes, parts, loads=self._loads)

    @property
    def goes_by_mtime(self) -> bool:
        return self.changes.goes_by_mtime

    async def _loads(self, path: Path) -> bool:
        return False


def _plugin_for(adapter: Adapter, rules: dict[str, Any]) -> SessionPlugin:
    """The plug-in that the tables `rules` of a test are for."""
    changes = msgspec.convert(rules.get("changes", {}), Changes)
    if "compilation" in rules:
        return ClangdPlugin(adapter, msgspec.convert(rules["compilation"], Compilation))
    if "projects" in rules:
        return GoplsPlugin(adapter, msgspec.convert(rules["projects"], Projects), changes)
    return Loading(adapter, changes) if changes != Changes() else SessionPlugin(adapter)


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
