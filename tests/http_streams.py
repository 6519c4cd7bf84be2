"""Streams of a session on Streamable HTTP."""

from __future__ import annotations

import httpx2

from mcp_process import BOUND


def try_to_resume(port: int, token: str) -> None:
    """A client that asks for the rest of a stream is refused; one that asks for a new one gets it."""
    address, events = f"http://127.0.0.1:{port}/mcp", {"Accept": "text/event-stream"}
    with httpx2.Client(headers={"Authorization": f"Bearer {token}"}, timeout=BOUND) as client:
        info = {"name": "t", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        begun = client.post(address, json=hello, headers={"Accept": "application/json, text/event-stream"})
        named = {**events, "Mcp-Session-Id": begun.headers["mcp-session-id"]}

        refused = client.get(address, headers={**named, "Last-Event-ID": "7"})
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST, DELETE")
        assert "send GET without Last-Event-ID" in refused.text
        # The end of a session is still told as such: its client begins another.
        ended = client.get(address, headers={**events, "Mcp-Session-Id": "gone", "Last-Event-ID": "7"})
        assert ended.status_code == 404
        with client.stream("GET", address, headers=named) as stream:
            assert stream.status_code == 200
