"""Syntax errors found by a language's own parser: `syntax_errors`."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from lsp_mcp.wire.process import run

_TIMEOUT = 20.0  # seconds
_ERROR = re.compile(r"(?P<name>\d+\.\w+):\d+:(?:\d+:)? (?P<message>.+)")


async def syntax_errors(command: Sequence[str], texts: Mapping[Path, str]) -> dict[Path, str]:
    """The first error in each of `texts` that has any, regardless of the files on disk. Empty texts have none.

    `command`, to which files with these texts are added, prints `FILE:LINE:COLUMN: MESSAGE` on stderr.

    Raises:
        MissingProgramError: there is no such program.
        SilentError: it was still running after 20 s.
    """
    with tempfile.TemporaryDirectory(prefix="lsp-mcp-") as folder:
        by_name: dict[str, Path] = {}
        for path, text in texts.items():
            if text:
                by_name[name := f"{len(by_name)}{path.suffix}"] = path
                Path(folder, name).write_text(text, "utf-8", newline="")
        lines: list[str] = []
        if by_name:
            await run([*command, *by_name], cwd=Path(folder), timeout=_TIMEOUT, said=lines.append)
    found: dict[Path, str] = {}
    for error in filter(None, map(_ERROR.fullmatch, lines)):
        if error["name"] in by_name:
            found.setdefault(by_name[error["name"]], error["message"])
    return found
