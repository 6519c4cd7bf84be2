"""`lsp-mcp setup --agents-md`: one paragraph of AGENTS.md, and nothing else of it."""

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.cli_helpers import Run
from lsp_mcp.cli.agents_md import block, with_block, without_block
from lsp_mcp.errors import CallerError, ConfigError
from lsp_mcp.toolsets.offered import tools_without_sessions

SETUP = ("setup", "--agents-md")


def test_the_paragraph_is_shown_written_once_brought_up_to_date_and_removed(project: Path, run: Run) -> None:
    file = project / "AGENTS.md"
    assert run(*SETUP).stdout == block() + "\n"
    assert not file.exists()
    file.write_text("# Rules\n\nBe kind.\n")
    assert run(*SETUP, "--write").stdout == f"{file}: added.\n"
    assert file.read_text() == f"# Rules\n\nBe kind.\n\n{block()}\n"
    assert run(*SETUP, "--write").stdout == f"{file} has it already; nothing was changed.\n"
    file.write_text(file.read_text().replace("- Find:", "- Seek:") + "\nThe end.\n")
    assert run(*SETUP, "--write").stdout == f"{file}: updated.\n"
    assert file.read_text() == f"# Rules\n\nBe kind.\n\n{block()}\n\nThe end.\n"
    assert json.loads(run(*SETUP, "--remove", "--json").stdout) == {"file": str(file), "state": "removed"}
    assert file.read_text() == "# Rules\n\nBe kind.\n\nThe end.\n"
    assert run(*SETUP, "--remove").stdout == f"{file} does not have it; nothing was changed.\n"


def test_a_file_with_nothing_but_the_paragraph_is_deleted_with_it(project: Path, run: Run) -> None:
    assert run(*SETUP, "--write").exit_code == 0
    assert run(*SETUP, "--remove").stdout == f"{project / 'AGENTS.md'}: removed.\n"
    assert not (project / "AGENTS.md").exists()


def test_a_file_that_cannot_be_used_stays_as_it_is(project: Path, run: Run) -> None:
    file = project / "AGENTS.md"
    begin, *_, end = block().split("\n")
    for text in (begin, end, f"{end}\n{begin}", f"{block()}\n{block()}"):
        file.write_text(text)
        refused = run(*SETUP, "--write")
        assert (refused.exit_code, file.read_text()) == (2, text)
        assert "its markers" in refused.stderr
    file.write_bytes(b"\xff")
    assert "it is not UTF-8" in run(*SETUP, "--write").stderr
    file.unlink()
    os.mkfifo(file)
    assert "it is not a regular file" in run(*SETUP, "--write").stderr
    assert run(*SETUP, "claude-code").exit_code == 2


@given(st.text(st.sampled_from("ab #\n<!-->"), max_size=60), st.sampled_from(["\n", "\r\n"]))
def test_what_was_put_in_comes_out_and_the_rest_stays(lines: str, newline: str) -> None:
    text = lines.replace("\n", newline)
    once = with_block(text)
    assert with_block(once) == once
    assert without_block(once).split() == text.split()
    assert "\n" not in text or once.count("\r\n") == (once.count("\n") if newline == "\r\n" else 0)


def test_two_paragraphs_are_refused() -> None:
    with pytest.raises(ConfigError, match="markers"):
        with_block(f"{block()}\n{block()}")


def test_the_paragraph_names_only_tools_that_there_are_and_is_short() -> None:
    named = set(re.findall(r"`((?:find|list|read|edit|rename)_\w+|refactor|check)`", block()))
    assert len(named) >= 10
    assert named <= {tool.name for tool in tools_without_sessions(CallerError("only looked at"))}
    assert len(block()) < 1_600
