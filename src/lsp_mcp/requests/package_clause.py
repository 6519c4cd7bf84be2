"""The package name that a file declares: `package_clause`."""

from __future__ import annotations

import re
from pathlib import Path

from lsp_mcp.servers.plugin import Plugin


def package_clause(plugin: Plugin, path: Path, content: str) -> re.Match[str] | None:
    """The clause in `content`, the text of `path`; its group `name` is the package. None if there is none."""
    packages, language = plugin.renaming.packages, plugin.adapter.language_of(path)
    if packages is None:
        return None
    if language and language.lexing:  # positions stay the same
        content = re.sub(language.lexing.comment, lambda found: re.sub(r"\S", " ", found[0]), content, flags=re.M)
    return re.search(packages.clause_pattern, content, re.M)
