"""Bytes and ids: framing, JSON-RPC peers and child processes. Knows nothing of any protocol's methods."""
