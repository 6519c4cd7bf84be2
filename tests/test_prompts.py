"""Prompts, completions, and diagnostics as resources, through a real client and a real gopls."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, ResourceTemplateReference

from asking import skip_without
from fakes.bounded import bounded
from lsp_mcp.errors import CallerError
from lsp_mcp.toolsets.offered import tools_without_sessions
from mcp_process import GO_ENV, MODES, PROGRAM

skip_without("gopls")

SOURCES = {
    "go.mod": "module example.com/a\n\ngo 1.23\n",
    "read/read.go": "package read\n\ntype Reader struct{}\n\nfunc (r Reader) Peek() {}\n",
    "write/write.go": "package write\n\ntype Writer struct{}\n\nfunc (w Writer) Peek() {}\n",
    "with space.go": "package a\n\nvar x = missing\n",
    ".hidden/x.go": "package hidden\n",
}


def client(root: Path, mode: str, *flags: str) -> Client:
    for name, text in SOURCES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    arguments = ["--workspace-root", str(root), "--format", "json", "--log-level", "error", *flags]
    return Client(StdioServerParameters(command=PROGRAM, args=arguments, env={**os.environ, **GO_ENV}), mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_prompts_name_tools_and_arguments_that_there_are(mode: str, tmp_path: Path) -> None:
    tools = {tool.name: set(tool.model.model_fields) for tool in tools_without_sessions(CallerError("only looked at"))}

    @bounded
    async def run() -> None:
        async with client(tmp_path, mode) as there:
            listed = (await there.list_prompts()).prompts
            assert [(one.name, [(a.name, a.required) for a in one.arguments or ()]) for one in listed] == [
                ("understand", [("symbol", True)]),
                ("change_signature", [("symbol", True), ("change", True)]),
                ("review_impact", [("symbol", False)]),
            ]
            for prompt in listed:
                given = {argument.name: 'a."{change}"' for argument in prompt.arguments or ()}
                (message,) = (await there.get_prompt(prompt.name, given)).messages
                text = message.content.text  # type: ignore[union-attr]
                assert message.role == "user" and 'a."{change}"' in text
                for words in re.findall(r"(?<=\d\. |nd )(\w+)((?: \w+=\S+)*)", text):
                    if words[0] in tools:
                        assert set(re.findall(r" (\w+)=", words[1])) <= tools[words[0]], words
                assert set(re.findall(r"\b(?:find|read|edit)_\w+", text)) <= set(tools)
            (message,) = (await there.get_prompt("review_impact")).messages
            assert "the uncommitted changes" in message.content.text  # type: ignore[union-attr]
            for name, arguments, told in (
                ("explain", {}, "unknown prompt 'explain'; available: understand, change_signature, review_impact"),
                ("understand", {"symbol": " "}, "understand needs the argument symbol"),
                ("understand", {"symbol": "a", "x": "b"}, "unknown argument 'x'; available: symbol"),
            ):
                with pytest.raises(MCPError, match=re.escape(told)):
                    await there.get_prompt(name, arguments)

    run()


def test_symbols_anchors_and_paths_are_completed(tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with client(tmp_path, "auto") as there:

            async def symbols(value: str) -> list[str]:
                prompt = PromptReference(type="ref/prompt", name="understand")
                found = (await there.complete(prompt, {"name": "symbol", "value": value})).completion
                assert found.total == len(found.values) and not found.has_more
                return found.values

            async def paths(value: str) -> list[str]:
                template = ResourceTemplateReference(type="ref/resource", uri="lsp-mcp://diagnostics/{+path}")
                return (await there.complete(template, {"name": "path", "value": value})).completion.values

            assert "Reader.Peek" in await symbols("Reader.Pe")
            assert {"read.Reader.Peek", "write.Writer.Peek"} <= set(await symbols("Peek"))
            assert await symbols("go://re") == ["go://read/"]
            assert await symbols("go://read/read.go#5") == ["go://read/read.go#5:17"]
            assert await symbols("") == await symbols("go://missing.go#") == await symbols("../") == []
            assert await paths("") == ["go.mod", "read/", "with space.go", "write/"]
            assert await paths("read/r") == ["read/read.go"]
            assert await paths(".h") == [".hidden/"]
            assert await paths("../") == await paths("missing/") == await paths("\0") == []

    run()


@pytest.mark.parametrize("mode", MODES)
def test_diagnostics_are_resources_that_leave_the_next_check_alone(mode: str, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with client(tmp_path, mode) as there:

            async def read(uri: str) -> list[str]:
                (content,) = (await there.read_resource(uri)).contents
                assert content.mime_type == "application/json"
                found = json.loads(content.text)  # type: ignore[union-attr]
                problems = [*found["new"], *found.get("remaining", ())]
                return [f"{one['location']['file']} {one['message']}" for one in problems]

            assert [str(one.uri) for one in (await there.list_resources()).resources] == ["lsp-mcp://diagnostics"]
            (template,) = (await there.list_resource_templates()).resource_templates
            assert template.uri_template == "lsp-mcp://diagnostics/{+path}"
            wrong = ["with space.go undefined: missing"]
            assert await read("lsp-mcp://diagnostics") == await read("lsp-mcp://diagnostics/with%20space.go") == wrong
            assert await read("lsp-mcp://diagnostics/read") == []
            (tmp_path / "read" / "read.go").write_text(SOURCES["read/read.go"] + "\nvar y = other\n")
            assert await read("lsp-mcp://diagnostics/read/read.go") == ["read/read.go undefined: other"]
            result = await there.call_tool("check", {"path": "read"})
            assert "undefined: other" in str(result.content)
            for uri, told in (("lsp-mcp://x", "unknown resource"), ("lsp-mcp://diagnostics/no.go", "no.go")):
                with pytest.raises(MCPError, match=told):
                    await there.read_resource(uri)

    run()
