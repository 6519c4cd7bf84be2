"""The fixtures of the MCP conformance suite behind this program's own transports: this FILE with `http` or `stdio`.

They are what the suite's scenarios ask for by name; lsp-mcp itself has no such tools. HTTP prints its port.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    ReadResourceRequestParams,
    ReadResourceResult,
    SamplingMessage,
)

from lsp_mcp.server import http, stdio
from lsp_mcp.server.admission import LocalOnly
from lsp_mcp.server.lines import MessageLines

Json = dict[str, Any]
Context = ServerRequestContext

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
NO_ARGUMENTS: Json = {"type": "object", "properties": {}}
TYPES = {"image": "image/png", "audio": "audio/wav"}


def said(text: str) -> Json:
    return {"type": "text", "text": text}


def resource(uri: str, kind: str, text: str) -> Json:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}}


IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
CONTENTS: dict[str, list[Json]] = {
    "test_simple_text": [said("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": [
        resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        said("Multiple content types test:"),
        IMAGE,
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
}
DEFAULTS: Json = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
OPTIONS = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{n}", "title": f"{name} Option"} for n, name in enumerate(("First", "Second", "Third"), 1)]
ENUMS: Json = {
    "untitledSingle": {"type": "string", "enum": OPTIONS},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}
ADDRESS = {"street": {"type": "string"}, "city": {"type": "string"}}
SCHEMAS: dict[str, Json] = {
    "test_sampling": {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]},
    "test_elicitation": {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]},
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"type": "object", "properties": ADDRESS}},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": False,
    },
}


# --- tools that talk to the client -------------------------------------------------------------------


async def logging(context: Context, arguments: Json) -> str:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.session.send_log_message("info", text, related_request_id=context.request_id)
    return "logged"


async def progress(context: Context, arguments: Json) -> str:
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100, "")
    return "reported"


async def sampling(context: Context, arguments: Json) -> str:
    message = SamplingMessage.model_validate({"role": "user", "content": said(arguments["prompt"])})
    result = await context.session.create_message([message], max_tokens=100, related_request_id=context.request_id)
    return f"LLM response: {result.model_dump_json()}"


async def elicited(context: Context, message: str, properties: Json, required: list[str]) -> tuple[str, str]:
    schema = {"type": "object", "properties": properties, "required": required}
    result = await context.session.elicit_form(message, schema, context.request_id)
    return result.action, json.dumps(result.content)


async def elicitation(context: Context, arguments: Json) -> str:
    fields = {"username": {"type": "string"}, "email": {"type": "string"}}
    action, content = await elicited(context, arguments["message"], fields, ["username", "email"])
    return f"User response: action={action}, content={content}"


async def elicitation_defaults(context: Context, arguments: Json) -> str:
    action, content = await elicited(context, "Please look over these", DEFAULTS, [])
    return f"Elicitation completed: action={action}, content={content}"


async def elicitation_enums(context: Context, arguments: Json) -> str:
    action, content = await elicited(context, "Please choose", ENUMS, [])
    return f"Elicitation completed: action={action}, content={content}"


async def reconnection(context: Context, arguments: Json) -> str:
    return "Reconnection test completed successfully"


ASKING: dict[str, Callable[[Context, Json], Awaitable[str]]] = {
    "test_tool_with_logging": logging,
    "test_tool_with_progress": progress,
    "test_sampling": sampling,
    "test_elicitation": elicitation,
    "test_elicitation_sep1034_defaults": elicitation_defaults,
    "test_elicitation_sep1330_enums": elicitation_enums,
    "test_reconnection": reconnection,
}

# --- the server --------------------------------------------------------------------------------------


async def list_tools(context: Context, params: Any) -> ListToolsResult:
    names = [*CONTENTS, *ASKING, "test_error_handling", "json_schema_2020_12_tool"]
    tools = [{"name": n, "description": f"Fixture {n}", "inputSchema": SCHEMAS.get(n, NO_ARGUMENTS)} for n in names]
    return ListToolsResult.model_validate({"tools": tools})


async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
    if found := CONTENTS.get(params.name):
        return CallToolResult.model_validate({"content": found})
    if asking := ASKING.get(params.name):
        return CallToolResult.model_validate({"content": [said(await asking(context, params.arguments or {}))]})
    text = "This tool intentionally returns an error for testing"
    return CallToolResult.model_validate({"content": [said(text)], "isError": True})


async def list_resources(context: Context, params: Any) -> ListResourcesResult:
    kinds = {"static-text": "text/plain", "static-binary": "image/png", "watched-resource": "text/plain"}
    listed = [{"uri": f"test://{n}", "name": n, "description": f"Fixture {n}", "mimeType": k} for n, k in kinds.items()]
    return ListResourcesResult.model_validate({"resources": listed})


async def list_templates(context: Context, params: Any) -> ListResourceTemplatesResult:
    one = {"uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json"}
    return ListResourceTemplatesResult.model_validate({"resourceTemplates": [one]})


async def read_resource(context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
    uri = str(params.uri)
    match uri.removeprefix("test://").split("/"):
        case ["static-binary"]:
            found = {"mimeType": "image/png", "blob": PNG}
        case ["template", id_, "data"]:
            data = {"id": id_, "templateTest": True, "data": f"Data for ID: {id_}"}
            found = {"mimeType": "application/json", "text": json.dumps(data)}
        case _:
            found = {"mimeType": "text/plain", "text": "This is the content of the static text resource."}
    return ReadResourceResult.model_validate({"contents": [{"uri": uri, **found}]})


async def accept(context: Context, params: Any) -> EmptyResult:
    return EmptyResult()


PROMPTS: dict[str, list[str]] = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
}


async def list_prompts(context: Context, params: Any) -> ListPromptsResult:
    listed = [
        {
            "name": name,
            "description": f"Fixture {name}",
            "arguments": [{"name": one, "description": one, "required": True} for one in arguments],
        }
        for name, arguments in PROMPTS.items()
    ]
    return ListPromptsResult.model_validate({"prompts": listed})


async def get_prompt(context: Context, params: GetPromptRequestParams) -> GetPromptResult:
    given = params.arguments or {}
    content: list[Json] = {
        "test_simple_prompt": [said("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            said(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [
            resource(given.get("resourceUri", ""), "text/plain", "Embedded resource content for testing."),
            said("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [IMAGE, said("Please analyze the image above.")],
    }[params.name]
    return GetPromptResult.model_validate({"messages": [{"role": "user", "content": one} for one in content]})


async def complete(context: Context, params: CompleteRequestParams) -> CompleteResult:
    return CompleteResult.model_validate({"completion": {"values": ["paris", "park"], "total": 2, "hasMore": False}})


def reference_server() -> Server[Json]:
    return Server(
        "reference",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=accept,
        on_unsubscribe_resource=accept,
        on_set_logging_level=accept,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
    )


async def on_http() -> None:
    """As `http.app`, without a token, which the suite cannot send."""
    hosts = ["127.0.0.1:*", "localhost:*"]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=[f"http://{one}" for one in hosts]
    )
    listening = http.listen(0)
    http.say_port(listening)
    application = LocalOnly(http.mcp_app(reference_server(), security, []), ("127.0.0.1", "localhost"))
    await http.serve_app(application, None, [listening])


async def on_stdio() -> None:
    to_read, to_write = stdio._take(0), stdio._take(1)

    async def read() -> bytes:
        return await asyncio.to_thread(to_read.readline)

    async def write(data: bytes) -> None:
        await asyncio.to_thread(stdio._write, to_write, data)

    await MessageLines(reference_server(), read, write).run()


if __name__ == "__main__":
    asyncio.run(on_http() if sys.argv[1] == "http" else on_stdio())
