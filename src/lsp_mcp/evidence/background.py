"""Proofs that continue, and other work that is done, while nobody asks: `Background`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import Context

from lsp_mcp import budget
from lsp_mcp.errors import LspMcpError

log = logging.getLogger(__name__)

_MOST = 8  # proofs that wait; an older one is begun again by its next question
_SECONDS = 300.0  # for one proof, without the time in which it was stopped
_QUIET = 0.2  # seconds without a question before a proof continues: agents ask several in a row

Proof = Callable[[], Awaitable[object]]


class Background:
    """Finishes the proofs of answers that were given before all was compared, the latest question first, one at a time.

    While any question is asked, none runs: it is cancelled, which the server is told as well, and begun again
    afterwards. What it found out by then is kept where the next question finds it, so that a proof is a question whose
    answer nobody reads. Other work that has to give way to questions is run in the same way.
    """

    def __init__(self) -> None:
        self._asking = 0
        self._proofs: dict[object, Proof] = {}  # by question; the last is the next
        self._spent: dict[object, float] = {}  # seconds
        self._running: asyncio.Task[None] | None = None
        self._beginning: asyncio.TimerHandle | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Somebody waits for an answer, for the time of the block."""
        self._asking += 1
        self._stop()
        try:
            yield
        finally:
            self._asking -= 1
            self._continue()

    def later(self, question: object, proof: Proof) -> None:
        """Run `proof` when nobody asks; it replaces an earlier one of the same `question`."""
        self._proofs.pop(question, None)
        self._proofs[question] = proof
        while len(self._proofs) > _MOST:
            self._drop(next(iter(self._proofs)))
        self._idle.clear()
        self._continue()

    async def idle(self) -> None:
        """Return when no proof is left to be finished."""
        await self._idle.wait()

    async def close(self) -> None:
        """Stop, for good."""
        self._proofs.clear()
        self._idle.set()
        running = self._running
        self._stop()
        if running:
            await asyncio.wait([running])

    # --- inside ------------------------------------------------------------------------------------

    def _stop(self) -> None:
        if self._beginning:
            self._beginning.cancel()
            self._beginning = None
        if self._running:
            self._running.cancel()
            self._running = None

    def _continue(self) -> None:
        if self._proofs and not (self._asking or self._running or self._beginning):
            self._beginning = asyncio.get_running_loop().call_later(_QUIET, self._begin)

    def _begin(self) -> None:
        self._beginning = None
        # In its own context: it belongs to no call.
        self._running = asyncio.get_running_loop().create_task(self._run(), context=Context())

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._proofs:
            question, proof = next(reversed(self._proofs.items()))
            began, left = loop.time(), _SECONDS - self._spent.get(question, 0.0)
            try:
                async with asyncio.timeout(left):
                    with budget.background():
                        await proof()
            except (LspMcpError, TimeoutError) as error:
                log.info("a proof ended early: %s", error)
            except asyncio.CancelledError:
                self._spent[question] = self._spent.get(question, 0.0) + loop.time() - began
                raise
            except Exception:
                log.exception("a proof in the background failed")
            if self._proofs.get(question) is proof:
                self._drop(question)
        self._running = None
        self._idle.set()

    def _drop(self, question: object) -> None:
        del self._proofs[question]
        self._spent.pop(question, None)
