"""Callers who were told nothing before, so that an answer tells them everything in full: `somebody`."""

import uuid

from lsp_mcp.toolsets.tool import Client


def somebody() -> Client:
    """A caller of whom nothing is remembered."""
    return Client(key=uuid.uuid4().hex)
