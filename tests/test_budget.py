"""An answer that only reads is proven for as long as the server's own answer took, within bounds."""

from __future__ import annotations

import pytest

from lsp_mcp.budget import LEAST, MOST, Budget, background, cut, left, present, reading, thorough


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.mark.parametrize(("took", "allowed"), [(0.01, LEAST), (LEAST, LEAST), (1.5, 1.5), (MOST, MOST), (40.0, MOST)])
def test_a_proof_may_take_as_long_as_the_answer_took_within_bounds(took: float, allowed: float) -> None:
    clock = Clock()
    budget = Budget(now=clock)
    budget.asked()
    clock.seconds += took
    budget.answered()
    assert budget.left() == pytest.approx(allowed)
    clock.seconds += allowed / 2
    assert budget.left() == pytest.approx(allowed / 2)
    clock.seconds += allowed
    assert budget.left() == 0


def test_only_the_first_answer_after_a_question_begins_its_proof() -> None:
    clock = Clock()
    budget = Budget(now=clock)
    budget.asked()
    budget.answered()
    clock.seconds += LEAST
    budget.answered()
    assert budget.left() == 0
    budget.asked()
    budget.answered()
    assert budget.left() == pytest.approx(LEAST)


def test_all_that_prepares_an_answer_shares_one_bound() -> None:
    clock = Clock()
    budget = Budget(now=clock)
    assert budget.left() == pytest.approx(LEAST)
    clock.seconds += LEAST
    assert budget.left() == 0
    budget.answered()
    assert budget.left() == pytest.approx(LEAST)


@pytest.mark.parametrize("seconds", [0.0, 0.2, 60.0])
def test_a_caller_says_how_long_a_proof_may_take(seconds: float) -> None:
    clock = Clock()
    budget = Budget(seconds, now=clock)
    clock.seconds += 10
    budget.answered()
    assert budget.left() == pytest.approx(seconds)


def test_the_proof_of_what_writes_has_more_time_than_that_of_what_reads() -> None:
    with thorough():
        assert left() > MOST
    with background():
        assert left() > MOST
    with reading():
        assert left() <= LEAST
    assert left() > MOST


def test_what_is_left_out_is_noted_with_the_answer_that_it_belongs_to() -> None:
    with reading() as outer:
        with reading() as inner:
            cut()
        assert present() is outer
    assert inner.is_cut
    assert not outer.is_cut
