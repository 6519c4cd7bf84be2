"""What the preprocessor may leave out of a file, by the text alone: never less than it does."""

from __future__ import annotations

import pytest

from lsp_mcp.servers.clangd.compilation.conditionals import has_conditions, stands_in_condition

GUARDED = "#ifndef LIB_H\n#define LIB_H\n{}\n#endif\n"

# What a compiler may skip, with `word` in it.
SKIPPED = [
    "#if 0\nword\n#endif\n",
    "#ifdef A\nword\n#endif\n",
    "#ifndef NDEBUG\nword\n#endif\n",
    "#ifdef A\nint a;\n#else\nword\n#endif\n",
    "#if A\n#elif B\nword\n#endif\n",
    "#if A\n#elifdef B\nword\n#endif\n",
    "#if A\n#if B\n#endif\nword\n#endif\n",
    " \t#\tif defined(A) && \\\n  defined(B)\nword\n # endif\n",
    "#if A\r\nword\r\n#endif\r\n",
    "#if A\nword\n",  # as it is while somebody writes it
    "#endif\n#if A\nword\n#endif\n",
    "#if A\n#define TWICE(x) word(x)\n#endif\n",
    GUARDED.format("#ifdef A\nword\n#endif"),
    "#pragma once\n#ifndef A\nword\n#endif\n",
    # A guard of something else than the file.
    "#ifndef A\nint a;\n#define A\nword\n#endif\n",
    "#ifndef A\n#define B\nword\n#endif\n",
    "#ifndef A\n#undef A\nword\n#endif\n",
]
# What it never skips.
COMPILED = [
    "word\n",
    "",
    "#if A\nint a;\n#endif\nword\n",
    "#if A\n#endif // A\nword\n#if B\n#endif\n",
    "#if A\n#if B\n#endif\n#endif\nword\n",
    "#if A\nwords\npassword\nword_\n#endif\n",
    GUARDED.format("word"),
    GUARDED.format("#ifdef A\nint a;\n#endif\nword"),
    "// Copyright\n\n#ifndef LIB_H\n\n#  define LIB_H 1\nword\n#endif\n",
    "#pragma once\nword\n",
]


@pytest.mark.parametrize("text", SKIPPED)
def test_a_word_that_may_be_left_out_stands_in_a_condition(text: str) -> None:
    assert stands_in_condition("word", text)


@pytest.mark.parametrize("text", COMPILED)
def test_a_word_that_is_always_compiled_stands_in_none(text: str) -> None:
    assert not stands_in_condition("word", text)


@pytest.mark.parametrize("text", SKIPPED)
def test_a_file_with_something_that_may_be_left_out_is_not_passed_over(text: str) -> None:
    assert has_conditions(text.encode())


@pytest.mark.parametrize("text", ["", "word\n", "#pragma once\n", GUARDED.format("word"), "// #if A\n", "#iffy\n"])
def test_a_file_without_conditions_is_passed_over(text: str) -> None:
    assert not has_conditions(text.encode())


def test_words_are_looked_for_as_they_are_not_as_patterns() -> None:
    assert stands_in_condition("größe", "#if A\nint größe;\n#endif\n")
    assert not stands_in_condition("gr", "#if A\nint größe;\n#endif\n")
    assert not stands_in_condition("w.rd", "#if A\nword\n#endif\n")


def test_bytes_that_are_not_text_are_not_an_obstacle() -> None:
    assert has_conditions(b"\xff\n#if A\n\xe9\n#endif\n")
