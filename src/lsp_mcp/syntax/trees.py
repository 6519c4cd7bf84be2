"""One parse for each text, kept within a bound: `tree_of`.

A kept tree takes 20 times the bytes of its text. While a text is parsed other threads continue: tree-sitter holds
Python's lock, but asks for the text piece by piece, by a function in Python.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from lsp_mcp.syntax.grammars import Grammar
from lsp_mcp.text import Span, Text

if TYPE_CHECKING:
    from tree_sitter import Node, Query, Tree

_MOST_BYTES = 1_500_000  # of texts whose trees are kept
_MOST_TREES = 60
_PIECE = 1 << 16  # bytes
_Key = tuple[str, Path | Text]  # the grammar's name, and what was parsed


class Parsed:
    """A text with its tree, whose nodes count bytes of `data`, in UTF-8; `offset` counts code points of the text."""

    def __init__(self, text: Text, data: bytes, tree: Tree, seen: bytes) -> None:
        self.text = text
        self.data = data
        self.seen = seen  # what was parsed, see `Grammar.seen`
        self.tree = tree

    @property
    def root(self) -> Node:
        """The node that contains all others."""
        return self.tree.root_node

    def offset(self, byte: int) -> int:
        """The offset of a byte."""
        if self._is_plain:
            return byte
        bytes_, offsets = self._lines
        line = bisect_right(bytes_, byte) - 1
        return offsets[line] + len(self.data[bytes_[line] : byte].decode("utf-8", "replace"))

    def byte(self, offset: int) -> int:
        """The byte at an offset."""
        if self._is_plain:
            return offset
        bytes_, offsets = self._lines
        line = bisect_right(offsets, offset) - 1
        return bytes_[line] + len(_encoded(self.text.content[offsets[line] : offset]))

    def bytes_of(self, span: Span) -> tuple[int, int]:
        """The bytes where a span begins and ends."""
        return self.byte(self.text.point_offset(span.start)), self.byte(self.text.point_offset(span.end))

    def offsets(self, node: Node) -> tuple[int, int]:
        """Where a node begins and ends."""
        return self.offset(node.start_byte), self.offset(node.end_byte)

    @cached_property
    def _is_plain(self) -> bool:
        return len(self.data) == len(self.text.content)

    @cached_property
    def _lines(self) -> tuple[list[int], list[int]]:
        """The byte and the offset where each line begins."""
        lines = self.data.split(b"\n")
        bytes_ = accumulate((len(line) + 1 for line in lines), initial=0)
        characters = (len(line if line.isascii() else line.decode("utf-8")) + 1 for line in lines)
        return list(bytes_), list(accumulate(characters, initial=0))


class Trees:
    """The trees of the texts that were asked about last."""

    def __init__(self, most_bytes: int = _MOST_BYTES, most_trees: int = _MOST_TREES) -> None:
        self._most_bytes = most_bytes
        self._most_trees = most_trees
        self._kept: OrderedDict[_Key, Parsed] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def tree_of(self, text: Text, grammar: Grammar, path: Path | None = None) -> Parsed:
        """`text` with its tree. With a `path`, only what differs from the last text of that path is parsed.

        Takes about 100 ms for a megabyte: call it in a thread for what may be large.
        """
        key: _Key = (grammar.name, path or text)
        with self._lock:
            before = self._kept.get(key)
            if before:
                self._kept.move_to_end(key)
        if before and before.text.content == text.content:
            return before
        found = _parsed(text, grammar, before)
        with self._lock:
            self._put(key, found)
        return found

    def __len__(self) -> int:
        return len(self._kept)

    def _put(self, key: _Key, found: Parsed) -> None:
        if known := self._kept.pop(key, None):
            self._bytes -= len(known.data)
        self._kept[key] = found
        self._bytes += len(found.data)
        while self._kept and (self._bytes > self._most_bytes or len(self._kept) > self._most_trees):
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped.data)


TREES = Trees()


def captured_at(tree: Parsed, query: Query, capture: str, span: Span) -> list[Node]:
    """The nodes at exactly `span` that the query captures by that name."""
    from tree_sitter import QueryCursor

    start, end = tree.bytes_of(span)
    cursor = QueryCursor(query)
    cursor.set_byte_range(start, end)
    there = cursor.captures(tree.root).get(capture, ())
    return [node for node in there if (node.start_byte, node.end_byte) == (start, end)]


def is_in_error(node: Node | None) -> bool:
    """Whether the node is in a part that cannot be parsed."""
    while node and not node.is_error:
        node = node.parent
    return node is not None


def parsed(text: Text, grammar: Grammar) -> Parsed:
    """`text` with a tree that is not kept."""
    return _parsed(text, grammar, None)


def _parsed(text: Text, grammar: Grammar, before: Parsed | None) -> Parsed:
    data = _encoded(text.content)
    seen = grammar.seen(data)
    old = _edited(before, seen) if before else None

    def piece(byte: int, _: object) -> bytes:
        return seen[byte : byte + _PIECE]

    tree = grammar.parser().parse(piece, old) if old else grammar.parser().parse(piece)
    return Parsed(text, data, tree, seen)


def _edited(before: Parsed, seen: bytes) -> Tree:
    """The tree of `before`, told where `seen` differs."""
    most = min(len(before.seen), len(seen))
    start = _longest(most, lambda count: before.seen.startswith(seen[:count]))
    same = _longest(most - start, lambda count: before.seen.endswith(seen[len(seen) - count :]))
    old_end, new_end = len(before.seen) - same, len(seen) - same
    tree = before.tree.copy()
    tree.edit(start, old_end, new_end, _place(seen, start), _place(before.seen, old_end), _place(seen, new_end))
    return tree


def _longest(most: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `most` of which `holds`, which holds of all smaller ones."""
    return bisect_left(range(1, most + 1), True, key=lambda count: not holds(count))


def _place(data: bytes, byte: int) -> tuple[int, int]:
    """The row and the column of a byte, as tree-sitter counts them."""
    return data.count(b"\n", 0, byte), byte - (data.rfind(b"\n", 0, byte) + 1)


def _encoded(content: str) -> bytes:
    """`content` in UTF-8; half a surrogate pair, which has no UTF-8, is a question mark."""
    return content.encode("utf-8", "replace")
