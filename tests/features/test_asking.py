"""A question is asked again while files change under it, so that its answer is of one state of the disk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from fakes.bounded import bounded
from lsp_mcp.backend import Backend
from lsp_mcp.errors import CallerError, DiedError, EditError, OutdatedEditError, PathError, RefusedError
from lsp_mcp.requests.asking import settled

KEPT_CHANGING = ["files kept changing while this was asked; ask again when they have settled"]


class Changing:
    """A backend whose files change as `syncs` says: a number for each time that it is asked."""

    def __init__(self, *syncs: int) -> None:
        self._syncs: Iterator[int] = iter(syncs)
        self.log: list[str] = []

    async def sync(self, *, text_only: bool = False, to_check: bool = False) -> int:
        self.log.append("sync")
        return next(self._syncs)


class Question:
    """Answers with one of `outcomes` after the other; raises those that are errors."""

    def __init__(self, backend: Changing, *outcomes: Any) -> None:
        self._backend = backend
        self._outcomes = iter(outcomes)

    async def __call__(self) -> Any:
        self._backend.log.append("ask")
        outcome = next(self._outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


async def ask(backend: Changing, *outcomes: Any) -> tuple[Any, list[str]]:
    answered = await settled(cast(Backend, backend), Question(backend, *outcomes))
    return answered.value, [gap.text for gap in answered.gaps]


@bounded
async def test_a_question_in_a_quiet_workspace_is_asked_once() -> None:
    backend = Changing(7, 7)
    assert await ask(backend, "answer") == ("answer", [])
    assert backend.log == ["sync", "ask", "sync"]


@bounded
async def test_a_question_is_asked_again_when_files_changed_under_it() -> None:
    backend = Changing(1, 2, 2)
    assert await ask(backend, "old", "new") == ("new", [])
    assert backend.log == ["sync", "ask", "sync", "ask", "sync"]


@bounded
async def test_a_workspace_that_never_settles_gets_the_last_answer_and_a_note() -> None:
    assert await ask(Changing(1, 2, 3, 4, 5), *"abcd") == ("d", KEPT_CHANGING)


@bounded
@pytest.mark.parametrize("error", [PathError("gone"), CallerError("no such place"), RefusedError("no identifier", 0)])
async def test_an_error_of_an_earlier_state_is_not_reported(error: Exception) -> None:
    assert await ask(Changing(1, 2, 2), error, "new") == ("new", [])


@bounded
async def test_an_error_in_a_quiet_workspace_is_told_at_once() -> None:
    backend = Changing(1, 1)
    with pytest.raises(RefusedError, match="no identifier found"):
        await ask(backend, RefusedError("no identifier found", 0))
    assert backend.log == ["sync", "ask", "sync"]


@bounded
@pytest.mark.parametrize("code", [-32801, -32802])
async def test_a_server_that_says_ask_again_is_asked_again_but_not_for_ever(code: int) -> None:
    refusal = RefusedError("content modified", code)
    assert await ask(Changing(1, 1, 1), refusal, "answer") == ("answer", [])
    with pytest.raises(RefusedError, match="content modified"):
        await ask(Changing(*[1] * 5), *[refusal] * 4)


@bounded
async def test_an_error_in_a_workspace_that_never_settles_is_told() -> None:
    with pytest.raises(PathError, match="gone"):
        await ask(Changing(1, 2, 3, 4, 5), *[PathError("gone")] * 4)


@bounded
async def test_the_death_of_a_server_is_told_at_once() -> None:
    backend = Changing(1)
    with pytest.raises(DiedError):
        await ask(backend, DiedError("fake died twice"))
    assert backend.log == ["sync", "ask"]


@bounded
async def test_an_edit_of_a_text_that_the_server_has_another_version_of_is_asked_for_again() -> None:
    assert await ask(Changing(1, 1, 1), OutdatedEditError("a.go changed"), "edit") == ("edit", [])
    with pytest.raises(OutdatedEditError, match=r"a\.go changed"):
        await ask(Changing(1, 1, 1, 1), *[OutdatedEditError("a.go changed")] * 4)
    with pytest.raises(EditError, match="overlap"):
        await ask(Changing(1, 1), EditError("two edits overlap"))
