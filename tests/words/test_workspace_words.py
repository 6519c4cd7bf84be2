"""Which files have a word, while files come, change and go: `lsp_mcp.words.workspace_words`."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from fakes.bounded import bounded
from lsp_mcp.adapters import load_adapter
from lsp_mcp.disk.feed import FeedHub
from lsp_mcp.text import Text
from lsp_mcp.words.workspace_words import WorkspaceWords


class Kept:
    """The words of a folder, told of what changed before each question, as a session does it."""

    def __init__(self, root: Path, hub: FeedHub) -> None:
        self.root = root
        self.buffers: dict[Path, Text] = {}
        self._feed = hub.feed()
        self.words = WorkspaceWords(load_adapter("gopls"), self._feed.paths, lambda: self.buffers)

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
        assert one.words.pairs < 4 * 2000 + 2 * 10_000
