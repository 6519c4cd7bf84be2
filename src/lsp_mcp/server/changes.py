"""Telling clients that the lists of tools and resources have changed, in both protocol eras: `Changes`."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ToolsListChanged

log = logging.getLogger(__name__)

_MOST = 64  # clients that are notified


class Changes:
    """`settled` is awaited before a list is returned, so that the first one includes everything added at the start."""

    def __init__(self, settled: Callable[[], Awaitable[None]]) -> None:
        self.bus = InMemorySubscriptionBus()
        self.settled = settled
        self._sessions: OrderedDict[int, Any] = OrderedDict()  # the last one of each connection
        self._telling: set[asyncio.Task[None]] = set()

    def seen(self, session: Any) -> None:
        """Notify the client of this `session`, which has requested a list, when the list changes."""
        # The SDK (2.3) makes a new session for each message.
        connection = id(getattr(session, "_connection", session))
        self._sessions[connection] = session
        self._sessions.move_to_end(connection)
        if len(self._sessions) > _MOST:
            self._sessions.popitem(last=False)

    def happened(self) -> None:
        """Notify every client."""
        task = asyncio.create_task(self._tell())
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell(self) -> None:
        for connection, session in list(self._sessions.items()):
            try:
                await session.send_tool_list_changed()
                await session.send_resource_list_changed()
            except Exception as error:  # noqa: BLE001 (of transports that are closed: nobody is left to be told)
                log.debug("a client is not told of a change: %s", error)
                self._sessions.pop(connection, None)
        await self.bus.publish(ToolsListChanged())
        await self.bus.publish(ResourcesListChanged())
