"""Plain messages are answered without the MCP SDK, as the SDK answers them."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from msgspec.structs import replace

from lsp_mcp.errors import CallerError
from lsp_mcp.server.client_session import ClientSession
from lsp_mcp.server.diagnostics import Diagnostics
from lsp_mcp.server.imports import SDK, Sdk
from lsp_mcp.server.offer import Offer, Served, refusing_offer
from lsp_mcp.server.plain_messages import VERSIONS, PlainMessages
from lsp_mcp.server.prompts import Prompts
from lsp_mcp.server.serving import MessageLines, server_of
from lsp_mcp.server.tool_calls import ToolCalls
from lsp_mcp.server.turns import Turns
from lsp_mcp.sessions.running import Running
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.offered import tools_without_sessions
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.workspace import Workspace

Json = dict[str, Any]
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
NAME = "find_symbol_references_by_anchor"

SERVED = Served(Running(Sessions(Workspace(Path(__file__).parent), [], {})), ToolSettings(), "compact", "text")


def offer(response_format: Any = "text", method: Callable[..., Coroutine[Any, Any, str]] | None = None) -> Offer:
    """Tools of which `method` answers each call; else each call fails."""
    plain = refusing_offer(CallerError("nothing runs"))
    tools = tools_without_sessions(CallerError("nothing runs"), ["code", "lsp"])
    tools = [replace(tool, method=method) for tool in tools] if method else tools
    by_name = {tool.name: tool for tool in tools}
    return replace(
        plain,
        tools=tools,
        calls=ToolCalls(tools, format="json", response_format=response_format),
        prompts=Prompts(by_name),
        diagnostics=Diagnostics(by_name["check"], "compact"),
        served=SERVED,
    )


class Wire:
    """What a session reads and writes; the input ends with an empty line."""

    def __init__(self) -> None:
        self.input: asyncio.Queue[bytes] = asyncio.Queue()
        self.output: asyncio.Queue[Json] = asyncio.Queue()

    def say(self, *messages: Json) -> None:
        for message in messages:
            self.input.put_nowait(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def write(self, data: bytes) -> None:
        self.output.put_nowait(json.loads(data))

    async def heard(self) -> Json:
        return await asyncio.wait_for(self.output.get(), 60)

    def all_heard(self) -> list[Json]:
        return [self.output.get_nowait() for _ in range(self.output.qsize())]


def introduction(version: str = VERSIONS[-1], **more: Any) -> Json:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}, **more}
    return {"id": "i", "method": "initialize", "params": params}


DONE: Json = {"method": "notifications/initialized"}


def call(number: int, **arguments: Any) -> Json:
    return {"id": number, "method": "tools/call", "params": {"name": NAME, "arguments": arguments}}


async def said_first(offer: Offer, messages: list[Json]) -> list[Json] | None:
    """What is answered without the SDK; None if some of it is left to the SDK."""
    wire = Wire()

    async def send(message: Json) -> None:
        wire.output.put_nowait(json.loads(json.dumps(message)))

    async with asyncio.TaskGroup() as tasks:
        first = PlainMessages(offer, send, tasks)
        taken = [await first.take(json.dumps({"jsonrpc": "2.0", **one}).encode()) for one in messages]
    return wire.all_heard() if all(taken) else None


async def said_by_sdk(offer: Offer, messages: list[Json]) -> list[Json]:
    wire = Wire()
    wire.say(*messages)
    running = asyncio.create_task(MessageLines(server_of(offer), wire.input.get, wire.write).run())
    heard = [await wire.heard() for message in messages if "id" in message]
    wire.input.put_nowait(b"")
    await running
    return heard


def by_id(messages: list[Json]) -> dict[str, Json]:
    return {json.dumps(message["id"]): message for message in messages}


names = st.sampled_from([NAME, "check", "no_such_tool", ""])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
metas = st.fixed_dictionaries({}, optional={"progressToken": values, "io.modelcontextprotocol/x": values, "y": values})
requests = st.one_of(
    st.builds(
        lambda params: {"method": "tools/call", "params": params},
        st.fixed_dictionaries(
            {},
            optional={"name": names | values, "arguments": st.just({}) | values, "_meta": metas | values, "z": values},
        ),
    ),
    st.builds(lambda method: {"method": method}, st.sampled_from([*LISTS, "ping", "x"])),
    st.builds(lambda method, params: {"method": method, "params": params}, st.sampled_from([*LISTS, "ping"]), values),
)


@given(
    st.sampled_from(VERSIONS), st.sampled_from(["text", "structured", "both"]), st.lists(requests, max_size=3), values
)
@settings(max_examples=60, deadline=None)
def test_what_is_answered_without_the_sdk_is_what_the_sdk_answers(
    version: str, response_format: str, asked: list[Json], capability: Any
) -> None:
    async def compare() -> None:
        numbered = [{"id": number, **one} for number, one in enumerate(asked)]
        capabilities = {"roots": capability} if isinstance(capability, dict) else {}
        introduced = [introduction(version, capabilities=capabilities), DONE]
        # What the SDK refuses of a client's capabilities means nothing here.
        known = [introduction(version), DONE]
        mine = await said_first(offer(response_format), [*introduced, *numbered])
        if mine is not None:
            assert by_id(mine) == by_id(await said_by_sdk(offer(response_format), [*known, *numbered]))

    asyncio.run(compare())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_plain_session_needs_no_sdk(version: str) -> None:
    lists = [{"id": method, "method": method} for method in LISTS]
    mine = asyncio.run(said_first(offer(), [introduction(version), DONE, *lists, call(2, symbol_anchor="x")]))
    assert mine and [one["id"] for one in mine] == ["i", *LISTS, 2]
    assert VERSIONS[-1] == LATEST_HANDSHAKE_VERSION


class NoSdk(Sdk):
    def begin(self) -> None:
        raise AssertionError("the SDK is imported")


def test_a_session_of_plain_messages_imports_no_sdk_after_its_calls_either() -> None:
    async def play() -> None:
        async def method(call: Call, **arguments: Any) -> str:
            return "done"

        wire = Wire()
        session = asyncio.create_task(ClientSession(offer(method=method), NoSdk()).run(wire.input.get, wire.write))
        wire.say(introduction(), DONE)
        assert (await wire.heard())["id"] == "i"
        for number in (1, 2):
            wire.say(call(number, symbol_anchor="x"))
            assert (await wire.heard())["result"]["content"] == [{"type": "text", "text": "done"}]
            late = {"method": "notifications/cancelled", "params": {"requestId": number, "reason": "timeout"}}
            wire.say(late, {"method": "notifications/roots/list_changed"})
        wire.input.put_nowait(b"")
        await session
        assert wire.all_heard() == []

    asyncio.run(play())


async def slow(started: asyncio.Event, go_on: asyncio.Event) -> str:
    started.set()
    await go_on.wait()
    return "done"


@pytest.mark.parametrize("ending", ["answered", "cancelled", "end of input"])
def test_a_call_goes_on_while_the_session_is_handed_to_the_sdk(ending: str) -> None:
    async def play() -> None:
        started, go_on = asyncio.Event(), asyncio.Event()

        async def method(call: Call, **arguments: Any) -> str:
            return await slow(started, go_on)

        wire = Wire()
        session = asyncio.create_task(ClientSession(offer(method=method), Sdk()).run(wire.input.get, wire.write))
        wire.say(introduction(), DONE, call(1, symbol_anchor="x"))
        assert (await wire.heard())["id"] == "i"
        await started.wait()
        wire.say({"id": 2, "method": "no/such/method"})
        assert (await wire.heard())["error"]["code"] == -32601, "the SDK's answer"
        if ending == "cancelled":
            wire.say({"method": "notifications/cancelled", "params": {"requestId": 1}}, {"id": 3, "method": "ping"})
            assert (await wire.heard())["id"] == 3
        elif ending == "answered":
            go_on.set()
            assert (await wire.heard())["result"]["content"] == [{"type": "text", "text": "done"}]
            wire.say(call(4, symbol_anchor="x"))
            assert (await wire.heard())["id"] == 4
        wire.input.put_nowait(b"")
        await session
        left = [(one["id"], one.get("error", {}).get("message")) for one in wire.all_heard()]
        assert left == ([(1, "Connection closed")] if ending == "end of input" else [])

    asyncio.run(play())


def test_a_call_is_cancelled_also_if_the_sdk_is_there_by_then() -> None:
    async def play() -> None:
        started, sdk = asyncio.Event(), Sdk()
        ended = asyncio.get_running_loop().create_future()

        async def method(call: Call, **arguments: Any) -> str:
            try:
                return await slow(started, asyncio.Event())
            finally:
                ended.set_result(None)

        wire = Wire()
        session = asyncio.create_task(ClientSession(offer(method=method), sdk).run(wire.input.get, wire.write))
        wire.say(introduction(), DONE, call(1, symbol_anchor="x"))
        await started.wait()
        await sdk.load()
        wire.say({"method": "notifications/cancelled", "params": {"requestId": 1}}, {"id": 2, "method": "ping"})
        await asyncio.wait_for(ended, 60)
        assert [(await wire.heard())["id"] for _ in range(2)] == ["i", 2]
        wire.input.put_nowait(b"")
        await session
        assert wire.all_heard() == []

    asyncio.run(play())


def test_a_client_that_reads_nothing_more_ends_its_session() -> None:
    async def play() -> None:
        wire = Wire()

        async def broken(_: bytes) -> None:
            raise BrokenPipeError

        wire.say(introduction())
        await ClientSession(offer(), SDK).run(wire.input.get, broken)

    asyncio.run(play())


@pytest.mark.parametrize("is_loaded", [False, True])
def test_a_flood_of_one_client_is_read_and_answered_beside_the_calls_of_another(is_loaded: bool) -> None:
    flood, most = 1_000, 60  # turns of the loop that one call may need, with those of the SDK

    async def play() -> tuple[int, int]:
        sdk = Sdk()
        if is_loaded:
            await sdk.load()

        async def method(call: Call, **arguments: Any) -> str:
            await asyncio.sleep(0)  # a server is asked
            return "done"

        wires, sessions, turns = (Wire(), Wire()), [], Turns()
        for wire in wires:
            offered = offer(method=method)
            calls = ToolCalls(offered.tools, format="json", response_format="text", turn=turns.of_client().turn)
            session = ClientSession(replace(offered, calls=calls), sdk)
            sessions.append(asyncio.create_task(session.run(wire.input.get, wire.write)))
            # What the SDK has once answered of a session it goes on to answer.
            wire.say(introduction(), DONE, *([{"id": "p", "method": "completion/complete"}] if is_loaded else []))
            assert (await wire.heard())["id"] == "i"
            if is_loaded:
                assert (await wire.heard())["id"] == "p"
        many, one = wires
        many.say(*(call(number, symbol_anchor="x") for number in range(flood)))
        one.say(call(1, symbol_anchor="x"))
        assert (await one.heard())["result"]["content"] == [{"type": "text", "text": "done"}]
        counted = flood - many.input.qsize(), many.output.qsize()
        assert {(await many.heard())["id"] for _ in range(flood)} == set(range(flood))
        for wire in wires:
            wire.input.put_nowait(b"")
        await asyncio.gather(*sessions)
        return counted

    read, answered = asyncio.run(play())
    assert read <= most and answered <= most, f"{read} messages of the flood were read before, {answered} answered"
