"""The server of a language, or a skipped test where it is not installed: `served`, and `ask` for one question."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from archives.workspaces import Open, direct
from lsp_mcp.errors import MissingProgramError

BOUND = 120  # seconds for one answer: a hang, not a measurement


def served(backend: str) -> Open:
    """The server `backend`, started by the program itself; the test is skipped if it is not installed."""
    try:
        return direct(backend)
    except MissingProgramError as error:
        pytest.skip(f"{backend}: {error}")


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write `files`, texts by their names below `root`."""
    for file, text in files.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)


def ask(backend: str, root: Path, tool: str, **arguments: Any) -> str:
    """The answer of `tool` in a session of its own. Raises the tool's error."""
    open_workspace = served(backend)

    async def asked() -> str:
        async with open_workspace(root) as call:
            return await asyncio.wait_for(call(tool, arguments), BOUND)

    return asyncio.run(asked())
