"""The board's tools as agents meet them: over WebSocket, stdio and Streamable HTTP."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from board.running import TOKEN, TRANSPORTS, Agent, Json, Running, WebSocketAgent, agent, running, websocket
from lsp_mcp.cli.board import _listen
from lsp_mcp.errors import ConfigError
from lsp_mcp.toolsets.board.joined import BOARD
from lsp_mcp.toolsets.tool import declared_tools

GOLDEN = Path(__file__).parents[1] / "golden" / "tools_list_board.json"
# The published ones (docs/contracts/board.md): what must be given, then what may be, with defaults.
PUBLISHED: dict[str, tuple[list[str], dict[str, Any]]] = {
    "get_project_info": ([], {}),
    "list_tasks": ([], {"stage": None, "status": None, "tags": None, "limit": 100}),
    "get_task": (["id"], {}),
    "create_task": (["title"], {"description": None, "tags": None, "stage": None}),
    "update_task": (["id"], {"title": None, "description": None, "tags": None, "stage": None, "status": None}),
    "complete_task": (["id"], {}),
    "move_to_stage": (["id", "stage"], {}),
    "add_to_task": (["id", "content"], {"section": None}),
    "list_snippets": ([], {"tag": None, "limit": 100}),
    "get_snippet": (["id"], {}),
    "list_standards": ([], {"limit": 100}),
    "get_standard": (["id"], {}),
    "create_standard": (["id"], {"content": None, "description": None}),
    "update_standard": (["id", "content"], {"description": None}),
    "delete_standard": (["id"], {}),
    "register_agent": ([], {"preferredName": None}),
    "notify_user": (["message"], {"taskId": None, "level": None}),
    "ask_user": (["question"], {"options": None, "allowFreeform": True, "taskId": None, "priority": None}),
    "get_response": (["questionId"], {}),
    "get_responses": ([], {}),
}
LISTED = {
    *("get_project_info", "list_tasks", "get_task", "create_task", "update_task", "complete_task", "add_to_task"),
    *("register_agent", "notify_user", "ask_user", "get_response"),
    *("claim_task", "find_tasks_by_anchor", "change_stage", "read_library", "change_library", "revert"),
}
UNLISTED_ADDITIONS = {
    *("list_ready_tasks", "create_stage", "update_stage", "delete_stage", "create_snippet", "update_snippet"),
    *("delete_snippet", "get_history", "list_trash"),
}
MOST_TOKENS = 2_500


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A board that all tests share; each makes what it looks at."""
    root = tmp_path_factory.mktemp("project")
    (root / "main.go").write_text("package main\n\nfunc Serve() {}\n")
    with running(root, "--port", "0") as board:
        yield board
        assert "Traceback" not in board.said(), board.said()


