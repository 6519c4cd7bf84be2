"""`lsp-mcp setup`: this program in the configuration of an MCP client, shown or written."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from lsp_mcp.cli.config_files import read_config, remove_config, write_config
from lsp_mcp.cli.config_text import entry_at, holds_nothing, parse, snippet, with_entry, without_entry
from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.clients import Client, Scope, ScopeName, Shape, client_names, filled, load_client
from lsp_mcp.errors import CallerError, ConfigError

PROGRAM = "lsp-mcp"

_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Plan:
    """The entry, and its file."""

    client: Client
    scope_name: ScopeName
    scope: Scope
    file: Path
    text: str | None  # of the file, None if there is none
    config: dict[str, Any]  # the content of the text
    shape: Shape
    name: str  # of the entry
    entry: dict[str, Any]
    program: str  # how the client starts lsp-mcp
    command: list[str]  # the client's own command for the same

    @property
    def path(self) -> tuple[str, ...]:
        """The key path of the entry."""
        return (*self.shape.servers, self.name)

    @property
    def there(self) -> Any:
        """The existing value in the file; None if there is none."""
        return entry_at(self.config, self.path)

    @property
    def snippet(self) -> str:
        """The entry as a file of its own."""
        config: Any = self.entry
        for key in reversed(self.path):
            config = {key: config}
        return snippet(self.client.format, config if self.text else {**self.client.new_file, **config})


def print_entry(flags: ServerFlags, name: str) -> None:
    """Print the entry for a client that is not listed, in the form that most clients read; the project by full path.

    Raises:
        ConfigError: the workspace root cannot be used.
        CallerError: `name` cannot name a server.
    """
    _check_name(name)
    entry = {"command": own_command(), "args": _arguments(flags, str(flags.workspace().root))}
    click.echo(snippet("json", {"mcpServers": {name: entry}}), nl=False)


def list_clients(flags: ServerFlags, *, as_json: bool) -> None:
    """Print the clients, with the files that hold their configuration."""
    root = flags.workspace().root
    clients = [load_client(name) for name in client_names()]
    if as_json:
        shown = [
            {"name": c.name, "title": c.title, "files": {name: str(s.file(root)) for name, s in c.scopes.items()}}
            for c in clients
        ]
        click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
        return
    width = max(len(client.name) for client in clients)
    for client in clients:
        click.echo(f"{client.name:{width}}  {client.title}")
        for name, scope in client.scopes.items():
            default = " (default)" if name == client.default_scope else ""
            click.echo(f"{'':{width}}    {name}: {scope.file(root)}{default}")
    click.echo("\nShow an entry, write it or remove it:  lsp-mcp setup CLIENT [--write|--remove]", err=True)
    click.echo("The entry for another client:  lsp-mcp setup print", err=True)


def show_setup(flags: ServerFlags, client: str, scope: ScopeName | None, name: str, *, as_json: bool) -> None:
    """Print the entry for the client's configuration on stdout, and what to do with it on stderr.

    Raises:
        ConfigError: there is no such client or scope, or the workspace root cannot be used.
    """
    plan = _plan(flags, client, scope, name, lenient=True)
    if as_json:
        _print_json(plan, "shown")
        return
    what = "This goes into" if plan.text is None else "Merge this into"
    click.echo(f"{what} {plan.file}, for {plan.client.title}:\n", err=True)
    click.echo(plan.snippet, nl=False)
    click.echo(f"\nTo write it:\n  {_again(flags, plan)} --write", err=True)
    if plan.command:
        click.echo(f"or let {plan.client.title} write it:\n  {shlex.join(plan.command)}", err=True)
    _say_next(plan)


def write_setup(
    flags: ServerFlags, client: str, scope: ScopeName | None, name: str, *, force: bool, as_json: bool
) -> None:
    """Merge the entry into the client's configuration file; the rest of the file stays as it is.

    An entry with our settings is left alone, whatever else it contains. A different one is replaced only with `force`.

    Raises:
        ConfigError: see `show_setup`; the file is broken, cannot be edited without losing something, or has another
            entry of that name.
        EditError: the file cannot be written; it is unchanged.
    """
    plan = _plan(flags, client, scope, name)
    there = plan.there
    if isinstance(there, dict) and all(there.get(key) == value for key, value in plan.entry.items()):
        state = "there"
    elif there is not None and not force:
        raise ConfigError(
            f"{plan.file} has a server {name!r} already, with other settings: {_difference(there, plan.entry)}. "
            "Replace it with --force, or add a second one with --name OTHER."
        )
    else:
        state = "replaced" if there is not None else "added"
        _write(plan)
    if as_json:
        _print_json(plan, state)
        return
    if state == "there":
        click.echo(f"{plan.file} has the server {name!r} already; nothing was changed.")
        return
    others = [other for other in entry_at(plan.config, plan.shape.servers) or {} if other != name]
    kept = f" (beside {', '.join(others)})" if others else ""
    click.echo(f"{plan.file}: server {name!r} {state}{kept}.")
    if state == "replaced":
        click.echo(f"It was: {json.dumps(there, ensure_ascii=False, default=str)}")
    _say_next(plan)


def remove_setup(flags: ServerFlags, client: str, scope: ScopeName | None, name: str, *, as_json: bool) -> None:
    """Remove the server called `name` from the client's configuration file; the rest of the file stays as it is.

    A file without other content is deleted, as are folders in the project that become empty.

    Raises:
        ConfigError: see `show_setup`; the file is broken, or cannot be edited without losing something.
        EditError: the file cannot be written; it is unchanged.
    """
    plan = _plan(flags, client, scope, name)
    there, deleted = plan.there, False
    if there is not None:
        assert plan.text is not None
        try:
            after = without_entry(plan.text, plan.client.format, plan.path)
        except ConfigError as error:
            raise ConfigError(f"{plan.file} was not changed: {error}. Remove the server {name!r} yourself.") from None
        nothing_left = holds_nothing(after, plan.client.format, plan.shape.servers, plan.client.new_file)
        if deleted := nothing_left and not plan.file.is_symlink():
            remove_config(plan.file, flags.workspace().root if plan.scope_name == "project" else None)
        else:
            write_config(plan.file, plan.text, after)
    if as_json:
        _print_json(plan, "removed" if there is not None else "missing")
    elif there is None:
        click.echo(f"{plan.file} has no server {name!r}; nothing was changed.")
    else:
        gone = " Nothing else was in the file, so it was deleted." if deleted else ""
        click.echo(f"{plan.file}: server {name!r} removed.{gone}")
        click.echo(f"It was: {json.dumps(there, ensure_ascii=False, default=str)}")


def own_command() -> str:
    """How another program starts this one: `lsp-mcp` where PATH leads here, else the full path.

    The PATH of an activated virtual environment is this shell's alone, so there it is the full path too.
    """
    beside = Path(sys.executable).parent / PROGRAM
    called = _plain(Path(sys.argv[0]).absolute())
    own = next((path for path in (called, beside) if path.name == PROGRAM and path.is_file()), None)
    found = shutil.which(PROGRAM)
    if own is None:
        return found or PROGRAM
    in_venv = sys.prefix != sys.base_prefix and found and Path(found).absolute().is_relative_to(sys.prefix)
    return PROGRAM if found and Path(found).samefile(own) and not in_venv else str(own)


def _plain(path: Path) -> Path:
    """`path` without `..`, unless a link makes that lead elsewhere."""
    plain = Path(os.path.normpath(path))
    return plain if plain.exists() and plain.samefile(path) else path


def _plan(
    flags: ServerFlags, client_name: str, scope_name: ScopeName | None, name: str, *, lenient: bool = False
) -> Plan:
    """The plan; with `lenient`, a file that cannot be used is taken as empty."""
    _check_name(name)
    client = load_client(client_name)
    scope = client.scope(scope_name)
    scope_name = scope_name or client.default_scope
    root = flags.workspace().root
    file = scope.file(root)
    text, config = None, {}
    try:
        text = read_config(file)
        config = parse(text or "", client.format)
        entry_at(config, (*_shape(client, scope, config, root).servers, name))
    except ConfigError as error:
        if not lenient:
            raise ConfigError(f"{file} cannot be used: {error}. Fix that first; nothing was changed.") from None
    shape = _shape(client, scope, config, root)
    # In the project's own file, the client knows where the project is; elsewhere only if nobody said so.
    fixed = scope_name != "project" and "--workspace-root" in flags.given
    arguments = _arguments(flags, str(root) if fixed else filled(scope.workspace_root, root=str(root)))
    values: dict[str, Any] = {"program": own_command(), "arguments": arguments}
    values |= {"command": [values["program"], *arguments], "name": name}
    return Plan(
        client=client,
        scope_name=scope_name,
        scope=scope,
        file=file,
        text=text,
        config=config,
        shape=shape,
        name=name,
        entry=filled(shape.entry, **values),
        program=values["program"],
        command=filled(scope.command, **values),
    )


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise CallerError(f"{name!r} cannot name a server: letters, digits, - and _ can")


def _arguments(flags: ServerFlags, root: str) -> list[str]:
    form = ["--format", flags.form] if "--format" in flags.given else []
    return [*form, *flags.words(), "--workspace-root", root]


def _shape(client: Client, scope: Scope, config: dict[str, Any], root: Path) -> Shape:
    """The form of the configuration `config`, with the table of servers that `scope` has."""
    shape = client.shape(config)
    return Shape(servers=tuple(filled(scope.servers, root=str(root))), entry=shape.entry) if scope.servers else shape


def _write(plan: Plan) -> None:
    new = plan.client.new_file if plan.text is None else {}
    text = snippet(plan.client.format, new) if new else plan.text or ""
    try:
        after = with_entry(text, plan.client.format, plan.path, plan.entry)
    except ConfigError as error:
        raise ConfigError(
            f"{plan.file} was not changed: {error}. Put this into it yourself:\n\n{plan.snippet}"
        ) from None
    write_config(plan.file, plan.text, after)


def _difference(there: Any, entry: dict[str, Any]) -> str:
    if not isinstance(there, dict):
        return f"it is {there!r}"
    parts = []
    for key, value in entry.items():
        if there.get(key) != value:
            has = json.dumps(there[key], ensure_ascii=False, default=str) if key in there else "missing"
            parts.append(f"{key} is {has}, not {json.dumps(value, ensure_ascii=False)}")
    return "; ".join(parts)


def _say_next(plan: Plan) -> None:
    if plan.scope_name == "project" and plan.program != PROGRAM:
        click.echo(
            "\nThe entry contains the full path of this lsp-mcp, because `lsp-mcp` on PATH is not this one. Before you "
            "share the file, install lsp-mcp for your user (pipx, uv tool) and run this command again.",
            err=True,
        )
    click.echo(f"\nThen: {plan.scope.after}", err=True)
    if plan.client.check:
        click.echo(f"Check the connection: {plan.client.check}", err=True)
    click.echo(f"Check what is missing here: {PROGRAM} doctor", err=True)


def _again(flags: ServerFlags, plan: Plan) -> str:
    """The given command line, as far as it affects the file."""
    words = [PROGRAM, "setup", plan.client.name]
    words += ["--scope", plan.scope_name] if plan.scope_name != plan.client.default_scope else []
    words += ["--name", plan.name] if plan.name != PROGRAM else []
    words += ["--format", flags.form] if "--format" in flags.given else []
    words += flags.words()
    words += ["--workspace-root", flags.workspace_root] if "--workspace-root" in flags.given else []
    return shlex.join(words)


def _print_json(plan: Plan, state: str) -> None:
    shown = {
        "client": plan.client.name,
        "scope": plan.scope_name,
        "file": str(plan.file),
        "state": state,
        "name": plan.name,
        "path": list(plan.path),
        "entry": plan.entry,
        "snippet": plan.snippet,
        "command": plan.command,
    }
    click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
