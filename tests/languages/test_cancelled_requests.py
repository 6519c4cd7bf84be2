"""A question that is given up before a server has begun with it leaves the next questions answered."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from languages.served import write
from languages.test_several_languages import Ask, asking
from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.programs import find_program
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.uris import path_uri

FILES = {"pyproject.toml": '[project]\nname = "a"\nversion = "1"\n', "a.py": "def plus() -> None: ...\n\n\nplus()\n"}


@pytest.mark.parametrize("method", ["textDocument/references", "textDocument/implementation"])
def test_basedpyright_answers_after_requests_that_were_given_up(tmp_path: Path, method: str) -> None:
    write(tmp_path, FILES)
    try:
        find_program(load_adapter("basedpyright"))
    except MissingProgramError as error:
        pytest.skip(str(error))

    async def test(ask: Ask, sessions: Sessions) -> None:
        await ask("find_symbol_references_by_anchor", symbol_anchor="a.py:1:5")
        place = {"textDocument": {"uri": path_uri(tmp_path / "a.py")}, "position": {"line": 0, "character": 4}}
        params = {**place, "context": {"includeDeclaration": True}}
        # It asks us for a progress token before it begins: one of these is given up while it waits for that.
        for milliseconds in range(30):
            given_up = asyncio.create_task(sessions.backends[0].request(method, params))
            await asyncio.sleep(milliseconds / 1000)
            given_up.cancel()
            await asyncio.gather(given_up, return_exceptions=True)
        assert isinstance(await sessions.backends[0].request(method, params), list)

    asking(tmp_path, test, ("basedpyright",))
