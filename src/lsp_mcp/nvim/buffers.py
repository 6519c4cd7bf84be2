"""The file buffers of a Neovim: `Buffers`, whose texts take precedence over the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from lsp_mcp.disk.files import Files
from lsp_mcp.errors import PathError
from lsp_mcp.nvim.connection import NvimConnection
from lsp_mcp.nvim.paths import buffer_path
from lsp_mcp.text import BOM, Text


class Buffer(Struct, frozen=True):
    """A loaded buffer of a file."""

    number: int
    path: Path
    tick: int  # Neovim's `changedtick`
    text: Text | None  # None: not text, or withheld
    withheld: bool  # large, and no question was about it
    modified: bool  # it has unsaved changes
    conflict: bool  # and its file has been changed on disk since it was read
    gone: bool  # its file is gone, and it has no unsaved changes
    versions: dict[int, int]  # as its servers know it, by the ids of the clients that have it open
    filetype: str


class Buffers:
    """The contents of the buffers at the last `sync`. In place of `Files`, it returns the text of any file.

    `present` returns the Neovim with these buffers, or raises.
    """

    def __init__(self, present: Callable[[], NvimConnection], files: Files) -> None:
        self._present = present
        self._files = files
        self._wanted: set[int] = set()  # the numbers of large ones that were asked about
        self._looked = False  # since the present Neovim is the present one
        self._by_path: dict[Path, Buffer] = {}
        self._held: tuple[int, dict[int, dict[Path, tuple[Text, int]]]] = (0, {})  # by client; with its generation
        self._changed: dict[Path, int] = {}  # the generation in which each last changed
        self.generation = 0  # the number of changes

    async def sync(self, changed: Iterable[Path] = ()) -> int:
        """Read all buffers, including those again whose file was changed; returns the generation.

        Neovim goes by a file's time and size. For the files in `changed` the text is compared too.

        Raises:
            UnavailableError: Neovim is gone, or waits for something.
        """
        await self._look()
        self._files.forget(changed)
        if stale := [self._by_path[path].number for path in changed if self._is_stale(path)]:
            await self._present().lua.call("read_again", stale)
            await self._look()
        return self.generation

    def _is_stale(self, path: Path) -> bool:
        buffer = self._by_path.get(path)
        if buffer is None or buffer.modified or buffer.text is None:
            return False
        try:
            on_disk = self._files.text(path).content
        except PathError:
            return False  # gone again, or not UTF-8 on disk: Neovim may know its encoding
        # A byte order mark, and the line end after the last line, Neovim has as options.
        return on_disk.removeprefix(BOM).rstrip("\r\n") != buffer.text.content.rstrip("\r\n")

    async def _look(self) -> None:
        connection = self._present()
        known = {str(buffer.number): buffer.tick for buffer in self._by_path.values() if not buffer.withheld}
        found = await connection.lua.call("sync", known, list(self._wanted))
        if self._present() is not connection:
            await self._look()
            return
        before = {buffer.number: buffer for buffer in self._by_path.values()}
        self._wanted &= {entry["number"] for entry in found}
        now: dict[Path, Buffer] = {}
        for entry in found:
            buffer = _buffer(entry, before.get(entry["number"]))
            # The same file in two buffers, by two names: the one with unsaved changes counts.
            if buffer.path not in now or buffer.modified:
                now[buffer.path] = buffer
        changed = {path for path in now.keys() | self._by_path.keys() if now.get(path) != self._by_path.get(path)}
        self._by_path, self._looked = now, True
        self._note(changed)

    def _note(self, changed: Iterable[Path]) -> None:
        if changed:
            self.generation += 1
            self._changed.update(dict.fromkeys(changed, self.generation))

    async def seen(self) -> Buffers:
        """These buffers, once they have been read from Neovim; requests to a server read them again."""
        if not self._looked:
            await self.sync()
        return self

    def replaced(self) -> None:
        """Another Neovim is the present one: forget the one before."""
        before, self._by_path, self._looked = self._by_path, {}, False
        self._wanted.clear()
        self._note(before)

    def changed_since(self, generation: int) -> set[Path]:
        """The files whose buffer was created, closed or changed after `generation`."""
        return {path for path, changed in self._changed.items() if changed > generation}

    def get(self, path: Path) -> Buffer | None:
        """The buffer of `path`, if there is one."""
        return self._by_path.get(path)

    def all(self) -> Iterable[Buffer]:
        """All of them."""
        return self._by_path.values()

    async def want(self, paths: Iterable[Path]) -> None:
        """Read all buffers; from now on, the texts of those of `paths` are known however large they are.

        Raises as `sync`.
        """
        await self.sync()
        if more := {b.number for path in paths if (b := self._by_path.get(path)) and b.withheld}:
            self._wanted |= more
            await self.sync()

    async def present_text(self, path: Path) -> Text:
        """The present text of `path`, large or not; raises as `sync` and `text`."""
        await self.sync()
        if (buffer := self._by_path.get(path)) and buffer.withheld and buffer.modified:
            await self.want([path])
        return self.text(path)

    def text(self, path: Path) -> Text:
        """The text of `path`: its buffer's, else the file's. Raises as `Files.text` does."""
        buffer = self._by_path.get(path)
        if buffer is None or buffer.gone or (buffer.withheld and not buffer.modified):
            return self._files.text(path)
        if buffer.withheld:
            raise PathError(
                f"{path} is large and has unsaved changes in Neovim's buffer {buffer.number}, which no language server "
                "has open: save it there first"
            )
        if buffer.text is None:
            raise PathError(f"Neovim's buffer {buffer.number} ({path}) is not text: it has a NUL, or is not UTF-8.")
        return buffer.text

    def held(self, client: int) -> dict[Path, tuple[Text, int]]:
        """See `Buffers.held` of `lsp.editor.host`."""
        if self._held[0] != self.generation:
            self._held = self.generation, {}
        held = self._held[1]
        if client not in held:
            there = [b for b in self._by_path.values() if client in b.versions]
            held[client] = {b.path: (b.text, b.versions[client]) for b in there if b.text is not None}
        return held[client]

    def unsaved(self) -> list[Path]:
        """The files whose buffers have unsaved changes, sorted."""
        return sorted(buffer.path for buffer in self._by_path.values() if buffer.modified)

    def conflicts(self) -> list[Path]:
        """Those of them that were also changed on disk, sorted."""
        return sorted(buffer.path for buffer in self._by_path.values() if buffer.conflict)

    def forget(self, paths: Iterable[Path]) -> None:
        """See `Files.forget`."""
        self._files.forget(paths)


def _buffer(entry: dict[str, Any], before: Buffer | None) -> Buffer:
    if entry["withheld"]:
        text = None
    elif "text" in entry or before is None:
        text = None if entry.get("binary") else _text(str(entry.get("text", "")))
    else:
        text = before.text
    return Buffer(
        number=entry["number"],
        path=buffer_path(entry["name"]),
        tick=entry["tick"],
        text=text,
        withheld=entry["withheld"],
        modified=bool(entry["modified"]),
        conflict=bool(entry["conflict"]),
        gone=bool(entry["gone"]),
        versions=dict(entry["versions"]),
        filetype=entry["filetype"],
    )


def _text(content: str) -> Text | None:
    try:
        content.encode()
    except UnicodeEncodeError:  # pynvim hands over what is no UTF-8 as half surrogates
        return None
    return Text(content)
