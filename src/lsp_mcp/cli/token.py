"""The token: clients of HTTP and WebSocket send it, unless they are programs of the same user."""

from __future__ import annotations

import contextlib
import os
import secrets

import platformdirs

from lsp_mcp.errors import ConfigError
from lsp_mcp.private_files import private_folder, tighten_file, write_private
from lsp_mcp.wire.process import TOKEN_VARIABLE

_BYTES = 32
_SHORTEST = 16  # characters: a shorter one could be guessed


def given_token() -> str | None:
    """The token set by `LSP_MCP_TOKEN`, which is removed from the environment that child processes get."""
    return os.environ.pop(TOKEN_VARIABLE, "").strip() or None


def token(given: str | None) -> str:
    """`given`, else this user's own: created once, the same for all servers, readable only by them.

    Raises:
        ConfigError: `given` is too short, or the user's own can be neither read nor stored.
    """
    if given:
        if len(given) < _SHORTEST:
            raise ConfigError(
                f"{TOKEN_VARIABLE} has {len(given)} characters, a token needs at least {_SHORTEST}: make one with "
                "`openssl rand -hex 32`, or unset the variable and use the one that `lsp-mcp token` prints"
            )
        return given
    try:
        return _kept_token()
    except (OSError, ValueError) as error:
        raise ConfigError(f"the token cannot be stored ({error}); choose one with {TOKEN_VARIABLE}") from None


def _kept_token() -> str:
    file = private_folder(platformdirs.user_state_path("lsp-mcp")) / "token"
    tighten_file(file)
    if not file.exists():
        draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")  # containers that share it repeat process ids
        write_private(draft, f"{secrets.token_hex(_BYTES)}\n".encode())
        # Of two processes at the same time, the first wins.
        with contextlib.suppress(FileExistsError):
            os.link(draft, file)
        draft.unlink()
    if kept := file.read_text(encoding="ascii").strip():
        return kept
    raise ConfigError(f"{file} is empty; remove it, and another token is made")
