"""Documents that exist only for a server, beside those that it would otherwise treat wrongly: `Companions`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsp_mcp.servers.gopls.rules import Companion
from lsp_mcp.text import Text
from lsp_mcp.uris import path_uri


class Companions:
    """The companions that are open in a server, in the folder `root`; none while `is_needed` says so."""

    def __init__(self, rules: Companion, root: Path, is_needed: Callable[[], bool]) -> None:
        self._rules = rules
        self._root = root
        self._is_needed = is_needed
        self._open: set[tuple[str, str]] = set()

    def open_for(self, path: Path, text: Text, notify: Callable[[str, Any], None]) -> None:
        """Open what `path`, a document to be opened with `text`, needs, unless that is open."""
        suffix = re.search(self._rules.suffix_pattern, path.stem)
        lines = [found[0] for found in re.finditer(self._rules.line_pattern, text.content)]
        needed = suffix[0] if suffix else "", "".join(f"{line.rstrip()}\n" for line in lines)
        if needed == ("", "") or needed in self._open or not self._is_needed():
            return
        name = self._rules.file.format(number=len(self._open), suffix=needed[0])
        item = {"uri": path_uri(self._root / name), "languageId": self._rules.language, "version": 1, "text": needed[1]}
        notify("textDocument/didOpen", {"textDocument": item})
        self._open.add(needed)

    def forget(self) -> None:
        """The server was restarted, and has none of them."""
        self._open.clear()
