"""Answers as text that can be sent: JSON without hidden characters and without invalid Unicode."""

from lsp_mcp.visible import json_text as as_json
from lsp_mcp.visible import readable

__all__ = ["as_json", "readable"]
