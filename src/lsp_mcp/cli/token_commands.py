"""`lsp-mcp token`: this user's own token, and those of the people who may ask a team's server."""

from __future__ import annotations

import json

import click

from lsp_mcp.cli.help import OrderedGroup, json_flag
from lsp_mcp.cli.index_commands import store_flag


@click.group("token", cls=OrderedGroup, invoke_without_command=True)
@json_flag
@click.pass_context
def token(context: click.Context, as_json: bool) -> None:
    """Print the token that clients must send.

    It is the same for this user's HTTP servers (--transport http), board and bridge. LSP_MCP_TOKEN sets another. The
    commands are for the server of a team (--transport http --backend index), where each person has a token.
    """
    if context.invoked_subcommand is None:
        from lsp_mcp.cli.token import token as own_token

        found = own_token(context.obj)
        click.echo(json.dumps({"token": found}) if as_json else found)


@token.command()
@click.argument("name")
@store_flag
@json_flag
def add(name: str, store: str | None, as_json: bool) -> None:
    """Make a token for the person or program NAME, and print it, once.

    The index store keeps only its hash.
    """
    from lsp_mcp.cli.team_tokens import add_token

    add_token(name, store, as_json=as_json)


@token.command("list")
@store_flag
@json_flag
def list_tokens(store: str | None, as_json: bool) -> None:
    """List who has a token in the index store, and since when."""
    from lsp_mcp.cli.team_tokens import show_tokens

    show_tokens(store, as_json=as_json)


@token.command()
@click.argument("name")
@store_flag
@json_flag
def revoke(name: str, store: str | None, as_json: bool) -> None:
    """End the token of NAME: running servers refuse the next request with it."""
    from lsp_mcp.cli.team_tokens import revoke_token

    revoke_token(name, store, as_json=as_json)
