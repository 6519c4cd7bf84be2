"""lm_clangd_memoryUsage answers with clangd's own account. Its numbers differ each time: no archive shows them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from archives.workspaces import direct
from lsp_mcp.errors import ConfigError, MissingProgramError


def test_the_parts_of_the_account_add_up(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("int one() { return 1; }\n", "utf-8")
    commands = [{"directory": ".", "file": "a.cpp", "command": "c++ a.cpp"}]
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands), "utf-8")
    try:
        open_workspace = direct("clangd", ["clangd-more"])
    except MissingProgramError as error:
        pytest.skip(f"clangd: {error}")

    async def ask() -> Any:
        async with open_workspace(tmp_path) as call:
            await call("list_symbols_in_file", {"file_path": "a.cpp"})
            return json.loads(await call("lm_clangd_memoryUsage", {}))

    answer = asyncio.run(ask())
    assert answer.keys() == {"memoryUsage"}
    account = answer["memoryUsage"]
    assert account["_total"] > 0
    parts = [part["_total"] for name, part in account.items() if not name.startswith("_")]
    assert account["_total"] == account["_self"] + sum(parts)


def test_the_toolset_needs_clangd(tmp_path: Path) -> None:
    async def ask() -> None:
        async with direct("gopls", ["clangd-more"])(tmp_path):
            pass

    with pytest.raises(ConfigError, match="clangd-more needs the backend clangd"):
        asyncio.run(ask())
