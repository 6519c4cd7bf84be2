"""A proof continues while nobody asks, is stopped by any question, and is begun again after it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from lsp_mcp.errors import SilentError
from lsp_mcp.evidence import background
from lsp_mcp.evidence.background import Background


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_QUIET", 0.0)


def run(test: Callable[[Background], Awaitable[None]]) -> None:
    async def bounded() -> None:
        proofs = Background()
        async with asyncio.timeout(30):
            await test(proofs)
        await proofs.close()

    asyncio.run(bounded())


class Proof:
    """A proof that says when it begins, and ends when it may."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.begins = 0
        self.ends = 0

    async def __call__(self) -> None:
        self.begins += 1
        self.begun.set()
        await self.may_end.wait()
        self.ends += 1


def test_a_question_stops_a_proof_which_is_begun_again_after_it() -> None:
    async def test(proofs: Background) -> None:
        proof = Proof()
        proofs.later("a", proof)
        await proof.begun.wait()
        with proofs.asked():
            proof.begun.clear()
            proof.may_end.set()
            for _ in range(5):
                await asyncio.sleep(0)
            assert (proof.begins, proof.ends) == (1, 0)
        await proofs.idle()
        assert (proof.begins, proof.ends) == (2, 1)

    run(test)


def test_a_proof_does_not_begin_before_all_questions_are_answered() -> None:
    async def test(proofs: Background) -> None:
        proof = Proof()
        with proofs.asked():
            with proofs.asked():
                proofs.later("a", proof)
            for _ in range(5):
                await asyncio.sleep(0)
            assert not proof.begins
        await proof.begun.wait()

    run(test)


def test_the_latest_question_is_proven_first_and_each_once() -> None:
    async def test(proofs: Background) -> None:
        order: list[str] = []

        async def proof(name: str) -> None:
            order.append(name)

        with proofs.asked():
            for name in ("a", "b", "c", "a"):
                proofs.later(name, lambda name=name: proof(name))  # type: ignore[misc]
        await proofs.idle()
        assert order == ["a", "c", "b"]

    run(test)


def test_only_so_many_proofs_wait() -> None:
    async def test(proofs: Background) -> None:
        begun: list[int] = []

        async def proof(number: int) -> None:
            begun.append(number)

        with proofs.asked():
            for number in range(background._MOST + 3):
                proofs.later(number, lambda number=number: proof(number))  # type: ignore[misc]
        await proofs.idle()
        assert sorted(begun) == list(range(3, background._MOST + 3))

    run(test)


def test_a_proof_that_fails_is_not_repeated_and_stops_no_other() -> None:
    async def test(proofs: Background) -> None:
        other = Proof()
        other.may_end.set()
        failed = 0

        async def failing() -> None:
            nonlocal failed
            failed += 1
            raise SilentError("no answer in time")

        with proofs.asked():
            proofs.later("a", other)
            proofs.later("b", failing)
        await proofs.idle()
        assert (failed, other.ends) == (1, 1)

    run(test)


def test_a_proof_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_SECONDS", 0.0)

    async def test(proofs: Background) -> None:
        proof = Proof()
        proofs.later("a", proof)
        await proofs.idle()
        assert proof.ends == 0

    run(test)
