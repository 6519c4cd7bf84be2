"""The flags that say which servers run on which workspace, shared by every command that starts some."""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from lsp_mcp.adapters import adapter_names
from lsp_mcp.lsp.session import SessionOptions
from lsp_mcp.sessions import Sessions, choose_adapters
from lsp_mcp.workspace import Workspace

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}


@dataclass(frozen=True)
class ServerFlags:
    """What the user said of the servers to run."""

    backends: tuple[str, ...]
    workspace_root: str
    paths: dict[str, str]  # of programs, by adapter name
    ready_timeout: float  # seconds
    request_timeout: float  # seconds
    log_level: str

    def sessions(self) -> Sessions:
        """The sessions that the flags describe; their server processes are started.

        Raises:
            ConfigError: see `Workspace`, `choose_adapters`.
        """
        workspace = Workspace(Path(self.workspace_root))
        adapters = choose_adapters(self.backends, workspace.root, adapter_names())
        options = {
            adapter.name: SessionOptions(
                command=(path, *adapter.command[1:]) if (path := self.paths.get(adapter.name)) else (),
                ready_timeout=self.ready_timeout,
                request_timeout=self.request_timeout,
            )
            for adapter in adapters
        }
        return Sessions(workspace, adapters, options)


def server_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give `command` these flags; it gets one argument `flags`, the `ServerFlags`."""
    names = adapter_names()

    @functools.wraps(command)
    def wrapped(
        *args: Any,
        backend: tuple[str, ...],
        workspace_root: str,
        ready_timeout: float,
        request_timeout: float,
        log_level: str,
        **rest: Any,
    ) -> Any:
        paths = {name: path for name in names if (path := rest.pop(_path_parameter(name)))}
        logging.basicConfig(stream=sys.stderr, level=_LEVELS[log_level], format="%(levelname).1s %(name)s: %(message)s")
        flags = ServerFlags(backend, workspace_root, paths, ready_timeout, request_timeout, log_level)
        return command(*args, flags=flags, **rest)

    options = [
        click.option("--backend", multiple=True, metavar="NAME", help=f"Language server, repeatable ({', '.join(names)}). Default: by what lies in the workspace root."),
        click.option("--workspace-root", default=".", show_default=True, metavar="FOLDER", help="The code to answer about."),
        click.option("--ready-timeout", type=click.FloatRange(min=0), default=30.0, show_default=True, metavar="SECONDS", help="Longest wait for a server to know the workspace; answers before that say so."),
        click.option("--request-timeout", type=click.FloatRange(min=0.1), default=60.0, show_default=True, metavar="SECONDS", help="Longest wait for one answer of a server."),
        click.option("--log-level", type=click.Choice(list(_LEVELS)), default="info", show_default=True, help="What is logged on stderr."),
        *(click.option(f"--{name}-path", metavar="PROGRAM", help=f"The {name} to run. Default: the installed one.") for name in names),
    ]  # fmt: skip
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def _path_parameter(name: str) -> str:
    return f"{name.replace('-', '_')}_path"
