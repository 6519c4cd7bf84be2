"""`lsp-mcp board export` and `lsp-mcp board import`: the board as a folder of files, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lsp_mcp.cli.help import working
from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.errors import CallerError, ConfigError
from lsp_mcp.installed import install_command
from lsp_mcp.prose import count
from lsp_mcp.workspace import from_home

if TYPE_CHECKING:
    from lsp_mcp.board.exchange.importing import Imported
    from lsp_mcp.board.store import Store

_SOURCES = {
    "neova": "Neova's board",
    "export": "the export",
    "github": "the issues",
    "backlog": "Backlog.md's tasks",
}
_MOST_SHOWN = 20  # of what was left out, for people


def export_board(flags: ServerFlags, folder: str, *, form: str, force: bool, as_json: bool) -> None:
    """Write the board of the workspace root to a folder, or a file, in that form, and print what was written.

    Raises:
        CallerError: there is no board, or the folder contains other things; nothing was changed.
        UnavailableError: the database or the folder cannot be used.
    """
    with working("exporting"), opened(flags, new=False) as store:
        from lsp_mcp.board.exchange.exporting import export_backlog, export_github, export_to
        from lsp_mcp.board.exchange.rows import load

        contents = store.read(load)
        place = from_home(folder).resolve()
        match form:
            case "backlog":
                done = export_backlog(place, contents)
            case "github":
                done = export_github(place, contents, force=force)
            case _:
                done = export_to(place, contents, force=force)
    if as_json:
        click.echo(json.dumps({"folder": str(place), **asdict(done)}, indent=2, ensure_ascii=False))
        return
    if form != "markdown":
        click.echo(f"{place}: {count(len(contents.tasks), 'task')}. The history, standards and snippets are left out.")
        return
    click.echo(
        f"{place}: {count(len(contents.tasks), 'task')}, {count(len(contents.stages), 'stage')}, "
        f"{count(len(contents.standards), 'standard')}, {count(len(contents.snippets), 'snippet')}. "
        f"Files: {len(done.written):,} written, {len(done.unchanged):,} unchanged, "
        f"{len(done.deleted):,} deleted."
    )
    if done.left:
        _show("Left alone, because no export wrote it", done.left)


def import_board(flags: ServerFlags, folder: str, *, force: bool, as_json: bool) -> int:
    """Import a folder into the board of the workspace root, all or nothing, and print what was done.

    Returns the exit status: 1 if some files could not be used.

    Raises:
        CallerError: the folder contains no board, or its stages cannot be used; nothing was changed.
        UnavailableError: the database cannot be used.
    """
    place = from_home(folder).resolve()
    from lsp_mcp.board.exchange.reading import read_folder

    with working("importing"):
        found = read_folder(place)  # before a database is made
        with opened(flags, new=True) as store:
            from lsp_mcp.board.exchange.importing import import_contents

            done = store.write(lambda at: import_contents(at, found, force=force))
    if as_json:
        click.echo(json.dumps(_shaped(place, done), indent=2, ensure_ascii=False))
    else:
        _tell(place, done)
    return 1 if done.broken else 0


# --- inside ----------------------------------------------------------------------------------------


@contextmanager
def opened(flags: ServerFlags, *, new: bool) -> Iterator[Store]:
    """The board's database; created if it is missing and `new` is set."""
    try:
        from lsp_mcp.board.place import store_url
        from lsp_mcp.board.store import Store
    except ModuleNotFoundError as error:
        raise ConfigError(f"the board needs {error.name}; install it with: {install_command('board')}") from None

    root = flags.workspace().root
    url = store_url(root, flags.store)
    if not new and url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).exists():
        raise CallerError(f"there is no board for {root} yet; create one with: lsp-mcp board --workspace-root {root}")
    store = Store(url)
    try:
        yield store
    finally:
        store.close()


def _shaped(place: Path, done: Imported) -> dict[str, object]:
    names = ("created", "updated", "unchanged", "skipped")
    return {
        "folder": str(place),
        "source": done.source,
        **{kind: {name: found[name] for name in names} for kind, found in done.counts.items()},
        "skipped": [asdict(one) for one in done.skipped],
        "broken": [asdict(one) for one in done.broken],
        "notes": done.notes,
    }


def _tell(place: Path, done: Imported) -> None:
    click.echo(f"Imported {_SOURCES[done.source]} in {place}:")
    for kind, found in done.counts.items():
        if found.total():
            skipped = f", {found['skipped']:,} skipped" if found["skipped"] else ""
            click.echo(
                f"  {kind:9}  {found['created']:,} created, {found['updated']:,} updated, "
                f"{found['unchanged']:,} unchanged{skipped}"
            )
    if not any(found.total() for found in done.counts.values()):
        click.echo("  nothing was in it")
    if done.skipped:
        _show("Skipped (--force imports them too)", [f"{one.file}: {one.reason}" for one in done.skipped])
    if done.broken:
        _show("Not used", [f"{x.file}: {x.reason}" for x in done.broken])
    if done.notes:
        _show("Note", done.notes)


def _show(what: str, lines: list[str]) -> None:
    click.echo(f"{what}:", err=True)
    for line in lines[:_MOST_SHOWN]:
        click.echo(f"  {line}", err=True)
    if len(lines) > _MOST_SHOWN:
        click.echo(f"  and {len(lines) - _MOST_SHOWN:,} more (--json has all)", err=True)
