"""`lsp-mcp token add`, `list` and `revoke`: what they do and print."""

from __future__ import annotations

import json

import click
import msgspec

from lsp_mcp.cli.index import opened


def add_token(name: str, store: str | None, *, as_json: bool) -> None:
    """Print a new token. Raises the errors of `opened` and `tokens.add`."""
    with opened(store) as found:
        from lsp_mcp.index import tokens

        made = found.write(lambda at: tokens.add(at, name))
        if not as_json:
            click.echo(f"The token of {name} in {found.shown}, which is not shown again:", err=True)
    click.echo(json.dumps({"name": name, "token": made}) if as_json else made)


def show_tokens(store: str | None, *, as_json: bool) -> None:
    """Print who has a token. Raises the errors of `opened`."""
    with opened(store) as found:
        from lsp_mcp.index import tokens

        holders = found.read(tokens.listed)
    if as_json:
        click.echo(json.dumps({"store": found.shown, "tokens": msgspec.to_builtins(holders)}, indent=2))
        return
    for one in holders:
        click.echo(f"{one.name}, since {one.added_at[:16]}Z")
    click.echo(f"Tokens: {len(holders):,}, in {found.shown}")


def revoke_token(name: str, store: str | None, *, as_json: bool) -> None:
    """End a token. Raises the errors of `opened` and `tokens.revoke`."""
    with opened(store) as found:
        from lsp_mcp.index import tokens

        found.write(lambda at: tokens.revoke(at, name))
    click.echo(json.dumps({"revoked": name}) if as_json else f"revoked the token of {name} in {found.shown}")
