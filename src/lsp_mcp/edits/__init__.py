"""Edits: a server's changes as pure data (`plan`), and applying them, all or nothing (`apply`)."""
