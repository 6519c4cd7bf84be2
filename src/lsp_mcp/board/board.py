"""The board for the event loop: `Board` runs transactions in threads, and publishes events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import sqlalchemy as sa

from lsp_mcp.board import agents, fields, stages
from lsp_mcp.board.deaths import Deaths
from lsp_mcp.board.following import follower
from lsp_mcp.board.processes import new_name
from lsp_mcp.board.store import PERSON, Actor, Store, Transaction, Work
from lsp_mcp.board.tables import changes
from lsp_mcp.database.engines import THREADS
from lsp_mcp.errors import LspMcpError

log = logging.getLogger(__name__)

Result = TypeVar("Result")

acting: ContextVar[Actor] = ContextVar("acting", default=PERSON)
"""Whose request is being answered: the author of writes that name none."""

_MOST_AT_ONCE = 500  # events that a listener may lag behind
_MOST_REFS = 100  # in one activity
_BEAT = 20.0  # seconds between two heartbeats
_PAUSE = 1.0  # seconds after a failure
_PATIENCE = 5.0  # seconds for a process that has ended to be taken off the board, before others are answered
_COMING = ("connected", "disconnected")  # what an agent does that changes which processes have any


@dataclass(frozen=True)
class Event:
    """An event: a `change`, with its number; an `activity`, which changed nothing; or `lost`, some of both."""

    type: Literal["change", "activity", "lost"]
    data: dict[str, Any]


class Listener:
    """The events since its creation; a slow listener loses some, which is reported."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Event] = asyncio.Queue(_MOST_AT_ONCE)

    def put(self, event: Event) -> None:
        """Deliver an event."""
        if self._queue.full():
            while not self._queue.empty():
                self._queue.get_nowait()
            self._queue.put_nowait(Event("lost", {}))
        self._queue.put_nowait(event)

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            yield await self._queue.get()


