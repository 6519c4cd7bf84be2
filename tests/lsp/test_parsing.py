"""Which files the parser of a language does not take."""

from __future__ import annotations

from pathlib import Path

import pytest

from asking import skip_without
from fakes.bounded import bounded
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.servers.gopls.rules import CHANGES
from lsp_mcp.servers.gopls.syntax_check import syntax_errors

skip_without("gopls")

WHOLE = "package a\n\nfunc F( ) {}\n"  # not as gofmt would write it
BROKEN = "package a\n\nfunc F() { g( }\n\nfunc G() { g( }\n"
ERROR = "expected operand, found '}'"


@bounded
async def test_the_first_error_of_each_text_is_found(tmp_path: Path) -> None:
    command = CHANGES.syntax_command
    whole, broken, empty, late = (tmp_path / name for name in ("whole.go", "broken: 1:2: x.go", "empty.go", "late.go"))
    whole.write_text(BROKEN)  # what is on disk does not count
    texts = {whole: WHOLE, broken: BROKEN, empty: "", late: "package a\n\nfunc F() {\n"}
    assert await syntax_errors(command, texts) == {broken: ERROR, late: "expected '}', found 'EOF'"}
    assert await syntax_errors(command, {empty: ""}) == {}


@bounded
async def test_a_parser_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingProgramError, match="no-such-parser"):
        await syntax_errors(["no-such-parser"], {tmp_path / "a.go": WHOLE})
