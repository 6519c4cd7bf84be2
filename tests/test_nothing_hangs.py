"""Real servers that hang: each question has its right answer within two request timeouts, and no call waits longer."""

from __future__ import annotations

import json
import os
import resource
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without
from fakes.bounded import stop
from lsp_mcp.adapters import load_adapter
from lsp_mcp.programs import find_command
from mcp_process import Json, Raw, descendants, raw

TIMEOUT = 16  # seconds; a server that does nothing is noticed after less than half of it
USES = "find_symbol_references_by_anchor"


@dataclass(frozen=True)
class Tree:
    """A project in which `target` is used in each of three files."""

    backend: str
    files: dict[str, str]
    target: str  # its anchor
    victim: str  # one of the files, which nobody needs


GO = Tree(
    "gopls",
    {
        "go.mod": "module example.com/hang\n\ngo 1.23\n",
        "calc/calc.go": "package calc\n\nfunc Target() {}\n",
        "a.go": 'package hang\n\nimport "example.com/hang/calc"\n\nfunc a() { calc.Target() }\n',
        "b.go": 'package hang\n\nimport "example.com/hang/calc"\n\nfunc b() { calc.Target() }\n',
    },
    "go://calc/calc.go#3:6",
    "b.go",
)
CPP = Tree(
    "clangd",
    {
        "lib.h": "void target();\n",
        "a.cpp": '#include "lib.h"\nvoid a() { target(); }\n',
        "b.cpp": '#include "lib.h"\nvoid b() { target(); }\n',
        "compile_flags.txt": "-std=c++17\n",
    },
    "cpp://lib.h#1:6",
    "b.cpp",
)


@pytest.fixture(params=[GO, CPP], ids=["gopls", "clangd"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    return planted(request.param, tmp_path)


def planted(tree: Tree, root: Path) -> Tree:
    skip_without(tree.backend)
    for name, text in tree.files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return tree


def serving(tree: Tree, root: Path, *more: str, **options: Any) -> AbstractContextManager[Raw]:
    flags = ("--backend", tree.backend, "--format", "json", "--request-timeout", str(TIMEOUT))
    return raw("--workspace-root", str(root), *flags, *more, **options)


def places(answer: Json) -> list[str]:
    return [place["anchor"] for place in answer["references"]]


def ask(server: Raw, tree: Tree) -> Json:
    """The answer of the first of two calls that has one."""
    result = server.call(USES, symbol_anchor=tree.target)
    if result["isError"]:
        said = result["content"][0]["text"]
        assert "Ask again" in said, said
        result = server.call(USES, symbol_anchor=tree.target)
    said = result["content"][0]["text"]
    assert not result["isError"], said
    return json.loads(said)


def server_process(server: Raw, tree: Tree) -> int:
    """The process id of the language server; gopls starts another gopls, for its telemetry."""
    ours = server.process.pid
    named = [p for p in descendants(ours) if tree.backend in Path(f"/proc/{p}/comm").read_text()]
    (pid,) = [p for p in named if int(Path(f"/proc/{p}/stat").read_text().rpartition(")")[2].split()[1]) == ours]
    return pid


def test_a_server_that_is_stopped_is_replaced_and_the_answer_says_so(tree: Tree, tmp_path: Path) -> None:
    with serving(tree, tmp_path) as server:
        server.initialize()
        before = ask(server, tree)
        pid = server_process(server, tree)
        stop(pid)
        after = ask(server, tree)
        assert places(after) == places(before)
        assert f"{tree.backend} was stuck and was restarted" in after["status"]
        assert server_process(server, tree) != pid
        assert "stuck" not in ask(server, tree)["status"], "it is said once"


def test_a_server_that_is_stopped_while_it_is_initialized_is_replaced(tree: Tree, tmp_path: Path) -> None:
    command, *_ = find_command(load_adapter(tree.backend))
    program = tmp_path / ".bin" / tree.backend
    program.parent.mkdir()
    once = program.parent / "once"
    program.write_text(f'#!/bin/sh\n[ -e {once} ] || {{ touch {once}; kill -STOP $$; }}\nexec {command} "$@"\n')
    program.chmod(0o755)
    with serving(tree, tmp_path, f"--{tree.backend}-path", str(program)) as server:
        server.initialize()
        answer = ask(server, tree)
        assert len(places(answer)) == 3
        assert f"{tree.backend} was stuck and was restarted" in answer["status"]


@pytest.mark.parametrize("when", ["running", "cold"])
def test_a_pipe_in_place_of_a_source_is_not_a_source_and_counts_as_one_when_it_is_one_again(
    tree: Tree, tmp_path: Path, when: str
) -> None:
    victim = tmp_path / tree.victim

    def spoil() -> None:
        victim.unlink()
        os.mkfifo(victim)

    if when == "cold":
        spoil()
    with serving(tree, tmp_path, "--ready-timeout", "4") as server:
        server.initialize()
        if when == "running":
            assert len(places(ask(server, tree))) == 3
            spoil()
        assert not any(tree.victim in place for place in places(ask(server, tree)))
        victim.unlink()
        victim.write_text(tree.files[tree.victim])
        assert len(places(ask(server, tree))) == 3


@pytest.mark.parametrize("when", ["running", "cold"])
def test_a_link_to_a_device_in_place_of_a_source_is_not_a_source(tree: Tree, tmp_path: Path, when: str) -> None:
    victim = tmp_path / tree.victim

    def spoil() -> None:
        victim.unlink()
        victim.symlink_to("/dev/zero")

    if when == "cold":
        spoil()
    # If it were read after all, it is not to take all memory.
    with serving(
        tree, tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    ) as server:
        server.initialize()
        if when == "running":
            assert len(places(ask(server, tree))) == 3
            spoil()
        answer = ask(server, tree)
        assert not any(tree.victim in place for place in places(answer))
        assert "restarted" not in answer["status"]
        victim.unlink()
        victim.write_text(tree.files[tree.victim])
        assert len(places(ask(server, tree))) == 3


def test_a_root_that_is_gone_is_named_and_counts_again_when_it_is_back(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    planted(GO, root)
    with serving(GO, root) as server:
        server.initialize()
        assert len(places(ask(server, GO))) == 3
        root.rename(tmp_path / "away")
        gone = server.call("find_symbol_definitions_by_name", symbol_name="Target")
        assert gone["isError"]
        assert f"the workspace root {root} is gone" in gone["content"][0]["text"]
        (tmp_path / "away").rename(root)
        assert len(places(ask(server, GO))) == 3
