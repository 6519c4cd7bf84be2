"""Edits of declarations, files and imports."""
