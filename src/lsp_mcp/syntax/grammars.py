"""The grammars of tree-sitter and the queries for each: `grammar_of`. Nothing is imported before the first question.

`languages/ID/grammar.toml` names the grammar for LSP's `languageId` ID; a query is a file beside it, `QUERY.scm`, which
continues that of OTHER if it begins with `; inherits: OTHER`.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Query

_FOLDER = Path(__file__).with_name("languages")
_INHERITS = re.compile(r"\A; inherits: (\w+)\n")


class _Described(Struct, forbid_unknown_fields=True):
    """A `grammar.toml`."""

    package: str = ""  # the module with the grammar
    function: str = "language"  # the function in it
    directives: bool = False  # whether texts have lines for C's preprocessor
    same_as: str = ""  # the language with the same grammar and queries


class Grammar:
    """One grammar, with its queries."""

    def __init__(self, name: str, language: Language, *, has_directives: bool) -> None:
        self.name = name
        self.language = language
        self.has_directives = has_directives  # lines for C's preprocessor

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
    return (_FOLDER / language_id / "grammar.toml").is_file()


@cache
def grammar_of(language_id: str) -> Grammar | None:
    """The grammar for LSP's `languageId`; None if there is none, or it isn't installed on this kind of machine."""
    if not has_grammar(language_id):
        return None
    content = tomllib.loads((_FOLDER / language_id / "grammar.toml").read_text("utf-8"))
    described = msgspec.convert(content, _Described)
    if described.same_as:
        return grammar_of(described.same_as)
    try:
        from tree_sitter import Language

        language = Language(getattr(import_module(described.package), described.function)())
    except ImportError:
        return None
    return Grammar(language_id, language, has_directives=described.directives)


@cache
def _query(grammar: Grammar, name: str) -> Query | None:
    from tree_sitter import Query

    source = _source(grammar.name, name)
    return Query(grammar.language, source) if source else None


def _source(language_id: str, name: str) -> str:
    file = _FOLDER / language_id / f"{name}.scm"
    if not file.is_file():
        return ""
    source = file.read_text("utf-8")
    inherited = _INHERITS.match(source)
    return (_source(inherited[1], name) if inherited else "") + source
