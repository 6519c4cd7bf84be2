"""What words in macros mean is kept for the texts that were searched, and is given up where it takes long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lsp_mcp.backend import Backend, Trial
from lsp_mcp.errors import PathError
from lsp_mcp.evidence.definitions import Meaning, Site
from lsp_mcp.evidence.explainers import as_expanded
from lsp_mcp.requests.places import Place
from lsp_mcp.servers.traits import WordCheck
from lsp_mcp.text import Point, Span, Text

PLACE = Place(Path("/a.rs"), Span(Point(1, 1), Point(1, 4)), Text("old"))
FOUND: dict[Site, Meaning] = {PLACE.site: frozenset()}


class _Server:
    """A server whose trials only make the generation grow."""

    def __init__(self) -> None:
        self.generation = 1
        self.problems = SimpleNamespace(trial=self._trial)
        self.plugin = SimpleNamespace(word_check=WordCheck())

    @asynccontextmanager
    async def _trial(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            self.generation += 1


def _searched(monkeypatch: pytest.MonkeyPatch, find: Callable[[_Server], None], mean: Callable[[], Any]) -> list[int]:
    """The generations in which expansions are searched from now on, by these functions."""
    began: list[int] = []

    class Search:
        def __init__(self, backend: _Server, _: Any) -> None:
            self._backend = backend

        async def find_calls(self) -> bool:
            began.append(self._backend.generation)
            find(self._backend)
            return True

        async def meanings(self, _: Trial) -> dict[Site, Meaning]:
            return cast("dict[Site, Meaning]", mean())

    monkeypatch.setattr(as_expanded, "_Search", Search)
    return began


def _ask_twice(server: _Server) -> None:
    for _ in range(2):
        asyncio.run(as_expanded.meanings_in_macros(cast("Backend", server), [PLACE]))


def test_what_a_word_means_is_kept_as_long_as_the_texts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    began = _searched(monkeypatch, lambda _: None, lambda: FOUND)
    _ask_twice(_Server())
    assert began == [1]


def test_what_was_found_in_texts_that_changed_during_the_search_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    edits = [1]

    def edit(server: _Server) -> None:
        server.generation += edits.pop() if edits else 0

    began = _searched(monkeypatch, edit, lambda: FOUND)
    _ask_twice(_Server())
    assert began == [1, 3]


def test_a_place_that_cannot_be_read_leaves_the_words_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise PathError("untitled:1 does not name a file")

    _searched(monkeypatch, lambda _: None, fail)
    assert asyncio.run(as_expanded.meanings_in_macros(cast("Backend", _Server()), [PLACE])) == {}


def test_where_a_word_is_declared_is_given_up_if_that_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    async def inside(*_: Any) -> tuple[list[Place], list[Place]]:
        return [PLACE], []

    async def nothing(*_: Any) -> list[Site]:
        return []

    async def forever(*_: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(as_expanded, "_in_macros", inside)
    monkeypatch.setattr(as_expanded, "definition_places", nothing)
    monkeypatch.setattr(as_expanded, "meanings_in_macros", forever)
    monkeypatch.setattr(as_expanded, "share_of_rest", lambda _: 0.01)
    rules = SimpleNamespace(expand_request="expand")
    backend = SimpleNamespace(plugin=SimpleNamespace(word_check=rules))
    assert asyncio.run(as_expanded.declared_by_macros(cast("Backend", backend), PLACE)) is None
