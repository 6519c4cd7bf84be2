"""A name that a type shares with what is only called as it is names the type."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from lsp_mcp.backend import Backend
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.text import Point, Span, Text
from lsp_mcp.toolsets.by_name import _without_constructors

BACKEND = cast(Backend, None)
PLACE = Place(Path("/w/a.h"), Span(Point(1, 1), Point(1, 2)), Text("x"))


def left(*symbols: str) -> list[str]:
    """What is left of symbols, each `KIND NAME`."""
    found = [(BACKEND, Symbol(name, kind, PLACE)) for kind, name in (symbol.split(" ", 1) for symbol in symbols)]
    return [f"{symbol.kind} {symbol.name}" for _, symbol in _without_constructors(found)]


@pytest.mark.parametrize("kind", ["class", "struct", "interface", "enum"])
def test_a_type_is_named_though_it_has_constructors(kind: str) -> None:
    type_ = f"{kind} ns::Box"
    assert left(type_, "constructor ns::Box::Box", "constructor ns::Box::Box") == [type_]
    assert left("constructor Box.Box", f"{kind} Box") == [f"{kind} Box"]


def test_of_several_types_and_others_the_constructors_are_left_aside_all_the_same() -> None:
    both = left("class a::Box", "constructor a::Box::Box", "class b::Box", "constructor b::Box::Box")
    assert both == ["class a::Box", "class b::Box"]
    assert left("class a::Box", "constructor a::Box::Box", "method b::T::Box") == ["class a::Box", "method b::T::Box"]


def test_a_namespace_of_that_name_in_it_is_left_aside() -> None:
    # clangd 22 gives `using Base::Base;` that kind.
    assert left("class ns::Box", "namespace ns::Box::Box", "constructor ns::Box::Box") == ["class ns::Box"]


@pytest.mark.parametrize(
    "symbols",
    [
        ["class a::Box", "class b::Box"],
        ["class a::Box", "function b::Box"],
        ["class a::Box", "method b::T::Box"],
        ["class a::Box", "constructor a::Boxes::Box"],
        ["constructor a::Box::Box", "constructor a::Box::Box"],
        ["function f", "function f"],
        [],
    ],
)
def test_what_else_is_called_so_stays_ambiguous(symbols: list[str]) -> None:
    assert left(*symbols) == symbols


def test_one_symbol_alone_stays_whatever_it_is() -> None:
    for symbol in ("class Box", "constructor Box::Box", "namespace Box"):
        assert left(symbol) == [symbol]
