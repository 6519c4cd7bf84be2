"""Shared by the tools of the board: callers, transactions, and answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from typing import Annotated, Any, Literal, TypeVar

from msgspec.structs import replace
from pydantic import BaseModel, Field, create_model

from lsp_mcp.board.fields import now
from lsp_mcp.board.host import BoardHost
from lsp_mcp.board.once import Key, once
from lsp_mcp.board.store import Actor, Work
from lsp_mcp.errors import LspMcpError
from lsp_mcp.toolsets.context import ToolContext, Toolset
from lsp_mcp.toolsets.json_text import as_json
from lsp_mcp.toolsets.tool import UNLISTED, Call, Tool

Result = TypeVar("Result")

MOST_LISTED = 1_000
_USUAL = 2  # the usual priority
TaskId = Annotated[str, Field(description="Task ID, such as t-7k3f9")]
Priority = Annotated[Literal["P0", "P1", "P2", "P3", "P4"], Field(description="P0: most urgent, P2: normal")]
Due = Annotated[str | None, Field(description="Day, as 2026-12-31; empty: none")]
Tags = Annotated[list[str], Field(max_length=20)]
Limit = Annotated[int, Field(ge=1, le=MOST_LISTED, description="Maximum results")]
Revision = Annotated[
    int | None, Field(description="The revision you read; if it is outdated, the call is refused with the changes")
]


Idempotency = Annotated[
    str | None, Field(description="Text that no other call has: repeated with it, the call is stored once"), UNLISTED
]


class BoardToolset(Toolset):
    """Tools over one board."""

    out_of_order: frozenset[str] = frozenset()  # the tools that wait for a person

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        host = context.parts["board"]
        assert isinstance(host, BoardHost)
        self._host = host

    async def _actor(self, call: Call) -> Actor:
        participants, client = self._host.participants, call.client
        await participants.actor(client.key, client.name)
        await self._host.caught_up()
        for news in participants.news(client.key):
            call.remark(news)
        return await participants.actor(client.key, client.name)  # it may have another name now

    async def _read(
        self, call: Call, work: Work[Result], kind: str = "", refs: Callable[[Result], Sequence[str]] = lambda _: ()
    ) -> Result:
        """The result of `work`; pages show that the caller has read what `refs` finds in it."""
        actor = await self._actor(call)
        result = await self._host.board.read(work, actor)
        self._host.board.looked_at(actor, kind, refs(result))
        return result

    async def _write(self, call: Call, work: Work[Result]) -> Result:
        actor, key = await self._actor(call), call.idempotency
        return await self._host.board.write(work if key is None else partial(once, key=key, work=work), actor)

    def _keeping_news(self, tool: Tool) -> Callable[..., Awaitable[str]]:
        """The tool's method; if it fails, undelivered notices are kept for the agent's next call."""

        async def method(call: Call, **values: Any) -> str:
            try:
                return await tool.method(call, **values)
            except LspMcpError:
                for news in call.remarks:
                    self._host.participants.tell(call.client.key, news)
                raise

        return method

    def adapted(self, tool: Tool) -> Tool:
        """An agent's calls run in order; one that changes something may have a key."""
        tool, turns = replace(tool, method=self._keeping_news(tool)), self._host.participants.turn
        if tool.name not in self.out_of_order:
            tool = replace(tool, turn=lambda call: turns(call.client.key))
        made = tool.modelled
        return tool if tool.read_only else replace(tool, modelled=lambda: _with_key(made()), method=_keyed(tool))


@cache
def _with_key(model: type[BaseModel]) -> type[BaseModel]:
    """The arguments with `idempotency`."""
    return create_model(model.__name__, __base__=model, idempotency=(Idempotency, None))


def _keyed(tool: Tool) -> Callable[..., Awaitable[str]]:
    """The tool's method, which recognises a repeated call by its key."""

    async def method(call: Call, idempotency: str | None = None, **values: Any) -> str:
        if idempotency is not None:
            arguments = json.dumps([tool.name, values], default=BaseModel.model_dump, sort_keys=True)
            call.idempotency = Key(idempotency, hashlib.sha256(arguments.encode()).hexdigest())
        return await tool.method(call, **values)

    return method


def one_id(entry: dict[str, Any]) -> list[str]:
    """The id of the item read."""
    return [entry["id"]]


def all_ids(listed: tuple[list[dict[str, Any]], int]) -> list[str]:
    """The ids of the items listed."""
    return [entry["id"] for entry in listed[0]]


def brief(task: dict[str, Any]) -> dict[str, Any]:
    """A task's entry in a list: without body, empty fields and default values."""
    shown = {name: task[name] for name in ("id", "title", "stage")}
    if task["status"] != "pending":
        shown["status"] = task["status"]
    if task["priority"] != _USUAL:
        shown["priority"] = f"P{task['priority']}"
    if task["due"]:
        shown["due"] = task["due"] if task["due"] >= now()[:10] or "status" in shown else f"{task['due']}, overdue"
    for name in (
        "tags",
        "required_proof",
        "claimed_by",
        "claim_lapsed",
        "branch",
        "blocked_by",
        "blocks",
        "questions_waiting",
    ):
        if task.get(name):
            shown[name] = task[name]
    if task["boxes"]:
        shown["ticked"] = f"{task['ticked']} of {task['boxes']}"
    return shown


def changed(task: dict[str, Any]) -> str:
    """The answer of tools that change a task."""
    overridden = {"overrode": f"the claim of {task['overrode']}, who was notified"} if "overrode" in task else {}
    return as_json({**brief(task), "revision": task["revision"], **overridden})


def short(time: str) -> str:
    """A time as shown in answers: to the second."""
    return f"{time[:19]}Z"


def page(name: str, entries: Sequence[dict[str, Any]], total: int, hint: str) -> str:
    """A list with the total number; `hint` says how to get the rest."""
    shown: dict[str, Any] = {"total": total, name: list(entries)}
    if total > len(entries):
        shown["hint"] = f"{total - len(entries):,} more; {hint}"
    return as_json(shown)
