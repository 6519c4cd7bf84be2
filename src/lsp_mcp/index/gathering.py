"""Reads a whole SCIP file into the rows of one push: `gather`. Only documents' texts and packed uses are in memory."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from lsp_mcp.index.monikers import Moniker, described, key, parse
from lsp_mcp.index.packing import Defined, Use, pack_defined, pack_keys, pack_use
from lsp_mcp.index.scip import DEFINITION, Document, IndexFileError, Information, Occurrence, Outside, Tool, read_index
from lsp_mcp.text import CodeUnit, PositionEncoding, Text, point_numbers

_MOST_OCCURRENCES = 20_000_000
_MOST_SYMBOLS = 3_000_000
_MOST_DOCUMENTS = 500_000
_MOST_SAID = 100_000  # times that one symbol is described
_MOST_TEXT = 4 << 20  # bytes of a source file
_MOST_HELD = 2 << 30  # bytes of all that is in memory until it is stored, about
_OF_SYMBOL, _OF_DOCUMENT = 450, 600  # bytes, without names and uses
_OF_RELATION = 60
_MOST_REMEMBERED = 100_000  # names whose symbols are found without parsing them
_UNSAID: CodeUnit = "utf-16"  # what scip-typescript and scip-python count in, without a word


class _Symbol:
    """A symbol of the push, as far as it was read; `name` is how the file spells it first."""

    __slots__ = ("before", "implemented_by", "is_defined", "key", "name", "said", "uses")

    def __init__(self, name: str, key: int) -> None:
        self.name = name
        self.key = key
        self.uses = bytearray()
        self.before: Use | None = None
        self.said = 0
        self.is_defined = False
        self.implemented_by: set[int] | None = None  # most have none, and there may be millions

    @property
    def moniker(self) -> Moniker:
        """Its parts."""
        found = parse(self.name)
        assert found
        return found


class Gathered:
    """The rows of one push, without its key."""

    def __init__(self, file: Path, root: Path | None, *, with_text: bool) -> None:
        self.tool = Tool("", "")
        self.documents: list[dict[str, Any]] = []
        self.occurrences = 0
        self.outside: list[str] = []  # documents that are left out
        self._file = file
        self._root = root
        self._with_text = with_text
        self._paths: set[str] = set()
        self._symbols: dict[int, _Symbol] = {}  # by key
        self._by_name: dict[str, _Symbol | None] = {}  # by the whole name, some of them
        self._held = 0  # bytes, about

    @property
    def packages(self) -> list[str]:
        """`MANAGER NAME` of each package that it defines symbols of."""
        found = {one.moniker[1:3] for one in self._symbols.values() if one.is_defined}
        return sorted(f"{manager} {package}" for manager, package in found if package)

    @property
    def symbols(self) -> int:
        """The number of symbols."""
        return len(self._symbols)

    def symbol_rows(self) -> Iterable[dict[str, Any]]:
        """The rows of the symbols, in the order of their keys; each is made when it is taken."""
        for _, one in sorted(self._symbols.items()):
            moniker = one.moniker
            names = described(moniker.descriptors) if one.is_defined else None
            package, version = (part.replace(" ", "  ") or "." for part in (moniker.package, moniker.version))
            yield {
                "key": one.key,
                "symbol": f"{moniker.scheme} {moniker.manager or '.'} {package} {version} {moniker.descriptors}",
                "name": names.names[-1].casefold() if names and names.names else None,
                "uses": bytes(one.uses),
                "implemented_by": pack_keys([*one.implemented_by]) if one.implemented_by else None,
            }

    def add(self, part: Tool | Document | Outside | Information) -> None:
        """The next part of the file. Raises IndexFileError."""
        match part:
            case Tool():
                self.tool = part
            case Document():
                self._add_document(part)
            case Outside():
                self.outside.append(part.path)
            case Information():
                self._say(part)

    def _add_document(self, document: Document) -> None:
        if document.path in self._paths:
            raise self._refused(f"it has {document.path!r} twice")
        self._paths.add(document.path)
        number = len(self.documents)
        self.occurrences += len(document.occurrences)
        for most, found, what in (
            (_MOST_DOCUMENTS, number, "documents"),
            (_MOST_OCCURRENCES, self.occurrences, "occurrences"),
        ):
            if found > most:
                raise self._refused(f"it has more than {most:,} {what}")
        content = self._text(document)
        is_plain = content is not None and content.isascii()
        occurrences = document.occurrences
        if content is not None and not is_plain:
            occurrences = _in_characters(occurrences, content, document.unit or _UNSAID)
        occurrences = sorted(occurrences, key=lambda one: (one.symbol, one.line, one.start))
        defined = [
            one
            for name, group in groupby(occurrences, lambda one: one.symbol)
            for one in self._use(number, name, group)
        ]
        for one in document.symbols:
            self._say(one)
        row: dict[str, Any] = {
            "document": number,
            "path": document.path,
            "is_exact": content is not None or document.unit == "utf-32",
            "defined": pack_defined(sorted(defined, key=lambda one: (one.line, one.start))),
            "text": zlib.compress(content.encode(), 6) if self._with_text and content is not None else None,
        }
        self._hold(_OF_DOCUMENT + len(document.path) + len(row["defined"]) + len(row["text"] or b""))
        self.documents.append(row)

    def _use(self, document: int, name: str, places: Iterable[Occurrence]) -> list[Defined]:
        """Record these uses of one symbol in one document; those that define it."""
        symbol = self._symbol(name)
        if symbol is None:
            return []
        defined = []
        for one in places:
            use = Use(document, one.line, one.start, one.length, one.roles)
            if use != symbol.before:
                before = len(symbol.uses)
                pack_use(symbol.uses, symbol.before, use)
                self._hold(len(symbol.uses) - before)
                symbol.before = use
            if one.roles & DEFINITION:
                symbol.is_defined = True
                first, last = one.extent or (one.line, one.line)
                defined.append(Defined(symbol.key, one.line, one.start, first, last))
        return defined

    def _say(self, said: Information) -> None:
        symbol = self._symbol(said.symbol)
        if symbol is None:
            return
        symbol.said += 1
        if symbol.said > _MOST_SAID:
            raise self._refused(f"it describes {said.symbol[:120]!r} more than {_MOST_SAID:,} times")
        for name in said.implements:
            if target := self._symbol(name):
                target.implemented_by = target.implemented_by or set()
                target.implemented_by.add(symbol.key)
                self._hold(_OF_RELATION)

    def _symbol(self, name: str) -> _Symbol | None:
        """The symbol called `name`; None if no other document can name it."""
        if name in self._by_name:
            return self._by_name[name]
        found = self._known(name)
        if len(self._by_name) >= _MOST_REMEMBERED:
            self._by_name.clear()
        self._by_name[name] = found
        return found

    def _known(self, name: str) -> _Symbol | None:
        moniker = parse(name)
        if moniker is None:
            return None
        number = key(moniker.identity)
        found = self._symbols.get(number)
        if found is None:
            found = self._symbols[number] = _Symbol(name, number)
            self._hold(_OF_SYMBOL + len(name))
            if len(self._symbols) > _MOST_SYMBOLS:
                raise self._refused(f"it has more than {_MOST_SYMBOLS:,} symbols")
        elif found.name != name and found.moniker.identity != moniker.identity:
            raise self._refused(f"two of its symbols have one key, which does not happen by chance: {name[:120]!r}")
        return found

    def _hold(self, size: int) -> None:
        """Count memory. Raises IndexFileError: it is too much."""
        self._held += size
        if self._held > _MOST_HELD:
            raise self._refused(f"its names, uses and texts need more than {_MOST_HELD >> 20:,} MiB of memory")

    def _text(self, document: Document) -> str | None:
        """The document's text, from the index or from the checkout; None if it is not known."""
        if document.text:
            return document.text
        if self._root is None:
            return None
        path = (self._root / document.path).resolve()
        try:
            if not path.is_relative_to(self._root) or not path.is_file() or path.stat().st_size > _MOST_TEXT:
                return None
            return path.read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            return None

    def _refused(self, why: str) -> IndexFileError:
        return IndexFileError(f"{self._file} is not stored: {why}.")


def gather(
    file: Path, root: Path | None, *, with_text: bool, progress: Callable[[int, int], None] = lambda done, of: None
) -> Gathered:
    """The rows of the SCIP `file`, whose sources are below `root` if that is known. `progress`: see `read_index`.

    Raises:
        IndexFileError: see `read_index`; or it is too large, or contradicts itself.
    """
    found = Gathered(file, root.resolve() if root else None, with_text=with_text)
    for part in read_index(file, progress):
        found.add(part)
    if not found.documents:
        raise IndexFileError(f"{file} has no documents; nothing was stored.")
    return found


def _in_characters(occurrences: list[Occurrence], content: str, unit: CodeUnit) -> list[Occurrence]:
    """The occurrences with columns in characters instead of the code units of the file."""
    text, encoding = Text(content), PositionEncoding(unit, lone_cr_ends_line=False)
    found = []
    for one in occurrences:
        at = [
            point_numbers(text.position_point({"line": one.line, "character": column}, encoding), 0)["character"]
            for column in (one.start, one.start + one.length)
        ]
        found.append(one._replace(start=at[0], length=at[1] - at[0]))
    return found
