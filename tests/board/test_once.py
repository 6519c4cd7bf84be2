"""A call that is made again with the same idempotency key is stored once."""

from __future__ import annotations

import pytest

from board.boards import World
from lsp_mcp.board import tasks
from lsp_mcp.board.once import Key, once
from lsp_mcp.errors import CallerError


def created(title: str) -> str:
    return f"a hash of create_task {title}"


def test_a_call_with_a_key_that_is_repeated_is_stored_once_and_answered_the_same(world: World) -> None:
    def create(title: str, key: str) -> object:
        return world.write(once, Key(key, created(title)), lambda at: tasks.create(at, title, tags=["a"]))

    first = create("one", "key-of-one")
    assert create("one", "key-of-one") == first
    assert create("one", "another-key") != first
    assert world.titles() == ["one", "one"]
    with pytest.raises(CallerError, match="'key-of-one' was used for another call"):
        create("two", "key-of-one")
    assert world.titles() == ["one", "one"]


def test_a_call_that_failed_may_be_repeated_with_its_key(world: World) -> None:
    key = Key("key-of-the-call", created("x"))
    with pytest.raises(CallerError, match="unknown stage"):
        world.write(once, key, lambda at: tasks.create(at, "x", stage="nowhere"))
    world.write(once, key, lambda at: tasks.create(at, "x"))
    assert world.titles() == ["x"]


@pytest.mark.parametrize("key", ["", "1", "x" * 201])
def test_a_key_that_others_could_have_is_refused(key: str) -> None:
    with pytest.raises(CallerError, match="8 to 200 that no other call has, such as a UUID"):
        Key(key, "x")
