"""The server of a language, or a skipped test where it is not installed: `served`."""

import pytest

from archives.workspaces import Open, direct
from lsp_mcp.errors import MissingProgramError


def served(backend: str) -> Open:
    """The server `backend`, started by the program itself; the test is skipped if it is not installed."""
    try:
        return direct(backend)
    except MissingProgramError as error:
        pytest.skip(f"{backend}: {error}")
