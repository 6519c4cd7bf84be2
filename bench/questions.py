"""The questions: `Question` is the same thing asked of the language server and of lsp-mcp.

Both answers are converted to one form, `Facts`, by independent code: an answer is measured only if both are equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from workload import Folder, GoModule, GoRoot, Tree, Workload

from lsp_mcp.adapters import Adapter
from lsp_mcp.servers.registry import plugin_of

Json = dict[str, Any]
Request = tuple[str, Json | Callable[[Any], Json]]  # a method, and its params or what makes them of the result before
Facts = Counter[tuple[Any, ...]]
ALL = 10_000  # the most results that a tool gives


class Server(Protocol):
    """A language server that answers, alone or in an editor; `unit` is what its characters are counted in."""

    adapter: Adapter
    root: Path
    unit: str

    def request(self, method: str, params: Any) -> Any:
        """The result of one request."""


@dataclass(frozen=True)
class Question:
    """One question; `ask` sends the server the very requests that lsp-mcp sends it."""

    name: str
    file: Path | None  # must be open on both sides
    requests: list[Request]
    tool: str
    arguments: Json
    raw_facts: Callable[[Any], Facts]
    our_facts: Callable[[Any], Facts]
    may_be_capped: bool = False
    joined: tuple[str, ...] = ()  # folders of other modules, whose uses lsp-mcp adds to what the server says

    @property
    def is_references(self) -> bool:
        """Whether it asks for references."""
        return self.tool == "find_symbol_references_by_anchor"

    def ask(self, raw: Server) -> Any:
        """The server's answer to the last of the requests."""
        result = None
        for method, params in self.requests:
            result = raw.request(method, params(result) if callable(params) else params)
        return result

    def check(self, raw: Any, ours: Any) -> int:
        """The number of facts in both answers.

        Raises:
            RuntimeError: they differ, are empty, or ours says that it is incomplete.
        """
        expected, found = self.raw_facts(raw), self.our_facts(ours)
        more = found - expected
        if expected - found or any(not str(fact[0]).startswith(self.joined or ("\0",)) for fact in more):
            raise RuntimeError(
                f"{self.name}: the answers differ. Only the server: {list(expected - found)[:5]}; "
                f"only lsp-mcp: {list(more)[:5]}"
            )
        if not expected:
            raise RuntimeError(f"{self.name}: both answers are empty")
        # What no server looks into, or explains (`T::exception` of a template), is missing from both answers.
        unknown = {"not_searched", "not_compiled", "unverified"}
        missing = {gap["kind"] for gap in ours["gaps"] if gap["hides"]} - unknown
        if missing and not self.may_be_capped:
            raise RuntimeError(f"{self.name}: {ours['status']}")
        return expected.total()


def _modules_inside(code: GoModule | GoRoot | Folder) -> tuple[str, ...]:
    match code:
        case GoModule(nested=nested):
            return tuple(nested)
        case GoRoot():
            return ("cmd",)
        case Folder():
            return ()


