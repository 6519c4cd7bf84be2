"""`lsp-mcp bridge`: one Neovim's own tools over HTTP (docs/contracts/lua.md)."""

from __future__ import annotations

import os
from dataclasses import replace

from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.cli.serve import serve_on
from lsp_mcp.errors import ConfigError
from lsp_mcp.toolsets.offered import TOOLSETS

_SOCKET = "NVIM_LISTEN_ADDRESS"


def run_bridge(flags: ServerFlags, port: int, given_token: str | None) -> None:
    """Serve until a signal arrives or Neovim exits. Does not return.

    Raises:
        ConfigError: no Neovim was given, or the port or the token cannot be used.
    """
    socket = flags.socket or os.environ.get(_SOCKET)
    if not socket:
        raise ConfigError(
            f"which Neovim? Pass --socket PATH or set {_SOCKET} to the output of `:echo v:servername`; or call "
            "require('mcp-tools').start() in Neovim"
        )
    wanted = ("lua", *flags.toolsets)
    others = tuple(name for name in TOOLSETS if name not in wanted)
    flags = replace(flags, socket=socket, toolsets=wanted, without_toolsets=(*flags.without_toolsets, *others))
    serve_on(port, flags.running(), flags, given_token=given_token, bridges=True)
