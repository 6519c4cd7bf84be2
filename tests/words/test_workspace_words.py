"""Which files have a word, while files come, change and go: `lsp_mcp.words.workspace_words`."""

import contextlib
import os
import stat
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.bounded import bounded
from lsp_mcp.adapters import load_adapter
from lsp_mcp.cache_folders import checkout_folder
from lsp_mcp.disk.feed import FeedHub
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.servers.gopls.traits import VISIBILITY
from lsp_mcp.text import Text
from lsp_mcp.words import kept_index
from lsp_mcp.words.index import WordIndex, words_in
from lsp_mcp.words.saved import save
from lsp_mcp.words.workspace_words import WorkspaceWords


class Kept:
    """The words of a folder, told of what changed before each question, as a session does it."""

    def __init__(self, root: Path, hub: FeedHub) -> None:
        self.root = root
        self.buffers: dict[Path, Text] = {}
        self._feed = hub.feed()
        self.words = WorkspaceWords(
            load_adapter("gopls"), root, self._feed.paths, lambda: self.buffers, visibility=VISIBILITY
        )

    async def having(self, word: str) -> list[str]:
        changes = self._feed.changes()
        self.words.changed([*changes.created, *changes.changed, *changes.deleted])
        found = await self.words.files_with(word)
        assert not found.unknown
        return [path.relative_to(self.root).as_posix() for path in found.files]

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path


@contextlib.asynccontextmanager
async def kept(root: Path) -> AsyncIterator[Kept]:
    hub = FeedHub(root, [".git"])
    await hub.start()
    one = Kept(root, hub)
    try:
        yield one
    finally:
        await one.words.close()
        hub.close()


@bounded
async def test_a_change_that_was_not_reported_yet_is_seen_by_comparing_with_the_disk(tmp_path: Path) -> None:
    (tmp_path / "a.go").write_text("package a // Alpha", "utf-8")
    async with kept(tmp_path) as one:
        assert await one.having("Alpha") == ["a.go"]
        assert await one.words.is_on_disk()
        one.write("a.go", "package a // Beta")
        assert not await one.words.is_on_disk()
        one.write("a.go", "package a // Alpha")
        assert await one.words.is_on_disk()


@bounded
async def test_files_that_come_change_and_go_are_counted_at_the_next_question(tmp_path: Path) -> None:
    (tmp_path / "a.go").write_text("package a // Alpha", "utf-8")
    async with kept(tmp_path) as one:
        assert await one.having("Alpha") == ["a.go"]
        b = one.write("sub/b.go", "package b; var Alpha, Beta int")
        one.write("notes.txt", "Alpha")
        assert await one.having("Alpha") == ["a.go", "sub/b.go"]
        one.write("a.go", "package a // Alphabet")
        assert await one.having("Alpha") == ["sub/b.go"]
        assert await one.having("Alphabet") == ["a.go"]
        b.unlink()
        assert await one.having("Alpha") == []
        assert await one.having("package") == ["a.go"]


@bounded
async def test_words_in_any_script_are_found_and_names_with_punctuation_by_their_words(tmp_path: Path) -> None:
    async with kept(tmp_path) as one:
        one.write("a.go", "\ufeffpackage a // „größe“—naïve\nvar क्ष, größer int")
        one.write("b.go", "package b // \xff größe\nvar Foo int".encode("latin-1") + " größe".encode())
        for word in ("größe", "naïve", "क्ष", "größer", "package"):
            assert "a.go" in await one.having(word), word
        assert await one.having("größe") == ["a.go", "b.go"]
        assert await one.having("~Foo") == ["b.go"]


@bounded
async def test_the_text_of_a_buffer_counts_and_what_is_on_disk_when_it_is_gone(tmp_path: Path) -> None:
    async with kept(tmp_path) as one:
        a = one.write("a.go", "package a // Alpha")
        assert await one.having("Alpha") == ["a.go"]
        one.buffers[a] = Text("package a // Beta")
        one.words.changed([a])
        assert (await one.having("Alpha"), await one.having("Beta")) == ([], ["a.go"])
        del one.buffers[a]
        one.words.changed([a])
        assert (await one.having("Alpha"), await one.having("Beta")) == (["a.go"], [])


@bounded
async def test_what_was_not_read_in_time_is_said(tmp_path: Path) -> None:
    async with kept(tmp_path) as one:
        one.write("a.go", "package a")
        found = await one.words.files_with("a", seconds=0)
        assert "0 of" in found.unknown
        assert await one.having("a") == ["a.go"]


