"""Questions to the newest index of every repository: uses, implementations, names, documents. Lines count from 0."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.engine import Connection

from lsp_mcp.index.monikers import Moniker, described, key, parse
from lsp_mcp.index.packing import Defined, Use, unpack_defined, unpack_keys, unpack_uses
from lsp_mcp.index.scip import DEFINITION
from lsp_mcp.index.store import Pushed, listed
from lsp_mcp.index.tables import documents, pushes, symbols

_MOST_KEYS = 500  # in one statement


class File(NamedTuple):
    """A document of an index; `is_exact`: its columns count characters, otherwise perhaps bytes or UTF-16 units."""

    path: str
    is_exact: bool


class Site(NamedTuple):
    """One place in a document; line and character from 0."""

    file: File
    use: Use


class Found(Struct, frozen=True):
    """A symbol as one repository has it: `uses` are all its places, those that define it included."""

    index: Pushed
    moniker: Moniker
    packed: bytes
    implemented_by: list[int]

    @property
    def uses(self) -> list[Use]:
        """All its places; a common one has thousands, so they are unpacked when they are needed."""
        return unpack_uses(self.packed)

    @property
    def references(self) -> list[Use]:
        """The places that do not define it."""
        return [use for use in self.uses if not use.roles & DEFINITION]

    @property
    def definitions(self) -> list[Use]:
        """The places that define it."""
        return [use for use in self.uses if use.roles & DEFINITION]


def find(connection: Connection, identities: Collection[str]) -> list[Found]:
    """What the newest indexes have of the symbols of those identities (`monikers.identity`), by repository.

    One look at the primary key for each repository and symbol, whatever the size of the store.
    """
    wanted = symbols.c.key.in_([key(one) for one in identities])
    return [one for one in _found(connection, wanted) if one.moniker.identity in set(identities)]


def by_name(
    connection: Connection, prefix: str, limit: int, *, exactly: bool = False, within: Sequence[str] = ()
) -> list[Found]:
    """At most `limit` symbols defined in an index whose last name begins with `prefix`, in any case of letters;
    `exactly`: which is that name, as spelled. `within`: words that the whole name has, too."""
    folded = prefix.casefold()
    wanted = (symbols.c.name >= folded) & (symbols.c.name < f"{folded}\U0010ffff")
    having = [symbols.c.symbol.contains(word, autoescape=True) for word in within]
    found = _found(connection, sa.and_(symbols.c.name == folded if exactly else wanted, *having), limit)
    return [one for one in found if not exactly or _last_name(one) == prefix]


def by_keys(connection: Connection, index: Pushed, keys: Sequence[int]) -> list[Found]:
    """The symbols of those keys in one index, which need not be the newest."""
    found: list[Found] = []
    for at in range(0, len(keys), _MOST_KEYS):
        rows = connection.execute(
            sa.select(symbols).where(
                symbols.c.repository == index.key[0],
                symbols.c.push == index.key[1],
                symbols.c.key.in_(keys[at : at + _MOST_KEYS]),
            )
        )
        found += [one for row in rows if (one := _symbol(row, index))]
    return found


def sites(connection: Connection, index: Pushed, uses: Sequence[Use]) -> list[Site]:
    """The places of `uses` of one index, by path and line."""
    files: dict[int, File] = {}
    numbers = sorted({use.document for use in uses})
    for at in range(0, len(numbers), _MOST_KEYS):
        rows = connection.execute(
            sa.select(documents.c.document, documents.c.path, documents.c.is_exact).where(
                documents.c.repository == index.key[0],
                documents.c.push == index.key[1],
                documents.c.document.in_(numbers[at : at + _MOST_KEYS]),
            )
        )
        files |= {row.document: File(row.path, row.is_exact) for row in rows}
    return sorted((Site(files[use.document], use) for use in uses), key=lambda one: (one.file.path, one.use.line))


class Stored(Struct, frozen=True):
    """A document with what it defines, and its text, None if that was not pushed."""

    index: Pushed
    number: int
    file: File
    defined: list[Defined]
    text: str | None


def document(connection: Connection, repository: str, commit: str, path: str) -> Stored | None:
    """The document at `path` of the index of `commit`, which may be shortened; None if the store has none."""
    for index in listed(connection, repository=repository):
        if index.commit.startswith(commit) and (found := document_of(connection, index, path)):
            return found
    return None


def document_of(connection: Connection, index: Pushed, path: str) -> Stored | None:
    """The document at `path` of an index; None if it has none."""
    return next(iter(_stored(connection, index, documents.c.path == path)), None)


def documents_of(connection: Connection, index: Pushed, numbers: Collection[int]) -> list[Stored]:
    """The documents of those numbers in an index."""
    wanted = sorted(numbers)
    parts = [wanted[at : at + _MOST_KEYS] for at in range(0, len(wanted), _MOST_KEYS)]
    return [one for part in parts for one in _stored(connection, index, documents.c.document.in_(part))]


def paths_below(connection: Connection, index: Pushed, folder: str) -> dict[int, str]:
    """The numbers and paths of the documents in `folder` of an index, which is empty for all of them; by path."""
    query = sa.select(documents.c.document, documents.c.path).where(*_in(documents, index))
    if folder:
        query = query.where(documents.c.path >= f"{folder}/", documents.c.path < f"{folder}0")  # 0 follows /
    return {row.document: row.path for row in connection.execute(query.order_by(documents.c.path))}


def used_in(connection: Connection, stored: Stored, line: int) -> list[Found]:
    """The symbols with a place on `line` of a document. All symbols of its index are looked at, which takes a second
    for 300,000 places: nothing is stored by line."""

    def is_there(packed: bytes) -> bool:
        return any(use.document == stored.number and use.line == line for use in unpack_uses(packed))

    rows = connection.execute(sa.select(symbols).where(*_in(symbols, stored.index)))
    return [one for row in rows if is_there(row.uses) and (one := _symbol(row, stored.index))]


def implemented_by(connection: Connection, one: Found) -> list[Found]:
    """What `one` implements, extends or overrides, as its own index says."""
    key_of_one = key(one.moniker.identity)
    wanted = sa.select(symbols).where(*_in(symbols, one.index), symbols.c.implemented_by.is_not(None))
    rows = [row for row in connection.execute(wanted) if key_of_one in unpack_keys(row.implemented_by)]
    return [found for row in rows if (found := _symbol(row, one.index))]


def _in(table: sa.Table, index: Pushed) -> tuple[sa.ColumnElement[bool], ...]:
    return table.c.repository == index.key[0], table.c.push == index.key[1]


def _stored(connection: Connection, index: Pushed, wanted: sa.ColumnElement[bool]) -> list[Stored]:
    rows = connection.execute(sa.select(documents).where(*_in(documents, index), wanted))
    return [
        Stored(
            index,
            row.document,
            File(row.path, row.is_exact),
            unpack_defined(row.defined),
            zlib.decompress(row.text).decode() if row.text else None,
        )
        for row in rows
    ]


def _last_name(one: Found) -> str:
    names = described(one.moniker.descriptors)
    return names.names[-1] if names and names.names else ""


def _found(connection: Connection, wanted: sa.ColumnElement[bool], limit: int | None = None) -> list[Found]:
    indexes = {index.key: index for index in listed(connection, only_newest=True)}
    columns = (pushes.c.repository, pushes.c.push, symbols.c.symbol, symbols.c.uses, symbols.c.implemented_by)
    same = (symbols.c.repository == pushes.c.repository) & (symbols.c.push == pushes.c.push)
    query = sa.select(*columns).select_from(pushes.join(symbols, same)).where(pushes.c.is_newest, wanted)
    rows = connection.execute(query.limit(limit) if limit else query)
    found = [one for row in rows if (index := indexes.get((row.repository, row.push))) and (one := _symbol(row, index))]
    return sorted(found, key=lambda one: (one.index.repository, one.moniker.descriptors))


def _symbol(row: Any, index: Pushed) -> Found | None:
    moniker = parse(row.symbol)
    keys = unpack_keys(row.implemented_by) if row.implemented_by else []
    return Found(index, moniker, row.uses, keys) if moniker else None
