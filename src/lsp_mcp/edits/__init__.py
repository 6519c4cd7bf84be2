"""Edits: what a server wants changed, as pure data (`plan`), and doing that, all or nothing (`apply`)."""
