"""`lsp-mcp index`: the commands; `cli.index` carries them out."""

from __future__ import annotations

from pathlib import Path

import click

from lsp_mcp.cli.help import OrderedGroup, json_flag
from lsp_mcp.cli.options import ServerFlags, server_flags

store_flag = click.option(
    "--index-store",
    "store",
    metavar="URL",
    help="postgresql://USER@HOST/DATABASE or sqlite:///FILE. Default: a file in the user's data folder.",
)
"""The flag that names an index store."""
_repository = click.option("--repository", required=True, metavar="NAME", help="For example github.com/x/y.")


@click.group(cls=OrderedGroup)
def index() -> None:
    """Store exact indexes of other repositories, so that answers name uses there.

    An index is a SCIP file, which an indexer makes in CI. docs/indexes.md says how.
    """


@index.command()
@click.argument("file", type=click.Path(path_type=Path))
@_repository
@click.option("--commit", required=True, metavar="SHA", help="The commit that was indexed.")
@click.option("--root", type=click.Path(path_type=Path), help="The checkout, whose text makes columns exact.")
@click.option("--with-text", is_flag=True, help="Store the sources too, from the file or from --root.")
@click.option("--name", help="A name, for example of a release; a named index is kept when newer ones are pushed.")
@store_flag
@json_flag
def push(
    file: Path,
    repository: str,
    commit: str,
    root: Path | None,
    with_text: bool,
    name: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Store the SCIP FILE as the newest index of a repository, all or nothing."""
    from lsp_mcp.cli.index import push_index

    push_index(file, repository, commit, root, store, name=name, with_text=with_text, as_json=as_json)


@index.command()
@click.option("--output", type=click.Path(path_type=Path), default=Path("index.scip"), show_default=True)
@server_flags("--backend", "--workspace-root")
@json_flag
def build(flags: ServerFlags, output: Path, as_json: bool) -> None:
    """Make a SCIP index of the workspace root with the indexer for its language.

    Without --backend the files in the root decide.
    """
    from lsp_mcp.cli.index_build import build_index

    build_index(flags, output, as_json=as_json)


@index.command("list")
@store_flag
@json_flag
def list_indexes(store: str | None, as_json: bool) -> None:
    """List the stored indexes with their commits, ages and sizes."""
    from lsp_mcp.cli.index import show

    show(store, as_json=as_json)


@index.command()
@_repository
@click.option("--commit", metavar="SHA", help="Only the index of this commit; a shortened SHA is enough.")
@store_flag
@json_flag
def drop(repository: str, commit: str | None, store: str | None, as_json: bool) -> None:
    """Remove the indexes of a repository."""
    from lsp_mcp.cli.index import drop_indexes

    drop_indexes(repository, commit, store, as_json=as_json)


@index.command()
@store_flag
@json_flag
def gc(store: str | None, as_json: bool) -> None:
    """Remove all indexes but the newest of each repository and the named ones."""
    from lsp_mcp.cli.index import collect

    collect(store, as_json=as_json)
