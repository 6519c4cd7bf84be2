"""The questions: `Question` is the same thing asked of the language server and of lsp-mcp.

What both say is brought into one form, `Facts`, with code of this folder's own: an answer is measured only if
both said the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from raw_client import RawClient
from workload import Workload

Json = dict[str, Any]
Facts = Counter[tuple[Any, ...]]
ALL = 10_000  # the most results that a tool gives


@dataclass(frozen=True)
class Question:
    """One question; `ask` sends the server the very requests that lsp-mcp sends it."""

    name: str
    file: Path | None  # must be open on both sides
    requests: list[tuple[str, Json]]
    tool: str
    arguments: Json
    raw_facts: Callable[[Any], Facts]
    our_facts: Callable[[Json], Facts]
    may_be_capped: bool = False

    @property
    def is_references(self) -> bool:
        """Whether it asks for references."""
        return self.tool == "find_symbol_references_by_anchor"

    def ask(self, raw: RawClient) -> Any:
        """What the server answers to the last of the requests."""
        result = None
        for method, params in self.requests:
            result = raw.request(method, params)
        return result

    def check(self, raw: Any, ours: Json) -> int:
        """How many facts both answers have.

        Raises:
            RuntimeError: they don't say the same, say nothing, or ours says that it is incomplete.
        """
        expected, found = self.raw_facts(raw), self.our_facts(ours)
        if expected != found:
            raise RuntimeError(
                f"{self.name}: the answers differ. Only the server: {list(expected - found)[:5]}; "
                f"only lsp-mcp: {list(found - expected)[:5]}"
            )
        if not expected:
            raise RuntimeError(f"{self.name}: both answers are empty")
        if not (self.may_be_capped or ours["status"].startswith(("complete", "not searched"))):
            raise RuntimeError(f"{self.name}: {ours['status']}")
        return expected.total()


class Questions:
    """Makes the questions of a workload; where its symbols are is asked of the server."""

    def __init__(self, workload: Workload, raw: RawClient) -> None:
        self._raw = raw
        self._root = raw.root
        self.first = self.references(workload.first)
        self.all = [
            *map(self.references, workload.references),
            *map(self.outline, workload.outlines),
            *map(self.names, workload.names),
            self.rename(workload.rename, workload.new_name),
        ]

    def references(self, symbol: str) -> Question:
        """Every use of `symbol`."""
        file, at, anchor = self._find(symbol)
        return Question(
            f"references of {symbol}",
            file,
            [("textDocument/references", {**at, "context": {"includeDeclaration": True}})],
            "find_symbol_references_by_anchor",
            {"symbol_anchor": anchor, "limit": ALL},
            lambda result: Facts(self._place(one["uri"], one["range"]["start"]) for one in result),
            lambda answer: Facts(map(_our_place, answer["references"])),
        )

    def outline(self, file: str) -> Question:
        """The symbols of `file`."""
        path = self._root / file
        uri = path.as_uri()
        return Question(
            f"outline of {path.name}",
            path,
            [("textDocument/documentSymbol", {"textDocument": {"uri": uri}})],
            "list_symbols_in_file",
            {"file_path": file, "limit": ALL},
            lambda result: Facts(
                (one["name"], *self._place(uri, one["selectionRange"]["start"])) for one in _tree(result)
            ),
            lambda answer: Facts((one["name"], *_our_place(one)) for one in _tree(answer["file_symbols"])),
        )

    def names(self, name: str) -> Question:
        """Definitions that are called something like `name`."""
        return Question(
            f"search for {name}",
            None,
            [("workspace/symbol", {"query": name})],
            "find_symbol_definitions_by_name",
            {"symbol_name": name, "limit": ALL},
            lambda result: Facts(
                (one["name"], *self._place(one["location"]["uri"], one["location"]["range"]["start"])) for one in result
            ),
            lambda answer: Facts((one["name"], *_our_place(one)) for one in answer["definitions"]),
            may_be_capped=True,
        )

    def rename(self, symbol: str, new_name: str) -> Question:
        """What a rename would change; nothing is written."""
        file, at, anchor = self._find(symbol)
        return Question(
            f"rename of {symbol}",
            file,
            [("textDocument/prepareRename", at), ("textDocument/rename", {**at, "newName": new_name})],
            "rename_symbol_by_anchor",
            {"symbol_anchor": anchor, "new_name": new_name, "apply": False},
            lambda result: Facts(self._raw_edits(result)),
            lambda answer: Facts(_our_edits(answer)),
        )

    # --- inside ------------------------------------------------------------------------------------

    def _find(self, symbol: str) -> tuple[Path, Json, str]:
        """The file of `symbol`, its LSP `TextDocumentPositionParams`, and its anchor."""
        found = [one for one in self._raw.request("workspace/symbol", {"query": symbol}) if one["name"] == symbol]
        if len(found) != 1:
            raise RuntimeError(f"{symbol} is defined {len(found)} times in {self._root}")
        location = found[0]["location"]
        start = location["range"]["start"]
        file, line, character = self._place(location["uri"], start)
        at = {"textDocument": {"uri": location["uri"]}, "position": start}
        return self._root / file, at, f"go://{file}#{line}:{character}"

    def _raw_edits(self, edit: Json) -> Iterator[tuple[Any, ...]]:
        for change in edit["documentChanges"]:
            uri = change["textDocument"]["uri"]
            for one in change["edits"]:
                start, end = one["range"]["start"], one["range"]["end"]
                yield *self._place(uri, start), *self._place(uri, end)[1:], one["newText"]

    def _place(self, uri: str, position: Json) -> tuple[str, int, int]:
        """File, line and character as lsp-mcp counts: from 1, in code points."""
        path = unquote(urlsplit(uri).path)
        line = _lines(path)[position["line"]]
        prefix = line.encode("utf-16-le")[: 2 * position["character"]].decode("utf-16-le")
        return Path(path).relative_to(self._root).as_posix(), position["line"] + 1, len(prefix) + 1


@cache
def _lines(path: str) -> list[str]:
    return Path(path).read_bytes().decode().split("\n")


def _tree(symbols: list[Json]) -> Iterator[Json]:
    """All symbols of a tree."""
    for symbol in symbols:
        yield symbol
        yield from _tree(symbol.get("children") or [])


def _our_place(one: Json) -> tuple[str, int, int]:
    place = one["location"]
    return place["file"], place["line"], place["character"]


def _our_edits(answer: Json) -> Iterator[tuple[Any, ...]]:
    for file in answer["file_edits"]:
        for one in file["edits"]:
            start = one["start_line"], one["start_character"]
            yield file["file"], *start, one["end_line"], one["end_character"], one["new_text"]
