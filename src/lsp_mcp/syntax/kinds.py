"""Queries made of the names of a grammar's node kinds, for grammars without queries of our own: `made_query`.

Grammars share a vocabulary: a `class_declaration` has a `name`, a `line_comment` is a comment. What does not follow it
is not found; nothing is taken for a definition, a comment or a string that is not called one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language

_COMMENT = re.compile(r"(?:^|_)comment$")
_STRING = re.compile(
    r"(?:^|_)(?:string|string_literal|str_lit|string_lit|charlist|char_literal|character_literal|character|char"
    r"|heredoc_body|raw_string_literal|quoted_string|nowdoc_string)$"
)
_HOLE = re.compile(r"interpolat|substitution|expansion|embedded|template_(?:expr|subst)|inline_expression")
_NO_HOLE = re.compile(r"string|literal|start|end")
_DEFINITION = re.compile(
    r"(?:definition|declaration|_item|_spec|_signature|_binding|_def|_decl|_variant|_constant|enumerator|enum_entry"
    r"|(?:variable|init)_declarator)$|^(?:class|module|(?:singleton_)?method|function|declaration)$"
)
_NO_DEFINITION = re.compile(
    r"import|export|use_|using|parameter|argument|catch|^for_|pattern|package|expression|impl_item|extern|template"
    r"|tuple|list_item|preproc|array_|frame_|namespace_alias|case_|image_"
)
_WITH_BODY = re.compile(r"(?:struct|class|union|enum)_specifier$")
_TYPE = re.compile(r"class|object|interface|struct|enum|type|trait|protocol|alias")
_NAME = re.compile(r"(?:^|_)(?:identifier|constant|name|id)$")
_FIELDS = ("name", "declarator", "pattern")


def made_query(language: Language, name: str) -> str:
    """The query `name` (`code` or `definitions`) for a grammar; empty if its kinds say nothing about that."""
    kinds = sorted(
        {
            kind
            for number in range(language.node_kind_count)
            if language.node_kind_is_named(number)
            and language.node_kind_is_visible(number)
            and (kind := language.node_kind_for_id(number))
        }
    )
    return "\n".join(_code(kinds) if name == "code" else _definitions(language, kinds) if name == "definitions" else ())


def _code(kinds: list[str]) -> Iterator[str]:
    for kind in kinds:
        if _COMMENT.search(kind):
            yield f"({kind}) @comment"
        elif _STRING.search(kind) and not _HOLE.search(kind):
            yield f"({kind}) @string"
        elif _HOLE.search(kind) and not _NO_HOLE.search(kind):
            yield f"({kind}) @code"


def _definitions(language: Language, kinds: list[str]) -> Iterator[str]:
    names = [kind for kind in kinds if _NAME.search(kind)]
    for kind in kinds:
        if _WITH_BODY.search(kind):
            yield from _possible(language, f"({kind} name: (_) @name body: (_)) @definition")
        if not _DEFINITION.search(kind) or _NO_DEFINITION.search(kind):
            continue
        by_field = _possible(language, *(f"({kind} {field}: (_) @name) @definition" for field in _FIELDS))
        usual = [name for name in names if _TYPE.search(kind) or not name.startswith("type_")]
        yield from by_field or _possible(language, *(f"({kind} ({name}) @name) @definition" for name in usual))


def _possible(language: Language, *patterns: str) -> list[str]:
    """Those of `patterns` that some tree of this grammar can match."""
    from tree_sitter import Query, QueryError

    found = []
    for pattern in patterns:
        try:
            Query(language, pattern)
        except QueryError:
            continue
        found.append(pattern)
    return found
