"""A project of this program's own in a temporary folder, with a server of its own: for `demo` and `adapters check`."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lsp_mcp.cli.options import ServerFlags

_TIMEOUT = 300.0  # seconds: on a machine that never ran the server, it first reads the standard library


def own_flags(flags: ServerFlags, name: str, root: Path) -> ServerFlags:
    """The flags for a server `name` in `root`: only what is about that server is left of the user's."""
    return replace(
        flags,
        backends=(name,),
        workspace_root=str(root),
        toolsets=(),
        without_toolsets=(),
        socket=None,
        no_code=False,
        position_base=1,
        form="compact",
        response_format="text",
        ready_timeout=flags.ready_timeout if "--ready-timeout" in flags.given else _TIMEOUT,
        request_timeout=flags.request_timeout if "--request-timeout" in flags.given else _TIMEOUT,
        given=frozenset({"--format"}),
    )


@contextmanager
def temporary_folder(purpose: str, *, keep: bool = False) -> Iterator[Path]:
    """A temporary folder for a project and caches, the latter in `cache`; all but that stays if it is to be kept."""
    folder = Path(tempfile.mkdtemp(prefix=f"lsp-mcp-{purpose}-")).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder / "cache" if keep else folder, ignore_errors=True)


@contextmanager
def caches_in(folder: Path) -> Iterator[None]:
    """Keep this program's caches in `folder` while the block runs."""
    before = os.environ.get("LSP_MCP_CACHE")
    os.environ["LSP_MCP_CACHE"] = str(folder)
    try:
        yield
    finally:
        del os.environ["LSP_MCP_CACHE"]
        if before is not None:
            os.environ["LSP_MCP_CACHE"] = before
