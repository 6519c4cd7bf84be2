"""Which files the parser of a language does not take."""

from __future__ import annotations

from pathlib import Path

import pytest

from asking import skip_without
from fakes.bounded import bounded
from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.lsp.parsing import syntax_errors

skip_without("gopls")

WHOLE = "package a\n\nfunc F( ) {}\n"  # not as gofmt would write it
BROKEN = "package a\n\nfunc F() { g( }\n\nfunc G() { g( }\n"
ERROR = "expected operand, found '}'"


@bounded
async def test_the_first_error_of_each_file_is_found_and_unsaved_text_counts(tmp_path: Path) -> None:
    command = load_adapter("gopls").diagnostics.syntax_command
    whole, broken, gone = (tmp_path / name for name in ("whole file.go", "broken: 1:2: x.go", "gone.go"))
    whole.write_text(WHOLE)
    broken.write_text(BROKEN)
    assert await syntax_errors(command, {whole: None, broken: None, gone: None}, tmp_path) == {broken: ERROR}
    assert await syntax_errors(command, {whole: BROKEN, broken: WHOLE}, tmp_path) == {whole: ERROR}
    assert whole.read_text() == WHOLE


@bounded
async def test_a_parser_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingProgramError, match="no-such-parser"):
        await syntax_errors(["no-such-parser"], {tmp_path / "a.go": None}, tmp_path)
