"""Renames, tried and examined before they are written."""
