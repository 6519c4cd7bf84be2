"""Boards on SQLite, and ways in and out of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from board_exchange.exchanges import Place


@pytest.fixture
def new_place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Place]]:
    """Makes boards that have nothing but the usual stages."""
    places: list[Place] = []

    def new() -> Place:
        places.append(Place(tmp_path_factory.mktemp("board")))
        return places[-1]

    yield new
    for place in places:
        place.store.close()


@pytest.fixture
def place(new_place: Callable[[], Place]) -> Place:
    """A board that has nothing but the usual stages."""
    return new_place()
