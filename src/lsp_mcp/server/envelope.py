"""The outer form of a tool's answer: `text`, `structured` or `both` (docs/contracts/clangd.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mcp.types import CallToolResult, TextContent

from lsp_mcp.visible import readable, shortened, visible_lines

ResponseFormat = Literal["text", "structured", "both"]
BLOCKS_SCHEMA = {
    "type": "object",
    "properties": {
        "blocks": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"type": {"type": "string"}, "text": {"type": "string"}},
                "required": ["type", "text"],
            },
        }
    },
    "required": ["blocks"],
}
"""Of structured answers: the answer, and what is remarked on it."""

_MOST_ERROR = 4_000  # characters


def answered(texts: Sequence[str], response_format: ResponseFormat) -> CallToolResult:
    """The result that carries `texts`, the logical answer and what is remarked on it, in the chosen channels."""
    # Text that is not valid Unicode would end the whole connection (SDK 2.3).
    texts = [readable(text) for text in texts]
    structured = {"blocks": [{"type": "text", "text": text} for text in texts]}
    return CallToolResult(
        content=[] if response_format == "structured" else [TextContent(type="text", text=text) for text in texts],
        structured_content=None if response_format == "text" else structured,
    )


def failed(text: str) -> CallToolResult:
    """The result that says why there is no answer; always as text, the one channel that every client shows."""
    return CallToolResult(
        content=[TextContent(type="text", text=visible_lines(shortened(text, _MOST_ERROR)))], is_error=True
    )
