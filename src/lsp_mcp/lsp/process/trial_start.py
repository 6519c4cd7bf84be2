"""Whether a language server works on this machine: `trial_start` starts it once, for nobody."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.errors import SilentError
from lsp_mcp.lsp.process.connection import ProcessConnection
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.wire.process import Child


async def trial_start(plugin: Plugin, command: Sequence[str], place: Path, timeout: float) -> str:
    """The version that the server names when it is started in `place`; empty if it names none. It is ended again.

    Its workspace is an empty folder, so that it reads and writes nothing of the user's. `place` only decides
    which version runs: that of a version manager depends on it.

    Raises:
        LspMcpError: it does not start, ends, refuses, or does not answer within `timeout` seconds.
    """
    with tempfile.TemporaryDirectory(prefix="lsp-mcp-") as folder:
        child = Child(command, cwd=place)
        connection = ProcessConnection(plugin, child, Path(folder), timeout, _cannot_help, dict)
        try:
            async with asyncio.timeout(timeout):
                await connection.start()
        except TimeoutError:
            raise SilentError(f"it did not answer `initialize` within {timeout:g} s") from None
        finally:
            await connection.end()
        return connection.version


async def _cannot_help() -> bool:
    return False
