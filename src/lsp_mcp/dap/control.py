"""Further requests to a running or stopped session: `pause`, `threads`, `assign`, `prove_attached`."""

from __future__ import annotations

import asyncio
from functools import partial

from lsp_mcp.dap.session import DebugSession
from lsp_mcp.dap.target import Stop, Target, quietly
from lsp_mcp.errors import CallerError, LspMcpError, RefusedError

_PROOF_TIMEOUT = 15.0  # seconds for an adapter to show that it is attached to something
_MOST_THREADS = 30


async def pause(session: DebugSession) -> None:
    """Ask every running debuggee to stop.

    Raises:
        RefusedError: none agrees.
    """
    problems: list[LspMcpError] = []
    session.pausing = True
    paused = 0
    for target in session.live:
        if target.state != "running":
            continue
        ids = [one["id"] for one in await _threads(target) if isinstance(one.get("id"), int)]
        # An adapter may name no thread while the program runs, or one that does not exist.
        for thread in [*ids[:1], *([] if ids else [0])]:
            try:
                await target.ask("pause", {"threadId": thread})
                paused += 1
            except LspMcpError as error:
                problems.append(error)
    if problems and not paused:
        raise problems[0]


async def stands(session: DebugSession, stop: Stop) -> None:
    """After it, the adapter has told what else it has to tell of this stop, and can be asked to go on."""
    if session.plan.adapter.says_continued:
        await quietly(stop.target.ask("stackTrace", {"threadId": stop.thread, "startFrame": 0, "levels": 1}))


async def threads(session: DebugSession) -> list[str]:
    """The threads of all debuggees: `3 worker stopped`, stopped ones first."""
    found: list[tuple[bool, str]] = []
    for target in session.live:
        for one in await _threads(target):
            still = one.get("id") in target.stops
            process = f" ({target.process or target.name})" if len(session.live) > 1 else ""
            found.append((not still, f"{one.get('id')} {one.get('name')}{process}{' stopped' if still else ''}"))
    listed = [text for _, text in sorted(found, key=lambda pair: pair[0])]
    more = [f"… {len(listed) - _MOST_THREADS} more"] if len(listed) > _MOST_THREADS else []
    return listed[:_MOST_THREADS] + more


async def _threads(target: Target) -> list[dict[str, object]]:
    answer = await quietly(target.ask("threads")) or {}
    return [one for one in answer.get("threads") or () if isinstance(one, dict)]


async def assign(session: DebugSession, target: Target, frame: int, name: str, value: str) -> str:
    """Set a variable of a frame, by the first supported of three requests; returns its value afterwards.

    Raises:
        RefusedError: the adapter refuses.
        CallerError: there is no such variable, and the adapter has no other way.
    """
    rules = session.plan.adapter
    # An adapter may make a variable of a name that is none, or that was mistyped.
    await target.ask("evaluate", {"expression": name, "frameId": frame, "context": rules.context})
    if target.can("supportsSetExpression"):
        try:
            got = await target.ask("setExpression", {"expression": name, "value": value, "frameId": frame})
            return str(got.get("value", value))
        except RefusedError:
            if not target.can("supportsSetVariable"):
                raise
    if target.can("supportsSetVariable"):
        owner, _, last = name.rpartition(".")
        references = await _owners(session, target, frame, owner)
        for reference in references:
            inside = await quietly(target.ask("variables", {"variablesReference": reference})) or {}
            if any(one.get("name") == last for one in inside.get("variables") or ()):
                arguments = {"variablesReference": reference, "name": last, "value": value}
                got = await target.ask("setVariable", arguments)
                return str(got.get("value", value))
    if not rules.assign:
        raise CallerError(f"there is no variable {name[:80]!r} in this frame.")
    expression = rules.assign.replace("{name}", name).replace("{value}", value)
    await target.ask("evaluate", {"expression": expression, "frameId": frame, "context": "repl"})
    got = await target.ask("evaluate", {"expression": name, "frameId": frame, "context": rules.context})
    return str(got.get("result", value))


async def _owners(session: DebugSession, target: Target, frame: int, owner: str) -> list[int]:
    """The containers of the variable: the scopes of a frame, or the value of `owner`."""
    if owner:
        context = session.plan.adapter.context
        got = await quietly(target.ask("evaluate", {"expression": owner, "frameId": frame, "context": context})) or {}
        return [got["variablesReference"]] if got.get("variablesReference") else []
    scopes = (await quietly(target.ask("scopes", {"frameId": frame})) or {}).get("scopes") or ()
    return [one["variablesReference"] for one in scopes if one.get("variablesReference") and not one.get("expensive")]


async def prove_attached(session: DebugSession) -> bool:
    """Whether there is a debuggee: an adapter may report success while it still tries to attach."""

    async def proven() -> bool:
        return session.stop is not None or any([await _threads(target) for target in session.live])

    try:
        async with asyncio.timeout(_PROOF_TIMEOUT):
            while not session.over.is_set():
                if await proven():
                    return True
                count = session.changes
                await session.wait_for(partial(_changed_since, session, count), 1.0)
    except TimeoutError:
        pass
    return False


def _changed_since(session: DebugSession, count: int) -> bool:
    return session.changes > count
