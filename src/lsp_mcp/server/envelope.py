"""The outer form of a tool's answer: `text`, `structured` or `both` (seeds/003, "Global MCP Output Envelope")."""

from __future__ import annotations

from typing import Literal

from mcp.types import CallToolResult, TextContent

ResponseFormat = Literal["text", "structured", "both"]


def answered(text: str, response_format: ResponseFormat) -> CallToolResult:
    """The result that carries `text`, the logical answer, in the chosen channels."""
    block = TextContent(type="text", text=text)
    structured = {"blocks": [{"type": "text", "text": text}]}
    return CallToolResult(
        content=[] if response_format == "structured" else [block],
        structured_content=None if response_format == "text" else structured,
    )


def failed(text: str) -> CallToolResult:
    """The result that says why there is no answer; always as text, the one channel that every client shows."""
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
