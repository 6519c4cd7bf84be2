"""The outer form of a tool's answer: `text`, `structured` or `both` (docs/contracts/clangd.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

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
"""The schema of structured answers: the answer and its remarks."""

_MOST_ERROR = 4_000  # characters
Json = dict[str, Any]


def answered(texts: Sequence[str], response_format: ResponseFormat) -> Json:
    """The `CallToolResult` that carries `texts`, the logical answer and the remarks, in the chosen channels."""
    # Text that is not Unicode would end the whole connection (SDK 2.3).
    blocks = [{"type": "text", "text": readable(text)} for text in texts]
    return {
        "content": [] if response_format == "structured" else blocks,
        **({} if response_format == "text" else {"structuredContent": {"blocks": blocks}}),
        "isError": False,
    }


def failed(text: str) -> Json:
    """The `CallToolResult` for an error; always as text, which every client shows."""
    return {"content": [{"type": "text", "text": visible_lines(shortened(text, _MOST_ERROR))}], "isError": True}
