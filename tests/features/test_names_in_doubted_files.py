"""Which files may declare a name that the server did not find there (`evidence.occurrences.that_may_declare`)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fakes.bounded import bounded
from lsp_mcp import budget
from lsp_mcp.adapters import load_adapter
from lsp_mcp.evidence.definitions import Meaning
from lsp_mcp.evidence.occurrences import that_may_declare
from lsp_mcp.gaps import Gap
from lsp_mcp.servers.registry import plugin_of
from lsp_mcp.text import Text
from lsp_mcp.words.lexing import occurrences

DOUBTED = Path("/w/state.h")


class Doubted:
    """A backend of texts, that has not read `DOUBTED` well alone."""

    def __init__(self, texts: dict[str, str], *, is_included: bool = True) -> None:
        self.texts = {Path("/w") / name: Text(content) for name, content in texts.items()}
        self.wholes = [(Path("/w/a.c"), 1)] if is_included else []
        self.plugin = plugin_of(load_adapter("clangd"))
        self.documents = self.coverage = self.words = self

    async def gaps(self, _: object) -> list[Gap]:
        return [Gap("not_searched", "why", (DOUBTED,))]

    async def text(self, path: Path) -> Text:
        return self.texts[path]

    async def part_of(self, _: Path) -> None:
        return None

    async def wholes_of(self, _: Path) -> list[tuple[Path, int]]:
        return self.wholes

    async def files_with(self, word: str) -> Any:
        return SimpleNamespace(files=tuple(path for path, text in self.texts.items() if text.words(word)), unknown="")

    async def occurrences(self, path: Path, text: Text, word: str) -> Any:
        return occurrences(text, word, self.plugin.language_of(path))


class Knowing:
    """Knows nothing of what a word means; if `hangs`, never answers."""

    def __init__(self, *, hangs: bool = False) -> None:
        self.hangs = hangs

    async def where_included(self, _: object) -> Meaning:
        if self.hangs:
            await asyncio.Event().wait()
        return frozenset()


async def may_declare(backend: Any, name: str, *, hangs: bool = False) -> bool:
    definitions: Any = Knowing(hangs=hangs)
    use = await that_may_declare(definitions, backend, name, "", (), frozenset())
    return use.files is None or DOUBTED in use.files


MACRO = "#define DECLARE int count;\n"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"state.h": "#define count 3\n"}, False),
        ({"state.h": MACRO}, False),
        ({"state.h": MACRO + "#ifdef DECLARE\n#endif\n"}, False),
        ({"state.h": MACRO + "DECLARE\n"}, True),
        ({"state.h": MACRO, "a.c": "DECLARE\n"}, True),
        ({"state.h": MACRO, "a.c": "// DECLARE\n"}, False),
        ({"state.h": MACRO + "#define ALL DECLARE\nALL\n"}, True),
        ({"state.h": "int count;\n"}, True),
    ],
)
@bounded
async def test_a_macro_declares_a_name_where_it_is_used_in_any_file(texts: dict[str, str], expected: bool) -> None:
    assert await may_declare(Doubted(texts), "count") is expected


@pytest.mark.parametrize("text", ["#define count 3\n", MACRO])
@bounded
async def test_a_macro_in_a_file_that_nothing_read_includes_may_be_the_name(text: str) -> None:
    assert await may_declare(Doubted({"state.h": text}, is_included=False), "count")


@bounded
async def test_a_file_about_which_no_answer_comes_in_time_stays_in_doubt() -> None:
    with budget.reading(0) as present:
        assert await may_declare(Doubted({"state.h": "int count;\n"}), "count", hangs=True)
    assert present.is_cut
