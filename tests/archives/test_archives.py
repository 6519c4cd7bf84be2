"""Each archive in this folder, on each backend: the answers and the files are those that it shows."""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from archives.archive import Archive, Marks, Section, content, parse, shown, tool_and_words
from archives.workspaces import CallTool, Open, direct, through_neovim
from lsp_mcp.adapters import Adapter, load_adapter
from lsp_mcp.anchors import parse_anchor
from lsp_mcp.errors import LspMcpError, MissingProgramError
from lsp_mcp.toolsets.offered import TOOLSETS
from lsp_mcp.toolsets.tool import declared_tools
from lsp_mcp.visible import json_text

ARCHIVES = sorted(Path(__file__).parent.glob("*.txtar"))
WAYS = {"direct": direct, "neovim": through_neovim}
VARYING = {"clangdVersion", "clangdPath", "filesIndexed", "indexChanged", "memoryBytes"}  # of lm_clangd_status
TIMEOUT = 120.0  # seconds for one archive
GO_ENV = {"GOFLAGS": "", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOWORK": "", "GO111MODULE": "", "GOOS": ""}


@pytest.fixture(autouse=True)
def go_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's own Go settings must not change the answers, and nothing is fetched."""
    for name, value in GO_ENV.items():
        monkeypatch.setenv(name, value)


def every_run() -> Iterator[ParameterSet]:
    """Each archive with each way to its server, but for the ways that its `only:` leaves out."""
    for path in ARCHIVES:
        archive = parse(path.read_text("utf-8"))
        for way in archive.directives("only") or WAYS:
            yield pytest.param(path, way, id=f"{path.stem}-{way}")


@pytest.mark.parametrize(("path", "way"), list(every_run()))
def test_archive(path: Path, way: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    expected = path.read_text("utf-8")
    archive = parse(expected)
    try:
        open_workspace = WAYS[way](archive.backend, archive.directives("toolset"))
    except MissingProgramError as error:
        pytest.skip(f"{archive.backend}: {error}")
    asyncio.run(asyncio.wait_for(Run(archive, tmp_path / "top", way).everything(open_workspace), TIMEOUT))
    if str(archive) == expected:
        return
    if request.config.getoption("update"):
        path.write_text(str(archive), "utf-8")
        return
    was, now = expected.split("\n"), str(archive).split("\n")
    diff = difflib.unified_diff(was, now, "expected", "got", lineterm="", n=4)
    pytest.fail("\n".join([*diff, "", f"If what it got is right: pytest -k {path.stem} --update"]), pytrace=False)


class Run:
    """One archive being done: its answers replace the expected ones."""

    def __init__(self, archive: Archive, top: Path, way: str) -> None:
        self.archive = archive
        self.way = way
        self.top = top
        self.root = Path(top, *archive.directives("root"))
        self.marks = Marks(top, self.root, scheme_of(load_adapter(archive.backend)))
        self.last = ""  # answer
        self.long_ago = time.time() - 3600
        self.files: dict[str, bytes] = {}  # as they would be if only other programs had written

    async def everything(self, open_workspace: Open) -> None:
        self.root.mkdir(parents=True)
        for source in self.archive.sources:
            self.write(source.name, source.body)
        for link in self.archive.directives("link"):
            name, _, target = link.partition(" -> ")
            (self.top / name).symlink_to(target)
            self.files[name] = on_disk(self.top)[name]
        async with open_workspace(self.root) as call:
            for step in self.archive.steps:
                verb, _, path = step.name.partition(" ")
                if verb == "edit":
                    self.write(path, step.body)
                elif verb == "delete":
                    (self.top / path).unlink()
                    del self.files[path]
                else:
                    await self.call(step, call)
        now = on_disk(self.top)
        self.archive.outcome = {
            path: shown(self.archive, path, now[path]) if path in now else None
            for path in now.keys() | self.files.keys()
            if now.get(path) != self.files.get(path)
        }

    def write(self, path: str, text: str) -> None:
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if self.way != "direct":
            # Of clangd's own accord it takes a relative folder for nothing; our own copy has absolute ones.
            text = re.sub(
                r'"directory": "(.*?)"',
                lambda folder: f'"directory": "{os.path.normpath(file.parent / folder[1])}"',
                text,
            )
        self.files[path] = content(self.archive, path, self.marks.take(path, text))
        file.write_bytes(self.files[path])
        if path in self.archive.directives("same-time"):
            os.utime(file, (self.long_ago, self.long_ago))

    async def call(self, step: Section, call: CallTool) -> None:
        tool, words = tool_and_words(step)
        arguments = self.marks.arguments(words, self.last)
        before = on_disk(self.top)
        try:
            answer, failed = await call(tool, arguments), False
        except LspMcpError as error:
            answer, failed = f"error: {error}", True
        writes = tool.startswith("rename") or tool == "edit_symbol" or (tool == "refactor" and "action" in arguments)
        may_write = writes and arguments.get("apply", True) and not failed
        if not may_write:
            assert on_disk(self.top) == before, f"{step.name} changed files"
            if not failed and tool in with_format():
                self.check(await call(tool, {**arguments, "format": "json"}))
            elif not failed:
                self.check(answer)
                # As JSON: the keys of an object have no order, and in Neovim's Lua another each time.
                again = steady(json.loads(await call(tool, arguments)))
                assert again == steady(json.loads(answer)), f"{step.name} has two answers"
        self.last = answer
        step.body = f"{self.readable(answer)}\n"

    def check(self, answer: str) -> None:
        """What is true of every answer: it is compact, and each anchor is on its line's code."""
        parsed = json.loads(answer)
        assert answer == json_text(parsed)
        for place in places(parsed):
            anchor = parse_anchor(place["anchor"])
            location = {"file": anchor.file, "line": anchor.point.line, "character": anchor.point.character}
            assert place["location"] == location
            text = (self.root / anchor.file).read_bytes().decode("utf-8-sig")
            line = re.split("\r\n|\n|\r", text)[anchor.point.line - 1]
            code = place.get("code", line.strip())
            assert code == line.strip() or (len(line) > len(code) and code.strip("…") in line), (code, line)
            name = re.split(r"\.|::", str(place.get("name", "")).replace("*", "").replace(")", ""))[-1]
            there = line[anchor.point.character - 1 :]
            if name.isidentifier() and not re.match(r"[A-Z][A-Z_]+\(", there):  # a macro makes the name
                assert there.startswith(name), (place, line)

    def readable(self, answer: str) -> str:
        """`answer` as an archive shows it: JSON over several lines, without this run's folder."""
        if answer.startswith("{"):
            answer = json.dumps(steady(json.loads(answer)), ensure_ascii=False, indent=2, sort_keys=True)
        for folder, name in ((self.root, "$ROOT"), (self.top, "$TOP"), (goroot(), "$GOROOT")):
            answer = answer.replace(str(folder), name)
        return "\n".join(line.rstrip() for line in answer.split("\n"))


def steady(answer: dict[str, Any]) -> dict[str, Any]:
    """`answer` without what is of the moment and the machine."""
    return {key: "…" if key in VARYING else value for key, value in answer.items()}


@cache
def with_format() -> frozenset[str]:
    """The tools that let a caller choose the form of the answer; the others answer with JSON."""
    tools = (tool for kinds in TOOLSETS.values() for kind in kinds() for tool in declared_tools(kind))
    return frozenset(tool.name for tool in tools if "format" in tool.model.model_fields)


@cache
def goroot() -> str:
    """Where Go's own sources lie."""
    return subprocess.check_output(["go", "env", "GOROOT"], text=True).strip()


def scheme_of(adapter: Adapter) -> Callable[[Path], str]:
    """The scheme of the anchors in a file."""

    def scheme(path: Path) -> str:
        language = adapter.language_of(path)
        assert language, f"a mark in {path}, for which {adapter.name} does not answer"
        return language.scheme

    return scheme


def places(answer: Any) -> Iterator[dict[str, Any]]:
    """Every object with an anchor, at any depth."""
    if isinstance(answer, dict):
        if "anchor" in answer:
            yield answer
        answer = list(answer.values())
    if isinstance(answer, list):
        for part in answer:
            yield from places(part)


def on_disk(top: Path) -> dict[str, bytes]:
    """Every file below `top` with its content; of a link, where it leads. No index of clangd's own."""
    found = {}
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name != ".cache"]
        for path in (Path(folder, name) for name in (*files, *folders)):
            if path.is_symlink():
                found[path.relative_to(top).as_posix()] = f"→ {path.readlink()}".encode()
            elif path.is_file():
                found[path.relative_to(top).as_posix()] = path.read_bytes()
    return found
