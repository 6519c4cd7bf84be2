"""Callers, callees, and ways between functions."""
