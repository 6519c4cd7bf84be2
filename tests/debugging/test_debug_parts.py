"""The parts of debugging that need no debugger: exits, output, breakpoints that follow edits, secrets, adapters."""

from __future__ import annotations

import ast
import re
import sys
import venv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lsp_mcp.dap
from lsp_mcp.dap.adapter import Exits, debuggers, filled, load_debugger
from lsp_mcp.dap.breakpoints import Breakpoints
from lsp_mcp.dap.exits import Exit, exit_of
from lsp_mcp.dap.finding import find_debugger
from lsp_mcp.dap.output import Output
from lsp_mcp.dap.secrets import Secrets
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.render import debugging


@pytest.mark.parametrize(
    ("rules", "status", "codes", "last_stop", "expected"),
    [
        (Exits(), -11, [], "", Exit(signal="SIGSEGV")),
        (Exits(), 0, [], "", Exit(0)),
        (Exits(signals="from 256"), None, [247], "", Exit(signal="SIGKILL")),
        (Exits(signals="from 256"), None, [7], "", Exit(7)),
        (
            Exits(signals="last stop", stop_pattern=r"\b(SIG[A-Z]+)\b"),
            None,
            [6],
            "signal SIGABRT",
            Exit(signal="SIGABRT"),
        ),
        (Exits(signals="last stop", stop_pattern=r"\b(SIG[A-Z]+)\b"), None, [6], "step", Exit(6)),
        (Exits(signals="negative"), None, [-9], "", Exit(signal="SIGKILL")),
    ],
)
def test_a_signal_is_told_as_a_signal_and_a_code_as_a_code(
    rules: Exits, status: int | None, codes: list[int], last_stop: str, expected: Exit
) -> None:
    assert exit_of(rules, status, codes, Output(), last_stop) == expected


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\x1b\r"), max_size=12), max_size=30))
def test_output_is_the_same_lines_however_it_was_cut(pieces: list[str]) -> None:
    whole, cut = Output(), Output()
    whole.add("stdout", "".join(pieces))
    for piece in pieces:
        cut.add("stdout", piece)
    whole.flush()
    cut.flush()
    assert cut.of_program() == whole.of_program()


@given(st.lists(st.sampled_from(["a = 1", "b = 2", "", "print(a)", "while a:"]), min_size=1, max_size=20), st.data())
def test_a_breakpoint_stays_on_its_line_when_lines_are_put_before_it(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("follow") / "code.py"
    lines = [f"{text} # {number}" for number, text in enumerate(lines)]
    path.write_text("\n".join(lines))
    chosen = data.draw(st.integers(1, len(lines)))
    breakpoints = Breakpoints()
    breakpoints.add_line(path, chosen)
    before = data.draw(st.integers(0, 5))
    path.write_text("\n".join(["new"] * before + lines))
    breakpoints.follow()
    assert [one.line for one in breakpoints] == [chosen + before]


def test_secrets_are_hidden_by_the_names_of_their_variables_and_short_values_are_not() -> None:
    secrets = Secrets([{"API_KEY": "abcdefgh1", "PASSWORD": "short", "HOME": "/home/somebody"}])
    assert secrets.hidden({"a": ["x abcdefgh1 y"], "b": "short /home/somebody"}) == {
        "a": ["x [API_KEY] y"],
        "b": "short /home/somebody",
    }


def test_a_template_is_filled_with_values_and_what_is_unknown_is_left_out() -> None:
    template = {"program": "{program}", "args": "{args}", "at": "{host}:{port}", "inner": {"a": "{missing}", "b": 1}}
    values = {"program": "x.py", "args": ["1"], "host": "h", "port": 2}
    assert filled(template, values) == {"program": "x.py", "args": ["1"], "at": "h:2", "inner": {"b": 1}}


def test_no_code_names_a_debugger() -> None:
    word = re.compile(rf"\b(?:{'|'.join(re.escape(one.name) for one in debuggers())}|pydevd|delve)\b")
    named = [
        f"{path.name}:{node.lineno} {node.value}"
        for path in Path(lsp_mcp.dap.__path__[0]).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and word.search(node.value)
    ]
    assert named == []


def test_every_debugger_is_started_or_attached_to_and_those_that_nobody_tried_say_so() -> None:
    for one in debuggers():
        assert one.launch or one.port_speaks_dap, one.name
        assert one.title and one.types, one.name
    assert {one.name for one in debuggers() if one.untested} == {"gdb", "java-debug", "netcoredbg"}


def test_a_compact_answer_has_no_empty_line_no_python_and_says_none() -> None:
    assert debugging.compact({"sessions": []}) == "sessions: none"
    session = {"session": "s1", "state": "ended", "exit_code": 0, "children": [7, 8]}
    assert debugging.compact({"sessions": [session]}) == (
        "sessions:\n  session: s1, state: ended, exit_code: 0, children: 7 8"
    )
    assert debugging.compact({"session": "s1", "output": ["PASS"]}) == "session: s1\noutput:\n  PASS"


@pytest.fixture
def only_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH; no debugger is installed by lsp-mcp or beside it."""
    monkeypatch.setitem(sys.modules, "debugpy", None)
    monkeypatch.setenv("LSP_MCP_SERVERS", str(tmp_path / "servers"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


def _environment(folder: Path, *packages: str) -> Path:
    """The Python of a new environment with empty `packages`."""
    venv.create(folder, with_pip=False, symlinks=True)
    for package in packages:
        (next(folder.glob("lib/python*/site-packages")) / package).mkdir(parents=True)
        (next(folder.glob("lib/python*/site-packages")) / package / "__init__.py").touch()
    return folder / "bin" / "python"


def test_debugpy_is_found_in_the_python_that_a_version_manager_on_path_starts(tmp_path: Path, only_path: Path) -> None:
    adapter = load_debugger("debugpy")
    root = tmp_path / "checkout"
    (root / "debugpy" / "adapter").mkdir(parents=True)  # of the checkout: nobody's debugger
    (root / "debugpy" / "__init__.py").touch()
    with pytest.raises(MissingProgramError, match="lsp-mcp install debugpy"):
        find_debugger(adapter, root)
    there = _environment(tmp_path / "versions" / "3.x", "debugpy", "debugpy/adapter")
    shim = only_path / "python3"
    shim.write_text(f'#!/bin/sh\nexec {there} "$@"\n')
    shim.chmod(0o755)
    assert find_debugger(adapter, root)[1].startswith(str(tmp_path / "versions"))


def test_debugpy_is_found_in_the_environment_of_the_workspace(tmp_path: Path, only_path: Path) -> None:
    root = tmp_path / "checkout"
    _environment(root / ".venv", "debugpy", "debugpy/adapter")
    assert find_debugger(load_debugger("debugpy"), root)[1].startswith(str(root / ".venv"))
