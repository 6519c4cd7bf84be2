"""Where language servers lie on this machine: on PATH, where their own installers put them, or in our folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from platformdirs import user_data_path

from lsp_mcp.adapters import Adapter
from lsp_mcp.errors import MissingProgramError


def servers_folder() -> Path:
    """The folder that `lsp-mcp install` puts language servers in."""
    return Path(os.environ.get("LSP_MCP_SERVERS") or user_data_path("lsp-mcp") / "servers")


def installed_folder(adapter: Adapter) -> Path | None:
    """The folder that `lsp-mcp install` puts this server's pinned version in; None if it can't install it."""
    if adapter.install is None:
        return None
    return servers_folder() / f"{adapter.name}-{adapter.install.version}"


def find_command(adapter: Adapter) -> tuple[str, ...]:
    """The adapter's command with the full path of its program.

    Looked for in this order: the pinned version in our own folder, PATH, the adapter's extra places. A version
    that the user chose otherwise is named with a flag (`--gopls-path`).

    Raises:
        MissingProgramError: it is in none of them.
    """
    program, *arguments = adapter.command
    own = installed_folder(adapter)
    extra = [os.path.expandvars(Path(place).expanduser()) for place in adapter.extra_paths]
    places = [
        *([str(own)] if own else []),
        os.environ.get("PATH", os.defpath),
        *(p for p in extra if "$" not in p),
    ]
    found = next((path for place in places if (path := shutil.which(program, path=place))), None)
    if found is None:
        raise MissingProgramError(f"{program} is not installed (looked on PATH and in {own or servers_folder()})")
    return (found, *arguments)
