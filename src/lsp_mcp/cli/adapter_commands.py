"""`lsp-mcp adapters list|show` and `lsp-mcp trust`: which language servers are known, from which files."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click

from lsp_mcp.adapters import adapter_files, adapter_names, load_adapter
from lsp_mcp.cli.help import json_flag
from lsp_mcp.cli.name_completion import of_names
from lsp_mcp.cli.options import ServerFlags, server_flags
from lsp_mcp.data import data_folder
from lsp_mcp.errors import CallerError, ConfigError
from lsp_mcp.project_adapters import FOLDER, distrust, project_adapters
from lsp_mcp.project_adapters import trust as trust_files
from lsp_mcp.sessions.choosing import is_installed
from lsp_mcp.visible import visible_lines


@click.group("adapters")
def adapters() -> None:
    """List the language servers that lsp-mcp knows, show the file of one, or try one."""


@adapters.command("list")
@json_flag
@server_flags("--workspace-root", "--adapter")
def list_adapters(flags: ServerFlags, as_json: bool) -> None:
    """List all adapters: the shipped ones, yours, and the trusted ones of the project."""
    rows = [_row(name, file) for name, file in sorted(adapter_files("lsp").items())]
    rows += [
        _unusable(file.path.stem, str(file.path), "not read until you trust it: lsp-mcp trust")
        for file in project_adapters(flags.workspace().root)
        if not file.trusted
    ]
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    width = max(len(str(row["name"])) for row in rows)
    for row in rows:
        state = "installed" if row["installed"] else "not installed"
        origin = row["file"] or ("tested" if row["tested"] else "not tested")
        about = f"{', '.join(row['languages'])}: {state}, {origin}"
        click.echo(visible_lines(f"{row['name']:{width}}  {row.get('problem') or about}"))


def _row(name: str, file: Path) -> dict[str, Any]:
    """What the list says of one adapter; `problem`: why it cannot be used."""
    shipped = file.is_relative_to(data_folder("adapters"))
    shown = "" if shipped else str(file)
    try:
        adapter = load_adapter(name)
    except ConfigError as error:
        return _unusable(name, shown, str(error))
    return {
        "name": name,
        "languages": adapter.language_names,
        "file": shown,
        "installed": is_installed(adapter),
        "tested": shipped and not adapter.untested,
    }


def _unusable(name: str, file: str, problem: str) -> dict[str, Any]:
    return {"name": name, "languages": [], "file": file, "installed": False, "tested": False, "problem": problem}


@adapters.command("show")
@click.argument("name")
@server_flags("--workspace-root", "--adapter")
def show_adapter(flags: ServerFlags, name: str) -> None:
    """Print the file of the adapter NAME, a model for your own."""
    load_adapter(name)  # its errors
    click.echo(adapter_files("lsp")[name].read_text("utf-8"), nl=False)


@adapters.command("check")
@click.argument("name", shell_complete=of_names(adapter_names))
@click.option("--sample", "folder", metavar="FOLDER", default="", help="Try it on a copy of this small project.")
@click.option(
    "--symbol", metavar="NAME", default="", help="The symbol of that project to ask about. Default: a used one."
)
@json_flag
@server_flags("--workspace-root", "--adapter", "--ready-timeout", "--*-path")
@click.pass_context
def check_adapter(
    context: click.Context, flags: ServerFlags, name: str, folder: str, symbol: str, as_json: bool
) -> None:
    """Start the language server NAME on a small project, and show which basic questions it answers.

    The questions: definition, references, outline, search by name, rename preview, errors. The project is one that
    lsp-mcp has for most languages, in a temporary folder. Exit status 1 if the server is missing, or does not do what
    it offers.
    """
    from lsp_mcp.cli.adapter_check import check_adapter as check

    context.exit(check(flags, name, folder, symbol, as_json=as_json))


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
