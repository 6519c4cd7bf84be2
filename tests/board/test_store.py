"""The database itself: migrations, what is broken, newer, read-only, full or gone; and several processes at once."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from board.boards import World, worktrees
from board.child import child
from lsp_mcp.board import stages, tables, tasks, views
from lsp_mcp.board.place import store_url as place
from lsp_mcp.board.rescue import main
from lsp_mcp.board.store import Store
from lsp_mcp.door.lock import locked
from lsp_mcp.errors import CallerError, ConfigError, UnavailableError
from mcp_process import without_rights

BOUND = 60  # seconds for whatever is waited for: a hang, not a measurement


@contextmanager
def opened(url: str) -> Iterator[Store]:
    store = Store(url)
    try:
        yield store
    finally:
        store.close()


def execute(url: str, *statements: str) -> None:
    """Run SQL past the board."""
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()
        return
    with psycopg.connect(url, autocommit=True) as server:
        for statement in statements:
            server.execute(statement)


def refusal(url: str) -> str:
    """Why a board cannot be opened."""
    with pytest.raises(ConfigError) as caught:
        Store(url)
    return str(caught.value)


def lines(process: subprocess.Popen[str]) -> list[Any]:
    """All that a child says until it ends."""
    said, _ = process.communicate(timeout=BOUND)
    assert process.returncode == 0
    return [json.loads(line) for line in said.splitlines()]


def contents(url: str) -> Any:
    """All of a database: the bytes of SQLite's file, the tables and rows of PostgreSQL's."""
    if url.startswith("sqlite"):
        return Path(url.removeprefix("sqlite:///")).read_bytes()
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    metadata = sa.MetaData()
    with engine.connect() as connection:
        metadata.reflect(connection)
        found = {table.name: list(connection.execute(table.select())) for table in metadata.sorted_tables}
    engine.dispose()
    return found


# --- migrations --------------------------------------------------------------------------------------


def test_the_migrations_make_what_the_tables_say(store_url: str) -> None:
    with opened(store_url) as store, store._engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "board_version"})
        assert compare_metadata(context, tables.metadata) == []


def test_a_database_that_is_up_to_date_is_opened_as_it_is(store_url: str) -> None:
    with opened(store_url) as store:
        id_ = World(store).task("kept")
    before = contents(store_url)
    with opened(store_url):
        pass
    assert contents(store_url) == before
    with opened(store_url) as store:
        assert World(store).get(id_)["title"] == "kept"


def test_a_database_of_a_newer_version_is_refused_and_left_as_it_is(store_url: str) -> None:
    with opened(store_url) as store:
        World(store).task()
    execute(store_url, "UPDATE board_version SET version_num = '9999'", "ALTER TABLE tasks ADD COLUMN new TEXT")
    before = contents(store_url)
    said = refusal(store_url)
    assert "cannot be opened: it is of a newer version of lsp-mcp (board version 9999); update lsp-mcp: " in said
    assert contents(store_url) == before


def test_a_database_of_another_program_is_refused_and_left_as_it_is(store_url: str) -> None:
    if store_url.startswith("sqlite"):
        Path(store_url.removeprefix("sqlite:///")).parent.mkdir()
    execute(store_url, "CREATE TABLE tasks (id INTEGER, title TEXT)", "INSERT INTO tasks VALUES (1, 'theirs')")
    before = contents(store_url)
    said = refusal(store_url)
    assert said.endswith("it has tables of another program: tasks; name another database")
    assert contents(store_url) == before


def test_other_tables_beside_the_boards_do_not_matter(store_url: str) -> None:
    if store_url.startswith("sqlite"):
        Path(store_url.removeprefix("sqlite:///")).parent.mkdir()
    execute(store_url, "CREATE TABLE alembic_version (version_num TEXT)", "CREATE TABLE users (id INTEGER)")
    with opened(store_url) as store:
        World(store).task()


def test_processes_that_open_a_new_board_at_once_all_get_it(store_url: str) -> None:
    children = [child("migrate", store_url) for _ in range(4)]
    for one in children:
        assert one.stdout
        assert json.loads(one.stdout.readline()) == "ready"
    for one in children:
        assert one.stdin
        one.stdin.write("go\n")
        one.stdin.flush()
    assert [lines(one) for one in children] == [[5]] * 4


# --- SQLite's file -----------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A board's file with a few tasks."""
    file = tmp_path / "it's a board" / "board.sqlite3"
    with opened(f"sqlite:///{file}") as store:
        world = World(store)
        for number in range(30):
            world.task(f"task {number}", description="words " * 500)
    return file


