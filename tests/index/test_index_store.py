"""Pushing indexes into the store, and asking it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from index.scip_files import DEFINITION, document, field, go_symbol, implements, metadata, occurrence, varint, write
from lsp_mcp.database.engines import sqlite_engine
from lsp_mcp.database.migrating import migrate
from lsp_mcp.errors import CallerError
from lsp_mcp.index import gathering, queries
from lsp_mcp.index.gathering import gather
from lsp_mcp.index.migrating import MIGRATIONS
from lsp_mcp.index.monikers import identity
from lsp_mcp.index.scip import IndexFileError
from lsp_mcp.index.store import IndexStore
from lsp_mcp.index.tables import metadata as tables

GREET = go_symbol("example.com/a", "Greet().")
GREETER = go_symbol("example.com/a", "Greeter#")
POLITE = go_symbol("example.com/b", "Polite#", module="example.com/b")
IDENTITY = identity("scip-go", "gomod", "example.com/a", "`example.com/a`/Greet().")


def a_library(tmp_path: Path) -> Path:
    return write(tmp_path / "a.scip", document("a.go", occurrence(GREET, 2, 5, 10, DEFINITION)))


def a_user(tmp_path: Path, uses: int = 2) -> Path:
    other_version = GREET.replace(" v1 ", " v2 ")
    places = [occurrence(other_version, line, 3, 8) for line in range(uses)]
    return write(tmp_path / "b.scip", document("b/b.go", *places, implements(POLITE, GREETER)))


def push(store: IndexStore, file: Path, repository: str, commit: str = "abc123", name: str | None = None) -> None:
    store.push(gather(file, None, with_text=False), repository, commit, name)


def uses(store: IndexStore) -> dict[str, int]:
    found = store.read(lambda connection: queries.find(connection, [IDENTITY]))
    return {one.index.repository: len(one.references) for one in found}


def test_uses_are_found_in_every_repository_whatever_version_of_the_symbol_they_name(
    store: IndexStore, tmp_path: Path
) -> None:
    push(store, a_library(tmp_path), "example.com/a")
    push(store, a_user(tmp_path), "example.com/b")

    found = store.read(lambda connection: queries.find(connection, [IDENTITY]))

    assert [(one.index.repository, one.moniker.version) for one in found] == [
        ("example.com/a", "v1"),
        ("example.com/b", "v2"),
    ]
    there = store.read(lambda connection: queries.sites(connection, found[1].index, found[1].references))
    assert [(one.file.path, one.use.line, one.use.start, one.use.length) for one in there] == [
        ("b/b.go", 0, 3, 5),
        ("b/b.go", 1, 3, 5),
    ]


def test_names_are_found_by_their_beginning_and_implementations_by_what_they_implement(
    store: IndexStore, tmp_path: Path
) -> None:
    push(store, a_library(tmp_path), "example.com/a")
    push(store, a_user(tmp_path), "example.com/b")

    named = store.read(lambda connection: queries.by_name(connection, "gre", 10))
    greeter = identity("scip-go", "gomod", "example.com/a", "`example.com/a`/Greeter#")
    (base,) = store.read(lambda connection: queries.find(connection, [greeter]))
    found = store.read(lambda connection: queries.by_keys(connection, base.index, base.implemented_by))

    assert [one.moniker.descriptors for one in named] == ["`example.com/a`/Greet()."]
    assert [one.moniker.descriptors for one in found] == ["`example.com/b`/Polite#"]


def test_a_newer_push_answers_and_gc_keeps_named_indexes(store: IndexStore, tmp_path: Path) -> None:
    push(store, a_user(tmp_path, 1), "example.com/b", "c1", "release-1")
    push(store, a_user(tmp_path, 2), "example.com/b", "c2")
    push(store, a_user(tmp_path, 3), "example.com/b", "c3")
    assert uses(store) == {"example.com/b": 3}

    assert [one.commit for one in store.gc()] == ["c2"]
    assert [one.commit for one in store.indexes()] == ["c3", "c1"]

    store.drop("example.com/b", "c3")
    assert uses(store) == {"example.com/b": 1}


def test_the_same_commit_pushed_again_replaces_its_index(store: IndexStore, tmp_path: Path) -> None:
    push(store, a_user(tmp_path, 1), "example.com/b")
    push(store, a_user(tmp_path, 4), "example.com/b")

    assert uses(store) == {"example.com/b": 4}
    assert len(store.indexes()) == 1


def test_pushes_at_once_are_all_stored_and_one_is_the_newest(url: str, tmp_path: Path) -> None:
    file = a_user(tmp_path)
    failures: list[Exception] = []

    def one(number: int) -> None:
        try:
            opened = IndexStore(url)
            push(opened, file, "example.com/b", f"c{number}")
            opened.close()
        except Exception as error:  # noqa: BLE001 (whatever it is, the test shows it)
            failures.append(error)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    opened = IndexStore(url)
    assert failures == []
    assert sorted(one.commit for one in opened.indexes()) == ["c0", "c1", "c2", "c3"]
    assert [one.is_newest for one in opened.indexes()].count(True) == 1
    assert uses(opened) == {"example.com/b": 2}
    opened.close()


def test_a_push_that_fails_half_way_stores_nothing(store: IndexStore, tmp_path: Path) -> None:
    push(store, a_user(tmp_path, 1), "example.com/b", "c1")
    gathered = gather(a_user(tmp_path, 3), None, with_text=False)
    gathered.documents.append({**gathered.documents[0]})  # the same key twice

    with pytest.raises(Exception, match="index store"):
        store.push(gathered, "example.com/b", "c2")

    assert uses(store) == {"example.com/b": 1}
    assert [one.commit for one in store.indexes()] == ["c1"]


def test_columns_count_characters_if_the_text_is_known(store: IndexStore, tmp_path: Path) -> None:
    text = "// ü\nvar é = Greet()\n"
    start = len("var é = ".encode())
    file = write(tmp_path / "c.scip", document("c.go", occurrence(GREET, 1, start, start + 5), text=text))
    store.push(gather(file, None, with_text=True), "example.com/c", "c1")

    (found,) = store.read(lambda connection: queries.find(connection, [IDENTITY]))
    assert [(one.start, one.length) for one in found.uses] == [(8, 5)]
    stored = store.read(lambda connection: queries.document(connection, "example.com/c", "c1", "c.go"))
    assert stored
    assert stored.text == text


ENDLESS = field(2, b"")
BROKEN = {
    "truncated": (metadata() + document("a.go", occurrence(GREET, 1, 2, 3)))[:-4],
    "zeros": metadata() + bytes(1000),
    "empty": b"",
    "not an index": b"package main\n",
    "a giant document": metadata() + varint(2 << 3 | 2) + varint(2 << 30),
    "no path": metadata() + ENDLESS,
    "an absolute path": metadata() + document("/etc/passwd"),
    "only paths outside": metadata() + document("../other/a.go"),
    "a hidden path outside": metadata() + document("a/../../b.go"),
    "one path twice": metadata() + document("a.go") + document("a.go"),
    "no documents": metadata(),
    "a million descriptions of one symbol": metadata() + document("a.go", field(3, field(1, GREET)) * 1_000_000),
    "a giant name": metadata() + document("a.go", occurrence("x" * 100_000, 1, 2, 3)),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_or_hostile_file_is_refused_with_its_reason(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "index.scip"
    file.write_bytes(BROKEN[kind])
    with pytest.raises(IndexFileError, match=r"index\.scip"):
        gather(file, None, with_text=False)


def test_a_document_outside_the_repository_is_left_out_and_named(tmp_path: Path) -> None:
    generated = "../../root/.cache/go-build/6d/6de0-d"
    file = write(
        tmp_path / "a.scip",
        document("a.go", occurrence(GREET, 2, 5, 10, DEFINITION)),
        document(generated, occurrence(GREET, 1, 2, 3)),
    )
    gathered = gather(file, tmp_path, with_text=False)
    assert gathered.outside == [generated]
    assert [one["path"] for one in gathered.documents] == ["a.go"]
    assert gathered.occurrences == 1


def test_two_gigabytes_of_nothing_are_refused_without_being_read(tmp_path: Path) -> None:
    file = tmp_path / "index.scip"
    with file.open("wb") as opened:
        opened.truncate(2 << 30)
    with pytest.raises(IndexFileError, match="zeros at byte 1"):
        gather(file, None, with_text=False)


def test_what_is_not_in_the_store_cannot_be_dropped(store: IndexStore) -> None:
    with pytest.raises(CallerError, match="no such index"):
        store.drop("example.com/x")


def test_a_source_outside_the_root_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.go").write_text("secret")
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.go").symlink_to(tmp_path / "secret.go")
    gathered = gather(a_library(tmp_path), root, with_text=True)
    assert gathered.documents[0]["text"] is None


def test_the_migrations_make_the_tables_that_the_program_uses(tmp_path: Path) -> None:
    engine = sqlite_engine(tmp_path / "index.sqlite3", 1000)
    migrate(engine, MIGRATIONS)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": MIGRATIONS.version_table})
        assert compare_metadata(context, tables) == []
        assert sa.inspect(connection).get_table_names() != []
    engine.dispose()


def test_what_needs_too_much_memory_is_refused_whatever_it_is_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits of numbers alone would let a file of long names, or of many relations, take all of a machine."""
    monkeypatch.setattr(gathering, "_MOST_HELD", 1_000_000)
    long = [go_symbol("example.com/a", f"{'F' * 10_000}{one}().") for one in range(200)]
    short = [go_symbol("example.com/a", f"F{one}().") for one in range(5_000)]
    target = go_symbol("example.com/a", "I#")
    parts = {
        "long names": [occurrence(one, 1, 2, 3) for one in long],
        "many names": [occurrence(one, 1, 2, 3) for one in short],
        "many uses": [occurrence(short[0], one, 2, 3) for one in range(400_000)],
        "many relations": [implements(short[one % 900], f"{target}{one % 100}.") for one in range(90_000)],
    }
    for name, made in parts.items():
        with pytest.raises(IndexFileError, match="MiB of memory"):
            gather(write(tmp_path / "a.scip", document("a.go", *made)), None, with_text=False)
        assert name


def test_symbols_are_told_apart_when_their_names_are_no_longer_remembered(
    store: IndexStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "_MOST_REMEMBERED", 2)
    names = [go_symbol("example.com/a", f"F{one}().") for one in range(6)]
    made = [document(f"{file}.go", *(occurrence(one, 1, 2, 3) for one in names)) for file in range(3)]
    pushed = store.push(gather(write(tmp_path / "a.scip", *made), None, with_text=False), "example.com/b", "c1")
    assert (pushed.symbols, pushed.occurrences) == (6, 18)
    (listed,) = store.indexes()
    assert listed.bytes == pushed.bytes > 0
