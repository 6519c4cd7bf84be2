"""lsp-mcp as seen by a client: `session` runs the program, `Session.ask` is one call, `Answer` its result."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from graph import Place
from mcp import Client, StdioServerParameters

_PROGRAM = str(Path(sys.executable).with_name("lsp-mcp"))
# The user's own Go settings must not change the answers, and nothing is downloaded.
_ENV = {"GOFLAGS": "", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOWORK": "", "GO111MODULE": ""}
_TIMES = 4
# A slow machine must not look like an answer that cannot be proven.
_PATIENT = ["--request-timeout", "120", "--answer-within", "15"]
ALL = 10_000  # the maximum number of results of a tool


@dataclass(frozen=True)
class Answer:
    """The result of one call: `error` is "" unless it was refused; `json` is empty then."""

    tool: str
    arguments: dict[str, Any]
    json: dict[str, Any]
    error: str

    @property
    def hiding(self) -> list[dict[str, Any]]:
        """The gaps because of which something may be missing."""
        return [gap for gap in self.json.get("gaps", []) if gap["hides"]]

    @property
    def lacks_unnamed(self) -> bool:
        """Whether its only gap are uses without the name of the symbol: where objects are destroyed, and the like."""
        return len(self.hiding) == 1 and self.status.startswith("not counted: uses without its name")

    @property
    def status(self) -> str:
        """The sentence, or the error."""
        return self.error or str(self.json.get("status", ""))

    @property
    def remarks(self) -> bool:
        """Whether it says that an anchor may mean, or was taken for, another place."""
        by_anchor = "#" in self.arguments.get("symbol_anchor", self.arguments.get("symbol", ""))
        # A place that was handed out for two symbols is doubtful; the text names the one that the answer is about.
        is_named = any(gap["kind"] == "resolved" for gap in self.json.get("gaps", []))
        return by_anchor and (is_named or "has stood for two symbols" in self.status)

    def names(self, files: set[str]) -> bool:
        """Whether its gaps name all `files`, each itself or a folder above it; a gap without files is about all."""
        if any("files" not in gap or gap.get("more_files") for gap in self.hiding):
            return True
        named = [file.rstrip("/") for gap in self.hiding for file in gap["files"]]
        return all(any(one in (file, ".") or file.startswith(f"{one}/") for one in named) for file in files)

    def command(self) -> str:
        """The same from a shell."""
        words = " ".join(f"{key}={value}" for key, value in self.arguments.items())
        return f"lsp-mcp --format json call {self.tool} {words}"


class Session:
    """The program serving one tree."""

    def __init__(self, portal: BlockingPortal, client: Client, scheme: str) -> None:
        self._portal = portal
        self._client = client
        self._scheme = scheme
        self.calls = self.again = 0

    def anchor(self, place: Place) -> str:
        """The anchor of `place`, as a caller writes it."""
        return f"{self._scheme}://{place.shown}"

    def ask(self, tool: str, **arguments: Any) -> Answer:
        """One call; repeated, as a reader would, while the status says that the answer is still being verified."""
        for _ in range(_TIMES):
            answer = self._called(tool, arguments)
            self.calls += 1
            if not any(gap["kind"] == "unverified" for gap in answer.hiding):
                break
            self.again += 1
        return answer

    def _called(self, tool: str, arguments: dict[str, Any]) -> Answer:
        result = self._portal.call(self._client.call_tool, tool, arguments)
        text = "\n".join(block.text for block in result.content if block.type == "text")
        return Answer(tool, arguments, {} if result.is_error else json.loads(text), text if result.is_error else "")


@contextmanager
def session(backend: str, folder: Path, cache: Path) -> Iterator[Session]:
    """`lsp-mcp` on `folder`, with an index of its own in `cache`; it has ended at the end."""
    schemes = {"gopls": "go", "clangd": "cpp", "typescript": "ts", "basedpyright": "py", "rust-analyzer": "rs"}
    scheme = schemes.get(backend, "")
    options = [
        "--backend",
        backend,
        "--workspace-root",
        str(folder),
        "--ready-timeout",
        "300",
        "--log-level",
        "error",
        "--format",
        "json",
    ]
    # A server of its own: the parts are independent, and nothing is left running.
    env = {**os.environ, **_ENV, "LSP_MCP_CACHE": str(cache), "LSP_MCP_SHARED": "0"}
    server = StdioServerParameters(command=_PROGRAM, args=[*options, *_PATIENT], env=env)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server, mode="legacy")) as client:
        yield Session(portal, client, scheme)


def place(item: dict[str, Any]) -> Place:
    """The place of a result; one in a dependency that is inside of the tree is outside of what is examined."""
    at = item["location"]
    outside = "/" if at["file"].startswith("node_modules/") else ""
    return Place(f"{outside}{at['file']}", at["line"], at["character"])
