"""What a question costs while the store's database does not answer."""

import asyncio
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from fakes.patience import TO_THE_END
from index.scip_files import DEFINITION, document, go_symbol, occurrence, write
from lsp_mcp.errors import UnavailableError
from lsp_mcp.index import elsewhere, patience
from lsp_mcp.index.gathering import gather
from lsp_mcp.index.store import IndexStore

NOWHERE = "postgresql://nobody@127.0.0.1:1/none"  # never connected to


@pytest.fixture(autouse=True)
def forget() -> None:
    patience._store.cache_clear()
    elsewhere.opened.cache_clear()


def test_a_silent_database_is_waited_for_once_and_asked_again_when_it_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST", 0.05)
    back, asked = threading.Event(), []

    def question() -> str:
        asked.append("")
        back.wait(TO_THE_END)
        return "found"

    async def run() -> None:
        for _ in range(3):
            with pytest.raises(UnavailableError, match="none does not answer"):
                await patience.asked(NOWHERE, question)
        assert len(asked) == 1
        late = patience._store(NOWHERE)._late
        assert late
        back.set()
        await asyncio.to_thread(late.result, TO_THE_END)
        monkeypatch.setattr(patience, "FIRST", TO_THE_END)
        assert await patience.asked(NOWHERE, question) == "found"

    asyncio.run(run())


def test_after_silence_that_ended_in_an_error_a_question_hardly_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST", 0.05)
    dead = threading.Event()

    def question() -> str:
        dead.wait(TO_THE_END)
        raise UnavailableError("gone")

    async def run() -> None:
        with pytest.raises(UnavailableError):
            await patience.asked(NOWHERE, question)
        late = patience._store(NOWHERE)._late
        assert late
        dead.set()
        await asyncio.to_thread(late.exception, TO_THE_END)
        monkeypatch.setattr(patience, "FIRST", TO_THE_END)  # waiting that long would be the old bound
        dead.clear()
        with pytest.raises(UnavailableError, match="does not answer"):
            await patience.asked(NOWHERE, question)
        dead.set()

    asyncio.run(run())


def test_a_port_that_accepts_and_says_nothing_is_a_database_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patience, "FIRST", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/none"

        async def run() -> None:
            with pytest.raises(UnavailableError, match="does not answer"):
                await patience.asked(url, lambda: elsewhere.definitions(url, ["Hello"], [], 1))

        asyncio.run(run())


def test_a_reader_survives_that_the_database_ended_its_connections(tmp_path: Path, postgres: Any) -> None:
    url = str(postgres.database())
    store = IndexStore(url)
    symbol = go_symbol("example.com/a", "Hello().")
    file = write(tmp_path / "a.scip", document("a.go", occurrence(symbol, 2, 5, 10, DEFINITION)))
    store.push(gather(file, None, with_text=False), "example.com/a", "abc")
    assert store.indexes()
    other = IndexStore(url)
    others = "datname = current_database() AND pid <> pg_backend_pid()"
    ends = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"
    other.read(lambda at: at.execute(sa.text(ends)).all())
    assert [one.commit for one in store.indexes()] == ["abc"]
    store.close()
    other.close()
