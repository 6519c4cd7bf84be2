"""All debugged programs of this process, and their breakpoints: `DebugSessions`."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

from lsp_mcp.dap.breakpoints import Breakpoints
from lsp_mcp.dap.plan import Plan
from lsp_mcp.dap.session import DebugSession
from lsp_mcp.errors import CallerError

_MOST_LIVE = 8
_MOST_ENDED = 8  # that are remembered


class DebugSessions:
    """The debug sessions of one workspace `root`, by name."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.breakpoints = Breakpoints()
        self._sessions: dict[str, DebugSession] = {}
        self._numbers = itertools.count(1)

    @property
    def all(self) -> list[DebugSession]:
        """All that are known, the oldest first."""
        return list(self._sessions.values())

    @property
    def live(self) -> list[DebugSession]:
        """Those that have not ended."""
        return [one for one in self.all if not one.over.is_set()]

    def start(self, plan: Plan) -> DebugSession:
        """Start debugging `plan`.

        Raises:
            CallerError: too many are running already.
        """
        if len(self.live) >= _MOST_LIVE:
            raise CallerError(f"{_MOST_LIVE} debug sessions are live; end one with debug_stop first.")
        session = DebugSession(f"s{next(self._numbers)}", plan, self.breakpoints)
        self._sessions[session.name] = session
        ended = [one for one in self.all if one.over.is_set()]
        for one in ended[: max(0, len(ended) - _MOST_ENDED)]:
            del self._sessions[one.name]
        session.start()
        return session

    def named(self, name: str | None) -> DebugSession:
        """The session called `name`; without a name the live one, else the last.

        Raises:
            CallerError: there is none, or several are live.
        """
        if name:
            if name in self._sessions:
                return self._sessions[name]
            raise CallerError(f"unknown debug session {name[:80]!r}; available: {_listed(self.all) or 'none'}.")
        live = self.live
        if len(live) > 1:
            stopped = [one for one in live if one.stop]
            if len(stopped) != 1:
                raise CallerError(f"several debug sessions are live; pass session=: {_listed(live)}.")
            return stopped[0]
        if live:
            return live[0]
        if not self._sessions:
            raise CallerError("no debug session; start one with debug_start or debug_attach.")
        return self.all[-1]

    async def close(self) -> None:
        """End all of them."""
        await asyncio.gather(*(one.end() for one in self.live))

    def kill(self) -> None:
        """Kill all of them, without an event loop."""
        for one in self.live:
            one.kill()


def _listed(sessions: list[DebugSession]) -> str:
    return ", ".join(f"{one.name} ({one.plan.title}, {one.state})" for one in sessions)