class Board:
    """One project's board, in one process of possibly many."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.process = new_name()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="board")
        self._listeners: set[Listener] = set()
        self._follower = follower(store)
        self.published = 0  # the number of the last change that listeners were told of
        self._looking = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._beginning = asyncio.Lock()
        self._writes: set[asyncio.Future[Any]] = set()  # that have begun
        self._closed = False
        self._sightings = agents.Sightings()
        self._dying = asyncio.Event()
        self._buried = asyncio.Event()  # no process has ended whose agents are still shown as connected
        self._buried.set()
        self._deaths = Deaths(self._died)

    async def begin(self) -> None:
        """Prepare the board, and begin to follow other processes. Idempotent."""
        async with self._beginning:
            if self._tasks:
                return
            await self.write(stages.fill)
            self.published = await self.read(_newest)
            await self._alive()
            await self._watch()
            self._tasks = [
                asyncio.create_task(self._follower.run(self._looking.set, self._seen)),
                asyncio.create_task(self._look()),
                asyncio.create_task(self._beat()),
                asyncio.create_task(self._bury()),
            ]
            for task in self._tasks:
                task.add_done_callback(_log_death)

    async def close(self) -> None:
        """Disconnect the agents of this process, and close the database. Idempotent."""
        if self._closed:
            return
        self._closed = True
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *self._writes, return_exceptions=True)
        self._deaths.close()
        if tasks:
            try:
                await self._write(lambda at: agents.end(at, self.process))
            except LspMcpError as error:
                log.warning("the agents of this process are still shown as connected: %s", error)
        self._threads.shutdown(wait=False)
        self._follower.close()
        self.store.close()

    async def read(self, work: Work[Result], actor: Actor = PERSON) -> Result:
        """See `Store.read`; agents whose process the kernel says has ended are gone before."""
        await self._settled()
        return await self._run(self.store.read, work, actor)

    async def write(self, work: Work[Result], actor: Actor | None = None) -> Result:
        """See `Store.write`; by default the actor is the one whose request this is.

        Once begun, it completes even if the caller is cancelled. As for `read`, ended agents are gone before.
        """
        await self._settled()
        return await self._write(work, actor)

    def looked_at(self, actor: Actor, kind: str, refs: Sequence[str]) -> None:
        """Report to all pages that the actor has read these."""
        if not refs or not actor.id or self._closed:
            return
        activity = {
            "at": fields.now(),
            "who": actor.name,
            "agent": actor.id,
            "kind": kind,
            "refs": list(refs[:_MOST_REFS]),
            "process": self.process,
        }
        self._publish(Event("activity", activity))
        self._threads.submit(self._follower.tell, activity)

    @contextmanager
    def listening(self) -> Any:
        """A `Listener` for all events from now on."""
        listener = Listener()
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    async def newest(self) -> int:
        """The number of the last change."""
        return await self.read(_newest)

    async def publish_newest(self) -> int:
        """The number of the last change; listeners are told of all up to it as soon as they are read."""
        if (newest := await self.newest()) > self.published:
            self._looking.set()
        return newest

    async def changes_since(self, seq: int) -> list[dict[str, Any]] | None:
        """The changes after number `seq`; None if some of them were already removed."""
        return await self.read(lambda at: _since(at, seq))

    # --- inside ------------------------------------------------------------------------------------

    async def _write(self, work: Work[Result], actor: Actor | None = None) -> Result:
        writing = asyncio.ensure_future(self._run(self.store.write, work, actor or acting.get()))
        self._writes.add(writing)
        writing.add_done_callback(self._writes.discard)
        result = await asyncio.shield(writing)
        self._looking.set()
        return result

    async def _run(self, how: Callable[[Work[Result], Actor], Result], work: Work[Result], actor: Actor) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, how, work, actor)

    async def _look(self) -> None:
        """Notify listeners of changes, of this and other processes."""
        while True:
            await self._looking.wait()
            self._looking.clear()
            try:
                if (found := await self.changes_since(self.published)) is None:
                    self.published = await self.read(_newest)
                    self._publish(Event("lost", {}))
                    continue
            except LspMcpError as error:
                log.warning("changes of the board cannot be read: %s", error)
                await asyncio.sleep(_PAUSE)
                self._looking.set()
                continue
            for change in found:
                self.published = change["seq"]
                self._publish(Event("change", change))
            if any(change["kind"] == "agent" and change["action"] in _COMING for change in found):
                self._dying.set()

    async def _beat(self) -> None:
        """Send the heartbeat, and find silent processes."""
        while True:
            await asyncio.sleep(_BEAT)
            try:
                await self._alive()
            except LspMcpError as error:
                log.warning("the heartbeat on the board cannot be written: %s", error)

    async def _bury(self) -> None:
        """Find processes that have ended as soon as the kernel reports it: their agents are gone."""
        while True:
            await self._dying.wait()
            self._dying.clear()
            try:
                await self._alive()
                await self._watch()
            except LspMcpError as error:
                log.warning("agents of processes that have ended may be shown as connected: %s", error)
            finally:
                if not self._dying.is_set():
                    self._buried.set()

    async def _settled(self) -> None:
        self._deaths.look()
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._buried.wait()

    async def _watch(self) -> None:
        """Be told of the end of all other processes that have agents."""
        self._deaths.watch(await self._run(self.store.read, lambda at: agents.processes(at, self.process), PERSON))

    def _died(self) -> None:
        self._buried.clear()
        self._dying.set()

    async def _alive(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._threads, self.store.check)
        if await self._run(self.store.read, lambda at: agents.are_others(at, self.process), PERSON):
            await self._write(lambda at: agents.beat(at, self.process, self._sightings.has_gone))

    def _seen(self, activity: dict[str, Any]) -> None:
        if activity.get("process") != self.process:
            self._publish(Event("activity", activity))

    def _publish(self, event: Event) -> None:
        for listener in self._listeners:
            listener.put(event)


def _log_death(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error("following the board has ended: %s", error, exc_info=error)


def _newest(at: Transaction) -> int:
    return int(at.connection.execute(sa.select(sa.func.max(changes.c.seq))).scalar() or 0)


def _since(at: Transaction, seq: int) -> list[dict[str, Any]] | None:
    rows = at.connection.execute(sa.select(changes).where(changes.c.seq > seq).order_by(changes.c.seq)).mappings()
    found = [dict(row) for row in rows]
    if found and found[0]["seq"] == seq + 1:
        return found
    oldest = at.connection.execute(sa.select(sa.func.min(changes.c.seq))).scalar() or 0
    return None if seq + 1 < oldest else found
