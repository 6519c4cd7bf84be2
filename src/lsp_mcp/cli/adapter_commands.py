"""`lsp-mcp adapters list|show` and `lsp-mcp trust`: which language servers are known, from which files."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click

from lsp_mcp.adapters import adapter_files, load_adapter
from lsp_mcp.cli.help import json_flag
from lsp_mcp.cli.options import ServerFlags, server_flags
from lsp_mcp.data import data_folder
from lsp_mcp.errors import CallerError
from lsp_mcp.project_adapters import FOLDER, distrust, project_adapters
from lsp_mcp.project_adapters import trust as trust_files
from lsp_mcp.sessions.choosing import is_installed


@click.group("adapters")
def adapters() -> None:
    """List the language servers that lsp-mcp knows, or show the file of one."""


@adapters.command("list")
@json_flag
@server_flags("--workspace-root", "--adapter")
def list_adapters(flags: ServerFlags, as_json: bool) -> None:
    """List all adapters: the shipped ones, yours, and the trusted ones of the project."""
    rows = []
    for name, file in sorted(adapter_files("lsp").items()):
        adapter = load_adapter(name)
        shipped = file.is_relative_to(data_folder("adapters"))
        rows.append(
            {
                "name": name,
                "languages": adapter.language_names,
                "file": "" if shipped else str(file),
                "installed": is_installed(adapter),
                "tested": shipped and not adapter.untested,
            }
        )
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    width = max(len(str(row["name"])) for row in rows)
    for row in rows:
        state = "installed" if row["installed"] else "not installed"
        origin = row["file"] or ("tested" if row["tested"] else "not tested")
        spoken = ", ".join(load_adapter(str(row["name"])).language_names)
        click.echo(f"{row['name']:{width}}  {spoken}: {state}, {origin}")


@adapters.command("show")
@click.argument("name")
@server_flags("--workspace-root", "--adapter")
def show_adapter(flags: ServerFlags, name: str) -> None:
    """Print the file of the adapter NAME, a model for your own."""
    load_adapter(name)  # its errors
    click.echo(adapter_files("lsp")[name].read_text("utf-8"), nl=False)


@click.command("trust")
@click.option("--remove", is_flag=True, help="Trust them no longer.")
@json_flag
@server_flags("--workspace-root")
def trust(flags: ServerFlags, remove: bool, as_json: bool) -> None:
    """Trust the adapters in the project's .lsp-mcp/adapters, which name programs that lsp-mcp will run.

    They are printed with these programs. What is trusted is their present content: after a change, they count as
    unknown again.
    """
    root = flags.workspace().root
    files = project_adapters(root)
    if not files:
        raise CallerError(f"{root / FOLDER} has no adapters")
    found = [(file, file.adapter()) for file in files]  # before one of them is trusted
    (distrust if remove else trust_files)(files)
    if as_json:
        shown = [{"file": str(one.path), "command": list(adapter.command)} for one, adapter in found]
        click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
        return
    for file, adapter in found:
        path = file.path.relative_to(root) if file.path.is_relative_to(root) else Path(file.path)
        click.echo(f"{'no longer trusted' if remove else 'trusted'}: {path}, which runs {shlex.join(adapter.command)}")
