"""Answers as text that can be sent: JSON that shows all it has, and nothing in it that is no Unicode."""

from lsp_mcp.visible import json_text as as_json
from lsp_mcp.visible import readable

__all__ = ["as_json", "readable"]