@pytest.mark.parametrize("size", [20_000, 4_096, 1_000, 50])
def test_a_truncated_file_is_refused_with_what_rescues_it(file: Path, size: int) -> None:
    broken = file.read_bytes()[:size]
    file.write_bytes(broken)
    said = refusal(f"sqlite:///{file}")
    assert str(file) in said
    assert "It was left as it is; what is readable of it comes into a new file with: " in said
    assert file.read_bytes() == broken


def test_a_file_that_is_not_a_database_is_refused(file: Path) -> None:
    for broken in (b"\x00\xff" * 5_000, b"# Notes\n" * 1_000, bytes(range(256)) * 100):
        file.write_bytes(broken)
        assert "cannot be opened: file is not a database. It was left as it is; what is" in refusal(f"sqlite:///{file}")
        assert file.read_bytes() == broken


def rescued(file: Path, said: str) -> Path:
    """The file that the command in a message makes, run as it stands there."""
    command = said.partition("with: ")[2].rstrip(".")
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=BOUND, check=False)
    assert done.returncode == 0, done.stderr
    new = file.with_name(f"{file.name}.rescued")
    assert done.stdout.startswith(f"{new} has what was readable: ")
    again = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=BOUND, check=False)
    assert (again.returncode, "exists already" in again.stderr) == (1, True)
    return new


def page_of(file: Path, name: str) -> int:
    """Number of the first page of a table or an index."""
    with sqlite3.connect(file) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [name]).fetchone()
    connection.close()
    return int(page)


@pytest.mark.parametrize("name", ["ix_tasks_status", "sqlite_autoindex_tasks_1"])
def test_what_is_broken_in_the_middle_is_said_and_can_be_rescued(file: Path, name: str) -> None:
    size, page, whole = 4_096, page_of(file, name), file.read_bytes()
    broken = whole[: (page - 1) * size] + b"\xee" * size + whole[page * size :]
    file.write_bytes(broken)
    with opened(f"sqlite:///{file}") as store:
        with pytest.raises(UnavailableError) as caught:
            store.write(lambda at: tasks.create(at, "one more"))
        said = str(caught.value)
        assert "database disk image is malformed. Nothing was changed; what is readable of it" in said
    assert file.read_bytes() == broken
    with opened(f"sqlite:///{rescued(file, said)}") as store:
        found, total = store.read(views.listed)
        assert (found[29]["title"], total) == ("task 29", 30)
        World(store).write(tasks.update, found[0]["id"], tags=["works"])
        assert World(store).said(found[0]["id"])[0] == ("you", "created in Backlog")


def test_what_is_readable_of_a_truncated_file_is_rescued(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) * 2 // 3])
    said = refusal(f"sqlite:///{file}")
    with opened(f"sqlite:///{rescued(file, said)}") as store:
        world = World(store)
        assert world.read(views.listed)[1] > 0
        world.task("one more")
        for one in world.read(views.listed)[0]:
            world.get(one["id"])


def test_what_is_not_a_database_cannot_be_rescued_and_says_so(file: Path) -> None:
    assert main(["x"]) == 2
    assert main([str(file.with_name("nothing")), "x"]) == 1
    file.write_bytes(b"x" * 10_000)
    assert main([str(file), str(file.with_name("new"))]) == 1


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    assert "cannot be opened: unable to open database file" in refusal(f"sqlite:///{tmp_path}")
    (tmp_path / "file").write_text("x")
    assert "cannot be opened: " in refusal(f"sqlite:///{tmp_path / 'file' / 'board.sqlite3'}")


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_board_that_is_read_only_says_so(file: Path, what: str) -> None:
    target = file if what == "file" else file.parent
    if what == "folder":
        file.chmod(0o444)
    target.chmod(0o444 if what == "file" else 0o555)
    before = file.read_bytes()
    said = lines(child("use", f"sqlite:///{file}", preexec_fn=without_rights()))
    assert str(file) in said[-1]
    assert "readonly" in said[-1] or "unable to open" in said[-1]
    assert file.read_bytes() == before
    target.chmod(0o755)


