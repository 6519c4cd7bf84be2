"""Names that no file can have fail no call and no command by a defect, whatever argument has them; nothing changes."""

from __future__ import annotations

import asyncio
import copy
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without
from lsp_mcp.errors import CallerError
from lsp_mcp.toolsets.offered import tools_without_sessions
from lsp_mcp.toolsets.tool import Tool
from mcp_process import BOUND, PROGRAM, Connected, connected, text
from nvim.neovims import neovim, skip_without_nvim
from shared_daemon import Desk

NAMES = {
    "NUL": "a\0.go",
    "long": "x" * 256 + ".go",
    "long in bytes": "名" * 90 + ".go",
    "below a long folder": "x" * 300 + "/a.go",
    "deep": "d/" * 3000 + "a.go",
    "up": "../" * 2000 + "a.go",
    "lines": "a\n.go",
    "of the home": "~nobody-of-this-name/a.go",
}
PLACE = {"line": 3, "character": 6}
DOCUMENT = {"textDocument": {"uri": "a.go"}, "position": {"line": 3, "character": 6}}
# Arguments with which a call gets as far as possible, and changes nothing; texts that are not here are tried alone.
GOOD: dict[str, Any] = {
    **dict.fromkeys(("file_path", "path", "uri", "program", "target"), "a.go"),
    **dict.fromkeys(("symbol", "symbol_name", "symbol_anchor", "in", "to", "anchor"), "Greet"),
    **{"symbols": ["Greet"], "new_name": "Hello", "params": DOCUMENT, "method": "textDocument/hover"},
    **{"range": {"start": PLACE, "end": PLACE}, "position": PLACE, "action": "move", "code": "func Greet() {}"},
    **{"document": {"project_relative_path": "a.go"}, "title": "A task", "kind": "snippet", "id": "1"},
    **{"options": {"package": "other", "file": "b.go"}, "args": ["-v"], "env": {"NAME": "value"}, "expression": "1"},
    **{"breakpoints": ["a.go:3"], "at": "a.go:3", "anchors": ["Greet"], "core": "a.go", "cwd": "."},
}
# The text of a program's input and of new code is not a name.
TEXTS = {"stdin", "send_input", "code", "content", "description", "message", "question"}


def given(tool: Tool, tried: str) -> dict[str, Any]:
    """The other arguments for a call of `tool` that tries the argument `tried`, from GOOD."""
    properties, required = tool.whole_schema["properties"], tool.whole_schema.get("required", ())
    found = {name: GOOD.get(name, 1) for name in properties if name in required}
    match tool.name:
        case "refactor":
            found |= {"target": "Greet", "action": "move"}
        case "edit_symbol":
            found["action"] = "replace"
        case "debug_start" if tried not in ("module", "test", "config"):
            found["program"] = "a.go"
        case "debug_attach":
            found |= {"program": "a.go", "core": "a.go"}
    return found | ({"apply": False} if "apply" in properties else {})


def variants(tool: Tool, bad: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls of `tool` in each of which one text is `bad`, and the name of the argument with it."""
    for name, one in tool.whole_schema["properties"].items():
        if name in TEXTS or "enum" in one or one.get("type") not in ("string", "array", "object", None):
            continue
        value = GOOD.get(name, [""] if one.get("type") == "array" else "")
        for filled in replaced(value, bad):
            yield name, {**given(tool, name), name: filled}


def replaced(value: Any, bad: str) -> Iterator[Any]:
    """`value` with one of its texts replaced by `bad`; each in turn."""
    if isinstance(value, str):
        yield bad
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        for filled in replaced(inner, bad):
            whole = copy.deepcopy(value)
            whole[key] = filled
            yield whole


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A project in which nothing changes."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "go.mod").write_text("module example.com/bad\n\ngo 1.23\n")
    (root / "a.go").write_text("package bad\n\nfunc Greet() {}\n\nfunc b() { Greet() }\n")
    (root / "a.cpp").write_text("int Greet();\nint b() { return Greet(); }\n")
    before = content(root)
    yield root
    assert content(root) == before


def content(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def defects(server: Connected, toolsets: Sequence[str], bad: str) -> list[str]:
    """The tools and arguments in which `bad` is a defect of the program."""
    return [
        f"{tool.name} {name}"
        for tool in tools_without_sessions(CallerError("none"), toolsets)
        for name, arguments in variants(tool, bad)
        if "by a defect of lsp-mcp" in text(server.call(tool.name, **arguments))
    ]


@pytest.mark.parametrize("bad", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize(
    ("toolsets", "flags"),
    [
        (("code", "lsp"), ("--backend", "gopls")),
        (("clangd", "clangd-more"), ("--backend", "clangd", "--toolset", "clangd-more")),
        (("board",), ("--backend", "gopls", "--toolset", "board")),
        (("debug",), ("--backend", "dap")),
    ],
    ids=["code", "clangd", "board", "debug"],
)
def test_no_argument_of_a_tool(
    root: Path, tmp_path: Path, toolsets: Sequence[str], flags: Sequence[str], bad: str
) -> None:
    skip_without("gopls" if flags[1] == "dap" else flags[1])
    store = ("--store", f"sqlite:///{tmp_path / 'board'}") if "board" in toolsets else ()
    with connected("--workspace-root", str(root), *flags, *store) as server:
        assert defects(server, toolsets, bad) == []


@pytest.mark.parametrize("bad", NAMES.values(), ids=NAMES)
def test_no_argument_of_a_tool_of_neovim(root: Path, bad: str) -> None:
    skip_without_nvim()

    async def of_a_neovim() -> list[str]:
        async with neovim(root) as nv:
            with connected("--workspace-root", str(root), "--socket", str(nv.socket)) as server:
                return await asyncio.to_thread(defects, server, ("nvim", "code"), bad)

    assert asyncio.run(of_a_neovim()) == []


LONG = "x" * 300
LOST = "~nobody-of-this-name/x"


@pytest.mark.parametrize("name", [LONG, LOST])
@pytest.mark.parametrize(
    "words",
    [
        *(["call", flag, "NAME", "check"] for flag in ("--workspace-root", "--adapter", "--compile-commands")),
        *(["call", "--backend", "gopls", flag, "NAME", "check"] for flag in ("--gopls-path", "--socket")),
        ["warm", "--workspace-root", "NAME"],
        ["board", "import", "NAME"],
        ["index", "push", "NAME", "--repository", "a", "--commit", "b"],
        ["index", "push", "a.go", "--repository", "a", "--commit", "b", "--root", "NAME"],
        ["index", "build", "--output", "NAME"],
        ["setup", "claude-code", "--workspace-root", "NAME"],
    ],
    ids=" ".join,
)
def test_no_argument_of_a_command(root: Path, tmp_path: Path, words: Sequence[str], name: str) -> None:
    done = subprocess.run(
        [PROGRAM, *(word.replace("NAME", name) for word in words)],
        cwd=root,
        env={**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in (1, 2) and done.stderr.strip(), done.stdout


def test_a_long_name_in_the_first_call_does_not_disconnect_the_shell_from_its_daemon(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for tool in ("read_symbol symbols", "list_symbols_in_file file_path"):
        name, argument = tool.split()
        done = desk.run("call", name, f"{argument}={LONG}/{LONG}.go")
        assert done.returncode == 1 and "a part of it is longer than 255 bytes" in done.stderr
