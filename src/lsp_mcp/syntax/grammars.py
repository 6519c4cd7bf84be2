"""The grammars of tree-sitter and the queries for each: `grammar_of`. Nothing is imported before the first question.

`languages/ID/grammar.toml` names the grammar for LSP's `languageId` ID; a query is a file beside it, `QUERY.scm`, which
continues that of OTHER if it begins with `; inherits: OTHER`. The grammars in `languages/packed.toml` are in one
optional package; queries for them are made of the names of their node kinds.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from lsp_mcp.syntax.kinds import made_query

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Query

_FOLDER = Path(__file__).with_name("languages")
_PACK = "tree_sitter_language_pack"
_INHERITS = re.compile(r"\A; inherits: (\w+)\n")


class ModuleNames(Struct, frozen=True, forbid_unknown_fields=True):
    """By which names code calls the module that a file is."""

    like_folders: tuple[str, ...] = ()  # files, without their extensions, whose module may be called like the folder
    unnamed_folders: tuple[str, ...] = ()  # which are in no module's name
    relative: tuple[str, ...] = ()  # what a path may begin with instead of a module's name
    loader: str = ""  # the function that loads a module while the program runs
    passing_word: str = ""  # what comes before `*` in a file that passes on everything of a module


class _Described(Struct, forbid_unknown_fields=True):
    """A `grammar.toml`."""

    package: str = ""  # the module with the grammar
    function: str = "language"  # the function in it
    directives: bool = False  # whether texts have lines for C's preprocessor
    unparsed: str = ""  # of what this pattern finds, the grammar does not see group 1, such as a macro
    same_as: str = ""  # the language with the same grammar and queries
    modules: ModuleNames = ModuleNames()


class Grammar:
    """One grammar, with its queries."""

    def __init__(
        self,
        name: str,
        language: Language,
        *,
        has_directives: bool,
        is_packed: bool = False,
        modules: ModuleNames | None = None,
        unparsed: str = "",
    ) -> None:
        self.name = name
        self.language = language
        self.modules = modules or ModuleNames()
        self.has_directives = has_directives  # lines for C's preprocessor
        self.is_packed = is_packed
        self._unparsed = re.compile(unparsed.encode()) if unparsed else None

    def seen(self, data: bytes) -> bytes:
        """What a parser is to see of `data`: as long, with spaces for what the grammar would misread."""
        if self._unparsed is None:
            return data
        seen, end = [], 0
        for found in self._unparsed.finditer(data):
            seen += [data[end : found.start(1)], re.sub(rb"\S", b" ", found[1])]
            end = found.end(1)
        return b"".join([*seen, data[end:]]) if seen else data

    def parser(self) -> Parser:
        """A parser of its own for each use: one parser can't work in two threads."""
        from tree_sitter import Parser

        return Parser(self.language)

    def query(self, name: str) -> Query | None:
        """The query `name` of this grammar; None if there is none."""
        return _query(self, name)


@cache
def has_grammar(language_id: str) -> bool:
    """Whether there is a grammar for LSP's `languageId`; it is not imported."""
    own = (_FOLDER / language_id / "grammar.toml").is_file()
    return own or (language_id in _packed() and find_spec(_PACK) is not None)


@cache
def grammar_of(language_id: str) -> Grammar | None:
    """The grammar for LSP's `languageId`; None if there is none, or it isn't installed on this kind of machine."""
    if not has_grammar(language_id):
        return None
    file = _FOLDER / language_id / "grammar.toml"
    if not file.is_file():
        return _from_pack(language_id)
    described = msgspec.convert(tomllib.loads(file.read_text("utf-8")), _Described)
    if described.same_as:
        return grammar_of(described.same_as)
    try:
        from tree_sitter import Language

        language = Language(getattr(import_module(described.package), described.function)())
    except ImportError:
        return None
    return Grammar(
        language_id,
        language,
        has_directives=described.directives,
        modules=described.modules,
        unparsed=described.unparsed,
    )


def has_query(language_id: str, name: str) -> bool:
    """Whether the grammar for LSP's `languageId` has the query `name`."""
    grammar = grammar_of(language_id)
    return grammar is not None and grammar.query(name) is not None


@cache
def _packed() -> dict[str, str]:
    """The name of each grammar in the package of many, by LSP's `languageId`."""
    content = tomllib.loads((_FOLDER / "packed.toml").read_text("utf-8"))
    return msgspec.convert(content, dict[str, str])


def _from_pack(language_id: str) -> Grammar | None:
    try:
        language = import_module(_PACK).get_language(_packed()[language_id])
    except (ImportError, LookupError):  # of another version than ours
        return None
    return Grammar(language_id, language, has_directives=False, is_packed=True)


@cache
def _query(grammar: Grammar, name: str) -> Query | None:
    from tree_sitter import Query

    source = _source(grammar.name, name)
    if name == "definitions" or (grammar.is_packed and not source):
        source = f"{made_query(grammar.language, name)}\n{source}"
    if not source.strip():
        # A text without comments and strings is code.
        return Query(grammar.language, "(ERROR) @none") if grammar.is_packed and name == "code" else None
    return Query(grammar.language, source)


def _source(language_id: str, name: str) -> str:
    file = _FOLDER / language_id / f"{name}.scm"
    if not file.is_file():
        return ""
    source = file.read_text("utf-8")
    inherited = _INHERITS.match(source)
    return (_source(inherited[1], name) if inherited else "") + source
