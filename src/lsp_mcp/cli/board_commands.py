"""`lsp-mcp board` and its commands."""

from __future__ import annotations

import json

import click

from lsp_mcp.cli.help import PORT, Commands, json_flag
from lsp_mcp.cli.options import ServerFlags, server_flags


@click.group(cls=Commands, invoke_without_command=True)
@click.option("--port", type=PORT, help="The port of the page. Default: the first free one from 21700 to 21709.")
@click.option("--dev", is_flag=True, help="Use ports 21710 to 21719 instead, next to another board.")
@click.option("--mcp", "stdio", is_flag=True, help="Serve MCP to one agent on stdio instead of the page.")
@click.option("--link", is_flag=True, help="Print a new link to the running board instead.")
@click.option(
    "--as",
    "name",
    metavar="NAME",
    help="Who the link is for. Default: git's user.name, which the person can change on the page.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON, for scripts. Only with --link.")
@click.option("--no-open", is_flag=True, help="Don't open the browser.")
@server_flags()
@click.pass_context
def board(
    context: click.Context,
    flags: ServerFlags,
    port: int | None,
    dev: bool,
    stdio: bool,
    link: bool,
    name: str | None,
    as_json: bool,
    no_open: bool,
) -> None:
    """Open the project board: tasks, questions and notes that agents and people share.

    Agents use it over WebSocket, Streamable HTTP or stdio, people in a browser. --backend NAME adds the code tools.
    """
    if as_json and (context.invoked_subcommand or not link):
        raise click.UsageError("--json goes with --link, or after a command.")
    if context.invoked_subcommand is not None:
        return
    from lsp_mcp.cli.board import new_link, run_board, run_stdio

    if link:
        found = new_link(flags, context.obj, port=port, dev=dev, name=name)
        click.echo(json.dumps({"link": found}) if as_json else found)
    elif stdio:
        run_stdio(flags)
    else:
        run_board(flags, context.obj, port=port, dev=dev, opens=not no_open, name=name)


@board.command("export")
@click.argument("folder")
@click.option(
    "--to",
    "form",
    type=click.Choice(["markdown", "backlog", "github"]),
    default="markdown",
    help="Write the files of Backlog.md, or JSON like that of `gh issue list --json`; both have tasks only.",
)
@click.option("--force", is_flag=True, help="Overwrite files that were edited since the last export.")
@json_flag
@server_flags("--workspace-root", "--store")
def board_export(flags: ServerFlags, folder: str, form: str, force: bool, as_json: bool) -> None:
    """Write the board to FOLDER as Markdown, one file per task.

    FOLDER is new, empty, or an earlier export to update.
    """
    from lsp_mcp.cli.board_exchange import export_board

    flags.check()
    export_board(flags, folder, form=form, force=force, as_json=as_json)


@board.command("import")
@click.argument("folder")
@click.option("--force", is_flag=True, help="Take what the files say even where the board is newer.")
@json_flag
@server_flags("--workspace-root", "--store")
@click.pass_context
def board_import(context: click.Context, flags: ServerFlags, folder: str, force: bool, as_json: bool) -> None:
    """Import FOLDER into the board: an earlier export, a .neova folder, one of Backlog.md, or a file of GitHub issues.

    Such a file is made with `gh issue list --state all --limit 1000 --json
    number,title,body,state,labels,assignees,milestone,createdAt,updatedAt,closedAt,url,comments >issues.json`.

    Existing items are recognized by their ids and updated. All or nothing. Exit status 1 if some files could not be
    used.
    """
    from lsp_mcp.cli.board_exchange import import_board

    flags.check()
    context.exit(import_board(flags, folder, force=force, as_json=as_json))


@board.command("people")
@click.option(
    "--revoke", metavar="NAME", help="End this person's links and open pages, on every board of the database."
)
@json_flag
@server_flags("--workspace-root", "--store")
def board_people(flags: ServerFlags, revoke: str | None, as_json: bool) -> None:
    """List the people of the board. `lsp-mcp board --link --as NAME` makes a link for one of them."""
    from lsp_mcp.cli.board import people_of

    flags.check()
    names = people_of(flags, revoke)
    if revoke is not None and not as_json:
        click.echo(f"ended the links and open pages of {revoke}; people of the board:", err=True)
    click.echo(json.dumps({"people": names}, ensure_ascii=False) if as_json else "\n".join(names))


@board.command("watch")
@json_flag
@server_flags("--workspace-root", "--store")
def board_watch(flags: ServerFlags, as_json: bool) -> None:
    """Print agents' questions and notifications as they arrive. A question rings the terminal's bell."""
    from lsp_mcp.cli.board_watch import watch_board

    flags.check()
    watch_board(flags, as_json=as_json)


@board.command("call")
@click.argument("tool", required=False)
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--json", "as_json", is_flag=True, help="JSON even on a terminal.")
@server_flags("--workspace-root", "--store", "--format", "--response-format")
def board_call(flags: ServerFlags, tool: str | None, arguments: tuple[str, ...], as_json: bool) -> None:
    """Call any TOOL of the board from the shell, in any folder: same names, same answers.

    Without a TOOL, or with `list`: show the tools.
    """
    from lsp_mcp.cli.board import alone
    from lsp_mcp.cli.call import call_tool, list_tools

    if tool in (None, "list"):
        list_tools(alone(flags), as_json=as_json, every=False)
    else:
        call_tool(alone(flags), tool, arguments, as_json=as_json)