@bounded
async def test_many_changes_leave_nothing_of_before_behind(tmp_path: Path) -> None:
    async with kept(tmp_path) as one:
        for number in range(40):
            words = " ".join(f"w{number}x{index}" for index in range(2000))
            one.write("a.go", words)
            one.write("b.go", f"{words} b")
            assert await one.having(f"w{number}x7") == ["a.go", "b.go"]
            if number:
                assert await one.having(f"w{number - 1}x7") == []
        assert one.words.index.pairs < 4 * 2000 + 2 * 10_000


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files whose content was read."""
    names: list[str] = []

    def noted(path: str) -> bytes:
        names.append(Path(path).name)
        return content_or_nothing(path)

    monkeypatch.setattr(kept_index, "content_or_nothing", noted)
    return names


def aged(*files: Path) -> None:
    """As if they were written a while ago: both times, since only the kernel sets one of them."""
    while any(time.time_ns() - file.stat().st_ctime_ns < 0.06e9 for file in files):
        os.sched_yield()


@bounded
async def test_the_next_session_reads_only_what_is_not_as_it_was(tmp_path: Path, read: list[str]) -> None:
    files = [tmp_path / f"f{number}.go" for number in range(30)]
    for file in files:
        file.write_text(f'package a\nimport "fmt"\nvar Alpha, {file.stem} int', "utf-8")
    aged(*files)
    async with kept(tmp_path) as one:
        assert len(await one.having("Alpha")) == 30
    assert len(read) == 30
    times = files[3].stat()
    files[3].write_text(files[3].read_text("utf-8").replace("Alpha", "Gamma"), "utf-8")
    os.utime(files[3], ns=(times.st_atime_ns, times.st_mtime_ns))
    files[4].unlink()
    (tmp_path / "new.go").write_text("package a // Alpha", "utf-8")
    read.clear()
    async with kept(tmp_path) as one:
        having = await one.having("Alpha")
        assert len(having) == 29
        assert {"f3.go", "f4.go"}.isdisjoint(having)
        assert await one.having("f7") == ["f7.go"]
        assert one.words.index.imports(str(files[7])) == ("fmt",)
    assert sorted(read) == ["f3.go", "new.go"]


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "other"])
@bounded
async def test_a_damaged_index_is_made_again(tmp_path: Path, read: list[str], damage: str) -> None:
    files = [tmp_path / f"f{number}.go" for number in range(30)]
    for file in files:
        file.write_text("package a // Alpha", "utf-8")
    aged(*files)
    async with kept(tmp_path) as one:
        await one.having("Alpha")
    saved = checkout_folder(tmp_path) / "gopls.words"
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    content = saved.read_bytes()
    middle = len(content) // 2
    damaged = {
        "flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "cut": content[:-10],
        "empty": b"",
        "other": b"something else" + content,
    }
    saved.write_bytes(damaged[damage])
    read.clear()
    async with kept(tmp_path) as one:
        assert len(await one.having("Alpha")) == 30
    assert len(read) == 30


_FILES = st.sampled_from(["a.go", "b.go", "c/c.go"])
_STEP = st.tuples(_FILES, st.sets(st.sampled_from(["alpha", "beta", "gamma", "délta"])) | st.none())


@given(st.lists(_STEP, max_size=30))
def test_after_any_changes_the_index_has_what_the_files_have(steps: list[tuple[str, set[str] | None]]) -> None:
    index, files = WordIndex(), dict[str, set[str]]()
    for number, (path, words) in enumerate(steps):
        if words is None:
            index.drop(path)
            files.pop(path, None)
        else:
            index.put(path, words_in(" ".join(sorted(words)).encode()), stamp=number)
            files[path] = words
        if number % 7 == 6:
            index.compact()
    for word in ("alpha", "beta", "gamma", "délta", "epsilon"):
        assert index.files_with(word) == {path for path, words in files.items() if word in words}
    assert set(index.paths()) == set(files)


@bounded
async def test_what_was_read_is_known_before_it_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_save = threading.Event()

    def held_back(*arguments: Any) -> None:
        may_save.wait()
        save(*arguments)

    monkeypatch.setattr(kept_index, "save", held_back)
    monkeypatch.setattr(kept_index, "_WORTH_SAVING", (0, 0.0))
    (tmp_path / "a.go").write_text("package a\n\nfunc Known() {}\n")
    async with kept(tmp_path) as at:
        try:
            assert await at.having("Known") == ["a.go"]
        finally:
            may_save.set()
    assert (checkout_folder(tmp_path) / "gopls.words").is_file()


@bounded
async def test_the_files_of_a_workspace_are_not_looked_through_on_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: set[int] = set()
    is_source = kept_index.KeptIndex._is_source

    def recorded(self: kept_index.KeptIndex, path: str) -> bool:
        looked.add(threading.get_ident())
        return is_source(self, path)

    (tmp_path / "a.go").write_text("package a\n")
    monkeypatch.setattr(kept_index.KeptIndex, "_is_source", recorded)
    async with kept(tmp_path) as one:
        assert await one.having("package") == ["a.go"]
    assert looked and threading.get_ident() not in looked