@pytest.fixture(scope="module", params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def shared(board: Running, transport: str) -> Iterator[Agent]:
    """An agent on each transport that only asks and writes."""
    with agent(board, transport, f"by-{transport}") as one:
        yield one


@pytest.fixture(scope="module")
def person(board: Running) -> Iterator[httpx2.Client]:
    """The page, as far as it answers questions."""
    address = f"http://localhost:{board.port}"
    with httpx2.Client(base_url=address, headers={"Origin": address}, timeout=30) as client:
        found = re.search(r"http://localhost\S+", board.told)
        assert found
        # The link opens once; this one is the tests' own.
        link = client.post("/link", headers={"Authorization": f"Bearer {TOKEN}"}).json()["link"]
        assert client.get(link).status_code == 200
        yield client


def make(one: Agent, title: str = "a task", **more: Any) -> str:
    return str(one.answer("create_task", title=title, **more)["id"])


# --- one test for each tool --------------------------------------------------------------------------


def test_get_project_info(shared: Agent, board: Running) -> None:
    (board.root / "src").mkdir(exist_ok=True)
    (board.root / ".hidden").mkdir(exist_ok=True)
    found = shared.answer("get_project_info")
    assert found["root"] == str(board.root)
    assert found["board"].endswith("board.sqlite3")
    assert found["folders"] == ["src"]
    assert [stage["name"] for stage in found["stages"]][:2] == ["Backlog", "Prepare"]
    assert found["stages"][0]["default"] is True
    assert isinstance(found["standards"], list)
    assert any(name.startswith("by-") for name in found["agents"])


def test_list_tasks(shared: Agent, transport: str) -> None:
    tag = f"list {transport}"
    first = make(shared, "first", tags=[tag], description="a body with a needle" * 50)
    second = make(shared, "second", tags=[tag, "other"], stage="done")
    shared.answer("complete_task", id=second)
    found = shared.answer("list_tasks", tags=[tag.upper(), "nothing"])
    assert found == {
        "total": 2,
        "tasks": [
            {"id": first, "title": "first", "stage": "Backlog", "tags": [tag]},
            {"id": second, "title": "second", "stage": "Done", "status": "completed", "tags": [tag, "other"]},
        ],
    }
    assert [one["id"] for one in shared.answer("list_tasks", tags=[tag], stage="Done")["tasks"]] == [second]
    assert [one["id"] for one in shared.answer("list_tasks", tags=[tag], status="pending")["tasks"]] == [first]
    assert [one["id"] for one in shared.answer("list_tasks", tags=[tag], text="NEEDLE")["tasks"]] == [first]
    cut = shared.answer("list_tasks", tags=[tag], limit=1)
    assert (cut["total"], len(cut["tasks"])) == (2, 1)
    assert cut["hint"] == "1 more; filter by stage, status, tags or text, or raise limit"


def test_get_task(shared: Agent, transport: str) -> None:
    id_ = make(shared, "whole", description="# Body")
    shared.answer("update_task", id=id_, title="whole task")
    question = shared.answer("ask_user", question="Which?", taskId=id_)["questionId"]
    task = shared.answer("get_task", id=id_.upper())
    assert (task["title"], task["description"], task["revision"], task["stage"]) == (
        "whole task",
        "# Body",
        2,
        "Backlog",
    )
    assert task["questions"] == [{"id": question, "question": "Which?"}]
    assert [one["message"] for one in task["history"]] == ["created in Backlog", "changed title"]
    assert task["history"][1]["fields"] == {"title": ["whole", "whole task"]}
    assert task["history"][1]["who"].startswith(f"by-{transport}")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", task["history"][1]["at"])


def test_create_task(shared: Agent) -> None:
    first = make(shared)
    made = shared.answer(
        "create_task",
        title="all of it",
        description="text",
        tags=["a"],
        stage="verify",
        depends_on=[first],
        anchors=["go://main.go#3:6"],
    )
    assert made == {"id": made["id"], "title": "all of it", "stage": "Verify", "tags": ["a"], "revision": 1}
    task = shared.answer("get_task", id=made["id"])
    assert task["depends_on"] == [first]
    assert task["anchors"] == [{"anchor": "go://main.go#3:6", "symbol": "Serve", "code": "func Serve() {}"}]
    assert "title is required" in shared.error("create_task")
    assert "the title is empty" in shared.error("create_task", title="")
    assert "10,000 characters; at most 300" in shared.error("create_task", title="x" * 10_000)
    assert "U+0007" in shared.error("create_task", title="a\x07")
    assert "unknown stage 'Nope'" in shared.error("create_task", title="x", stage="Nope")
    assert "unknown argument 'tag' (did you mean 'tags'?)" in shared.error("create_task", title="x", tag="y")
    assert shared.answer("create_task", title="عنوان من اليمين")["title"] == "عنوان من اليمين"


def test_update_task(shared: Agent) -> None:
    id_ = make(shared, "old", description="kept", tags=["a"])
    made = shared.answer("update_task", id=id_, title="new", tags=["b"], stage="Done", status="completed")
    assert made == {"id": id_, "title": "new", "stage": "Done", "status": "completed", "tags": ["b"], "revision": 2}
    assert shared.answer("get_task", id=id_)["description"] == "kept"
    assert "has revision 2, not 1; since then: " in shared.error(
        "update_task", id=id_, title="newer", expected_revision=1
    )
    assert "status: input should be 'pending' or 'completed'" in shared.error("update_task", id=id_, status="done")
    assert "unknown task 'nope'" in shared.error("update_task", id="nope", title="x")


def test_complete_task(shared: Agent) -> None:
    id_ = make(shared)
    assert shared.answer("complete_task", id=id_)["status"] == "completed"
    assert shared.answer("complete_task", id=id_)["revision"] == 2


def test_move_to_stage(shared: Agent) -> None:
    id_ = make(shared)
    assert shared.answer("move_to_stage", id=id_, stage="IMPLEMENT") == {
        "id": id_,
        "title": "a task",
        "stage": "Implement",
        "revision": 2,
    }
    assert shared.answer("move_to_stage", id=id_, stage="Implement")["revision"] == 2
    assert shared.answer("get_task", id=id_)["history"][-1]["message"] == "moved to Implement"
    assert "unknown stage 'x'; available: Backlog, " in shared.error("move_to_stage", id=id_, stage="x")


def test_add_to_task(shared: Agent) -> None:
    id_ = make(shared, description="## Findings\n\n- one\n\n## Next\n\nx")
    assert shared.answer("add_to_task", id=id_, content="- two", section="Findings")["revision"] == 2
    shared.answer("add_to_task", id=id_, content="end")
    shared.answer("add_to_task", id=id_, content="y", section="New")
    assert shared.answer("get_task", id=id_)["description"] == (
        "## Findings\n\n- one\n\n- two\n\n## Next\n\nx\n\nend\n\n## New\n\ny"
    )


def test_claim_task_and_list_ready_tasks(shared: Agent, board: Running, transport: str) -> None:
    me = shared.answer("register_agent")["agentName"]
    first = make(shared, f"claim {transport}")
    waits = make(shared, depends_on=[first])
    free = make(shared)
    ready = [one["id"] for one in shared.answer("list_ready_tasks", limit=1_000)["tasks"]]
    assert first in ready
    assert waits not in ready
    assert shared.answer("claim_task", id=first)["claimed_by"] == me
    assert f"{waits} waits for {first}" in shared.error("claim_task", id=waits)
    with agent(board, "websocket", "other") as other:
        assert f"{me} works on {first} since" in other.error("claim_task", id=first)
        assert "only" in other.error("claim_task", id=first, release=True)
        assert first not in [one["id"] for one in other.answer("list_ready_tasks", limit=1_000)["tasks"]]
        taken = other.answer("claim_task")["id"]
        assert taken != first
        other.answer("claim_task", id=taken, release=True)
    shared.answer("complete_task", id=free)
    assert "claimed_by" not in shared.answer("claim_task", id=first, release=True)
    assert "name the task to release" in shared.error("claim_task", release=True)
    shared.answer("complete_task", id=first)
    assert shared.answer("claim_task", id=waits)["id"] == waits
    shared.answer("complete_task", id=waits)


def test_find_tasks_by_anchor(shared: Agent, board: Running, transport: str) -> None:
    (board.root / f"{transport}.go").write_text("package main\n\nfunc Here() {}\nfunc There() {}\n")
    here, there = f"go://{transport}.go#3:6", f"go://{transport}.go#4:6"
    id_ = make(shared, anchors=[here])
    assert shared.answer("find_tasks_by_anchor", anchor=f"go://{transport}.go#3:8") == {
        "total": 1,
        "tasks": [{"id": id_, "title": "a task", "stage": "Backlog"}],
    }
    assert shared.answer("find_tasks_by_anchor", anchor=f"{transport}.go")["total"] == 1
    assert shared.answer("find_tasks_by_anchor", anchor=there) == {"total": 0, "tasks": []}
    assert "nothing.go" in shared.error("find_tasks_by_anchor", anchor="go://nothing.go#1:1")
    assert "is not on an identifier" in shared.error("find_tasks_by_anchor", anchor=f"go://{transport}.go#2:1")


def test_stages(shared: Agent, transport: str) -> None:
    name = f"stage {transport}"
    prompts = [{"name": "Review", "prompt": "Read it."}]
    made = shared.answer("create_stage", name=name, color="#123456", after="Verify", activities=prompts)
    assert made == {"name": name, "color": "#123456", "is_default": False}
    stages = shared.answer("get_project_info")["stages"]
    names = [one["name"] for one in stages]
    assert names[names.index("Verify") + 1] == name
    assert stages[names.index(name)]["activities"] == prompts
    assert shared.answer("update_stage", stage=name, name=f"{name}!", color="#abc")["name"] == f"{name}!"
    id_ = make(shared, stage=f"{name}!")
    assert "has 1 task; pass move_tasks_to, the stage for them" in shared.error("delete_stage", stage=f"{name}!")
    assert shared.answer("delete_stage", stage=f"{name}!", move_tasks_to="Done") == {
        "deleted": f"{name}!",
        "tasks_moved": 1,
    }
    assert shared.answer("get_task", id=id_)["stage"] == "Done"


def test_snippets(shared: Agent, transport: str) -> None:
    id_ = f"run-{transport}"
    made = shared.answer("create_snippet", title=f"Run {transport}", content="make test", tags=[transport])
    assert made == {"id": id_, "revision": 1}
    assert shared.answer("list_snippets", tag=transport) == {
        "total": 1,
        "snippets": [{"id": id_, "title": f"Run {transport}", "tags": [transport]}],
    }
    assert shared.answer("list_snippets", limit=1)["total"] >= 1
    found = shared.answer("get_snippet", id=id_)
    assert (found["content"], found["title"]) == ("make test", f"Run {transport}")
    assert shared.answer("update_snippet", id=id_, content="make check")["revision"] == 2
    assert "has revision 2, not 1" in shared.error("update_snippet", id=id_, content="x", expected_revision=1)
    assert shared.answer("delete_snippet", id=id_) == {"deleted": id_}
    assert f"unknown snippet '{id_}'" in shared.error("get_snippet", id=id_)


def test_standards(shared: Agent, transport: str) -> None:
    id_ = f"style-{transport}"
    assert shared.answer("create_standard", id=id_, content="# Style", description="How") == {"id": id_, "revision": 1}
    assert "already" in shared.error("create_standard", id=id_)
    assert "'code-style' would do" in shared.error("create_standard", id="Code Style")
    listed = {one["id"]: one for one in shared.answer("list_standards")["standards"]}
    assert listed[id_]["description"] == "How"
    assert "content" not in listed[id_]
    assert shared.answer("list_standards", limit=1)["total"] >= 1
    assert {"id": id_, "description": "How"} in shared.answer("get_project_info")["standards"]
    assert shared.answer("get_standard", id=id_)["content"] == "# Style"
    assert shared.answer("update_standard", id=id_, content="new")["revision"] == 2
    assert "content is required" in shared.error("update_standard", id=id_)
    assert shared.answer("get_standard", id=id_)["description"] == "How"
    assert shared.answer("delete_standard", id=id_) == {"deleted": id_}


def test_register_agent(shared: Agent, board: Running, transport: str) -> None:
    before = shared.answer("register_agent")
    assert re.fullmatch(r"a-\w{5}", before["assignedId"])
    named = shared.answer("register_agent", preferredName=f"Ada {transport}")
    assert named == {**before, "agentName": f"Ada {transport}"}
    assert shared.answer("register_agent") == named
    with agent(board, "websocket") as two:
        assert two.answer("register_agent", preferredName=f"ADA {transport}")["agentName"] == f"ADA {transport}-2"
    assert "the name has 61 characters" in shared.error("register_agent", preferredName="x" * 61)
    assert shared.answer("register_agent", preferredName=before["agentName"]) == before


def test_notify_user(shared: Agent, person: httpx2.Client, transport: str) -> None:
    id_ = make(shared)
    shared.answer("notify_user", message=f"done by {transport}", taskId=id_, level="success")
    shown = person.get("/api/board").json()["notifications"][0]
    assert (shown["message"], shown["task"], shown["level"]) == (f"done by {transport}", id_, "success")
    assert "level: input should be 'info', 'success' or 'warning'" in shared.error(
        "notify_user", message="x", level="error"
    )
    assert "unknown task" in shared.error("notify_user", message="x", taskId="t-00000")


def test_ask_user_get_response_and_get_responses(shared: Agent, person: httpx2.Client) -> None:
    options = [{"id": "y", "label": "Yes"}, {"id": "n", "label": "No"}]
    before = shared.answer("get_responses")["total"]
    asked = shared.answer("ask_user", question="Ship?", options=options, allowFreeform=False, priority="high")
    id_ = asked["questionId"]
    assert asked == {"questionId": id_}
    assert shared.answer("get_response", questionId=id_) == {"questionId": id_, "answered": False}
    assert shared.answer("get_responses")["total"] == before
    assert person.post(f"/api/questions/{id_}/answer", json={"option": "x"}).status_code == 400
    assert person.post(f"/api/questions/{id_}/answer", json={"option": "y"}).status_code == 200
    assert person.post(f"/api/questions/{id_}/answer", json={"option": "n"}).status_code == 409
    found = shared.answer("get_response", questionId=id_)
    assert {**found, "answeredAt": ""} == {
        "questionId": id_,
        "question": "Ship?",
        "answered": True,
        "answer": "Yes",
        "optionId": "y",
        "answeredAt": "",
    }
    responses = shared.answer("get_responses")
    assert (responses["total"], responses["responses"][-1]) == (before + 1, found)
    assert "unknown question 'q-00000'" in shared.error("get_response", questionId="q-00000")
    assert "nobody could answer" in shared.error("ask_user", question="?", allowFreeform=False)
    assert "wait_seconds: input should be less than or equal to 50" in shared.error(
        "get_response", questionId=id_, wait_seconds=51
    )


def test_options_may_be_plain_texts(shared: Agent, person: httpx2.Client) -> None:
    long = "the second, with all that speaks for it and what speaks against it"
    id_ = shared.answer("ask_user", question="Which?", options=["the first", long])["questionId"]
    assert person.post(f"/api/questions/{id_}/answer", json={"option": long[:60]}).status_code == 200
    assert shared.answer("get_response", questionId=id_)["answer"] == long


def test_an_answer_is_waited_for(shared: Agent, person: httpx2.Client) -> None:
    id_ = shared.answer("ask_user", question="Which?")["questionId"]
    assert shared.answer("get_response", questionId=id_, wait_seconds=0.01)["answered"] is False
    found: list[Json] = []
    waiting = threading.Thread(
        target=lambda: found.append(shared.answer("get_response", questionId=id_, wait_seconds=50))
    )
    waiting.start()
    assert person.post(f"/api/questions/{id_}/answer", json={"text": "that one"}).status_code == 200
    waiting.join(45)
    assert [one["answer"] for one in found] == ["that one"]


def test_what_is_left_out_may_be_null(shared: Agent, transport: str) -> None:
    id_ = shared.answer("create_task", title=f"null {transport}", tags=None, description=None, stage=None)["id"]
    assert id_ in [one["id"] for one in shared.answer("list_tasks", tags=None, text=f"null {transport}")["tasks"]]
    assert shared.answer("ask_user", question="?", options=None, taskId=None)["questionId"]


# --- what is published -------------------------------------------------------------------------------


def test_revert(shared: Agent, person: httpx2.Client, transport: str) -> None:
    id_ = make(shared, "one", description="long " * 100)
    shared.answer("update_task", id=id_, description="short", tick=[])
    assert shared.answer("revert", id=id_) == {"id": id_, "revision": 3}
    assert shared.answer("get_task", id=id_)["description"] == "long " * 100
    told = shared.answer("get_history", id=id_)["entries"]
    assert [one["message"] for one in told] == ["created in Backlog", "changed description", "went back to revision 1"]
    assert told[1]["fields"]["description"] == ["long " * 100, "short"]
    assert person.delete(f"/api/tasks/{id_}").status_code == 200
    assert id_ in [one["id"] for one in shared.answer("list_trash")["trash"]]
    assert person.post("/api/revert", json={"kind": "task", "id": id_}).json() == {"id": id_, "revision": 5}
    assert person.get(f"/api/history/task/{id_}/2").json()["description"] == "short"
    assert person.get(f"/api/history/nothing/{id_}").status_code == 400
    name = f"standard-{transport}"
    shared.answer("create_standard", id=name, content="text")
    shared.answer("delete_standard", id=name)
    entry = next(one for one in person.get("/api/trash").json()["entries"] if one["ref"] == name)
    assert person.delete(f"/api/trash/{entry['id']}").json() == {"deleted": 1}
    assert "unknown standard" in shared.error("revert", id=name, kind="standard")


def test_checkboxes_comments_priority_and_what_blocks(shared: Agent) -> None:
    first = make(shared, "first", description="- [ ] write it\n- [ ] test it", priority="P0")
    second = make(shared, "second", depends_on=[first])
    assert shared.answer("update_task", id=first, tick=["test"])["ticked"] == "1 of 2"
    assert shared.answer("get_task", id=first)["description"] == "- [ ] write it\n- [x] test it"
    assert "is not a checkbox" in shared.error("update_task", id=first, tick=["3"])
    shared.answer("add_to_task", id=first, content="Is this right?", as_comment=True)
    task = shared.answer("get_task", id=first)
    assert [one["text"] for one in task["comments"]] == ["Is this right?"]
    assert (task["priority"], task["blocks"]) == ("P0", 1)
    assert shared.answer("list_ready_tasks", limit=1000)["tasks"][0]["priority"] == "P0"
    assert shared.answer("get_task", id=second)["blocked_by"] == [first]
    assert shared.answer("claim_task", id=first, branch="fix")["branch"] == "fix"
    assert f"{first} is not done: 1 checkbox of 2 is not ticked. Nothing" in shared.error("complete_task", id=first)
    assert shared.answer("complete_task", id=first, force=True, reason="obsolete")["stage"] == "Done"
    shared.answer("update_task", id=first, archived=True)
    assert first not in [one["id"] for one in shared.answer("list_tasks", limit=1000)["tasks"]]


def every_tool() -> dict[str, Json]:
    """The whole schema of each tool, the unlisted ones included, by name."""
    marked = [tool for toolset in BOARD.tools() for tool in declared_tools(toolset)]
    return {tool.name: tool.whole_schema for tool in marked}


def test_rarely_used_tools_are_actions_of_listed_ones(shared: Agent, transport: str) -> None:
    name, id_ = f"by action {transport}", f"rule-{transport}"
    assert shared.answer("change_stage", action="create", stage=name, after="Verify")["name"] == name
    assert shared.answer("change_stage", action="update", stage=name, color="#abcdef")["color"] == "#abcdef"
    assert "is for action=update" in shared.error("change_stage", action="create", stage="x", name="y")
    assert shared.answer("change_stage", action="delete", stage=name) == {"deleted": name, "tasks_moved": 0}
    assert shared.answer("change_library", kind="standard", action="create", id=id_, content="text")["revision"] == 1
    assert shared.answer("read_library", kind="standard", id=id_)["content"] == "text"
    assert id_ in [one["id"] for one in shared.answer("read_library", kind="standard")["standards"]]
    assert "pass the content" in shared.error("change_library", kind="standard", action="update", id=id_)
    assert shared.answer("change_library", kind="standard", action="update", id=id_, content="new")["revision"] == 2
    assert shared.answer("change_library", kind="standard", action="delete", id=id_) == {"deleted": id_}
    made = shared.answer("change_library", kind="snippet", action="create", title=id_, content="x", tags=[transport])
    assert shared.answer("read_library", kind="snippet", tag=transport)["snippets"][0]["id"] == made["id"]
    assert "needs a title" in shared.error("change_library", kind="snippet", action="create", content="x")
    assert shared.answer("change_library", kind="snippet", action="delete", id=made["id"]) == {"deleted": made["id"]}
    task = make(shared, f"ready {transport}")
    assert task in [one["id"] for one in shared.answer("list_tasks", ready=True, limit=1_000)["tasks"]]
    assert shared.answer("get_response") == shared.answer("get_responses")


def test_the_list_of_tools_is_the_published_one(shared: Agent, request: pytest.FixtureRequest) -> None:
    text = json.dumps(shared.tools(), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    if request.config.getoption("update"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8"), "if that is right: pytest tests/board/test_board_tools.py --update"


def test_every_published_tool_has_its_parameters_and_defaults(shared: Agent) -> None:
    assert {one["name"] for one in shared.tools()} == LISTED
    tools = every_tool()
    assert tools.keys() == PUBLISHED.keys() | LISTED | UNLISTED_ADDITIONS
    for name, (required, optional) in PUBLISHED.items():
        schema = tools[name]
        if name != "get_response":  # without an id it has all answers
            assert schema.get("required", []) == required, name
        assert [*required, *optional] == [one for one in schema["properties"] if one in (*required, *optional)], name
        for one, default in optional.items():
            if default is not None:
                assert schema["properties"][one]["default"] == default


def test_the_list_of_tools_is_short(shared: Agent) -> None:
    tools = shared.tools()
    assert len(json.dumps(tools, ensure_ascii=False, separators=(",", ":"))) / 4 <= MOST_TOKENS
    assert [one["name"] for one in tools if one["annotations"].get("destructiveHint")] == [
        "change_stage",
        "change_library",
    ]


def test_the_schema_of_claim_task_says_that_it_takes_the_next_without_an_id(shared: Agent) -> None:
    (claim,) = [one for one in shared.tools() if one["name"] == "claim_task"]
    assert "next ready" in claim["inputSchema"]["properties"]["id"]["description"]
    assert "without an id the next ready one" in claim["description"]


def test_an_unknown_tool_is_said_with_those_that_are_like_it(board: Running) -> None:
    with agent(board, "websocket") as one:
        assert isinstance(one, WebSocketAgent)
        refused = one.request("tools/call", {"name": "change_stages", "arguments": {}})
    assert refused["error"]["code"] == -32602
    assert refused["error"]["message"].startswith("unknown tool 'change_stages'; did you mean change_stage")


# --- WebSocket ---------------------------------------------------------------------------------------


def test_the_documents_handshake_is_accepted(board: Running) -> None:
    with websocket(board) as one:
        found = one.initialize()
        assert found["protocolVersion"] == "2024-11-05"
        assert re.fullmatch(r"a-\w{5}", found["assignedId"])
        assert found["agentName"] == "my-agent"
        assert "tools" in found["capabilities"]
        with websocket(board) as two:
            assert two.initialize()["agentName"] == "my-agent-2"
        told = {name: found[name] for name in ("assignedId", "agentName", "agentToken")}
        assert one.answer("register_agent") == told


def test_a_client_that_reconnects_is_the_same_agent_by_its_token_and_not_by_its_name(board: Running) -> None:
    with websocket(board) as one:
        first = one.initialize(clientInfo={"name": "grace", "version": "1"})
        task = make(one)
        one.answer("claim_task", id=task)
        asked = one.answer("ask_user", question="Which?")["questionId"]
        with websocket(board) as two:  # its network has changed, and the board does not know yet
            meta = {"lsp-mcp/agent": first["agentToken"]}
            again = two.initialize(clientInfo={"name": "grace", "version": "1"}, _meta=meta)
            assert (again["assignedId"], again["agentName"]) == (first["assignedId"], "grace")
            one.connection.close()
            assert two.answer("get_task", id=task)["claimed_by"] == "grace"
            with websocket(board) as other:
                assert other.initialize()["agentName"] != "grace"
                assert other.answer("register_agent", preferredName="grace")["agentName"] == "grace-2"
                assert "grace works on" in other.error("claim_task", id=task)
    with websocket(board) as three:
        three.initialize()
        assert three.answer("register_agent", agentToken=first["agentToken"])["agentName"] == "grace"
        assert three.answer("get_response", questionId=asked) == {"questionId": asked, "answered": False}
        assert three.answer("get_task", id=task)["claimed_by"] == "grace"
    with websocket(board) as four:
        error = four.request(
            "initialize",
            {
                "protocolVersion": "2024-11-05",
                "clientInfo": {"name": "x", "version": "1"},
                "_meta": {"lsp-mcp/agent": "wrong"},
            },
        )["error"]
        assert "no agent of this board has that agentToken" in error["message"]


def test_the_calls_of_a_connection_are_carried_out_in_their_order(board: Running) -> None:
    with websocket(board) as one:
        one.initialize()
        waiting = one.answer("ask_user", question="?")["questionId"]
        task = make(one)
        call = {"name": "get_response", "arguments": {"questionId": waiting, "wait_seconds": 50}}
        one.send({"id": "waits", "method": "tools/call", "params": call})  # nobody answers, and nothing waits for it
        for number in range(20):
            call = {"name": "add_to_task", "arguments": {"id": task, "content": str(number)}}
            one.send({"id": f"call {number}", "method": "tools/call", "params": call})
        assert [one.receive()["id"] for _ in range(20)] == [f"call {number}" for number in range(20)]
        assert one.answer("get_task", id=task)["description"].split() == [str(number) for number in range(20)]


def test_an_answer_reaches_the_agent_as_a_notification(board: Running, person: httpx2.Client) -> None:
    with websocket(board) as one, websocket(board) as other:
        assert "logging" in one.initialize()["capabilities"]
        other.initialize()
        other.answer("register_agent")
        asked = one.answer("ask_user", question="Which?", options=[{"id": "a", "label": "The first"}])["questionId"]
        assert person.post(f"/api/questions/{asked}/answer", json={"option": "a"}).status_code == 200
        told = one.receive()
        assert (told["method"], told["params"]["data"]) == (
            "notifications/message",
            {"questionId": asked, "question": "Which?", "answer": "The first"},
        )
        assert one.request("logging/setLevel", {"level": "info"})["result"] == {}
        other.send({"id": "next", "method": "ping"})
        assert other.receive()["id"] == "next"


def test_the_holder_of_a_claim_is_told_at_once_and_in_its_next_answer_of_who_forced_a_change(board: Running) -> None:
    with websocket(board) as holder, websocket(board) as other:
        holder.initialize()
        other.initialize()
        name = other.answer("register_agent")["agentName"]
        task = make(holder)
        holding = holder.answer("claim_task", id=task)["claimed_by"]
        assert f"{holding} works on {task}" in other.error("update_task", id=task, title="Mine")
        forced = other.answer("update_task", id=task, title="Mine", force=True)
        assert forced["overrode"] == f"the claim of {holding}, who was notified"
        said = f"{name} changed {task}, on which {holding} works; read it again"
        told = holder.receive()
        assert (told["method"], told["params"]["data"]) == ("notifications/message", {"message": said})
        assert "unknown task" in holder.error("get_task", id="t-00000")  # a call that fails does not use up the news
        answers = [holder.call("get_task", {"id": task})["content"] for _ in range(2)]
        assert [[part["text"] for part in parts[1:]] for parts in answers] == [[said], []]


@pytest.mark.parametrize("transport", ["websocket", "stdio"])
def test_a_call_that_is_repeated_with_its_key_is_stored_once(board: Running, transport: str) -> None:
    key = f"the key of {transport}"
    with agent(board, transport) as one:
        first = one.answer("create_task", title="once", idempotency=key)
    with agent(board, transport) as two:
        assert two.answer("create_task", title="once", idempotency=key) == first
        assert "was used for another call" in two.error("create_task", title="twice", idempotency=key)
        assert "choose 8 to 200" in two.error("create_task", title="once", idempotency="1")


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_version_of_the_protocol_is_spoken(board: Running, version: str) -> None:
    with websocket(board, subprotocols=["mcp"]) as one:
        assert one.connection.subprotocol == "mcp"
        found = one.initialize(protocolVersion=version, capabilities={})
        assert (found["protocolVersion"], len(one.tools())) == (version, len(LISTED))


@pytest.mark.parametrize(
    ("frame", "code", "words"),
    [
        ("nope", -32700, "this is not JSON"),
        ("", -32700, "this is not JSON"),
        ("[]", -32600, "a batch needs at least one message"),
        ('[{"jsonrpc":"2.0","id":4,"method":"ping"}]', -32600, "send one JSON-RPC message in each frame"),
        ("null", -32600, "a JSON-RPC message is an object"),
        ('{"id":4}', -32600, 'a message needs "jsonrpc": "2.0"'),
        ('{"jsonrpc":"1.0","id":4,"method":"ping"}', -32600, 'a message needs "jsonrpc": "2.0"'),
        ("[" * 100_000, -32700, "nested deeper"),
    ],
)
def test_a_frame_that_is_not_a_message_is_answered_and_the_connection_goes_on(
    board: Running, frame: str, code: int, words: str
) -> None:
    with websocket(board) as one:
        one.initialize()
        one.connection.send(frame)
        error = one.receive()["error"]
        assert error["code"] == code
        assert words in error["message"]
        assert one.request("ping")["result"] == {}


def test_an_introduction_that_lacks_something_is_told_what(board: Running) -> None:
    with websocket(board) as one:
        params = {"protocolVersion": "2025-11-25", "clientInfo": {"name": "x"}}
        error = one.request("initialize", params)["error"]
        assert (error["code"], "clientInfo.version" in error["message"]) == (-32602, True)


def test_a_binary_frame_ends_the_connection_with_the_reason(board: Running) -> None:
    with websocket(board) as one:
        one.initialize()
        one.connection.send(b"\x00\xff")
        with pytest.raises(ConnectionClosed) as caught:
            one.receive()
        assert caught.value.rcvd
        assert (caught.value.rcvd.code, "text frames" in caught.value.rcvd.reason) == (1003, True)


def test_a_frame_that_is_too_long_is_an_error_and_the_calls_under_way_are_answered(board: Running) -> None:
    with websocket(board) as one:
        one.initialize()
        one.send({"id": 7, "method": "tools/call", "params": {"name": "list_tasks", "arguments": {}}})
        call = {"name": "create_task", "arguments": {"title": "x", "description": "é" * 1_000_000}}
        one.send({"id": 8, "method": "tools/call", "params": call})
        answers = {message["id"]: message for message in (one.receive(), one.receive())}
        assert "result" in answers[7]
        assert "this message has 6,000,1" in answers[8]["error"]["message"]  # bytes, as JSON writes them
        assert "at most 1,000,000 are read. Split it" in answers[8]["error"]["message"]
        assert one.request("ping")["result"] == {}


def test_a_frame_that_no_message_has_ends_the_connection_and_nothing_else(board: Running) -> None:
    with websocket(board) as other, websocket(board) as one:
        other.initialize()
        one.initialize()
        with pytest.raises(ConnectionClosed) as caught:
            one.connection.send("x" * 20_000_000)
            one.receive()
        assert caught.value.rcvd is None or caught.value.rcvd.code == 1009
        assert other.request("ping")["result"] == {}


def test_a_call_before_the_handshake_is_an_error(board: Running) -> None:
    with websocket(board) as one:
        error = one.request("tools/call", {"name": "list_tasks", "arguments": {}})["error"]
        assert (error["code"], error["message"]) == (-32600, "send initialize before 'tools/call'")
        assert one.initialize()["agentName"]


def test_an_option_may_have_more_than_the_board_knows(board: Running) -> None:
    with websocket(board) as one:
        one.initialize()
        asked = one.answer("ask_user", question="Which?", options=[{"id": "a", "label": "A", "description": "first"}])
        assert asked["questionId"]


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://localhost:1", "https://localhost"])
def test_a_page_of_another_address_is_refused(board: Running, origin: str) -> None:
    with pytest.raises((InvalidStatus, ConnectionClosed)), websocket(board, origin=origin) as one:
        one.initialize()
    headers = {"Origin": origin, "Authorization": f"Bearer {TOKEN}"}
    assert httpx2.post(f"http://127.0.0.1:{board.port}/mcp", json={}, headers=headers).status_code == 403


def test_the_boards_own_address_without_its_cookie_is_refused(board: Running) -> None:
    with (
        pytest.raises((InvalidStatus, ConnectionClosed)),
        websocket(board, origin=f"http://localhost:{board.port}") as one,
    ):
        one.initialize()


def test_another_token_is_refused(board: Running) -> None:
    with (
        pytest.raises((InvalidStatus, ConnectionClosed)),
        websocket(board, additional_headers={"Authorization": "Bearer wrong"}) as one,
    ):
        one.initialize()
    with websocket(board, additional_headers={"Authorization": f"Bearer {TOKEN}"}) as one:
        one.initialize()
    assert httpx2.post(f"http://127.0.0.1:{board.port}/mcp", json={}).status_code == 401


def test_another_host_is_refused(board: Running) -> None:
    with pytest.raises(InvalidStatus), websocket(board, additional_headers={"Host": "evil.example"}) as one:
        one.initialize()
    assert httpx2.get(f"http://127.0.0.1:{board.port}/health", headers={"Host": "evil.example"}).status_code == 400


# --- connections that end ----------------------------------------------------------------------------


def agents_of(person: httpx2.Client) -> list[str]:
    return [one["name"] for one in person.get("/api/board").json()["agents"]]


def until_gone(board: Running, name: str) -> None:
    """Wait until an agent is gone, by asking as another that hears of it when a question is answered."""
    from lsp_mcp.board import agents as table
    from lsp_mcp.board.store import Store
    from mcp_process import wait_until

    (file,) = board.root.glob(".lsp-mcp/board.sqlite3")
    store = Store(f"sqlite:///{file}")
    wait_until(lambda: name not in [one["name"] for one in store.read(table.connected)], file.parent)
    store.close()


@pytest.mark.parametrize("transport", ["websocket", "stdio"])
def test_an_agent_that_disconnects_with_a_claim_and_a_question_is_succeeded(
    board: Running, person: httpx2.Client, transport: str
) -> None:
    name = f"leaves {transport}"
    with agent(board, transport) as one:
        before = one.answer("register_agent", preferredName=name)
        task = make(one, "left behind")
        one.answer("claim_task", id=task)
        question = one.answer("ask_user", question="Go on?", taskId=task)["questionId"]
        assert name in agents_of(person)
    until_gone(board, name)
    assert person.post(f"/api/questions/{question}/answer", json={"text": "yes"}).status_code == 200
    with agent(board, "websocket") as heir:
        assert task in [found["id"] for found in heir.answer("list_ready_tasks", limit=1_000)["tasks"]]
        assert heir.answer("register_agent", agentToken=before["agentToken"]) == before
        assert [found["answer"] for found in heir.answer("get_responses")["responses"]] == ["yes"]
        assert heir.answer("get_task", id=task)["claimed_by"] == name
        assert task not in [found["id"] for found in heir.answer("list_ready_tasks", limit=1_000)["tasks"]]
        assert heir.answer("get_task", id=task)["questions"] == [
            {"id": question, "question": "Go on?", "answer": "yes"}
        ]
        heir.answer("complete_task", id=task)


def test_two_processes_show_each_other_what_they_do(board: Running) -> None:
    with agent(board, "stdio", "one") as one, agent(board, "http", "two") as two, agent(board, "websocket") as three:
        id_ = make(one, "shared by all")
        two.answer("add_to_task", id=id_, content="from HTTP")
        assert three.answer("get_task", id=id_)["description"] == "from HTTP"
        assert {"one", "two"} <= set(three.answer("get_project_info")["agents"])


def test_a_claim_of_a_process_that_was_killed_is_free_for_the_next_one(tmp_path: Path) -> None:
    with running(tmp_path, "--port", "0") as first:
        with agent(first, "websocket") as one:
            token = one.answer("register_agent", preferredName="Ada")["agentToken"]
            task = make(one)
            one.answer("claim_task", id=task)
            first.process.kill()
            first.process.wait()
        with running(tmp_path, "--port", "0") as second, agent(second, "websocket") as two:
            assert two.answer("list_ready_tasks")["tasks"][0]["id"] == task
            assert two.answer("register_agent", agentToken=token)["agentName"] == "Ada"
            assert two.answer("get_task", id=task)["claimed_by"] == "Ada"


# --- ports -------------------------------------------------------------------------------------------


def test_the_next_free_port_is_taken_and_who_has_them_is_said(tmp_path: Path, board: Running) -> None:
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    first, second = ports[:2]
    both = range(min(ports), max(ports) + 1, max(ports) - min(ports))
    with socket.create_server(("127.0.0.1", both[0])):
        listening = _listen(None, both)
        assert listening[0].getsockname()[1] == both[1]
        with pytest.raises(ConfigError) as caught:
            _listen(None, both)
        said = f"no port is free for the board ({both[0]}: another program; {both[1]}: another program). End one"
        assert str(caught.value).startswith(said)
        for one in listening:
            one.close()
    assert {first, second} == set(both)
    with pytest.raises(ConfigError) as caught:
        _listen(board.port, range(0))
    assert f"{board.port}: the board of {board.root}" in str(caught.value)


def test_a_board_ends_by_a_signal(tmp_path: Path) -> None:
    board = Running(tmp_path, "--port", "0")
    with agent(board, "websocket") as one:
        assert isinstance(one, WebSocketAgent)
        make(one)
        assert board.end() == 0
