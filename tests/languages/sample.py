"""A small project of one language with the places of its symbols: `Sample`, the form of `samples/*.txtar`.

Prose and sections are those of an archive (`archives.archive`), with other names. The prose has

    backend: NAME       the server
    outline: NAMES      the top-level symbols of the file that declares `greet`
    callers: NAMES      the functions that call `greet`; without this line, the server knows no calls
    private: NAMES      those of them that only their file or module can use
    subtypes: NAMES     the types directly below `Greeter`; without this line, the server knows no types
    breaks: OLD => NEW  a change in the declaration of `greet`
    broken: FILES       the files that have errors then; without this line, the server cannot tell, and says so
    comment: #          what begins a comment
    crlf: FILES

Marks `NAME` and `NAME_…` are the definition of the symbol NAME and its uses; `greet_emoji` is behind an emoji.
A section `later/FILE` is a file that comes later, `changed/FILE` and `broken/FILE` are other texts of a file.
"""

from __future__ import annotations

import re
from pathlib import Path

from archives.archive import Archive, Marks, content, parse
from lsp_mcp.adapters import load_adapter
from lsp_mcp.anchors import parse_anchor

_KEYS = re.compile(
    r"^(?P<key>outline|callers|private|subtypes|breaks|broken|comment|lacks): *(?P<value>.+)$", re.MULTILINE
)
_STAGES = ("later/", "changed/", "broken/")

Place = tuple[str, int, int]
"""File, line and character of an identifier."""


class Sample:
    """The project in the archive `path`, as it is in `root` at the moment."""

    def __init__(self, path: Path) -> None:
        self.archive: Archive = parse(path.read_text("utf-8"))
        self.backend = self.archive.backend
        self._told = {match["key"]: match["value"] for match in _KEYS.finditer(self.archive.prose)}
        self._root = Path()
        self._marks: dict[str, dict[str, Place]] = {}  # by file

    def names(self, key: str) -> list[str]:
        """The names in the line `key: …` of the prose, sorted; none without that line."""
        return sorted(name.strip() for name in self._told.get(key, "").split(",") if name.strip())

    @property
    def comment(self) -> str:
        """What begins a comment."""
        return self._told["comment"]

    @property
    def breaks(self) -> tuple[str, str]:
        """What to replace in the declaration of `greet`, and by what."""
        old, _, new = self._told["breaks"].partition(" => ")
        return old, new

    @property
    def lacks(self) -> list[str]:
        """What the server cannot do."""
        return self.names("lacks")

    def write(self, root: Path) -> None:
        """Make `root` the project of the beginning; files that are as they were are not touched."""
        self._root = root
        firsts = {one.name: one.body for one in self.archive.sections if not one.name.startswith(_STAGES)}
        for file in list(self._marks):
            if file not in firsts:
                self.delete(file)
        for file, text in firsts.items():
            self._put(file, text)

    def stage(self, stage: str) -> str:
        """Write the file of `later`, `changed` or `broken`; returns its name."""
        section = next(one for one in self.archive.sections if one.name.startswith(f"{stage}/"))
        file = section.name.removeprefix(f"{stage}/")
        self._put(file, section.body)
        return file

    def delete(self, file: str) -> None:
        """Delete a file, and its marks."""
        (self._root / file).unlink()
        del self._marks[file]

    def push_down(self, file: str) -> None:
        """Put two lines above the text of `file`; all its places move."""
        path = self._root / file
        path.write_bytes(f"{self.comment} one\n{self.comment} two\n".encode() + path.read_bytes())
        self._marks[file] = {name: (f, line + 2, at) for name, (f, line, at) in self._marks[file].items()}

    def at(self, mark: str) -> Place:
        """The place of a mark."""
        return next(marks[mark] for marks in self._marks.values() if mark in marks)

    def anchor(self, mark: str) -> str:
        """The anchor of a mark."""
        file, line, character = self.at(mark)
        language = load_adapter(self.backend).language_of(Path(file))
        assert language
        return f"{language.scheme}://{file}#{line}:{character}"

    def places(self, symbol: str) -> list[Place]:
        """All present places of a symbol, sorted."""
        marks = (item for marks in self._marks.values() for item in marks.items())
        return sorted(place for name, place in marks if name == symbol or name.startswith(f"{symbol}_"))

    def renamed(self, symbol: str, new_name: str) -> dict[str, bytes]:
        """What each file is once `symbol` is renamed."""
        texts = {file: (self._root / file).read_bytes().decode() for file in self._marks}
        for file, line, character in reversed(self.places(symbol)):
            lines = texts[file].split("\n")
            before, behind = lines[line - 1][: character - 1], lines[line - 1][character - 1 :]
            assert behind.startswith(symbol)
            lines[line - 1] = f"{before}{new_name}{behind.removeprefix(symbol)}"
            texts[file] = "\n".join(lines)
        return {file: text.encode() for file, text in texts.items()}

    def _put(self, file: str, text: str) -> None:
        marks = Marks(self._root, self._root, lambda _: "x")
        path = self._root / file
        data = content(self.archive, file, marks.take(file, text))
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
        self._marks[file] = {}
        for name, anchor in marks.all.items():
            point = parse_anchor(anchor).point
            self._marks[file][name] = (file, point.line, point.character)
