"""Symbols and text, found by name, place or anchor."""
