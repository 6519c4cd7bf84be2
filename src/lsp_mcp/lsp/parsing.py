"""Which files a language's own parser does not take: `syntax_errors`."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from lsp_mcp.wire.process import run

_TIMEOUT = 20.0  # seconds
_ERROR = re.compile(r":\d+:(?:\d+:)? (?P<message>.+)")  # behind the name of the file


async def syntax_errors(command: Sequence[str], files: Mapping[Path, str | None], cwd: Path) -> dict[Path, str]:
    """The first error in each of `files` that has any; a text that is given counts instead of what is on disk.

    `command`, to which the files are added, says `FILE:LINE:COLUMN: MESSAGE` on stderr.

    Raises:
        MissingProgramError: there is no such program.
        SilentError: it was still running after 20 s.
    """
    with tempfile.TemporaryDirectory(prefix="lsp-mcp-") as folder:
        by_name: dict[str, Path] = {}
        for number, (path, content) in enumerate(files.items()):
            place = path
            if content is not None:
                place = Path(folder, f"{number}{path.suffix}")
                place.write_text(content, "utf-8", newline="")
            by_name[str(place)] = path
        lines: list[str] = []
        await run([*command, *by_name], cwd=cwd, timeout=_TIMEOUT, said=lines.append)
    found: dict[Path, str] = {}
    for line in lines:
        # By the names that are known: they may look like the rest.
        for name, path in by_name.items():
            if line.startswith(name) and (error := _ERROR.fullmatch(line, len(name))):
                found.setdefault(path, error["message"])
    return found
