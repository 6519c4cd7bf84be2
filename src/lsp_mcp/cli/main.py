"""`lsp-mcp`: serve MCP, or one of the commands for people."""

from __future__ import annotations

import sys

import click

from lsp_mcp import __version__
from lsp_mcp.cli.options import ServerFlags, server_flags
from lsp_mcp.errors import LspMcpError


class _Group(click.Group):
    """Errors of this program's own tree are messages for people, not tracebacks."""

    def main(self, *args: object, **kwargs: object) -> object:  # type: ignore[override]
        try:
            return super().main(*args, **kwargs)  # type: ignore[arg-type]
        except LspMcpError as error:
            click.echo(f"lsp-mcp: {error}", err=True)
            sys.exit(2)


@click.group(cls=_Group, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@server_flags
@click.option(
    "--transport",
    type=click.Choice(["stdio"]),
    default="stdio",
    show_default=True,
    help="How MCP clients connect.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "compact"]),
    default="json",
    show_default=True,
    help="Form of answers; compact is short text.",
)
@click.option(
    "--response-format",
    type=click.Choice(["text", "structured", "both"]),
    default="text",
    show_default=True,
    help="Channel of answers in MCP results.",
)
@click.version_option(__version__, "--version", prog_name="lsp-mcp")
@click.pass_context
def main(context: click.Context, flags: ServerFlags, transport: str, form: str, response_format: str) -> None:
    """Language servers for AI agents, over the Model Context Protocol.

    Without a command: serve MCP on stdio for the code in the workspace root.
    """
    if context.invoked_subcommand is None:
        from lsp_mcp.cli.serve import serve

        serve(flags, form, response_format)
    context.obj = flags


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("tool")
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--json", "as_json", is_flag=True, help="JSON even on a terminal.")
@click.pass_context
def call(context: click.Context, tool: str, arguments: tuple[str, ...], as_json: bool) -> None:
    """Call any TOOL from the shell: same names, same answers. Without a tool name, `list` shows them all."""
    from lsp_mcp.cli.call import call_tool

    call_tool(context.obj, tool, arguments, as_json=as_json)
