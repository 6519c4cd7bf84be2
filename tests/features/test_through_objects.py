"""Members that a function uses through its explicit object (`evidence.through_objects`)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fakes.bounded import bounded
from lsp_mcp.adapters import load_adapter
from lsp_mcp.evidence import through_objects
from lsp_mcp.evidence.through_objects import explicit_objects, is_through_object
from lsp_mcp.requests.places import Place
from lsp_mcp.servers.registry import plugin_of
from lsp_mcp.text import Text

RULES = plugin_of(load_adapter("clangd")).word_check
OPEN = [
    "int f(this auto &&self) { return self.«size»(); }",
    "template <class Self> int f(this Self &&self) { return self.«size»(); }",
    "template <Concept S> int f(this S &&self) { return self.«size»(); }",
    "template <std::derived_from<A> S> int f(this S &&self, int b) { return self.«size»(); }",
    "template <int N, std::derived_from<Pair<A, B>> S> int f(this const S &self) { return self.«size»(); }",
    "template <typename S = A> int f(this S self) { return self.«size»(); }",
    "template <class D> struct S { template <class T> void g(); int f(this D &self) { return self.«size»(); } };",
    "auto g = []<class S>(this S &&self) { return self.«size»(); };",
    "template <class S> int f(this Box<A, S> self) { return self.«size»(); }",
]
KNOWN = [
    "int f(this const Base &self) { return self.«size»(); }",
    "int f(this auto &&self, Base &other) { return other.«size»(); }",
    "int f(this auto &&self) { return «size»(); }",
    "int f(this auto &&self); int g(this Base &self) { return self.«size»(); }",
    "template <std::derived_from<A> S> int g(); int f(this A &self) { return self.«size»(); }",
    "template <class T> int g(const A, T); int f(this A &self) { return self.«size»(); }",
    "int f(this A &self) { return self.«size»(); } template <class A> int g(A);",
]


def place_in(code: str) -> Place:
    """The place that is marked in `code`."""
    start, end = code.index("«"), code.index("»") - 1
    text = Text(code.replace("«", "").replace("»", ""))
    return Place(Path("/w/a.cc"), text.offsets_span(start, end), text)


@pytest.mark.parametrize("code", OPEN)
def test_what_a_member_of_an_explicit_object_means_is_open_if_a_call_decides_the_type(code: str) -> None:
    assert asyncio.run(is_through_object(place_in(code), RULES))


@pytest.mark.parametrize("code", KNOWN)
def test_a_member_of_an_object_of_one_type_is_known(code: str) -> None:
    assert not asyncio.run(is_through_object(place_in(code), RULES))


@bounded
async def test_a_text_is_looked_through_once_for_all_members_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def counted(content: str, *rules: object) -> dict[str, list[tuple[int, bool]]]:
        looked.append(content)
        return explicit_objects(content, RULES)

    monkeypatch.setattr(through_objects, "explicit_objects", counted)
    line = "int f(this auto &self) { return self.size(); }\n"
    text = Text(f"// Counted.\n{line * 100}")
    places = [Place(Path("/w/many.cc"), span, text) for span in text.words("size")]
    assert [await is_through_object(place, RULES) for place in places] == [True] * 100
    assert looked == [text.content]
