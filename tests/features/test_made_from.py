"""Lines of grammars that generated code was made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsp_mcp.features.renaming.made_from import inputs, made_from
from lsp_mcp.requests.places import Place
from lsp_mcp.servers.clangd.traits import RENAMING
from lsp_mcp.text import Text

MADE = '#line 3 "{name}"\n{{ size(); }}\n#line 4 "parse.c"\nsize();\n'
GRAMMAR = "%%\n\nx: { size(); }\n"


def places(path: str, content: str) -> list[Place]:
    text = Text(content)
    found, start = [], 0
    while (at := content.find("size", start)) >= 0:
        found.append(Place(Path(path), text.offsets_span(at, at + 4), text))
        start = at + 4
    return found


@pytest.mark.parametrize(
    ("code", "name", "grammar"),
    [
        ("/w/a/parse.c", "parse.y", "/w/a/parse.y"),  # made in its folder
        ("/w/a/parse.c", "a/parse.y", "/w/a/parse.y"),  # made in a folder above it
        ("/w/build/parse.c", "../a/parse.y", "/w/a/parse.y"),
        ("/w/build/parse.c", "/w/a/parse.y", "/w/a/parse.y"),
    ],
)
def test_the_input_is_named_from_the_folder_of_the_code_or_one_above(code: str, name: str, grammar: str) -> None:
    content = MADE.format(name=name)
    made = made_from(places(code, content), RENAMING.line_directive, places(grammar, GRAMMAR))
    assert made == {(Path(grammar), 3)}
    assert inputs(Path(code), Text(content), RENAMING.line_directive, [Path(grammar), Path(code)]) >= {Path(grammar)}


def test_an_input_of_that_name_in_another_folder_is_not_the_one_that_is_named() -> None:
    code = places("/w/a/parse.c", MADE.format(name="parse.y"))
    assert not made_from(code, RENAMING.line_directive, places("/w/b/parse.y", GRAMMAR))


def test_a_line_with_the_word_more_often_than_the_code_is_left_alone() -> None:
    code = places("/w/a/parse.c", MADE.format(name="parse.y"))
    twice = GRAMMAR.replace("size();", "size(size);")
    assert not made_from(code, RENAMING.line_directive, places("/w/a/parse.y", twice))