class Questions:
    """Makes the questions about a tree; the places of its symbols come from the server."""

    def __init__(self, raw: Server) -> None:
        self._raw = raw
        self._root = raw.root

    def about_tree(self, tree: Tree) -> list[Question]:
        """All of them."""
        questions = [
            *map(self.references, tree.references),
            *map(self.outline, tree.outlines),
            *map(self.names, tree.names),
        ]
        if isinstance(tree, Workload):
            questions.append(self.rename(tree.rename, tree.new_name))
            questions += [self.callers(tree.callers)] if tree.callers else []
            questions += [self.subtypes(tree.subtypes)] if tree.subtypes else []
        joined = tuple(f"{folder}/" for folder in _modules_inside(tree.code))
        return [replace(one, joined=joined) for one in questions]

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
            # Not their places: where a macro makes a name, lsp-mcp fixes the one that clangd gives.
            lambda result: Facts(one["name"] for one in named(result)),
            lambda answer: Facts(one["name"] for one in named(answer["file_symbols"])),
        )

    def names(self, name: str) -> Question:
        """Definitions that are called something like `name`; those outside the workspace are left out by lsp-mcp."""
        return Question(
            f"search for {name}",
            None,
            [("workspace/symbol", {"query": name})],
            "find_symbol_definitions_by_name",
            {"symbol_name": name, "similar": True, "limit": ALL},
            lambda result: Facts(
                (self._whole_name(one), *self._place(one["location"]["uri"], one["location"]["range"]["start"]))
                for one in result
                if Path(_path(one["location"]["uri"])).is_relative_to(self._root)
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

    def callers(self, symbol: str) -> Question:
        """Who calls `symbol`, and where."""
        file, at, anchor = self._find(symbol)
        return Question(
            f"callers of {symbol}",
            file,
            [
                ("textDocument/prepareCallHierarchy", at),
                ("callHierarchy/incomingCalls", lambda items: {"item": items[0]}),
            ],
            "find_callers_by_anchor",
            {"symbol_anchor": anchor, "depth": 1, "limit": ALL},
            lambda result: Facts(self._raw_calls(result)),
            lambda answer: Facts(_our_calls(answer["callers"])),
        )

    def subtypes(self, symbol: str) -> Question:
        """The types right below `symbol`."""
        file, at, anchor = self._find(symbol)
        return Question(
            f"subtypes of {symbol}",
            file,
            [
                ("textDocument/prepareTypeHierarchy", at),
                ("typeHierarchy/subtypes", lambda items: {"item": items[0]}),
            ],
            "find_type_hierarchy_by_anchor",
            {"symbol_anchor": anchor, "direction": "subtypes", "depth": 1, "limit": ALL},
            lambda result: Facts(self._place(one["uri"], one["selectionRange"]["start"]) for one in result),
            lambda answer: Facts(map(_our_place, answer["subtypes"])),
        )

    # --- inside ------------------------------------------------------------------------------------

    def _find(self, symbol: str) -> tuple[Path, Json, str]:
        """The file of `symbol`, its LSP `TextDocumentPositionParams`, and its anchor."""
        answer = self._raw.request("workspace/symbol", {"query": symbol})
        found = [one for one in answer if self._whole_name(one) == symbol]
        if len(found) != 1:
            raise RuntimeError(f"{symbol} is defined {len(found)} times in {self._root}")
        location = found[0]["location"]
        start = location["range"]["start"]
        file, line, character = self._place(location["uri"], start)
        at = {"textDocument": {"uri": location["uri"]}, "position": start}
        language = self._raw.adapter.language_of(Path(file))
        assert language
        return self._root / file, at, f"{language.scheme}://{file}#{line}:{character}"

    def _whole_name(self, symbol: Json) -> str:
        """The name of what workspace/symbol found, with what it is in where the server leaves that out."""
        separator, container = plugin_of(self._raw.adapter).symbols.scope_separator, symbol.get("containerName")
        return f"{container}{separator}{symbol['name']}" if separator and container else str(symbol["name"])

    def _raw_calls(self, calls: list[Json]) -> Iterator[tuple[Any, ...]]:
        for call in calls:
            caller = call["from"]
            yield "caller", *self._place(caller["uri"], caller["selectionRange"]["start"])
            for range_ in call["fromRanges"]:
                yield "call", *self._place(caller["uri"], range_["start"])

    def _raw_edits(self, edit: Json) -> Iterator[tuple[Any, ...]]:
        changes = [(uri, edits) for uri, edits in (edit.get("changes") or {}).items()]
        changes += [(change["textDocument"]["uri"], change["edits"]) for change in edit.get("documentChanges") or []]
        for uri, edits in changes:
            for one in edits:
                start, end = one["range"]["start"], one["range"]["end"]
                yield *self._place(uri, start), *self._place(uri, end)[1:], one["newText"]

    def _place(self, uri: str, position: Json) -> tuple[str, int, int]:
        """File, line and character as lsp-mcp counts: from 1, in code points."""
        before = _before(_lines(_path(uri))[position["line"]], position["character"], self._raw.unit)
        return place_in(self._root, uri), position["line"] + 1, len(before) + 1


def place_in(root: Path, uri: str) -> str:
    """The file of `uri` as lsp-mcp names it."""
    return Path(_path(uri)).relative_to(root).as_posix()


def _path(uri: str) -> str:
    return unquote(urlsplit(uri).path)


def _before(line: str, units: int, unit: str) -> str:
    """What stands before a character of `line` that is counted in `unit`s (LSP 3.17, `PositionEncodingKind`)."""
    codec, size = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[unit]
    return line.encode(codec)[: size * units].decode(codec)


@cache
def _lines(path: str) -> list[str]:
    return Path(path).read_bytes().decode().split("\n")


def named(symbols: list[Json]) -> Iterator[Json]:
    """All symbols of a tree."""
    for symbol in symbols:
        yield symbol
        yield from named(symbol.get("children") or [])


def _our_place(one: Json) -> tuple[str, int, int]:
    place = one["location"]
    return place["file"], place["line"], place["character"]


def _our_calls(callers: list[Json]) -> Iterator[tuple[Any, ...]]:
    for caller in callers:
        yield "caller", *_our_place(caller)
        for site in caller["call_sites"]:
            yield "call", *_our_place(site)


def _our_edits(answer: Json) -> Iterator[tuple[Any, ...]]:
    for file in answer["file_edits"]:
        for one in file["edits"]:
            start = one["start_line"], one["start_character"]
            yield file["file"], *start, one["end_line"], one["end_character"], one["new_text"]
