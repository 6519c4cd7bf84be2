"""How to show a compiled file to a server so that it reports everything a compiler would: `WholeUnit`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from lsp_mcp.adapters import Language
from lsp_mcp.servers.clangd.compilation.includes import Includes
from lsp_mcp.servers.clangd.compilation.unit_text import UnitText
from lsp_mcp.text import PositionEncoding, Text
from lsp_mcp.uris import path_uri, uri_path

_BOM = "\ufeff"


class WholeUnit:
    """`text` of the compiled file `path`, changed so that the server checks all of its includes.

    clangd 22 reads the includes at the top of a document without function bodies; with `prefix`, which is not a
    directive, before it there is no such top. It reports only the first of all errors below one include: the top
    includes `apart` of a header are included before it, where that makes no difference, one per line.
    """

    def __init__(
        self,
        path: Path,
        text: Text,
        language: Language,
        prefix: str,
        include_pattern: str,
        includes: Includes,
        is_library: Callable[[str], bool],
        *,
        apart: bool = False,
    ) -> None:
        self._path = path
        self._includes = includes
        start = len(_BOM) if text.content.startswith(_BOM) else 0
        # Most files begin with a comment; then nothing moves.
        comments = tuple(filter(None, (language.line_comment, *language.block_comment[:1])))
        in_line = text.content.startswith(("\n", "\r", *comments), start)
        put = [(start, prefix if in_line else f"{prefix}\n")]
        added = len(put[0][1])
        self._included: list[tuple[int, Path | None]] = []  # offsets in `shown`, with the included file if certain
        seen = {path}
        for match in re.finditer(include_pattern, text.content, re.MULTILINE):
            header = includes.included(match[1], path, is_library) if match[1] else None
            lines = ""
            for one in includes.led_by(header, is_library, seen) if apart and header else ():
                self._included.append((match.start() + added + len(lines), one))
                lines += f'#include "{one}"\n'
            if lines:
                put.append((match.start(), lines))
                added += len(lines)
            self._included.append((match.start() + added, header))
            seen.update([header] if header else ())
        self._text = UnitText(text, put)
        self.shown = self._text.shown
        self.moves = not in_line or len(put) > 1  # whether original text moves to other lines

    @cached_property
    def apart(self) -> set[Path]:
        """The includes added for a header, without those that an earlier include may lead to."""
        found: set[Path] = set()
        there: set[Path] = set()
        for _, file in self._included:
            if file and file not in there:
                found.add(file)
                there |= self._includes.reached([file])
        return found

    def diagnostics(self, reported: Sequence[Any], encoding: PositionEncoding) -> list[Any]:
        """The server's diagnostics `reported` for the shown text, mapped to the original text."""
        return [self._text.diagnostic(one, path_uri(self._path), encoding) for one in reported]

    def hidden_by(self, broken: Iterable[Path]) -> set[Path]:
        """The files that stay hidden as long as the files `broken` have errors."""
        ours = (self._includes.reached([file]) - (self.apart - {file}) for file in broken if file in self.apart)
        return set().union(*ours)

    def hidden(self, reported: Sequence[Any], encoding: PositionEncoding) -> set[Path]:
        """The files that may have errors hidden behind those `reported` for the shown text, one for each include."""
        lines = {self.shown.offset_position(at, encoding)["line"]: file for at, file in self._included}
        found: set[Path] = set()
        for one in reported:
            line, related = one["range"]["start"]["line"], one.get("relatedInformation")
            if related and line in lines:
                header = lines[line] or uri_path(related[0]["location"]["uri"])
                found |= self._includes.reached([header]) - (self.apart - {header})
        return found
