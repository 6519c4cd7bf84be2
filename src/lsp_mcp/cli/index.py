"""`lsp-mcp index push`, `list`, `drop` and `gc`: what they do and print."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from lsp_mcp.errors import CallerError, ConfigError
from lsp_mcp.index.place import store_url
from lsp_mcp.installed import install_command
from lsp_mcp.prose import count

if TYPE_CHECKING:
    from lsp_mcp.index.store import IndexStore, Pushed

_REPOSITORY = re.compile(r"[\w.~+-]+(/[\w.~+-]+)*")
_COMMIT = re.compile(r"[\w.+-]{1,80}")
_STEP = 0.2  # seconds between two reports of progress


def push_index(
    file: Path,
    repository: str,
    commit: str,
    root: Path | None,
    store: str | None,
    *,
    name: str | None,
    with_text: bool,
    as_json: bool,
) -> None:
    """Store a SCIP file, and print what was stored. Raises the errors of `gather` and `IndexStore.push`."""
    for pattern, given, flag in ((_REPOSITORY, repository, "--repository"), (_COMMIT, commit, "--commit")):
        if not pattern.fullmatch(given) or len(given) > 300:
            raise CallerError(f"{flag} {given[:80]!r} is not one: letters, digits and . - _ + only; no spaces, no @.")
    if root is not None and not root.is_dir():
        raise CallerError(f"--root {root} is not a folder.")
    with opened(store) as found:
        from lsp_mcp.index.gathering import gather

        gathered = gather(file, root, with_text=with_text, progress=_progress(file))
        lacking = [one["path"] for one in gathered.documents if with_text and one["text"] is None]
        if lacking:
            raise CallerError(
                f"--with-text: {count(len(lacking), 'source')} of {len(gathered.documents):,} could not be read, such "
                f"as {lacking[0]}; pass --root with the checkout. Nothing was stored."
            )
        pushed = found.push(gathered, repository, commit, name)
    if as_json:
        said = _plain(pushed) | {"left_out": gathered.outside}
        click.echo(json.dumps(said, indent=2, ensure_ascii=False))
        return
    exact = all(one["is_exact"] for one in gathered.documents)
    click.echo(f"{repository} {commit}: {_sizes(pushed)} stored in {found.shown}.")
    if gathered.outside:
        outside = count(len(gathered.outside), "document")
        click.echo(f"{outside} outside the repository left out, such as {gathered.outside[0]}")
    if not exact:
        click.echo("Columns after letters beyond ASCII may be off; pass --root with the checkout to have them exact.")


def show(store: str | None, *, as_json: bool) -> None:
    """Print the stored indexes. Raises the errors of `opened`."""
    with opened(store) as found:
        indexes = found.indexes()
    if as_json:
        click.echo(json.dumps({"store": found.shown, "indexes": [_plain(one) for one in indexes]}, indent=2))
        return
    for one in indexes:
        kept = f", kept as {one.name}" if one.name else "" if one.is_newest else ", not the newest"
        click.echo(f"{one.repository} {one.commit}: {_sizes(one)}, pushed {one.pushed_at[:16]}Z by {one.tool}{kept}")
    click.echo(f"Indexes: {len(indexes):,}, in {found.shown}")


def drop_indexes(repository: str, commit: str | None, store: str | None, *, as_json: bool) -> None:
    """Drop indexes of a repository, and print them. Raises the errors of `IndexStore.drop`."""
    with opened(store) as found:
        _dropped(found.drop(repository, commit), as_json=as_json)


def collect(store: str | None, *, as_json: bool) -> None:
    """Drop old indexes, and print them. Raises UnavailableError."""
    with opened(store) as found:
        _dropped(found.gc(), as_json=as_json)


@contextmanager
def opened(store: str | None) -> Iterator[IndexStore]:
    """The store that `store`, or the default, names. Raises ConfigError: it cannot be opened, or packages lack."""
    try:
        from lsp_mcp.index.store import IndexStore
    except ModuleNotFoundError as error:
        raise ConfigError(f"an index store needs {error.name}; install it with: {install_command('index')}") from None
    found = IndexStore(store_url(store))
    try:
        yield found
    finally:
        found.close()


def _dropped(found: Sequence[Pushed], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"dropped": [_plain(one) for one in found]}, indent=2))
        return
    for one in found:
        click.echo(f"dropped {one.repository} {one.commit}")
    click.echo(f"Indexes dropped: {len(found):,}")


def _plain(one: Pushed) -> dict[str, object]:
    values: dict[str, object] = msgspec.to_builtins(one)
    del values["key"]
    return values


def _sizes(one: Pushed) -> str:
    text = ", with text" if one.has_text else ""
    return (
        f"{count(one.documents, 'document')}, {count(one.symbols, 'symbol')}, {count(one.occurrences, 'occurrence')}, "
        f"{one.bytes / 1e6:.1f} MB{text}"
    )


def _progress(file: Path) -> Callable[[int, int], None]:
    """Shows on a terminal how much of `file` is read."""
    shown = time.monotonic()

    def report(done: int, whole: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if sys.stderr.isatty() and now - shown >= _STEP:
            shown = now
            click.echo(f"\r{file.name}: {done * 100 // whole}% read", nl=done == whole, err=True)

    return report
