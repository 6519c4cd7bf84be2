"""Framing, JSON-RPC peers and child processes, independent of any protocol's methods."""
