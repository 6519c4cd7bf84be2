"""The facts about one MCP client, as checked data: `Client`, read from `adapters/mcp/*.toml`.

No code in this program names a client; each field below says what it is for.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any, Literal

import msgspec

from lsp_mcp.data import data_folder
from lsp_mcp.errors import ConfigError
from lsp_mcp.visible import quoted

Format = Literal["json", "jsonc", "toml", "yaml"]
ScopeName = Literal["project", "user", "local"]

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


class _Data(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A table of a client's file, read-only: unknown keys and wrong types are errors that name the key."""


class Shape(_Data):
    """One form of the client's configuration file."""

    servers: tuple[str, ...]  # key path of the table with all servers by name
    entry: dict[str, Any]  # one server: {program} is a string; {arguments} and {command} (program, arguments) are lists


class Scope(_Data):
    """One location of the client's configuration."""

    files: tuple[str, ...]  # {root} is the project's folder; ${VARIABLE:-default} is an environment variable
    files_on_macos: tuple[str, ...] = ()  # replaces `files` on macOS
    servers: tuple[str, ...] = ()  # key path of the table of servers, if it differs from that of the client's shapes
    workspace_root: str = "."  # the server's workspace root: {root}, or a variable that the client expands
    command: tuple[str, ...] = ()  # the client's own command for the same: {name}, {command}
    after: str = ""  # what to do next, for people

    def file(self, root: Path) -> Path:
        """The configuration file for the project in `root`: the first of `files` that exists, else the first."""
        files = self.files_on_macos if sys.platform == "darwin" and self.files_on_macos else self.files
        paths = [_path(file, root) for file in files]
        return next((path for path in paths if path.exists()), paths[0])


class Client(_Data):
    """The facts about one MCP client."""

    name: str
    title: str
    format: Format
    shapes: tuple[Shape, ...]  # the first is for new files, another is used for files that have its `servers`
    scopes: dict[ScopeName, Scope]
    default_scope: ScopeName = "project"
    new_file: dict[str, Any] = {}  # the initial content of a new file
    check: str = ""  # how to check that it works, for people

    def scope(self, name: ScopeName | None) -> Scope:
        """The scope called `name`, or the default one.

        Raises:
            ConfigError: the client has no scope of that name.
        """
        found = self.scopes.get(name or self.default_scope)
        if found is None:
            raise ConfigError(
                f"{self.title} has no scope {name!r} that lsp-mcp can use; it has: {', '.join(self.scopes)}"
            )
        return found

    def shape(self, config: dict[str, Any]) -> Shape:
        """The shape of `config`."""
        fitting = [shape for shape in self.shapes if _holds_servers(config, shape.servers)]
        return max(fitting, key=lambda shape: len(shape.servers), default=self.shapes[0])


def client_names() -> list[str]:
    """The names of all shipped clients, sorted."""
    return sorted(path.stem for path in (data_folder("adapters") / "mcp").glob("*.toml"))


def load_client(name: str) -> Client:
    """The shipped client `name`.

    Raises:
        ConfigError: no client has that name, or its file is invalid.
    """
    if name not in client_names():
        known = ", ".join(client_names())
        raise ConfigError(f"unknown client {quoted(name)}; available: {known}; for another one: lsp-mcp setup print")
    return read_client(data_folder("adapters") / "mcp" / f"{name}.toml")


def project_files(root: Path) -> set[Path]:
    """The files that configure MCP clients for the project in `root`, whether they exist or not."""
    clients = (load_client(name) for name in client_names())
    return {client.scopes["project"].file(root) for client in clients if "project" in client.scopes}


def read_client(path: Path) -> Client:
    """The client in the file `path`.

    Raises:
        ConfigError: the file is not TOML, or a key is unknown, missing or of the wrong type; the message names it.
    """
    try:
        client = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Client)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise ConfigError(f"the client {path.name} cannot be used: {error}") from None
    if not (client.shapes and client.default_scope in client.scopes and all(s.files for s in client.scopes.values())):
        raise ConfigError(f"the client {path.name} needs a shape, its default scope, and a file in each scope")
    return client


def filled(template: Any, **values: str | list[str]) -> Any:
    """`template` with its `{name}`s filled in.

    A string that consists of one `{name}` becomes that value; in a list, a value that is a list becomes several items.
    """
    match template:
        case dict():
            return {key: filled(value, **values) for key, value in template.items()}
        case list() | tuple():
            parts = [filled(item, **values) for item in template]
            return [word for part in parts for word in (part if isinstance(part, list) else [part])]
        case str() if template[1:-1] in values and template == f"{{{template[1:-1]}}}":
            return values[template[1:-1]]
    return template


def _holds_servers(config: Any, path: tuple[str, ...]) -> bool:
    """Whether there is a table of tables at `path`. (A server with the name of the last key does not count.)"""
    for key in path:
        config = config.get(key) if isinstance(config, dict) else None
    return isinstance(config, dict) and all(isinstance(server, dict) for server in config.values())


def _path(file: str, root: Path) -> Path:
    expanded = _VARIABLE.sub(lambda match: os.environ.get(match[1]) or match[2] or "", file)
    return Path(expanded.replace("{root}", str(root))).expanduser().absolute()
