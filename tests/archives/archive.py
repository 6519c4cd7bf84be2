"""Test archives: one text file with a sentence, sources, calls with their answers, and what is on disk after.

The form is txtar (golang.org/x/tools/txtar): prose, then sections that begin with `-- NAME --`.

    -- PATH --                  a source file
    -- call TOOL KEY=VALUE … -- the call, as `lsp-mcp call` takes it; below it the answer
    -- edit PATH --             another program gives the file this content
    -- delete PATH --           another program deletes it
    -- want/PATH --             the file at the end, if it is not as it was
    -- gone/PATH --             the file is not there at the end

A comment `//@ loc(NAME, "TEXT")` at the end of a source line names the place where TEXT first is on that
line; calls say `@NAME` for its anchor. `re"EXPRESSION"` instead of a text finds the first group. Marks are
taken out before the file is written. In a `KEY=VALUE` of a call,

    KEY=@NAME                the anchor; but `position=@NAME` is `{"line": LINE, "character": CHARACTER}`
    KEY='{"start": @NAME}'   the same inside JSON, where it stands for a value
    KEY=$LAST.item.0.name    a part of the answer before, which was JSON; inside JSON too
    $ROOT, $TOP              the workspace root, and the folder that all files are in

Lines `KEY: VALUE` of the prose say what text cannot show: `crlf`, `bom` and `no-final-newline` with paths,
`root: FOLDER` for a workspace root below the top, `link: PATH -> TARGET`, `backend: NAME` if it is not gopls,
`toolset: NAME` for one that is not offered otherwise, `same-time: PATH, PATH` for files whose time of
modification stays an hour in the past whatever is written into them, `only: direct` if it cannot go through a Neovim.
A ␍ stands for a CR anywhere.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

_HEADER = re.compile(r"-- (?P<name>.+) --")
_DIRECTIVE = re.compile(r"(?P<key>crlf|bom|no-final-newline|root|link|backend|toolset|same-time|only): *(?P<value>.+)")
_MARKS = re.compile(r"[ \t]*(?://|#)@ *(?P<marks>loc\(.*\))[ \t]*$")
_MARK = re.compile(r'loc\((?P<name>\w+), *(?P<regex>re)?(?P<text>"(?:[^"\\]|\\.)*")\)')
_VALUE = re.compile(r"(?P<before>^|[:\[,] *)(?:@(?P<mark>\w+)|\$LAST(?P<path>(?:\.\w+)*))(?=$|[]},])")
_LINE_END = re.compile(r"␍?\n|␍")
_VERBS = ("call ", "edit ", "delete ", "want/", "gone/")


@dataclass
class Section:
    """A named stretch of the archive; `body` ends with a line end unless it is empty."""

    name: str
    body: str = ""


@dataclass
class Archive:
    """A parsed archive; `str(archive)` is the file again."""

    prose: str
    sections: list[Section]

    def __str__(self) -> str:
        return self.prose + "".join(f"-- {section.name} --\n{section.body}" for section in self.sections)

    @property
    def sources(self) -> list[Section]:
        """The files that are there at the beginning."""
        return [section for section in self.sections if not section.name.startswith(_VERBS)]

    @property
    def steps(self) -> list[Section]:
        """What is done, in order."""
        return [section for section in self.sections if section.name.startswith(_VERBS[:3])]

    @property
    def outcome(self) -> dict[str, str | None]:
        """The text of each file that is not as it was; None for one that is gone."""
        outcome: dict[str, str | None] = {}
        for section in self.sections:
            if section.name.startswith("want/"):
                outcome[section.name.removeprefix("want/")] = section.body
            elif section.name.startswith("gone/"):
                outcome[section.name.removeprefix("gone/")] = None
        return outcome

    @outcome.setter
    def outcome(self, outcome: dict[str, str | None]) -> None:
        self.sections = [s for s in self.sections if not s.name.startswith(("want/", "gone/"))]
        for path, text in sorted(outcome.items()):
            self.sections.append(Section(f"gone/{path}") if text is None else Section(f"want/{path}", text))

    @property
    def backend(self) -> str:
        """The language server that the archive is for."""
        return next(iter(self.directives("backend")), "gopls")

    def directives(self, key: str) -> list[str]:
        """The values of all lines `key: VALUE, VALUE` in the prose."""
        found = (match for line in self.prose.split("\n") if (match := _DIRECTIVE.fullmatch(line.strip())))
        return [value.strip() for match in found if match["key"] == key for value in match["value"].split(",")]


def parse(text: str) -> Archive:
    """The archive that `text` spells."""
    archive = Archive("", [])
    assert "\r" not in text, "an archive has no CR of its own: write `crlf: PATH` or ␍"
    for line in re.findall(r"[^\n]*\n|[^\n]+$", text):
        if header := _HEADER.fullmatch(line.rstrip("\n")):
            archive.sections.append(Section(header["name"]))
        elif archive.sections:
            archive.sections[-1].body += line
        else:
            archive.prose += line
    return archive


def content(archive: Archive, path: str, text: str) -> bytes:
    """The bytes of the file `path` whose text an archive shows as `text`."""
    text = text.replace("␍", "\r")
    if path in archive.directives("no-final-newline"):
        text = text.removesuffix("\n")
    if path in archive.directives("crlf"):
        text = text.replace("\n", "\r\n")
    if path in archive.directives("bom"):
        text = "\ufeff" + text
    return text.encode()


def shown(archive: Archive, path: str, data: bytes) -> str:
    """The inverse of `content`, for `--update`."""
    text = data.decode()
    if path in archive.directives("bom"):
        text = text.removeprefix("\ufeff")
    if path in archive.directives("crlf"):
        text = text.replace("\r\n", "\n")
    if path in archive.directives("no-final-newline"):
        text += "\n"
    text = text.replace("\r", "␍")
    told = content(archive, path, text) == data and text[-1:] in ("", "\n")
    assert told, f"{path}: the prose must say crlf, bom or no-final-newline of it"
    return text


class Marks:
    """The places that the sources name, as anchors relative to the workspace root."""

    def __init__(self, top: Path, root: Path, scheme: Callable[[Path], str]) -> None:
        self._top = top
        self._root = root
        self._scheme = scheme
        self._anchors: dict[str, str] = {}

    @property
    def all(self) -> dict[str, str]:
        """The anchor of each mark, by its name."""
        return dict(self._anchors)

    def take(self, path: str, text: str) -> str:
        """`text` without its marks, which are remembered."""
        file = quote(os.path.relpath(self._top / path, self._root))
        plain = []
        for number, line in enumerate(_LINE_END.split(text), 1):
            marks = _MARKS.search(line)
            plain.append(line[: marks.start()] if marks else line)
            for name, character in _places(plain[-1], marks["marks"]) if marks else ():
                assert name not in self._anchors or path in self._anchors[name], f"two places are called {name}"
                self._anchors[name] = f"{self._scheme(Path(path))}://{file}#{number}:{character}"
        ends = [*_LINE_END.findall(text), ""]
        return "".join(line + end for line, end in zip(plain, ends, strict=True))

    def arguments(self, words: list[str], last: str = "") -> dict[str, Any]:
        """`KEY=VALUE` words as a call's arguments; a value that is JSON is that. `last` is the answer before."""
        return {key: self._value(key, value, last) for key, _, value in (word.partition("=") for word in words)}

    def _value(self, key: str, value: str, last: str) -> Any:
        if value.startswith("@") and key != "position":
            return self._anchors[value.removeprefix("@")]
        value = _VALUE.sub(lambda match: match["before"] + json.dumps(self._part(match, last)), value)
        value = value.replace("$ROOT", str(self._root)).replace("$TOP", str(self._top))
        try:
            return json.loads(value)
        except ValueError:
            return value

    def _part(self, match: re.Match[str], last: str) -> Any:
        """What a `@NAME` or a `$LAST` inside JSON stands for."""
        if match["mark"]:
            line, _, character = self._anchors[match["mark"]].rpartition("#")[2].partition(":")
            return {"line": int(line), "character": int(character)}
        part = json.loads(last)
        for step in match["path"].split(".")[1:]:
            part = part[int(step) if isinstance(part, list) else step]
        return part


def tool_and_words(step: Section) -> tuple[str, list[str]]:
    """The tool and the `KEY=VALUE` words of a `call` section."""
    tool, *words = shlex.split(step.name.removeprefix("call "))
    return tool, words


def _places(line: str, marks: str) -> Iterator[tuple[str, int]]:
    """The name and the character (from 1) of each mark."""
    found = list(_MARK.finditer(marks))
    assert " ".join(match.group() for match in found) == marks, f"unclear marks: {marks}"
    for match in found:
        text = json.loads(match["text"]) if not match["regex"] else match["text"][1:-1]
        expression = re.compile(text if match["regex"] else re.escape(text))
        place = expression.search(line)
        assert place, f"{text!r} is not in {line!r}"
        yield match["name"], place.start(1 if expression.groups else 0) + 1
