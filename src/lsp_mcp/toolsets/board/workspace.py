"""Messages and questions from agents to the person at the board."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from lsp_mcp.board import fields, talk
from lsp_mcp.toolsets.board.base import BoardToolset, short
from lsp_mcp.toolsets.json_text import as_json
from lsp_mcp.toolsets.tool import Call, tool

_MOST_WAIT = 50.0  # seconds: allowed by all clients for a call

Name = Annotated[str | None, Field(description="The name you want")]
Token = Annotated[str | None, Field(description="From an earlier answer of this tool")]
Task = Annotated[str | None, Field(description="The task it concerns")]


class Option(BaseModel):
    """One of the answers to choose from."""

    model_config = ConfigDict(extra="ignore")

    id: str
    label: str

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, value: Any) -> Any:
        """A plain text serves as both; if it is too long for an id, its beginning is the id."""
        return {"id": value[: fields.MOST_NAME], "label": value} if isinstance(value, str) else value


class WorkspaceTools(BoardToolset):
    """Talking with the person."""

    out_of_order = frozenset({"get_response"})

    @tool(title="Name yourself", read_only=False)
    async def register_agent(self, call: Call, preferredName: Name = None, agentToken: Token = None) -> str:
        """Register or update your display name. With an earlier session's agentToken you become that agent again."""
        participants, key = self._host.participants, call.client.key
        actor = await participants.register(key, call.client.name, preferredName, agentToken)
        return as_json({"assignedId": actor.id, "agentName": actor.name, "agentToken": participants.token(key)})

    @tool(title="Tell the user", read_only=False)
    async def notify_user(
        self,
        call: Call,
        message: str,
        taskId: Task = None,
        level: Literal["info", "success", "warning"] = "info",
    ) -> str:
        """Post a notification to the user's timeline."""
        made = await self._write(call, lambda at: talk.notify(at, message, task=taskId, level=level))
        return as_json({"id": made["id"]})

    @tool(title="Ask the user", read_only=False)
    async def ask_user(
        self,
        call: Call,
        question: str,
        options: Annotated[list[Option] | None, Field(max_length=20, description="Answers to choose from")] = None,
        allowFreeform: Annotated[bool, Field(description="Let the user write an answer")] = True,
        taskId: Task = None,
        priority: Literal["normal", "high"] = "normal",
    ) -> str:
        """Ask the user a question. Returns its questionId immediately; get_response returns the answer."""
        choices = [one.model_dump() for one in options or []]
        made = await self._write(
            call,
            lambda at: talk.ask(
                at, question, options=choices, allow_freeform=allowFreeform, task=taskId, priority=priority
            ),
        )
        return as_json({"questionId": made["id"]})

    @tool(title="Answer to a question", read_only=True)
    async def get_response(
        self,
        call: Call,
        questionId: Annotated[str | None, Field(description="From ask_user; default: all answered ones")] = None,
        wait_seconds: Annotated[float, Field(ge=0, le=_MOST_WAIT, description="How long to wait for an answer")] = 0,
    ) -> str:
        """Check whether a question has been answered."""
        if questionId is None:
            return await self.get_responses(call)
        with self._host.board.listening() as listener:  # before the look, or an answer in between would be missed
            found = await self._read(call, lambda at: talk.get(at, questionId))
            if not found["answered_at"] and wait_seconds:
                try:
                    async with asyncio.timeout(wait_seconds):
                        async for event in listener:
                            if event.type == "lost" or event.data.get("ref") == found["id"]:
                                found = await self._read(call, lambda at: talk.get(at, questionId))
                            if found["answered_at"]:
                                break
                except TimeoutError:
                    pass
        return as_json(_response(found))

    @tool(title="All answers", read_only=True, listed=False)
    async def get_responses(self, call: Call) -> str:
        """Get all your answered questions."""
        actor = await self._actor(call)
        found = await self._host.board.read(lambda at: talk.answered(at, actor.id), actor)
        return as_json({"total": len(found), "responses": [_response(one) for one in found]})


def _response(question: dict[str, Any]) -> dict[str, Any]:
    if not question["answered_at"]:
        return {"questionId": question["id"], "answered": False}
    found = {
        "questionId": question["id"],
        "question": question["question"],
        "answered": True,
        "answer": talk.shown(question),
        "optionId": question["answer_option"],
        "text": question["answer_text"],
        "answeredAt": short(question["answered_at"]),
    }
    return {name: value for name, value in found.items() if value is not None}