def test_a_new_board_in_a_read_only_folder_says_so(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(0o555)
    for url in (f"sqlite:///{tmp_path}/locked/board.sqlite3", f"sqlite:///{tmp_path}/locked/deeper/board.sqlite3"):
        (said,) = lines(child("use", url, preexec_fn=without_rights()))
        assert "cannot be opened: " in said


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'board.sqlite3'}"
    (written, said), read, again, after = lines(child("fill_disk", url))
    assert "cannot be used: " in said
    assert "Nothing was changed." in said
    assert again.endswith("Nothing was changed.")
    assert (read, after) == (written, written + 1)
    with opened(url) as store, store._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"


def test_a_database_that_is_full_rolls_back_by_itself_and_says_so(file: Path) -> None:
    with opened(f"sqlite:///{file}") as store:

        def limit(connection: sqlite3.Connection, *_: Any) -> None:
            connection.execute("PRAGMA max_page_count = 1")  # as many as there are

        sa.event.listen(store._engine, "connect", limit)
        store._engine.dispose()
        with pytest.raises(UnavailableError, match=r"database or disk is full\. Nothing was changed"):
            store.write(lambda at: tasks.create(at, "x", description="x" * 100_000))
        assert store.read(views.listed)[1] == 30


def test_a_writer_that_is_in_the_way_too_long_is_said(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsp_mcp.board.store._BUSY_TIMEOUT", 10)
    other = sqlite3.connect(file, isolation_level=None)
    with opened(f"sqlite:///{file}") as store:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(UnavailableError, match=r"database is locked\. Nothing was changed; .* try again\.$"):
            store.write(lambda at: tasks.create(at, "x"))
        assert store.read(views.listed)[1] == 30
        other.execute("ROLLBACK")
        store.write(lambda at: tasks.create(at, "x"))
    other.close()


def test_a_process_that_hangs_in_its_turn_stops_no_other(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsp_mcp.board.store._BUSY_TIMEOUT", 10)
    with opened(f"sqlite:///{file}") as store, locked(f"{file}-turn"):
        store.write(lambda at: tasks.create(at, "x"))
        assert store.read(views.listed)[1] == 31


@pytest.mark.parametrize("name", ["what? #1", "a%20b", "ein Käse", "a&b=c"])
def test_the_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with opened(place(tmp_path / name, None)) as store:
        World(store).task()
        assert store.file == tmp_path / name / ".lsp-mcp" / "board.sqlite3"
        assert store.file.exists()


def test_all_worktrees_of_a_checkout_share_one_board(tmp_path: Path) -> None:
    main, other = worktrees(tmp_path)
    (main / "deep").mkdir()
    urls = {place(root, None) for root in (main, other, main / "deep")}
    assert urls == {f"sqlite:///{main}/.git/lsp-mcp/board.sqlite3"}


def test_a_store_that_is_not_a_url_is_refused_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        place(tmp_path, "mysql://me:secret@host/db")
    assert "secret" not in str(caught.value)
    assert place(tmp_path, "postgres://h/d") == "postgresql://h/d"


# --- PostgreSQL --------------------------------------------------------------------------------------


def test_a_postgresql_that_is_not_there_is_said_without_the_password() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said = refusal(f"postgresql://me:secret@127.0.0.1:{port}/board")
    assert "refused" in said
    assert f"postgresql://me:***@127.0.0.1:{port}/board" in said
    assert "secret" not in said


def test_a_database_that_is_not_there_is_said(postgres: Any) -> None:
    assert 'database "nowhere" does not exist' in refusal(postgres.url("nowhere"))


def terminate(url: str) -> int:
    """Kill all other connections to a database; how many there were."""
    with psycopg.connect(url, autocommit=True) as connection:
        sql = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        where = "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        return len(connection.execute(sql + where).fetchall())


def test_a_connection_that_was_killed_is_made_again(postgres: Any) -> None:
    url = postgres.database()
    with opened(url) as store:
        world = World(store)
        world.task("before")
        assert terminate(url) > 0
        assert world.titles() == ["before"]
        terminate(url)
        world.task("after")
        assert world.titles() == ["before", "after"]


def test_a_connection_that_is_killed_in_a_transaction_changes_nothing(postgres: Any) -> None:
    url = postgres.database()
    with opened(url) as store:
        world = World(store)

        def work(at: Any) -> None:
            tasks.create(at, "half")
            terminate(url)
            tasks.create(at, "done")

        with pytest.raises(UnavailableError, match="Nothing was changed"):
            store.write(work)
        assert world.titles() == []
        world.task("next")
        assert world.titles() == ["next"]


def test_a_writer_that_is_in_the_way_too_long_in_postgresql_is_said(
    postgres: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lsp_mcp.board.store._BUSY_TIMEOUT", 10)
    url = postgres.database()
    with opened(url) as store, psycopg.connect(url) as other:
        world = World(store)
        other.execute("LOCK TABLE changes")
        with pytest.raises(UnavailableError, match=r"lock timeout\. Nothing was changed"):
            store.write(lambda at: tasks.create(at, "x"))
        other.rollback()
        store.write(lambda at: tasks.create(at, "y"))
        assert world.titles() == ["y"]


def test_a_reader_sees_one_moment(store_url: str) -> None:
    with opened(store_url) as one, opened(store_url) as two:
        World(one).task("a")

        def work(at: Any) -> Any:
            before = views.listed(at)
            two.write(lambda other: stages.delete(other, "Backlog", "Done"))
            return before, views.listed(at)

        before, after = one.read(work)
        assert before == after
        assert one.read(views.listed)[0][0]["stage"] == "Done"


# --- many at once ------------------------------------------------------------------------------------


def test_what_fails_changes_nothing(world: World) -> None:
    def work(at: Any) -> None:
        tasks.create(at, "half")
        raise CallerError("no")

    before = world.everything()
    with pytest.raises(CallerError, match="no"):
        world.store.write(work)
    assert world.everything() == before


def test_two_agents_never_take_the_same_task(store_url: str) -> None:
    with opened(store_url) as store:
        world = World(store)
        everything = {world.task(str(number)) for number in range(200)}
        children = [child("claim", store_url, "8") for _ in range(2)]
        for one in children:
            assert one.stdout
            assert json.loads(one.stdout.readline()) == "ready"
        for one in children:
            assert one.stdin
            one.stdin.write("go\n")
            one.stdin.flush()
        (first,), (second,) = (lines(one) for one in children)
        assert sorted(first + second) == sorted(everything)
        assert all(world.said(id_)[1][1].startswith("claimed by worker") for id_ in list(everything)[:20])
        assert all(one["claimed_by"] for one in world.read(views.listed, limit=200)[0])


def numbers(at: Any) -> list[int]:
    """Of all changes."""
    return list(at.connection.execute(sa.select(tables.changes.c.seq).order_by(tables.changes.c.seq)).scalars())


def test_threads_write_in_the_order_of_the_numbers_of_their_changes(world: World) -> None:
    seen: list[int] = []

    def write(number: int) -> None:
        for step in range(10):
            world.task(f"{number} {step}")
            rows = world.read(numbers)
            seen.append(rows[-1])
            assert rows == list(range(rows[0], rows[-1] + 1))

    threads = [threading.Thread(target=write, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 40


def test_the_oldest_changes_are_forgotten(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsp_mcp.board.store._MOST_CHANGES", 20)
    monkeypatch.setattr("lsp_mcp.board.store._PRUNE_EVERY", 10)
    for number in range(50):
        world.task(str(number))
    kept = world.read(lambda at: at.connection.execute(sa.select(sa.func.count()).select_from(tables.changes)).scalar())
    assert 20 <= kept <= 30
