"""What questions must know about gopls: `GoplsPlugin`. Facts were seen with gopls 0.24."""

from __future__ import annotations

import re
from pathlib import Path

from lsp_mcp.servers.plugin import Plugin


class GoplsPlugin(Plugin):
    """gopls knows the packages of the modules that it has loaded."""

    @property
    def finds_all_names(self) -> bool:
        """See `Plugin.finds_all_names`."""
        return True

    def is_exported(self, name: str, path: Path) -> bool:
        """See `Plugin.is_exported`: names in capitals, of the type too, and not in a test."""
        words = [word for word in re.findall(r"\w+", re.sub(r"\[.*?\]", "", name)) if word]
        return not any(re.match("[a-z_]", word) for word in words) and not path.name.endswith("_test.go")
