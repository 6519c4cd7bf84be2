"""The interface of a server's plug-in: `Plugin`, whose defaults are what an adapter file alone gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from lsp_mcp.adapters import Adapter


class Plugin:
    """What questions must know about one language server beyond its adapter. It has no state.

    Code outside `servers` knows only this interface, as `Backend.plugin`: what one server needs is in its own folder.
    """

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter

    @property
    def compiles_files(self) -> bool:
        """Serves `check` and the comparison with the text: each file is compiled by itself, with what it includes.

        Such a server reports the errors of all files that a change affects, those of open documents in more detail;
        and a symbol may be declared in several places.
        """
        return False

    @property
    def finds_all_names(self) -> bool:
        """Serves the search by name: a search without results means that nothing has that name."""
        return False

    @property
    def request_reach(self) -> Mapping[str, Literal["text", "file"]]:
        """Serves the gaps of the server's own requests: what the answer to such a method depends on."""
        return {}

    @property
    def trial_arguments(self) -> Sequence[str]:
        """Serves the trial of a change to included files: arguments for a server that sees unsaved ones as if saved.

        Empty: the server of the workspace tries changes by itself.
        """
        return ()

    def is_header(self, path: Path) -> bool:
        """Serves the order of outlines and the impact of a change: whether `path` is only included by other files."""
        return False

    def is_exported(self, name: str, path: Path) -> bool:
        """Serves unused code and impact: whether code outside the workspace can use what is called `name` in `path`."""
        return True
