"""What a server doesn't look into is looked at once: work is done again only for what changed."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from fakes.bounded import bounded
from fakes.gaps import missing
from fakes.workspace import FakeWorkspace
from lsp_mcp.backend import Use
from lsp_mcp.disk import files as disk_files
from lsp_mcp.disk.watch import Watch
from lsp_mcp.words import word_search
from lsp_mcp.words.word_search import WordSearch

RULES = """
[projects]
marker = "project"
name_pattern = '(?m)^name (\\S+)'
joined_by = "join"
join_hint = "join {folders}"
open_to_load = true
"""


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that word searches have read."""
    names: list[str] = []

    def content(path: str | Path) -> bytes:
        names.append(Path(path).name)
        return disk_files.content_or_nothing(path)

    monkeypatch.setattr(word_search, "content_or_nothing", content)
    return names


@pytest.fixture
def listings(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One for each time that all files of the workspace were listed."""
    made: list[None] = []
    real = Watch.paths

    def paths(watch: Watch) -> Iterable[str]:
        made.append(None)
        return real(watch)

    monkeypatch.setattr(Watch, "paths", paths)
    return made


@pytest.fixture
def two(fake: FakeWorkspace) -> FakeWorkspace:
    """Project `a`, and `b`, which uses it and is not looked into."""
    fake.write("a/project", "name a\n")
    fake.write("b/project", "name b\nneeds a\n")
    fake.write("a/a.txt", "Word")
    for name, text in (("one", "Word"), ("two", "nothing"), ("three", "nothing")):
        fake.write(f"b/{name}.txt", text)
    return fake


@bounded
async def test_a_second_question_about_the_same_name_reads_no_file(two: FakeWorkspace, read: list[str]) -> None:
    path = two.root / "a/a.txt"
    async with two.session(RULES) as session:
        await session.sync()
        first = await missing(session, path, Use("Word"))
        assert sorted(read) == ["one.txt", "three.txt", "two.txt"]
        assert await missing(session, path, Use("Word")) == first
        two.write("b/log", "no source")
        await session.sync()
        assert await missing(session, path, Use("Word")) == first
        assert len(read) == 3


@bounded
async def test_after_an_edit_only_the_edited_file_is_read_again(two: FakeWorkspace, read: list[str]) -> None:
    path = two.root / "a/a.txt"
    async with two.session(RULES) as session:
        await session.sync()
        assert await missing(session, path, Use("Word"))
        read.clear()
        two.write("b/one.txt", "nothing more")
        await session.sync()
        assert await missing(session, path, Use("Word")) == []
        two.write("b/two.txt", "a Word")
        two.write("b/deep/new.txt", "nothing")
        await session.sync()
        assert await missing(session, path, Use("Word"))
        (two.root / "b/two.txt").unlink()
        await session.sync()
        assert await missing(session, path, Use("Word")) == []
        assert sorted(read) == ["new.txt", "one.txt", "two.txt"]


@bounded
async def test_a_file_counts_for_the_project_that_it_is_in_now(two: FakeWorkspace) -> None:
    path = two.root / "a/a.txt"
    async with two.session(RULES) as session:
        await session.sync()
        assert await missing(session, path, Use("Word"))
        (two.root / "b/inner").mkdir()
        (two.root / "b/one.txt").rename(two.root / "b/inner/one.txt")
        await session.sync()
        assert await missing(session, path, Use("Word"))
        marker = two.write("b/inner/project", "name inner\n")
        await session.sync()
        assert await missing(session, path, Use("Word")) == []
        marker.unlink()
        await session.sync()
        assert await missing(session, path, Use("Word"))


@bounded
async def test_the_workspace_is_listed_no_more_often_for_more_questions(
    two: FakeWorkspace, listings: list[None]
) -> None:
    path = two.root / "a/a.txt"
    async with two.session(RULES) as session:
        await session.sync()
        await session.coverage.load(None, "Word")
        assert await missing(session, path, Use("Word"))
        first = len(listings)
        for name in ("Word", "Other", "third"):
            await session.coverage.load(None, name)
            await missing(session, None, Use(name))
            await missing(session, path, Use(name))
            two.write(f"b/{name}.txt", "Word")
            await session.sync()
        assert len(listings) == first


@bounded
async def test_the_file_that_is_open_for_its_project_stays_the_same_one_while_it_is_there(two: FakeWorkspace) -> None:
    async with two.session(RULES) as session:
        await session.sync()
        await session.coverage.load(None, "x")
        two.write("b/a.txt", "by its name it would be the first")
        await session.sync()
        await session.coverage.load(None, "x")
        (two.root / "b/one.txt").unlink()
        await session.sync()
        await session.coverage.load(None, "x")
        await session.request("fake/do", {"actions": []})
    opened = [params["textDocument"]["uri"].rpartition("/root/")[2] for params in two.params("textDocument/didOpen")]
    assert opened == ["a/a.txt", "b/one.txt", "b/a.txt"]


# --- WordSearch ------------------------------------------------------------------------------------


@bounded
async def test_a_remembered_answer_is_that_of_a_new_search_whatever_changed(tmp_path: Path) -> None:
    dice, search = random.Random(7), WordSearch()
    every = [str(tmp_path / f"{number}.txt") for number in range(12)]
    words = ["one", "two", "three"]
    for _ in range(400):
        changed = dice.sample(every, dice.choice([0, 0, 1, 3]))
        for name in changed:
            if dice.random() < 0.3:
                Path(name).unlink(missing_ok=True)
            else:
                Path(name).write_text(" ".join(dice.choices([*words, "twofold", "Öne"], k=2)))
        search.changed(changed)
        files = tuple(sorted(dice.sample(every, dice.choice([6, 12]))))
        word, part = dice.choice(words), dice.random() < 0.3
        again = await search.files_with(word, ("scope", part), files, part=part)
        assert set(again) == set(await WordSearch().files_with(word, "", files, part=part))
        assert await search.files_with(word, ("scope", part), files, part=part) is again


@bounded
async def test_a_change_during_a_search_is_looked_at_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go_on = threading.Event(), threading.Event()
    file, search = tmp_path / "a.txt", WordSearch()
    file.write_text("nothing")

    def slowly(path: str | Path) -> bytes:
        content = disk_files.content_or_nothing(path)
        reading.set()
        assert go_on.wait(60)
        return content

    monkeypatch.setattr(word_search, "content_or_nothing", slowly)
    files = (str(file),)
    first = asyncio.create_task(search.files_with("word", "scope", files))
    await asyncio.to_thread(reading.wait, 60)
    file.write_text("word")
    search.changed(files)
    go_on.set()
    assert await first == ()
    assert await search.files_with("word", "scope", files) == files


@bounded
async def test_after_very_many_changes_all_is_searched_again(tmp_path: Path, read: list[str]) -> None:
    file, search = tmp_path / "a.txt", WordSearch()
    file.write_text("word")
    files = (str(file),)
    assert await search.files_with("word", "scope", files) == files
    search.changed(f"{number}.txt" for number in range(word_search._MOST_CHANGES + 1))
    assert await search.files_with("word", "scope", files) == files
    assert read == ["a.txt", "a.txt"]
