"""The API of the board's page: JSON over HTTP, and a stream of events. Only the page itself may use it."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal

import msgspec
from pydantic import Field, ValidationError
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from lsp_mcp.board import agents, dependencies, library, people, saved_views, stages, talk, tasks, views
from lsp_mcp.board.board import Event, acting
from lsp_mcp.board.host import BoardHost
from lsp_mcp.board.store import PERSON, Actor, Transaction
from lsp_mcp.errors import CallerError, ConflictError, LspMcpError, UnavailableError, UnprovenError
from lsp_mcp.server.board_agents_api import AgentsApi
from lsp_mcp.server.board_history_api import HistoryApi
from lsp_mcp.server.board_links_api import LinksApi
from lsp_mcp.server.board_requests import Body, Handler, json_of
from lsp_mcp.server.board_texts_api import TextsApi
from lsp_mcp.toolsets.board.anchored import looked_up
from lsp_mcp.toolsets.board.task_commits import check_commits

log = logging.getLogger(__name__)

MOST_TASKS = 20_000  # shown by a page
_MOST_DIGITS = 18  # of the number of a change
_TIMELINE = 100
_MOST_CARDS = 1_000  # that can be requested by id at once
# By name: the usual value of tasks (web/board/state.js has the same); never None.
_CARD: dict[str, Any] = {
    **dict.fromkeys(
        (
            "id",
            "title",
            "stage",
            "position",
            "revision",
            "updated_at",
            "claimed_by",
            "claim_lapsed",
            "branch",
            "due",
            "completed_at",
        )
    ),
    **dict.fromkeys(("boxes", "ticked", "waits", "blocks", "comment_count"), 0),
    **{"status": "pending", "priority": 2, "tags": [], "required_proof": [], "proof": [], "blocked_by": []},
}
_PING = 10  # seconds between two heartbeats of a stream; a page takes 25 of silence for its end


class NewTask(Body):
    """POST /api/tasks."""

    title: str
    description: str = ""
    tags: list[str] = Field(default_factory=list)
    stage: str | None = None
    priority: int | str | None = None
    due: str | None = None
    required_proof: list[str] = Field(default_factory=list)
    depends_on: list[str] = Field(default_factory=list)


class TaskChange(Body):
    """PATCH /api/tasks/ID."""

    title: str | None = None
    description: str | None = None
    tags: list[str] | None = None
    stage: str | None = None
    status: Literal["pending", "completed"] | None = None
    priority: int | str | None = None
    branch: str | None = None
    due: str | None = None
    required_proof: list[str] | None = None
    proof: list[str] | None = None  # replaces the present ones
    proven: list[str] = Field(default_factory=list)  # in addition
    archived: bool | None = None
    tick: list[str] = Field(default_factory=list)  # checkboxes, by number from 1 or text
    untick: list[str] = Field(default_factory=list)
    depends_on: list[str] | None = None
    expected_revision: int | None = None
    force: bool = False  # complete it although it lacks something


class Move(Body):
    """POST /api/tasks/ID/move; places it before the task `before`, or directly after `after`, or last in the stage."""

    stage: str
    before: str | None = None
    after: str | None = None
    force: bool = False  # complete it although it lacks something
    proven: list[str] = Field(default_factory=list)


class Comment(Body):
    """POST /api/tasks/ID/comments."""

    text: str


class SavedView(Body):
    """POST /api/views; replaces the one of that name."""

    name: str
    query: str


class NewStage(Body):
    """POST /api/stages."""

    name: str
    color: str | None = None
    after: str | None = None
    completes: bool = False
    activities: list[dict[str, str]] = Field(default_factory=list)


class StageChange(Body):
    """PATCH /api/stages/ID."""

    name: str | None = None
    color: str | None = None
    after: str | None = None
    is_default: bool | None = None
    completes: bool | None = None
    activities: list[dict[str, str]] | None = None
    expected_revision: int | None = None


class BoardApi:
    """The routes below `/api`."""

    def __init__(self, host: BoardHost, who: Callable[[Request], Actor | None]) -> None:
        self._host = host
        self._board = host.board
        self._who = who

    def routes(self) -> list[Route]:
        """All of them."""
        handlers: list[tuple[str, str, Handler]] = [
            ("GET", "/api/board", self._whole),
            ("GET", "/api/workspace", self._workspace),
            ("GET", "/api/tasks", self._search),
            ("GET", "/api/cards", self._cards),
            ("POST", "/api/tasks", self._create),
            ("GET", "/api/tasks/{id}", self._task),
            ("PATCH", "/api/tasks/{id}", self._change),
            ("DELETE", "/api/tasks/{id}", self._delete),
            ("POST", "/api/tasks/{id}/move", self._move),
            ("POST", "/api/tasks/{id}/comments", self._comment),
            ("POST", "/api/views", self._save_view),
            ("DELETE", "/api/views/{id:int}", self._delete_view),
            ("POST", "/api/stages", self._create_stage),
            ("PATCH", "/api/stages/{id}", self._change_stage),
            ("DELETE", "/api/stages/{id}", self._delete_stage),
            *TextsApi(self._board).handlers(),
            *LinksApi(self._host).handlers(),
            *AgentsApi(self._board).handlers(),
            *HistoryApi(self._board).handlers(),
        ]
        routes = [Route(path, _answering(handler, self._who), methods=[method]) for method, path, handler in handlers]
        return [*routes, Route("/api/events", self._events, methods=["GET"])]

    # --- reading -----------------------------------------------------------------------------------

    async def _whole(self, request: Request) -> Any:
        """The board; with `each`, at most that many tasks of each stage, as many as a page can show at once."""
        each = request.query_params.get("each", "")

        def work(at: Transaction) -> dict[str, Any]:
            found = stages.listed(at)
            if each.isascii() and each.isdigit() and len(each) <= _MOST_DIGITS:
                shown = views.first_of_each(at, found, int(each))
            else:
                shown, _ = views.listed(at, limit=MOST_TASKS)
            return {
                "stages": found,
                "tasks": [_card(task) for task in shown],
                "total": sum(one["tasks"] for one in found),
                "archived": views.count_archived(at),
                **_around(at, me),
            }

        me = acting.get()
        seq = await self._board.newest()
        whole = await self._board.read(work)
        return {"root": str(self._host.workspace.root), "seq": seq, **whole}

    async def _workspace(self, _: Request) -> Any:
        """Everything except stages and tasks."""
        me = acting.get()
        return await self._board.read(lambda at: _around(at, me))

    async def _search(self, request: Request) -> Any:
        """The ids of the tasks that contain a text in any field; `archived`: the tasks in the archive."""
        text = request.query_params.get("text", "")
        if "archived" in request.query_params:
            found, total = await self._board.read(
                lambda at: views.listed(at, text=text, everywhere=True, archived=True, limit=MOST_TASKS)
            )
            return {"tasks": found, "total": total}
        listed, _ = await self._board.read(lambda at: views.listed(at, text=text, everywhere=True, limit=MOST_TASKS))
        return {"ids": [one["id"] for one in listed]}

    async def _cards(self, request: Request) -> Any:
        """Some tasks by their ids, in the form of the board, without deleted ones; and all tasks that wait for them."""
        ids = [id_ for id_ in request.query_params.get("ids", "").split(",") if id_][:_MOST_CARDS]

        def work(at: Transaction) -> Any:
            found, _ = views.listed(at, ids=dependencies.with_related(at, ids), limit=MOST_TASKS)
            return {"tasks": found}

        return await self._board.read(work)

    async def _task(self, request: Request) -> Any:
        id_ = request.path_params["id"]
        task = await self._board.read(lambda at: views.get(at, id_))
        return {**task, "anchors": await looked_up(self._host, task)}

    # --- changing ----------------------------------------------------------------------------------

    async def _create(self, request: Request) -> Any:
        new = NewTask.model_validate(await json_of(request))

        def work(at: Transaction) -> Any:
            return views.get(at, tasks.create(at, **dict(new))["id"])

        return await self._board.write(work)

    async def _change(self, request: Request) -> Any:
        id_, change = request.path_params["id"], TaskChange.model_validate(await json_of(request))
        await check_commits(self._host.workspace.root, [*(change.proof or ()), *change.proven])

        def work(at: Transaction) -> Any:
            return views.get(at, tasks.update(at, id_, **dict(change))["id"])

        return await self._board.write(work)

    async def _comment(self, request: Request) -> Any:
        id_, said = request.path_params["id"], Comment.model_validate(await json_of(request))

        def work(at: Transaction) -> Any:
            return views.get(at, tasks.comment(at, id_, said.text)["id"])

        return await self._board.write(work)

    async def _delete(self, request: Request) -> Any:
        id_ = request.path_params["id"]
        return {"deleted": (await self._board.write(lambda at: tasks.delete(at, id_)))["id"]}

    async def _move(self, request: Request) -> Any:
        id_, move = request.path_params["id"], Move.model_validate(await json_of(request))
        await check_commits(self._host.workspace.root, move.proven)

        def work(at: Transaction) -> Any:
            if move.proven:
                tasks.update(at, id_, proven=move.proven)
            return tasks.move(at, id_, move.stage, before=move.before, after=move.after, force=move.force)

        return await self._board.write(work)

    async def _save_view(self, request: Request) -> Any:
        view = SavedView.model_validate(await json_of(request))
        return await self._board.write(lambda at: saved_views.save(at, view.name, view.query))

    async def _delete_view(self, request: Request) -> Any:
        return {"deleted": await self._board.write(lambda at: saved_views.delete(at, request.path_params["id"]))}

    async def _create_stage(self, request: Request) -> Any:
        new = NewStage.model_validate(await json_of(request))
        return await self._board.write(lambda at: stages.create(at, **dict(new)))

    async def _change_stage(self, request: Request) -> Any:
        id_, change = request.path_params["id"], StageChange.model_validate(await json_of(request))
        values = {"new_name" if name == "name" else name: value for name, value in change}
        return await self._board.write(lambda at: stages.update(at, id_, **values))

    async def _delete_stage(self, request: Request) -> Any:
        id_, other = request.path_params["id"], request.query_params.get("move_tasks_to")
        return {"tasks_moved": await self._board.write(lambda at: stages.delete(at, id_, other))}

    # --- events ------------------------------------------------------------------------------------

    async def _events(self, request: Request) -> Response:
        """Server-sent events: `change` (its number is the event's id), `activity`, and `lost`: read everything again.

        `ready` follows the changes since the number that was sent, with the board's root and newest number.
        """
        sent = request.headers.get("last-event-id") or request.query_params.get("since") or "0"
        # A number that no database can hold is not ours.
        since = int(sent) if sent.isascii() and sent.isdigit() and len(sent) <= _MOST_DIGITS else 0
        return EventSourceResponse(self._stream(since, self._who(request)), ping=_PING)

    async def _stream(self, since: int, me: Actor | None) -> AsyncIterator[ServerSentEvent]:
        with self._board.listening() as listener:
            missed = await self._board.changes_since(since)
            if missed is None:
                yield ServerSentEvent(event="lost", data="{}")
            for change in missed or []:
                since = change["seq"]
                yield _sent(Event("change", change))
            # A page that reconnects sees whether it is still the same board.
            now = {"root": str(self._host.workspace.root), "seq": await self._board.newest()}
            yield ServerSentEvent(event="ready", data=json.dumps(now))
            async for event in listener:
                if event.type == "change" and event.data["seq"] <= since:
                    continue
                yield _sent(event)
                if me and event.data.get("action") == "revoked" and event.data["ref"] == me.person:
                    return  # the page asks again, and is told that it is signed out


def _card(task: views.Task) -> dict[str, Any]:
    """A card's fields, without default values, which would be most of the data of 10,000 tasks."""
    return {name: task[name] for name, usual in _CARD.items() if task[name] != usual}


def _around(at: Transaction, me: Actor) -> dict[str, Any]:
    """The page's data other than stages and tasks."""
    standards, _ = library.list_standards(at, 1_000)
    snippets, _ = library.list_snippets(at, None, 1_000)
    return {
        "me": {"id": me.person, "name": me.name},
        "people": [{"id": one["id"], "name": one["name"]} for one in people.listed(at)],
        "mentions": people.said_to(at, me.person, _TIMELINE) if me.person else [],
        "agents": [{"id": one["id"], "name": one["name"], "client": one["client"]} for one in agents.connected(at)],
        "questions": talk.waiting(at),
        "answered": talk.recently_answered(at, _TIMELINE),
        "notifications": talk.timeline(at, _TIMELINE),
        "views": saved_views.listed(at),
        "standards": standards,
        "snippets": snippets,
    }


def _sent(event: Event) -> ServerSentEvent:
    number = event.data.get("seq") if event.type == "change" else None
    data = json.dumps(event.data, ensure_ascii=False)
    return ServerSentEvent(event=event.type, data=data, id=str(number) if number else None)


def _answering(handler: Handler, who: Callable[[Request], Actor | None]) -> Handler:
    """`handler` with its result, or the error's message, as JSON; what it writes is the work of who is at the page."""

    async def answer(request: Request) -> Response:
        acting.set(who(request) or PERSON)
        try:
            return Response(msgspec.json.encode(await handler(request)), media_type="application/json")
        except ValidationError as error:
            message = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:3])
            return JSONResponse({"error": message}, status_code=400)
        except UnavailableError as error:
            return JSONResponse({"error": str(error)}, status_code=503)
        except UnprovenError as error:
            return JSONResponse({"error": str(error), "lacks": True}, status_code=409)
        except ConflictError as error:
            return JSONResponse({"error": str(error)}, status_code=409)
        except CallerError as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        except LspMcpError as error:
            return JSONResponse({"error": str(error)}, status_code=500)

    return answer
